//! The header of a certificate file, and the order of its floats.

use super::certificate::{Certificate, Claim, Component, Cut, Form, Slack, SumOfSquares, Witness};
use super::file::malformed;
use super::header_tables::{EliminationHeader, push_rows, read_rows};
use crate::error::Result;
use crate::features::Features;
use crate::linalg::{Eigen, Square};
use crate::model::{Ising, Polynomial, VarSet};
use serde::{Deserialize, Serialize};

/// Everything but the floats. `features: null` stands for (1, x).
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    d: usize,
    eps: f64,
    /// `[variable, state]`; spins -1 and +1 in format 1.
    evidence: Vec<(usize, i64)>,
    zero_floor: Option<f64>,
    phi_upper: Option<f64>,
    phi_lower: Option<f64>,
    log_z_upper: Option<f64>,
    log_z_lower: Option<f64>,
    cuts: Vec<CutHeader>,
    squares: Vec<Sets>,
    components: Vec<FormHeader>,
    witness: Option<WitnessHeader>,
}

type Sets = Option<Vec<Vec<u32>>>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CutHeader {
    cycle: Vec<u32>,
    signs: Vec<i8>,
}

/// Shape of a polynomial over the free spins.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    edges: Vec<[u32; 2]>,
    terms: Vec<Vec<u32>>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case", deny_unknown_fields)]
enum FormHeader {
    Spectral { features: Sets },
    WeightedSpectral { features: Sets },
    Elimination { polynomial: Shape, order: Vec<u32> },
    LogDet {},
    Tangent { features: Sets },
    SparseDual { polynomial: Shape, order: Vec<u32> },
    Constant {},
    Tables { elimination: EliminationHeader },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "witness", rename_all = "kebab-case", deny_unknown_fields)]
enum WitnessHeader {
    Product {},
    Forest { polynomial: Shape },
    Point { spins: Vec<i8> },
    Elimination { order: Vec<u32> },
    Tables { elimination: EliminationHeader, allowed: Option<Vec<Vec<u32>>> },
    States { states: Vec<u32> },
    StateProduct { sizes: Vec<u32> },
    Bethe { edges: Vec<[u32; 2]>, flips: Vec<i8> },
    Blocks { blocks: Vec<Vec<u32>>, sizes: Vec<u32> },
    Parts { spins: Vec<u32>, parts: Vec<WitnessHeader> },
}

impl Header {
    /// Describes `certificate` and appends its floats: weights, multipliers, squares, components, witness.
    pub(super) fn new(certificate: &Certificate, claim: &Claim, floats: &mut Vec<f64>) -> Self {
        floats.extend(certificate.components.iter().map(|c| c.weight));
        floats.extend(certificate.slack.cuts.iter().map(|c| c.multiplier));
        let cut = |c: &Cut| CutHeader { cycle: c.cycle.clone(), signs: c.signs.clone() };
        let mut squares = Vec::new();
        for square in &certificate.slack.squares {
            push_symmetric(&square.matrix, floats);
            push_eigen(&square.eigen, floats);
            squares.push(sets(&square.features));
        }
        let components = certificate.components.iter().map(|c| FormHeader::new(&c.form, floats)).collect();
        Header {
            d: claim.d,
            eps: certificate.eps,
            evidence: claim.evidence.iter().map(|&(i, state)| (i, i64::from(state))).collect(),
            zero_floor: claim.zero_floor,
            phi_upper: claim.phi_upper,
            phi_lower: claim.phi_lower,
            log_z_upper: claim.log_z_upper,
            log_z_lower: claim.log_z_lower,
            cuts: certificate.slack.cuts.iter().map(cut).collect(),
            squares,
            components,
            witness: certificate.witness.as_ref().map(|w| WitnessHeader::new(w, floats)),
        }
    }

    /// One line of JSON. Serialisation of plain data cannot fail.
    pub(super) fn to_line(&self) -> String {
        serde_json::to_string(self).expect("the header has no map and no custom serializer") + "\n"
    }

