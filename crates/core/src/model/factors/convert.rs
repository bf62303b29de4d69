//! Between tables and polynomials: one table per coefficient, and the Walsh-Hadamard transform back.

use super::FactorModel;
use crate::error::{Error, Result};
use crate::model::collect::Collector;
use crate::model::polynomial::Polynomial;

impl FactorModel {
    /// The polynomial with the same values, by a Walsh-Hadamard transform of every table.
    ///
    /// **Cost** k 2^k per factor of arity k.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when a table holds a hard zero or a variable has other than two states.
    pub fn to_polynomial(&self) -> Result<Polynomial> {
        self.require_binary()?;
        if self.has_hard_zeros() || self.constant == f64::NEG_INFINITY {
            return Err(Error::NotApplicable(
                "the model has zero table entries (hard constraints), which no polynomial has; exact methods handle them".into(),
            ));
        }
        let mut sums = Collector::new(self.d());
        sums.add(&[], self.constant)?;
        let mut members = Vec::new();
        let (mut scale, mut arity, mut dropped) = (self.constant.abs(), 0, 0.0);
        for factor in self.factors() {
            let size = factor.table.len();
            let mut w = factor.table.to_vec();
            let mut half = 1;
            while half < size {
                for start in (0..size).step_by(2 * half) {
                    for k in start..start + half {
                        (w[k], w[k + half]) = (w[k] + w[k + half], w[k + half] - w[k]);
                    }
                }
                half *= 2;
            }
            let magnitude = factor.table.iter().map(|v| v.abs()).sum::<f64>();
            scale += magnitude;
            arity = arity.max(factor.scope.len());
            // A coefficient at rounding level is cancellation, not interaction: it joins the uncertainty.
            let noise = 4.0 * f64::EPSILON * magnitude / size as f64;
            for (k, v) in w.into_iter().enumerate() {
                let v = v / size as f64;
                if v.abs() <= noise && k != 0 {
                    dropped += v.abs();
                    continue;
                }
                members.clear();
                let inside = (0..factor.scope.len()).filter(|p| k >> p & 1 == 1);
                members.extend(inside.map(|p| factor.scope[p] as usize));
                sums.add(&members, v)?;
            }
        }
        // Each coefficient of a factor errs by arity roundings of at most `magnitude / size`, and
        // adding it to those of the other factors rounds the sum once per factor; over the `size`
        // coefficients of every factor that is `scale` each. EPSILON is two roundings.
        let rounding = (arity + self.len() + 3) as f64 * f64::EPSILON * scale + 2.0 * dropped;
        sums.finish()?.with_uncertainty((self.uncertainty + rounding).next_up())
    }
}

impl From<&Polynomial> for FactorModel {
    /// One table per nonzero coefficient, a field or term `theta x^A` becoming `+-theta`.
    fn from(f: &Polynomial) -> Self {
        let mut out = FactorModel::new(f.d());
        out.constant = f.pairwise_part().constant();
        out.uncertainty = f.uncertainty();
        f.visit(|members, theta| {
            let arity = members.len();
            if arity == 0 || theta == 0.0 {
                return;
            }
            out.scopes.extend(members.iter().map(|&i| i as u32));
            let sign =
                |k: usize| if (arity - k.count_ones() as usize).is_multiple_of(2) { theta } else { -theta };
            out.tables.extend((0..1usize << arity).map(sign));
            out.scope_start.push(out.scopes.len());
            out.table_start.push(out.tables.len());
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ising;
    use crate::model::VarSet;

    #[test]
    fn tables_of_a_polynomial_have_its_values() {
        let pairs = Ising::new(3, &[0.5, -1.0, 0.0], &[(0, 2, 0.25)]).unwrap();
        let f = Polynomial::new(pairs, vec![(VarSet::from_iter([0, 1, 2]), 3.0)]).unwrap();
        let tables = FactorModel::from(&f);
        for bits in 0..8 {
            let x: Vec<i8> = (0..3).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect();
            assert_eq!(tables.value(&x), f.value(&x));
        }
        assert_eq!(
            tables.to_polynomial().unwrap().coefficients().collect::<Vec<_>>(),
            f.coefficients().collect::<Vec<_>>()
        );
        let both = (
            tables.condition(&[None, Some(0), None]).unwrap(),
            f.condition(&[None, Some(-1), None]).unwrap(),
        );
        for x in [[1, 1], [1, -1], [-1, 1], [-1, -1]] {
            assert!((both.0.value(&x) - both.1.value(&x)).abs() < 1e-15);
        }
    }
}
