//! A model as a user has it: a file's content, its evidence and its units.

use super::factors::FactorModel;
use super::polynomial::Polynomial;
use crate::error::{Error, Result};

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// Coefficients of a polynomial (native JSON, dimod, max-cut, QUBO).
    Polynomial(Polynomial),
    /// Factor tables (UAI, libDAI).
    Factors(FactorModel),
}

/// How values of f read in the file's own terms.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Units {
    /// f itself.
    Plain,
    /// f is the weight of a cut.
    Cut,
    /// f = -beta E for a minimised energy E.
    Energy {
        /// Inverse temperature used on reading.
        beta: f64,
    },
}

/// A model with its evidence: what every command works on.
///
/// Fixed spins leave `d` and the measure. [`Model::polynomial`] and [`Model::factors`] speak of
/// the free spins, numbered in order; [`Model::expand`] goes back to the file's variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    source: Source,
    fixed: Vec<Option<i8>>,
    /// How values read in the file's own terms.
    pub units: Units,
    /// What the reader wants the user to know (summed duplicates, trailing tokens).
    pub warnings: Vec<String>,
}

impl Model {
    /// A model without evidence.
    pub fn new(source: Source) -> Self {
        let d = match &source {
            Source::Polynomial(f) => f.d(),
            Source::Factors(f) => f.d(),
        };
        Model { source, fixed: vec![None; d], units: Units::Plain, warnings: Vec::new() }
    }

    /// Fixes spins, `(variable, -1 | +1)`. Fixing one twice to the same value is allowed.
    ///
    /// # Errors
    /// An unknown variable, a value other than -1 and +1, or two values for one variable.
    pub fn with_evidence(mut self, evidence: &[(usize, i8)]) -> Result<Self> {
        for &(i, spin) in evidence {
            let d = self.fixed.len();
            let Some(slot) = self.fixed.get_mut(i) else {
                return Err(Error::Model(format!("evidence names variable {i}, the model has {d}")));
            };
            if spin.abs() != 1 {
                return Err(Error::Model(format!("evidence for variable {i} is {spin}, expected -1 or +1")));
            }
            if slot.is_some_and(|old| old != spin) {
                return Err(Error::Model(format!("evidence gives variable {i} two values")));
            }
            *slot = Some(spin);
        }
        Ok(self)
    }

    /// The file's content, before evidence.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Number of variables in the file.
    pub fn variables(&self) -> usize {
        self.fixed.len()
    }

    /// Number of free spins.
    pub fn d(&self) -> usize {
        self.fixed.iter().filter(|s| s.is_none()).count()
    }

    /// Evidence per variable of the file.
    pub fn fixed(&self) -> &[Option<i8>] {
        &self.fixed
    }

    /// f over the free spins as a polynomial.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when a table holds a hard zero that evidence does not remove.
    pub fn polynomial(&self) -> Result<Polynomial> {
        match &self.source {
            Source::Polynomial(f) => f.condition(&self.fixed),
            Source::Factors(f) => f.condition(&self.fixed)?.to_polynomial(),
        }
    }

    /// f over the free spins as factor tables.
    ///
    /// # Errors
    /// None for models built by this library.
    pub fn factors(&self) -> Result<FactorModel> {
        match &self.source {
            Source::Polynomial(f) => Ok(FactorModel::from(&f.condition(&self.fixed)?)),
            Source::Factors(f) => f.condition(&self.fixed),
        }
    }

    /// Spreads per-free-spin values over all variables, `of_fixed` giving the fixed ones.
    pub fn expand<T>(&self, free: &[T], of_fixed: impl Fn(i8) -> T) -> Vec<T>
    where
        T: Clone,
    {
        let mut next = free.iter();
        let value = |slot: &Option<i8>| match slot {
            Some(spin) => Some(of_fixed(*spin)),
            None => next.next().cloned(),
        };
        self.fixed.iter().filter_map(value).collect()
    }

    /// File names of the free spins, in order.
    pub fn free_variables(&self) -> Vec<usize> {
        (0..self.fixed.len()).filter(|&i| self.fixed[i].is_none()).collect()
    }
}

impl<T: Into<Polynomial>> From<T> for Model {
    fn from(f: T) -> Self {
        Model::new(Source::Polynomial(f.into()))
    }
}