    /// Rebuilds the certificate; every float must be used.
    pub(super) fn into_certificate(self, floats: &[f64], format: u32) -> Result<(Certificate, Claim)> {
        let state = |&(i, value): &(usize, i64)| match (format, value) {
            (1, -1) => Ok((i, 0)),
            (1, 1) => Ok((i, 1)),
            (2, _) if (0..=i64::from(u32::MAX)).contains(&value) => Ok((i, value as u32)),
            _ => Err(malformed("evidence is not [variable, state]")),
        };
        let evidence = self.evidence.iter().map(state).collect::<Result<_>>()?;
        let mut source = Source { d: self.d, rest: floats, words: 8 * floats.len() + 1024 };
        let weights = source.take(self.components.len())?;
        let multipliers = source.take(self.cuts.len())?;
        let cut = |(c, m): (CutHeader, &f64)| Cut { multiplier: *m, cycle: c.cycle, signs: c.signs };
        let cuts = self.cuts.into_iter().zip(multipliers).map(cut).collect();
        let square = |sets: Sets| -> Result<SumOfSquares> {
            let (features, matrix) = source.features_and_matrix(sets)?;
            Ok(SumOfSquares { eigen: source.eigen(matrix.n())?, features, matrix })
        };
        let squares = self.squares.into_iter().map(square).collect::<Result<_>>()?;
        let component = |(form, &weight): (FormHeader, &f64)| -> Result<Component> {
            Ok(Component { weight, form: form.read(&mut source)? })
        };
        let components = self.components.into_iter().zip(weights).map(component).collect::<Result<_>>()?;
        let witness = self.witness.map(|w| w.read(&mut source)).transpose()?;
        if !source.rest.is_empty() {
            return Err(malformed("there are floats left over"));
        }
        let claim = Claim {
            d: self.d,
            evidence,
            zero_floor: self.zero_floor,
            phi_upper: self.phi_upper,
            phi_lower: self.phi_lower,
            log_z_upper: self.log_z_upper,
            log_z_lower: self.log_z_lower,
        };
        Ok((Certificate { eps: self.eps, slack: Slack { cuts, squares }, components, witness }, claim))
    }
}

impl FormHeader {
    fn new(form: &Form, floats: &mut Vec<f64>) -> Self {
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
            Form::LogDet { lambda, matrix, eigen } => {
                push_symmetric(matrix, floats);
                floats.extend(lambda);
                push_eigen(eigen, floats);
                FormHeader::LogDet {}
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
        }
    }

    fn read(self, source: &mut Source<'_>) -> Result<Form> {
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
            FormHeader::LogDet {} => {
                let (_, matrix) = source.features_and_matrix(None)?;
                let lambda = source.take(matrix.n())?.to_vec();
                Form::LogDet { lambda, eigen: source.eigen(matrix.n())?, matrix }
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
        })
    }
}

impl WitnessHeader {
    fn new(witness: &Witness, floats: &mut Vec<f64>) -> Self {
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
            Witness::Blocks { blocks, fields } => {
                WitnessHeader::Blocks { blocks: blocks.clone(), sizes: push_rows(fields, floats) }
            }
            Witness::Parts { spins, parts } => WitnessHeader::Parts {
                spins: spins.clone(),
                parts: parts.iter().map(|part| WitnessHeader::new(part, floats)).collect(),
            },
        }
    }

    fn read(self, source: &mut Source<'_>) -> Result<Witness> {
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
            WitnessHeader::Blocks { blocks, sizes } => {
                Witness::Blocks { blocks, fields: read_rows(&sizes, source)? }
            }
            WitnessHeader::Parts { spins, parts } => {
                let d = source.d;
                source.d = d.checked_sub(spins.len()).ok_or_else(|| malformed("parts fix too many spins"))?;
                let parts = parts.into_iter().map(|part| part.read(source)).collect::<Result<_>>()?;
                source.d = d;
                Witness::Parts { spins, parts }
            }
        })
    }
}

