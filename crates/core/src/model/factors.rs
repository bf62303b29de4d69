//! Factor tables: the form in which elimination works, hard zeros included.

use super::polynomial::Polynomial;
use super::varset::VarSet;
use crate::error::{Error, Result};

/// A product of tables in the log domain, `f(x) = c + sum_k table_k[x_{scope_k}]`, entries in
/// `[-inf, inf)`; `-inf` is a hard zero.
///
/// All scopes share one flat array and all tables another. The index of an entry has bit `p`
/// set when the `p`-th variable of the scope is in state 1 (spin +1): first variable fastest.
///
/// [`FactorModel::uncertainty`] bounds `max_x |f_true(x) - f(x)|` (rounded logarithms).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactorModel {
    d: usize,
    constant: f64,
    scope_start: Vec<usize>,
    scopes: Vec<u32>,
    table_start: Vec<usize>,
    tables: Vec<f64>,
    uncertainty: f64,
}

/// One factor of a [`FactorModel`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorRef<'a> {
    /// Variables, in the order of the table's index bits.
    pub scope: &'a [u32],
    /// `2^scope.len()` log values.
    pub table: &'a [f64],
}

impl FactorModel {
    /// A model of `d` spins with no factor.
    pub fn new(d: usize) -> Self {
        FactorModel { d, scope_start: vec![0], table_start: vec![0], ..Self::default() }
    }

    /// Adds the factor with log values `table` (first variable of `scope` fastest).
    ///
    /// # Errors
    /// A scope that repeats or exceeds variables, a table of the wrong size, NaN or `+inf`.
    pub fn push(&mut self, scope: &[usize], table: &[f64]) -> Result<()> {
        if scope.len() >= usize::BITS as usize || table.len() != 1 << scope.len() {
            let arity = scope.len();
            return Err(Error::Model(format!("a factor over {arity} spins has {} entries", table.len())));
        }
        for (p, &i) in scope.iter().enumerate() {
            if i >= self.d {
                return Err(Error::Model(format!(
                    "factor {scope:?}: variable {i} is out of range for d = {}",
                    self.d
                )));
            }
            if scope[..p].contains(&i) {
                return Err(Error::Model(format!("factor {scope:?} names variable {i} twice")));
            }
        }
        if let Some(k) = table.iter().position(|v| v.is_nan() || *v == f64::INFINITY) {
            return Err(Error::Model(format!("factor {scope:?}: log value {k} is {}", table[k])));
        }
        self.scopes.extend(scope.iter().map(|&i| i as u32));
        self.tables.extend_from_slice(table);
        self.scope_start.push(self.scopes.len());
        self.table_start.push(self.tables.len());
        Ok(())
    }

    /// Adds `value` to the constant.
    pub fn add_constant(&mut self, value: f64) {
        self.constant += value;
    }

    /// Enlarges the bound on `max_x |f_true - f|` by `radius >= 0`, rounded up.
    pub fn add_uncertainty(&mut self, radius: f64) {
        if radius > 0.0 {
            self.uncertainty = (self.uncertainty + radius).next_up();
        }
    }

    /// Number of spins.
    pub fn d(&self) -> usize {
        self.d
    }

    /// The constant.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// Bound on `max_x |f_true(x) - f(x)|`.
    pub fn uncertainty(&self) -> f64 {
        self.uncertainty
    }

    /// Number of factors.
    pub fn len(&self) -> usize {
        self.scope_start.len() - 1
    }

