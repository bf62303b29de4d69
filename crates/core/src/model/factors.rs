//! Factor tables: the form in which elimination works, hard zeros included.

use super::collect::Collector;
use super::polynomial::Polynomial;
use crate::error::{Error, Result};

/// A product of tables in the log domain, `f(x) = c + sum_k table_k[x_{scope_k}]`, entries in
/// `[-inf, inf)`; `-inf` is a hard zero.
///
/// Variables have any number of states, two by default; state 1 of two is spin +1. All scopes share
/// one flat array and all tables another. Tables are indexed in mixed radix, the first variable of the
/// scope fastest: with two states each, bit `p` of an index is the state of the scope's `p`-th variable.
///
/// [`FactorModel::uncertainty`] bounds `max_x |f_true(x) - f(x)|` (rounded logarithms).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactorModel {
    cardinalities: Vec<u32>,
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
    /// Variables, the one whose state changes fastest along the table first.
    pub scope: &'a [u32],
    /// One log value per joint state of the scope.
    pub table: &'a [f64],
}

impl FactorModel {
    /// A model of `d` spins with no factor.
    pub fn new(d: usize) -> Self {
        FactorModel {
            cardinalities: vec![2; d],
            scope_start: vec![0],
            table_start: vec![0],
            ..Self::default()
        }
    }

    /// A model with no factor whose variable i has `cardinalities[i]` states.
    ///
    /// # Errors
    /// A variable without states, or with more than 2^32 - 1.
    ///
    /// ```
    /// use zbound::FactorModel;
    /// let mut model = FactorModel::with_cardinalities(&[3, 2])?;
    /// model.push(&[0, 1], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?;
    /// assert_eq!(model.value_of(&[2, 1]), 5.0);
    /// # Ok::<(), zbound::Error>(())
    /// ```
    pub fn with_cardinalities(cardinalities: &[usize]) -> Result<Self> {
        let mut model = FactorModel::new(cardinalities.len());
        for (i, (&q, slot)) in cardinalities.iter().zip(&mut model.cardinalities).enumerate() {
            *slot = u32::try_from(q).ok().filter(|&q| q > 0).ok_or_else(|| {
                Error::Model(format!("variable {i} has {q} states, expected 1 to {}", u32::MAX))
            })?;
        }
        Ok(model)
    }

    /// Adds the factor with log values `table` (first variable of `scope` fastest).
    ///
    /// # Errors
    /// A scope that repeats or exceeds variables, a table of the wrong size, NaN or `+inf`.
    pub fn push(&mut self, scope: &[usize], table: &[f64]) -> Result<()> {
        for (p, &i) in scope.iter().enumerate() {
            if i >= self.d() {
                return Err(Error::Model(format!(
                    "factor {scope:?}: variable {i} is out of range for d = {}",
                    self.d()
                )));
            }
            if scope[..p].contains(&i) {
                return Err(Error::Model(format!("factor {scope:?} names variable {i} twice")));
            }
        }
        if self.table_size(scope) != Some(table.len()) {
            return Err(Error::Model(format!(
                "factor {scope:?} has {} entries, its variables {} joint states",
                table.len(),
                self.table_size(scope).map_or("more than 2^64".to_owned(), |size| size.to_string())
            )));
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

    /// Number of variables.
    pub fn d(&self) -> usize {
        self.cardinalities.len()
    }

    /// Number of states of every variable.
    pub fn cardinalities(&self) -> &[u32] {
        &self.cardinalities
    }

    /// Whether every variable is a spin.
    pub fn is_binary(&self) -> bool {
        self.cardinalities.iter().all(|&q| q == 2)
    }

    /// Joint states of `scope`, `None` beyond the range of `usize`.
    pub fn table_size(&self, scope: &[usize]) -> Option<usize> {
        scope.iter().try_fold(1usize, |size, &i| size.checked_mul(self.cardinalities[i] as usize))
    }

    /// [`Error::NotApplicable`] unless every variable is a spin.
    ///
    /// # Errors
    /// Names the first variable with another number of states.
    pub fn require_binary(&self) -> Result<()> {
        match self.cardinalities.iter().position(|&q| q != 2) {
            None => Ok(()),
            Some(i) => Err(Error::NotApplicable(format!(
                "variable {i} has {} states: this method needs two states everywhere",
                self.cardinalities[i]
            ))),
        }
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

    /// `f(x)` at spins `x` of a model whose variables are all spins, possibly `-inf`.
    pub fn value(&self, x: &[i8]) -> f64 {
        self.constant + self.factors().map(|f| f.table[f.index(x)]).sum::<f64>()
    }

    /// `f` at the given state of every variable, possibly `-inf`.
    pub fn value_of(&self, states: &[u32]) -> f64 {
        let entry = |f: FactorRef<'_>| f.table[f.index_of(states, &self.cardinalities)];
        self.constant + self.factors().map(entry).sum::<f64>()
    }
}

impl FactorRef<'_> {
    /// Index of the entry that spins `x` select.
    pub fn index(&self, x: &[i8]) -> usize {
        let bits = self.scope.iter().enumerate();
        bits.map(|(p, &i)| usize::from(x[i as usize] > 0) << p).sum()
    }

    /// Index of the entry that `states` select, given every variable's number of states.
    pub fn index_of(&self, states: &[u32], cardinalities: &[u32]) -> usize {
        let inner =
            |index: usize, &i: &u32| index * cardinalities[i as usize] as usize + states[i as usize] as usize;
        self.scope.iter().rev().fold(0, inner)
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