impl Shape {
    /// Floats: constant, d fields, one coupling per edge, one value per term.
    fn new(p: &Polynomial, floats: &mut Vec<f64>) -> Self {
        let ising = p.pairwise_part();
        floats.push(ising.constant());
        floats.extend(ising.fields());
        floats.extend(ising.couplings());
        floats.extend(p.terms().iter().map(|(_, v)| *v));
        Shape {
            edges: ising.edges().to_vec(),
            terms: p.terms().iter().map(|(set, _)| members(set)).collect(),
        }
    }

    fn read(self, source: &mut Source<'_>) -> Result<Polynomial> {
        let constant = source.take(1)?[0];
        let fields = source.take(source.d)?;
        let couplings = self.edges.iter().zip(source.take(self.edges.len())?);
        let couplings: Vec<_> = couplings.map(|(&[i, j], &v)| (i as usize, j as usize, v)).collect();
        let ising = Ising::new(source.d, fields, &couplings)?.with_constant(constant)?;
        let values = source.take(self.terms.len())?;
        let terms = self.terms.iter().zip(values).map(|(set, v)| Ok((source.set(set)?, *v)));
        let terms = terms.collect::<Result<_>>()?;
        Polynomial::new(ising, terms)
    }
}

/// The floats not read yet, and how many words of variable sets may still be made.
pub(super) struct Source<'a> {
    d: usize,
    rest: &'a [f64],
    words: usize,
}

impl<'a> Source<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [f64]> {
        let Some((head, tail)) = self.rest.split_at_checked(count) else {
            return Err(malformed("there are too few floats"));
        };
        self.rest = tail;
        Ok(head)
    }

    /// The upper triangle column by column comes first, so that a size the file cannot hold is refused
    /// before anything of that size is made.
    fn features_and_matrix(&mut self, sets: Sets) -> Result<(Features, Square)> {
        let n = sets.as_ref().map_or(self.d.saturating_add(1), |s| s.len());
        let count = n.checked_mul(n.saturating_add(1)).map_or(usize::MAX, |entries| entries / 2);
        let packed = self.take(count)?;
        let mut matrix = Square::zeros(n);
        let mut next = packed.iter();
        for j in 0..n {
            for i in 0..=j {
                let v = next.next().copied().unwrap_or(0.0);
                matrix.data_mut()[i + n * j] = v;
                matrix.data_mut()[j + n * i] = v;
            }
        }
        let sets = match sets {
            None => (0..n).map(|k| if k == 0 { VarSet::EMPTY } else { VarSet::singleton(k - 1) }).collect(),
            Some(lists) => lists.iter().map(|list| self.set(list)).collect::<Result<Vec<_>>>()?,
        };
        Ok((Features::new(self.d, sets)?, matrix))
    }

    fn eigen(&mut self, n: usize) -> Result<Eigen> {
        let values = self.take(n)?.to_vec();
        let count = n.saturating_mul(n);
        Ok(Eigen { values, vectors: Square::from_column_major(n, self.take(count)?.to_vec()) })
    }

    /// A set takes memory up to its largest member: bounded by d and, in total, by the file's length.
    fn set(&mut self, list: &[u32]) -> Result<VarSet> {
        let largest = list.iter().copied().max().unwrap_or(0) as usize;
        let words = largest / 64 + 1;
        if words > self.words {
            return Err(malformed("a variable set is out of proportion"));
        }
        self.words -= words;
        let set: VarSet = list.iter().map(|&i| i as usize).collect();
        if set.len() != list.len() {
            return Err(malformed("a variable set repeats a variable"));
        }
        Ok(set)
    }
}

fn members(set: &VarSet) -> Vec<u32> {
    set.iter().map(|i| i as u32).collect()
}

fn sets(features: &Features) -> Sets {
    (!features.is_linear()).then(|| features.sets().iter().map(members).collect())
}

fn push_symmetric(m: &Square, floats: &mut Vec<f64>) {
    (0..m.n()).for_each(|j| floats.extend_from_slice(&m.column(j)[..=j]));
}

fn push_eigen(eigen: &Eigen, floats: &mut Vec<f64>) {
    floats.extend(&eigen.values);
    floats.extend(eigen.vectors.data());
}