    /// Whether there is no factor.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `k`-th factor.
    pub fn factor(&self, k: usize) -> FactorRef<'_> {
        FactorRef {
            scope: &self.scopes[self.scope_start[k]..self.scope_start[k + 1]],
            table: &self.tables[self.table_start[k]..self.table_start[k + 1]],
        }
    }

    /// All factors in order.
    pub fn factors(&self) -> impl Iterator<Item = FactorRef<'_>> {
        (0..self.len()).map(|k| self.factor(k))
    }

    /// Whether any table holds a hard zero.
    pub fn has_hard_zeros(&self) -> bool {
        self.tables.contains(&f64::NEG_INFINITY)
    }

    /// Fixes spins, renumbering the free ones in order. A factor left without a free spin joins
    /// the constant, which is `-inf` under contradictory evidence.
    ///
    /// # Errors
    /// The wrong number of entries.
    pub fn condition(&self, fixed: &[Option<i8>]) -> Result<Self> {
        if fixed.len() != self.d {
            return Err(Error::Model(format!("expected {} entries of evidence", self.d)));
        }
        let mut new_name = vec![0; self.d];
        let mut free = 0;
        for i in 0..self.d {
            new_name[i] = free;
            free += usize::from(fixed[i].is_none());
        }
        let mut out = FactorModel::new(free);
        out.constant = self.constant;
        out.uncertainty = self.uncertainty;
        for factor in self.factors() {
            let base = factor.scope.iter().enumerate();
            let base: usize = base.map(|(p, &i)| usize::from(fixed[i as usize] == Some(1)) << p).sum();
            let kept: Vec<usize> =
                (0..factor.scope.len()).filter(|&p| fixed[factor.scope[p] as usize].is_none()).collect();
            let spread = |k: usize| kept.iter().enumerate().map(|(q, &p)| (k >> q & 1) << p).sum::<usize>();
            let table: Vec<f64> = (0..1usize << kept.len()).map(|k| factor.table[base | spread(k)]).collect();
            let scope: Vec<usize> = kept.iter().map(|&p| new_name[factor.scope[p] as usize]).collect();
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

    /// The polynomial with the same values, by a Walsh-Hadamard transform of every table.
    ///
    /// **Cost** k 2^k per factor of arity k.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when a table holds a hard zero.
    pub fn to_polynomial(&self) -> Result<Polynomial> {
        if self.has_hard_zeros() || self.constant == f64::NEG_INFINITY {
            return Err(Error::NotApplicable(
                "the model has zero table entries (hard constraints), which no polynomial has; exact methods handle them".into(),
            ));
        }
        let mut coefficients = vec![(VarSet::EMPTY, self.constant)];
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
                let members = (0..factor.scope.len()).filter(|p| k >> p & 1 == 1);
                coefficients.push((members.map(|p| factor.scope[p] as usize).collect(), v));
            }
        }
        // Each coefficient of a factor errs by arity roundings of at most `magnitude / size`, and
        // adding it to those of the other factors rounds the sum once per factor; over the `size`
        // coefficients of every factor that is `scale` each. EPSILON is two roundings.
        let rounding = (arity + self.len() + 3) as f64 * f64::EPSILON * scale + 2.0 * dropped;
        Polynomial::from_coefficients(self.d, coefficients)?
            .with_uncertainty((self.uncertainty + rounding).next_up())
    }

    /// `f(x)` at spins `x`, possibly `-inf`.
    pub fn value(&self, x: &[i8]) -> f64 {
        self.constant + self.factors().map(|f| f.table[f.index(x)]).sum::<f64>()
    }
}

impl FactorRef<'_> {
    /// Index of the entry that spins `x` select.
    pub fn index(&self, x: &[i8]) -> usize {
        let bits = self.scope.iter().enumerate();
        bits.map(|(p, &i)| usize::from(x[i as usize] > 0) << p).sum()
    }
}

impl From<&Polynomial> for FactorModel {
    /// One table per nonzero coefficient, a field or term `theta x^A` becoming `+-theta`.
    fn from(f: &Polynomial) -> Self {
        let mut out = FactorModel::new(f.d());
        out.constant = f.pairwise_part().constant();
        out.uncertainty = f.uncertainty();
        for (set, theta) in f.coefficients().skip(1).filter(|(_, v)| *v != 0.0) {
            let arity = set.len();
            out.scopes.extend(set.iter().map(|i| i as u32));
            let sign =
                |k: usize| if (arity - k.count_ones() as usize).is_multiple_of(2) { theta } else { -theta };
            out.tables.extend((0..1usize << arity).map(sign));
            out.scope_start.push(out.scopes.len());
            out.table_start.push(out.tables.len());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ising;

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
        let fixed = [None, Some(-1), None];
        let both = (tables.condition(&fixed).unwrap(), f.condition(&fixed).unwrap());
        for x in [[1, 1], [1, -1], [-1, 1], [-1, -1]] {
            assert!((both.0.value(&x) - both.1.value(&x)).abs() < 1e-15);
        }
    }

    #[test]
    fn bad_factors_are_refused_by_name() {
        let mut model = FactorModel::new(2);
        assert!(model.push(&[0, 0], &[0.0; 4]).unwrap_err().to_string().contains("twice"));
        assert!(model.push(&[0, 2], &[0.0; 4]).unwrap_err().to_string().contains("range"));
        assert!(model.push(&[0], &[0.0; 4]).unwrap_err().to_string().contains("entries"));
        assert!(model.push(&[0], &[0.0, f64::NAN]).unwrap_err().to_string().contains("NaN"));
        assert!(model.push(&[0], &[0.0, f64::NEG_INFINITY]).is_ok() && model.has_hard_zeros());
    }
}
