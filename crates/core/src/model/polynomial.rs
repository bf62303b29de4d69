//! The general multilinear polynomial on the cube.

use super::collect::Collector;
use super::ising::{Ising, check_permutation, check_signs};
use super::varset::VarSet;
use crate::error::{Error, Result};
use std::collections::HashSet;

/// A multilinear polynomial `f(x) = sum_A theta_A x^A` of any degree, x in {-1,+1}^d.
///
/// It is a pairwise part ([`Ising`]) plus terms of arity three and more, so that pairwise
/// methods read flat arrays and find out in O(1) whether they apply.
///
/// A polynomial made from factor tables by taking logarithms knows the model only up to
/// rounding: [`Polynomial::uncertainty`] bounds `max_x |f_true(x) - f(x)|` and every certified
/// bound adds it.
///
/// ```
/// use zbound::{Ising, Polynomial, VarSet};
/// let pairs = Ising::new(3, &[0.0; 3], &[(0, 1, 1.0)])?;
/// let f = Polynomial::new(pairs, vec![(VarSet::from_iter([0, 1, 2]), -0.5)])?;
/// assert_eq!(f.value(&[1, 1, -1]), 1.5);
/// assert!(f.as_ising().is_none());
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    ising: Ising,
    terms: Vec<(VarSet, f64)>,
    uncertainty: f64,
}

impl Polynomial {
    /// Pairwise part plus terms of arity three or more.
    ///
    /// # Errors
    /// A term of arity below three, out of range, repeated or not finite; the message names it.
    pub fn new(ising: Ising, mut terms: Vec<(VarSet, f64)>) -> Result<Self> {
        let d = ising.d();
        let mut seen = HashSet::new();
        for (set, value) in &terms {
            if set.len() < 3 {
                return Err(Error::Model(format!("term {set} has fewer than three variables")));
            }
            if set.largest() >= Some(d) {
                return Err(Error::Model(format!("term {set} is out of range for d = {d}")));
            }
            if !value.is_finite() {
                return Err(Error::Model(format!("term {set} is {value}, expected a finite number")));
            }
            if !seen.insert(set) {
                return Err(Error::Model(format!("term {set} is given twice")));
            }
        }
        terms.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Polynomial { ising, terms, uncertainty: 0.0 })
    }

    /// Builds from coefficients of any arity, summing repeats.
    ///
    /// # Errors
    /// Out-of-range sets, or sums that are not finite.
    pub fn from_coefficients(
        d: usize,
        coefficients: impl IntoIterator<Item = (VarSet, f64)>,
    ) -> Result<Self> {
        let mut sums = Collector::new(d);
        let mut members = Vec::new();
        for (set, value) in coefficients {
            members.clear();
            members.extend(set.iter());
            sums.add(&members, value)?;
        }
        sums.finish()
    }

    /// The same polynomial with `max_x |f_true - f|` set to `uncertainty`.
    ///
    /// # Errors
    /// A negative or non-finite radius.
    pub fn with_uncertainty(mut self, uncertainty: f64) -> Result<Self> {
        if !(uncertainty >= 0.0 && uncertainty.is_finite()) {
            return Err(Error::Model(format!("uncertainty {uncertainty} is not a finite number >= 0")));
        }
        self.uncertainty = uncertainty;
        Ok(self)
    }

    /// Number of spins.
    pub fn d(&self) -> usize {
        self.ising.d()
    }

    /// The part of arity at most two.
    pub fn pairwise_part(&self) -> &Ising {
        &self.ising
    }

    /// The whole polynomial as a pairwise model, when it has no higher term.
    pub fn as_ising(&self) -> Option<&Ising> {
        self.terms.is_empty().then_some(&self.ising)
    }

    /// Terms of arity three and more, in the order of [`VarSet`].
    pub fn terms(&self) -> &[(VarSet, f64)] {
        &self.terms
    }

    /// Bound on `max_x |f_true(x) - f(x)|`.
    pub fn uncertainty(&self) -> f64 {
        self.uncertainty
    }

    /// Every stored coefficient `(A, theta_A)`: constant, fields, couplings, higher terms.
    pub fn coefficients(&self) -> impl Iterator<Item = (VarSet, f64)> + '_ {
        std::iter::once((VarSet::EMPTY, self.ising.constant()))
            .chain(self.ising.fields().iter().enumerate().map(|(i, &h)| (VarSet::singleton(i), h)))
            .chain(self.ising.triples().map(|(i, j, v)| (VarSet::pair(i, j), v)))
            .chain(self.terms.iter().cloned())
    }

    /// Calls `visit` with the members and the value of every coefficient, in the order of
    /// [`Polynomial::coefficients`] but without naming sets, whose size grows with d.
    pub(crate) fn visit(&self, mut visit: impl FnMut(&[usize], f64)) {
        visit(&[], self.ising.constant());
        self.ising.fields().iter().enumerate().for_each(|(i, &h)| visit(&[i], h));
        self.ising.triples().for_each(|(i, j, v)| visit(&[i, j], v));
        let mut members = Vec::new();
        for (set, v) in &self.terms {
            members.clear();
            members.extend(set.iter());
            visit(&members, *v);
        }
    }

    /// `sum_{A != {}} |theta_A|`, the scale of the model.
    pub fn l1_norm(&self) -> f64 {
        let pairwise = self.ising.fields().iter().chain(self.ising.couplings());
        pairwise.chain(self.terms.iter().map(|(_, v)| v)).map(|v| v.abs()).sum()
    }

    /// `f(x)` at spins `x` in {-1, +1}.
    pub fn value(&self, x: &[i8]) -> f64 {
        let higher: f64 = self.terms.iter().map(|(set, v)| v * f64::from(set.monomial(x))).sum();
        self.ising.value(x) + higher
    }

    /// Fixes spins: `fixed[i]` is `Some(+1)`, `Some(-1)` or `None` for a free spin. Free spins
    /// are renumbered in order; see [`crate::Model`] for keeping track of them.
    ///
    /// # Errors
    /// The wrong number of entries, or values other than -1 and +1.
    pub fn condition(&self, fixed: &[Option<i8>]) -> Result<Self> {
        let d = self.d();
        if fixed.len() != d || fixed.iter().flatten().any(|s| s.abs() != 1) {
            return Err(Error::Model(format!("expected {d} entries, each free, -1 or +1")));
        }
        // Without evidence nothing changes, and large models need not pass through sets.
        if fixed.iter().all(Option::is_none) {
            return Ok(self.clone());
        }
        let mut new_name = vec![0; d];
        let mut free = 0;
        for i in 0..d {
            new_name[i] = free;
            free += usize::from(fixed[i].is_none());
        }
        let mut rounding = 0.0;
        let coefficients: Vec<_> = self
            .coefficients()
            .map(|(set, value)| {
                let sign: i8 = set.iter().filter_map(|i| fixed[i]).product();
                rounding += value.abs();
                let kept = set.iter().filter(|&i| fixed[i].is_none()).map(|i| new_name[i]);
                (VarSet::from_iter(kept), value * f64::from(sign))
            })
            .collect();
        // Summing at most N coefficients in any order errs by at most N u sum |theta| per point.
        let count = coefficients.len() as f64;
        let uncertainty = (self.uncertainty + 2.0 * count * f64::EPSILON * rounding).next_up();
        Self::from_coefficients(free, coefficients)?.with_uncertainty(uncertainty)
    }

    /// The polynomial in the spins `x'_i = signs_i x_i`.
    ///
    /// # Errors
    /// As [`Ising::flip`].
    pub fn flip(&self, signs: &[i8]) -> Result<Self> {
        check_signs(signs, self.d())?;
        let flipped = self.terms.iter().map(|(s, v)| (s.clone(), v * f64::from(s.monomial(signs))));
        Polynomial::new(self.ising.flip(signs)?, flipped.collect())?.with_uncertainty(self.uncertainty)
    }

    /// The polynomial with spin `i` renamed `permutation[i]`.
    ///
    /// # Errors
    /// As [`Ising::relabel`].
    pub fn relabel(&self, permutation: &[usize]) -> Result<Self> {
        check_permutation(permutation, self.d())?;
        let renamed = self.terms.iter().map(|(s, v)| (s.iter().map(|i| permutation[i]).collect(), *v));
        Polynomial::new(self.ising.relabel(permutation)?, renamed.collect())?
            .with_uncertainty(self.uncertainty)
    }

    /// The terms that live inside `spins`, renumbered in the order given: the sub-model on them.
    /// The constant is kept; terms that touch any other spin are dropped.
    ///
    /// # Errors
    /// Repeated or out-of-range spins.
    pub fn sub_model(&self, spins: &[usize]) -> Result<Self> {
        let mut new_name = vec![None; self.d()];
        for (k, &i) in spins.iter().enumerate() {
            if i >= self.d() || new_name[i].replace(k).is_some() {
                return Err(Error::Model(format!("spin {i} is repeated or out of range in the sub-model")));
            }
        }
        let inside = self.coefficients().filter_map(|(set, value)| {
            let renamed: Option<Vec<usize>> = set.iter().map(|i| new_name[i]).collect();
            Some((renamed?.into_iter().collect(), value))
        });
        Self::from_coefficients(spins.len(), inside)?.with_uncertainty(self.uncertainty)
    }
}

