//! Floats of a certificate file as they are read, and the shapes that every form shares.

use super::file::malformed;
use crate::error::Result;
use crate::features::Features;
use crate::linalg::{Eigen, Square};
use crate::model::{Ising, Polynomial, VarSet};
use serde::{Deserialize, Serialize};

/// Lists of variables; `None` stands for (1, x).
pub(super) type Sets = Option<Vec<Vec<u32>>>;

/// Shape of a polynomial over the free spins.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    edges: Vec<[u32; 2]>,
    terms: Vec<Vec<u32>>,
}

impl Shape {
    /// Floats: constant, d fields, one coupling per edge, one value per term.
    pub(super) fn new(p: &Polynomial, floats: &mut Vec<f64>) -> Self {
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

    pub(super) fn read(self, source: &mut Source<'_>) -> Result<Polynomial> {
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
    /// Free variables of what is being read.
    pub(super) d: usize,
    /// Temperature of the certificate.
    pub(super) eps: f64,
    pub(super) rest: &'a [f64],
    pub(super) words: usize,
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
    pub(super) fn features_and_matrix(&mut self, sets: Sets) -> Result<(Features, Square)> {
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

    pub(super) fn eigen(&mut self, n: usize) -> Result<Eigen> {
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

pub(super) fn sets(features: &Features) -> Sets {
    (!features.is_linear()).then(|| features.sets().iter().map(members).collect())
}

pub(super) fn push_symmetric(m: &Square, floats: &mut Vec<f64>) {
    (0..m.n()).for_each(|j| floats.extend_from_slice(&m.column(j)[..=j]));
}

pub(super) fn push_eigen(eigen: &Eigen, floats: &mut Vec<f64>) {
    floats.extend(&eigen.values);
    floats.extend(eigen.vectors.data());
}
