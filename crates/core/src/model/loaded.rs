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

/// How the states of a model's variables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Alphabet {
    /// -1 and +1.
    Spins,
    /// 0 and 1: QUBOs, dimod's BINARY.
    Bits,
    /// Numbers of states, from 0.
    States,
}

impl Alphabet {
    /// A state as it is written.
    pub fn letter(self, state: u32) -> i64 {
        match self {
            Alphabet::Spins => 2 * i64::from(state) - 1,
            Alphabet::Bits | Alphabet::States => i64::from(state),
        }
    }
}

/// A model with its evidence: what every command works on.
///
/// Fixed spins leave `d` and the measure. [`Model::polynomial`] and [`Model::factors`] speak of
/// the free spins, numbered in order; [`Model::expand`] goes back to the file's variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    source: Source,
    fixed: Vec<Option<u32>>,
    /// How values read in the file's own terms.
    pub units: Units,
    /// How states are written in the file's own terms.
    pub alphabet: Alphabet,
    /// What the reader wants the user to know (summed duplicates, trailing tokens).
    pub warnings: Vec<String>,
}

impl Model {
    /// A model without evidence.
    pub fn new(source: Source) -> Self {
        let (d, alphabet) = match &source {
            Source::Polynomial(f) => (f.d(), Alphabet::Spins),
            Source::Factors(f) => (f.d(), Alphabet::States),
        };
        Model { source, fixed: vec![None; d], units: Units::Plain, alphabet, warnings: Vec::new() }
    }

    /// Fixes spins, `(variable, -1 | +1)`. Fixing one twice to the same value is allowed.
    ///
    /// # Errors
    /// An unknown variable, a value other than -1 and +1, two values for one variable, or a variable
    /// that is no spin.
    pub fn with_evidence(self, evidence: &[(usize, i8)]) -> Result<Self> {
        let state = |&(i, spin): &(usize, i8)| match spin {
            _ if i < self.fixed.len() && self.cardinality(i) != 2 => Err(Error::Model(format!(
                "evidence gives variable {i} a spin, but it has {} states: name a state",
                self.cardinality(i)
            ))),
            1 => Ok((i, 1)),
            -1 => Ok((i, 0)),
            _ => Err(Error::Model(format!("evidence for variable {i} is {spin}, expected -1 or +1"))),
        };
        let states = evidence.iter().map(state).collect::<Result<Vec<_>>>()?;
        self.with_states(&states)
    }

    /// Fixes states, `(variable, state)`. Fixing one twice to the same state is allowed.
    ///
    /// # Errors
    /// An unknown variable, a state it does not have, or two states for one variable.
    pub fn with_states(mut self, evidence: &[(usize, u32)]) -> Result<Self> {
        for &(i, state) in evidence {
            let d = self.fixed.len();
            if i >= d {
                return Err(Error::Model(format!("evidence names variable {i}, the model has {d}")));
            }
            let q = self.cardinality(i);
            if state >= q {
                return Err(Error::Model(format!(
                    "evidence for variable {i} is state {state}, expected 0 to {}",
                    q - 1
                )));
            }
            if self.fixed[i].is_some_and(|old| old != state) {
                return Err(Error::Model(format!("evidence gives variable {i} two values")));
            }
            self.fixed[i] = Some(state);
        }
        Ok(self)
    }

    /// Number of states of variable `i` of the file.
    pub fn cardinality(&self, i: usize) -> u32 {
        match &self.source {
            Source::Polynomial(_) => 2,
            Source::Factors(f) => f.cardinalities()[i],
        }
    }

    /// Whether every variable of the file has two states.
    pub fn is_binary(&self) -> bool {
        match &self.source {
            Source::Polynomial(_) => true,
            Source::Factors(f) => f.is_binary(),
        }
    }

    /// Number of states of every free variable, in order.
    pub fn free_cardinalities(&self) -> Vec<u32> {
        self.free_variables().into_iter().map(|i| self.cardinality(i)).collect()
    }

    /// The file's content, before evidence.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Number of variables in the file.
    pub fn variables(&self) -> usize {
        self.fixed.len()
    }

    /// Number of free variables.
    pub fn d(&self) -> usize {
        self.fixed.iter().filter(|s| s.is_none()).count()
    }

    /// The state evidence gives each variable of the file; state 1 of two is spin +1.
    pub fn fixed(&self) -> &[Option<u32>] {
        &self.fixed
    }

    fn fixed_spins(&self) -> Vec<Option<i8>> {
        self.fixed.iter().map(|state| state.map(|s| if s == 1 { 1 } else { -1 })).collect()
    }

    /// f over the free spins as a polynomial.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when a table holds a hard zero that evidence does not remove, or a free
    /// variable has other than two states.
    pub fn polynomial(&self) -> Result<Polynomial> {
        match &self.source {
            Source::Polynomial(f) => f.condition(&self.fixed_spins()),
            Source::Factors(f) => f.condition(&self.fixed)?.to_polynomial(),
        }
    }

    /// f over the free spins as factor tables.
    ///
    /// # Errors
    /// None for models built by this library.
    pub fn factors(&self) -> Result<FactorModel> {
        match &self.source {
            Source::Polynomial(f) => Ok(FactorModel::from(&f.condition(&self.fixed_spins())?)),
            Source::Factors(f) => f.condition(&self.fixed),
        }
    }

    /// Spreads per-free-variable values over all variables, `of_fixed` giving those of fixed states.
    pub fn expand<T>(&self, free: &[T], of_fixed: impl Fn(u32) -> T) -> Vec<T>
    where
        T: Clone,
    {
        let mut next = free.iter();
        let value = |slot: &Option<u32>| match slot {
            Some(state) => Some(of_fixed(*state)),
            None => next.next().cloned(),
        };
        self.fixed.iter().filter_map(value).collect()
    }

    /// A joint state of the free variables as the file writes it, over all variables.
    pub fn spell(&self, free: &[u32]) -> Vec<i64> {
        self.expand(free, |state| state).into_iter().map(|state| self.alphabet.letter(state)).collect()
    }

    /// Laws of the free variables' states spread over all variables; a fixed one has its state with certainty.
    pub fn state_laws(&self, free: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut laws = self.expand(free, |_| Vec::new());
        for (i, state) in self.fixed.iter().enumerate() {
            if let Some(state) = *state {
                laws[i] = vec![0.0; self.cardinality(i) as usize];
                laws[i][state as usize] = 1.0;
            }
        }
        laws
    }

    /// File names of the free variables, in order.
    pub fn free_variables(&self) -> Vec<usize> {
        (0..self.fixed.len()).filter(|&i| self.fixed[i].is_none()).collect()
    }
}

impl<T: Into<Polynomial>> From<T> for Model {
    fn from(f: T) -> Self {
        Model::new(Source::Polynomial(f.into()))
    }
}