impl From<Ising> for Polynomial {
    fn from(ising: Ising) -> Self {
        Polynomial { ising, terms: Vec::new(), uncertainty: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cubic() -> Polynomial {
        let pairs = Ising::new(4, &[0.5, -1.0, 0.25, 2.0], &[(0, 1, 1.0), (2, 3, -0.5)]).unwrap();
        let pairs = pairs.with_constant(0.125).unwrap();
        Polynomial::new(pairs, vec![(VarSet::from_iter([0, 1, 3]), 0.75)]).unwrap()
    }

    #[test]
    fn conditioning_agrees_with_evaluation() {
        let f = cubic();
        let g = f.condition(&[None, Some(-1), None, Some(1)]).unwrap();
        assert_eq!(g.d(), 2);
        for (a, b) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
            assert_eq!(g.value(&[a, b]), f.value(&[a, -1, b, 1]));
        }
    }

    #[test]
    fn sub_model_keeps_inner_terms_only() {
        let g = cubic().sub_model(&[3, 2]).unwrap();
        assert_eq!(g.value(&[1, 1]), 0.125 + 0.25 + 2.0 - 0.5);
        assert!(g.as_ising().is_some());
    }

    #[test]
    fn bad_terms_are_refused_by_name() {
        let base = Ising::new(3, &[0.0; 3], &[]).unwrap();
        let refused =
            |terms: Vec<(VarSet, f64)>| Polynomial::new(base.clone(), terms).unwrap_err().to_string();
        let cube = VarSet::from_iter([0, 1, 2]);
        assert!(refused(vec![(VarSet::pair(0, 1), 1.0)]).contains("fewer"));
        assert!(refused(vec![(VarSet::from_iter([0, 1, 3]), 1.0)]).contains("range"));
        assert!(refused(vec![(cube.clone(), f64::NAN)]).contains("NaN"));
        assert!(refused(vec![(cube.clone(), 1.0), (cube, 1.0)]).contains("twice"));
    }
}
