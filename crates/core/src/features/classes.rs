//! Which entries of a moment matrix share a moment.

use crate::error::{Error, Result};
use crate::model::{Polynomial, VarSet};
use std::collections::HashMap;

/// The partition of the n x n entries by the value of `A xor B`: V is the matrices constant on
/// every class, V_perp those whose entries sum to zero over every class.
#[derive(Clone, Debug)]
pub struct Classes {
    n: usize,
    of: Vec<u32>,
    size: Vec<u32>,
    sets: Vec<VarSet>,
    names: HashMap<VarSet, u32>,
}

impl Classes {
    pub(super) fn new(list: &[VarSet]) -> Self {
        let n = list.len();
        let mut names: HashMap<VarSet, u32> = HashMap::new();
        let mut sets = Vec::new();
        let mut of = vec![0u32; n * n];
        // Column by column, so that class 0 is the empty set and the order is reproducible.
        for b in 0..n {
            for a in 0..=b {
                let set = list[a].xor(&list[b]);
                let id = *names.entry(set).or_insert_with_key(|set| {
                    sets.push(set.clone());
                    sets.len() as u32 - 1
                });
                of[a + n * b] = id;
                of[b + n * a] = id;
            }
        }
        let mut size = vec![0u32; sets.len()];
        of.iter().for_each(|&c| size[c as usize] += 1);
        Classes { n, of, size, sets, names }
    }

    /// Number of classes; class 0 is the diagonal.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Never true.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Number of features.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Class of every entry, column-major.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// Number of entries (both triangles) in every class.
    pub fn sizes(&self) -> &[u32] {
        &self.size
    }

    /// The monomial `C = A xor B` of every class.
    pub fn sets(&self) -> &[VarSet] {
        &self.sets
    }

    /// The class of monomial `set`, if any pair of features represents it.
    pub fn find(&self, set: &VarSet) -> Option<usize> {
        self.names.get(set).map(|&c| c as usize)
    }

    /// Sums of entries over every class: the polynomial `phi^T M phi`, coefficient by class.
    pub fn sums(&self, matrix: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.len()];
        for (&c, &v) in self.of.iter().zip(matrix) {
            sums[c as usize] += v;
        }
        sums
    }

    /// Means of entries over every class: `proj_V(matrix)`, by class.
    pub fn means(&self, matrix: &[f64]) -> Vec<f64> {
        let mut means = self.sums(matrix);
        means.iter_mut().zip(&self.size).for_each(|(m, &s)| *m /= f64::from(s));
        means
    }

    /// `matrix <- proj_V(matrix)`: every entry becomes its class's mean.
    pub fn project(&self, matrix: &mut [f64]) {
        self.fill(&self.means(matrix), matrix);
    }

    /// `matrix <- matrix - proj_V(matrix)`.
    pub fn project_perp(&self, matrix: &mut [f64]) {
        let mean = self.means(matrix);
        for (&c, v) in self.of.iter().zip(matrix) {
            *v -= mean[c as usize];
        }
    }

    /// Writes `values[class]` into every entry: the matrix `sum_C values_C A_C`.
    pub fn fill(&self, values: &[f64], matrix: &mut [f64]) {
        for (&c, v) in self.of.iter().zip(matrix) {
            *v = values[c as usize];
        }
    }

    /// The spread representation of f: coefficient `theta_C / |class C|` per class, so that
    /// `phi^T F phi = f` and F lies in V.
    ///
    /// # Errors
    /// A term of f that no pair of features represents; the message names it.
    pub fn represent(&self, f: &Polynomial) -> Result<Vec<f64>> {
        let mut values = vec![0.0; self.len()];
        for (set, theta) in f.coefficients().filter(|(_, v)| *v != 0.0) {
            let Some(class) = self.find(&set) else {
                return Err(Error::Features(format!(
                    "the features cannot represent the term {set}: add two features whose symmetric difference it is"
                )));
            };
            values[class] = theta / f64::from(self.size[class]);
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{FeatureSpec, Features};
    use crate::model::Ising;

    #[test]
    fn projections_are_complementary_and_represent_f() {
        let features = Features::first(5, 13).unwrap();
        let classes = features.classes();
        let n = features.len();
        let f: Polynomial =
            Ising::new(5, &[1.0, 2.0, 0.0, 0.0, -1.0], &[(0, 1, 3.0), (2, 4, 0.5)]).unwrap().into();
        let values = classes.represent(&f).unwrap();
        let mut matrix = vec![0.0; n * n];
        classes.fill(&values, &mut matrix);
        for bits in 0..32u32 {
            let x: Vec<i8> = (0..5).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect();
            let phi = features.evaluate(&x);
            let quadratic: f64 = (0..n * n).map(|k| matrix[k] * f64::from(phi[k % n] * phi[k / n])).sum();
            assert!((quadratic - f.value(&x)).abs() < 1e-12);
        }
        let mut perp: Vec<f64> = (0..n * n).map(|k| ((k % n) * (k / n)) as f64).collect();
        classes.project_perp(&mut perp);
        assert!(classes.sums(&perp).iter().all(|s| s.abs() < 1e-10));
    }

    #[test]
    fn a_term_without_representation_is_named() {
        let pairs = Ising::new(4, &[0.0; 4], &[]).unwrap();
        let f = Polynomial::new(pairs, vec![(VarSet::from_iter([0, 1, 3]), 1.0)]).unwrap();
        let message = Features::degree(4, 1).classes().represent(&f).unwrap_err().to_string();
        assert!(message.contains("[0, 1, 3]"), "{message}");
        let enough = FeatureSpec::Default.resolve(&f).unwrap();
        assert!(enough.classes().represent(&f).is_ok());
    }
}
