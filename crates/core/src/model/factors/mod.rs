//! Factor tables: the form in which elimination works, hard zeros included.

mod condition;
mod convert;

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

#[cfg(test)]
mod tests {
    use super::*;

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
