//! Evidence: the tables that are left when some variables have their states.

use super::{FactorModel, FactorRef};
use crate::error::{Error, Result};

impl FactorModel {
    /// Fixes states, renumbering the free variables in order. A factor left without a free variable
    /// joins the constant, which is `-inf` under contradictory evidence.
    ///
    /// # Errors
    /// The wrong number of entries, or a state that a variable does not have.
    pub fn condition(&self, fixed: &[Option<u32>]) -> Result<Self> {
        if fixed.len() != self.d() {
            return Err(Error::Model(format!("expected {} entries of evidence", self.d())));
        }
        if let Some(i) = (0..self.d()).find(|&i| fixed[i].is_some_and(|s| s >= self.cardinalities[i])) {
            let (state, q) = (fixed[i].unwrap_or(0), self.cardinalities[i]);
            return Err(Error::Model(format!("variable {i} is fixed to state {state} of {q}")));
        }
        if fixed.iter().all(Option::is_none) {
            return Ok(self.clone());
        }
        let mut new_name = vec![0; self.d()];
        let mut free = Vec::new();
        for i in 0..self.d() {
            new_name[i] = free.len();
            if fixed[i].is_none() {
                free.push(self.cardinalities[i] as usize);
            }
        }
        let mut out = FactorModel::with_cardinalities(&free)?;
        out.constant = self.constant;
        out.uncertainty = self.uncertainty;
        for factor in self.factors() {
            let is_free = |i: &&u32| fixed[**i as usize].is_none();
            let scope: Vec<usize> =
                factor.scope.iter().filter(is_free).map(|&i| new_name[i as usize]).collect();
            let table = self.slice(&factor, fixed);
            if scope.is_empty() {
                out.constant += table[0];
                // One rounded addition.
                out.add_uncertainty(if out.constant.is_finite() {
                    out.constant.abs() * f64::EPSILON
                } else {
                    0.0
                });
            } else {
                out.push(&scope, &table)?;
            }
        }
        Ok(out)
    }

    /// The part of a table in which fixed variables have their states.
    fn slice(&self, factor: &FactorRef<'_>, fixed: &[Option<u32>]) -> Vec<f64> {
        let mut table = factor.table.to_vec();
        // From the last variable on, so that the strides of those before it stay what they were.
        let mut stride = table.len();
        for &i in factor.scope.iter().rev() {
            let q = self.cardinalities[i as usize] as usize;
            stride /= q;
            if let Some(state) = fixed[i as usize] {
                let blocks = table.chunks_exact(stride * q);
                let kept = blocks.flat_map(|block| &block[state as usize * stride..][..stride]);
                table = kept.copied().collect();
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditioning_selects_the_entries_of_fixed_states() {
        let mut model = FactorModel::with_cardinalities(&[3, 1, 2, 4]).unwrap();
        let table: Vec<f64> = (0..24).map(f64::from).collect();
        model.push(&[3, 0, 1, 2], &table).unwrap();
        model.push(&[2], &[10.0, f64::NEG_INFINITY]).unwrap();
        for state in 0..3 {
            let fixed = model.condition(&[Some(state), None, None, None]).unwrap();
            assert_eq!(fixed.cardinalities(), [1, 2, 4]);
            for (x2, x3) in (0..2).flat_map(|a| (0..4).map(move |b| (a, b))) {
                assert_eq!(fixed.value_of(&[0, x2, x3]), model.value_of(&[state, 0, x2, x3]));
            }
        }
        let all = model.condition(&[Some(2), Some(0), Some(0), Some(3)]).unwrap();
        assert_eq!((all.d(), all.constant()), (0, model.value_of(&[2, 0, 0, 3])));
        assert!(model.condition(&[Some(3), None, None, None]).unwrap_err().to_string().contains("of 3"));
        assert!(FactorModel::with_cardinalities(&[2, 0]).unwrap_err().to_string().contains("variable 1"));
        assert!(model.to_polynomial().unwrap_err().to_string().contains("variable 0 has 3 states"));
    }
}
