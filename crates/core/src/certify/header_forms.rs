//! The headers of forms and witnesses, and the order of their floats.

use super::certificate::{Form, Witness};
use super::file::malformed;
use super::header::Body;
use super::header_source::{Sets, Shape, Source, push_eigen, push_symmetric, sets};
use super::header_tables::{EliminationHeader, push_rows, read_rows};
use super::noise::Noise;
use super::tree::Tree;
use crate::error::Result;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum FormHeader {
    Spectral {
        features: Sets,
    },
    WeightedSpectral {
        features: Sets,
    },
    Elimination {
        polynomial: Shape,
        order: Vec<u32>,
    },
    WeightedElimination {
        polynomial: Shape,
        elimination: EliminationHeader,
    },
    LogDet {
        /// Intervals of the noise; one is the uniform law.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        bins: usize,
    },
    Tangent {
        features: Sets,
    },
    SparseDual {
        polynomial: Shape,
        order: Vec<u32>,
    },
    Constant {},
    Tables {
        elimination: EliminationHeader,
    },
    Tree {
        nodes: Nodes,
        leaves: Vec<Body>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "witness", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum WitnessHeader {
    Product {},
    Forest { polynomial: Shape },
    Point { spins: Vec<i8> },
    Elimination { order: Vec<u32> },
    Tables { elimination: EliminationHeader, allowed: Option<Vec<Vec<u32>>> },
    States { states: Vec<u32> },
    StateProduct { sizes: Vec<u32> },
    Bethe { edges: Vec<[u32; 2]>, flips: Vec<i8> },
    Layer { summed: Vec<u32> },
    Blocks { blocks: Vec<Vec<u32>>, sizes: Vec<u32> },
    Tree { nodes: Nodes, leaves: Vec<Option<WitnessHeader>> },
}

fn one() -> usize {
    1
}

fn is_one(bins: &usize) -> bool {
    *bins == 1
}

/// Per node the variable and its number of states, or null for a leaf.
type Nodes = Vec<Option<(u32, u32)>>;

impl FormHeader {
    pub(super) fn is_tree(&self) -> bool {
        matches!(self, FormHeader::Tree { .. })
    }

    pub(super) fn new(form: &Form, floats: &mut Vec<f64>) -> Self {
        match form {
            Form::Spectral { features, matrix, eigen } => {
                push_symmetric(matrix, floats);
                push_eigen(eigen, floats);
                FormHeader::Spectral { features: sets(features) }
            }
            Form::WeightedSpectral { features, eta, matrix, eigen } => {
                push_symmetric(matrix, floats);
                floats.extend(eta);
                push_eigen(eigen, floats);
                FormHeader::WeightedSpectral { features: sets(features) }
            }
            Form::Elimination { polynomial, order } => {
                FormHeader::Elimination { polynomial: Shape::new(polynomial, floats), order: order.clone() }
            }
            Form::WeightedElimination { polynomial, elimination } => FormHeader::WeightedElimination {
                polynomial: Shape::new(polynomial, floats),
                elimination: EliminationHeader::new(elimination, floats),
            },
            Form::LogDet { noise, lambda, matrix, eigen } => {
                push_symmetric(matrix, floats);
                floats.extend(lambda);
                push_eigen(eigen, floats);
                if !noise.is_uniform() {
                    floats.extend(&noise.weights);
                }
                FormHeader::LogDet { bins: noise.weights.len() }
            }
            Form::Tangent { features, eta, point, matrix, eigen } => {
                push_symmetric(matrix, floats);
                floats.extend(eta);
                push_eigen(point, floats);
                push_eigen(eigen, floats);
                FormHeader::Tangent { features: sets(features) }
            }
            Form::SparseDual { polynomial, diagonal, order } => {
                let polynomial = Shape::new(polynomial, floats);
                floats.extend(diagonal);
                FormHeader::SparseDual { polynomial, order: order.clone() }
            }
            Form::Constant { value } => {
                floats.push(*value);
                FormHeader::Constant {}
            }
            Form::Tables(e) => FormHeader::Tables { elimination: EliminationHeader::new(e, floats) },
            Form::Tree(tree) => FormHeader::Tree {
                nodes: tree.nodes.clone(),
                leaves: tree.leaves.iter().map(|leaf| Body::new(leaf, floats)).collect(),
            },
        }
    }

    pub(super) fn read(self, source: &mut Source<'_>) -> Result<Form> {
        Ok(match self {
            FormHeader::Spectral { features } => {
                let (features, matrix) = source.features_and_matrix(features)?;
                Form::Spectral { eigen: source.eigen(matrix.n())?, features, matrix }
            }
            FormHeader::WeightedSpectral { features } => {
                let (features, matrix) = source.features_and_matrix(features)?;
                let eta = source.take(matrix.n())?.to_vec();
                Form::WeightedSpectral { eigen: source.eigen(matrix.n())?, features, eta, matrix }
            }
            FormHeader::Elimination { polynomial, order } => {
                Form::Elimination { polynomial: polynomial.read(source)?, order }
            }
            FormHeader::WeightedElimination { polynomial, elimination } => Form::WeightedElimination {
                polynomial: polynomial.read(source)?,
                elimination: elimination.read(source)?,
            },
            FormHeader::LogDet { bins } => {
                let (_, matrix) = source.features_and_matrix(None)?;
                let lambda = source.take(matrix.n())?.to_vec();
                let eigen = source.eigen(matrix.n())?;
                let noise =
                    if bins == 1 { Noise::default() } else { Noise { weights: source.take(bins)?.to_vec() } };
                Form::LogDet { noise, lambda, eigen, matrix }
            }
            FormHeader::Tangent { features } => {
                let (features, matrix) = source.features_and_matrix(features)?;
                let eta = source.take(matrix.n())?.to_vec();
                let point = source.eigen(matrix.n())?;
                Form::Tangent { features, eta, point, eigen: source.eigen(matrix.n())?, matrix }
            }
            FormHeader::SparseDual { polynomial, order } => {
                let polynomial = polynomial.read(source)?;
                let diagonal = source.take(source.d + 1)?.to_vec();
                Form::SparseDual { polynomial, diagonal, order }
            }
            FormHeader::Constant {} => Form::Constant { value: source.take(1)?[0] },
            FormHeader::Tables { elimination } => Form::Tables(elimination.read(source)?),
            FormHeader::Tree { nodes, leaves } => {
                Form::Tree(read_tree(nodes, leaves, source, |leaf, source| leaf.flat()?.read(source))?)
            }
        })
    }
}

impl WitnessHeader {
    /// Itself, unless it is a tree again: trees of trees would let a small file ask for deep recursion.
    fn flat(self) -> Result<Self> {
        if matches!(self, WitnessHeader::Tree { .. }) {
            return Err(malformed("a leaf of a tree is a tree"));
        }
        Ok(self)
    }

    pub(super) fn new(witness: &Witness, floats: &mut Vec<f64>) -> Self {
        match witness {
            Witness::Product { means } => {
                floats.extend(means);
                WitnessHeader::Product {}
            }
            Witness::Forest { polynomial } => {
                WitnessHeader::Forest { polynomial: Shape::new(polynomial, floats) }
            }
            Witness::Point { spins } => WitnessHeader::Point { spins: spins.clone() },
            Witness::Elimination { order } => WitnessHeader::Elimination { order: order.clone() },
            Witness::Tables { elimination, allowed } => WitnessHeader::Tables {
                elimination: EliminationHeader::new(elimination, floats),
                allowed: allowed.clone(),
            },
            Witness::States { states } => WitnessHeader::States { states: states.clone() },
            Witness::StateProduct { probabilities } => {
                WitnessHeader::StateProduct { sizes: push_rows(probabilities, floats) }
            }
            Witness::Bethe { means, edges, correlations, flips } => {
                floats.extend(means);
                floats.extend(correlations);
                WitnessHeader::Bethe { edges: edges.clone(), flips: flips.clone() }
            }
            Witness::Layer { means, summed } => {
                floats.extend(means);
                WitnessHeader::Layer { summed: summed.clone() }
            }
            Witness::Blocks { blocks, fields } => {
                WitnessHeader::Blocks { blocks: blocks.clone(), sizes: push_rows(fields, floats) }
            }
            Witness::Tree(tree) => WitnessHeader::Tree {
                nodes: tree.nodes.clone(),
                leaves: tree
                    .leaves
                    .iter()
                    .map(|l| l.as_ref().map(|w| WitnessHeader::new(w, floats)))
                    .collect(),
            },
        }
    }

    pub(super) fn read(self, source: &mut Source<'_>) -> Result<Witness> {
        Ok(match self {
            WitnessHeader::Product {} => Witness::Product { means: source.take(source.d)?.to_vec() },
            WitnessHeader::Forest { polynomial } => Witness::Forest { polynomial: polynomial.read(source)? },
            WitnessHeader::Point { spins } => Witness::Point { spins },
            WitnessHeader::Elimination { order } => Witness::Elimination { order },
            WitnessHeader::Tables { elimination, allowed } => {
                Witness::Tables { elimination: elimination.read(source)?, allowed }
            }
            WitnessHeader::States { states } => Witness::States { states },
            WitnessHeader::StateProduct { sizes } => {
                Witness::StateProduct { probabilities: read_rows(&sizes, source)? }
            }
            WitnessHeader::Bethe { edges, flips } => {
                let means = source.take(source.d)?.to_vec();
                let correlations = source.take(edges.len())?.to_vec();
                Witness::Bethe { means, edges, correlations, flips }
            }
            WitnessHeader::Layer { summed } => {
                let kept = source.d.checked_sub(summed.len());
                let kept = kept.ok_or_else(|| malformed("a layer has too many spins"))?;
                Witness::Layer { means: source.take(kept)?.to_vec(), summed }
            }
            WitnessHeader::Blocks { blocks, sizes } => {
                Witness::Blocks { blocks, fields: read_rows(&sizes, source)? }
            }
            WitnessHeader::Tree { nodes, leaves } => {
                Witness::Tree(read_tree(nodes, leaves, source, |leaf, source| {
                    leaf.map(|witness| witness.flat()?.read(source)).transpose()
                })?)
            }
        })
    }
}

/// Reads the leaves one after another, each over the variables that the nodes above it leave free.
fn read_tree<H, T>(
    nodes: Nodes,
    leaves: Vec<H>,
    source: &mut Source<'_>,
    read: impl Fn(H, &mut Source<'_>) -> Result<T>,
) -> Result<Tree<T>> {
    let d = source.d;
    let shape = Tree { nodes, leaves };
    let depths = shape.depths()?;
    let leaves = shape.leaves.into_iter().zip(depths).map(|(leaf, depth)| {
        source.d = d.checked_sub(depth).ok_or_else(|| malformed("a tree fixes too many variables"))?;
        read(leaf, source)
    });
    let leaves = leaves.collect::<Result<_>>()?;
    source.d = d;
    Ok(Tree { nodes: shape.nodes, leaves })
}
