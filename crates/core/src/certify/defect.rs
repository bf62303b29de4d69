//! The polynomial that is left over: `delta = f + cuts + phi^T S phi - sum_k w_k f_k`.
//!
//! On the cube `delta(x) <= D = delta_0 + sum_{C != 0} |delta_C|`, so exact feasibility is never needed:
//! rounding and early stops only make D, and with it the bound, larger.

use super::interval::{Interval, add_up, sum_up, two_sum};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::linalg::Square;
use crate::model::{Polynomial, VarSet};
use std::collections::HashMap;

/// Coefficients of delta as intervals.
///
/// Monomials of degree at most two are named by pairs of indices of `z = (1, x)`; with dense storage they
/// live in a packed triangle and need no hashing. Every order of summation is reproducible.
pub(crate) struct Defect {
    d: usize,
    pairs: Pairs,
    higher: HashMap<VarSet, usize>,
    values: Vec<Interval>,
}

/// Where coefficients of degree at most two live.
enum Pairs {
    /// `z_a z_b`, a < b, at `b (b + 1) / 2 + a`; the constant at 0.
    Dense(Vec<Interval>),
    /// Place in `Defect::values`; the constant is `[0, 0]`.
    Sparse(HashMap<[u32; 2], usize>),
}

impl Defect {
    /// Zero, over `d` spins; `dense` when some matrix over (1, x) is stored anyway.
    pub(crate) fn new(d: usize, dense: bool) -> Self {
        let pairs = if dense {
            Pairs::Dense(vec![Interval::ZERO; (d + 1) * (d + 2) / 2])
        } else {
            Pairs::Sparse(HashMap::from([([0, 0], 0)]))
        };
        // Sparse storage keeps the constant first.
        Defect { d, pairs, higher: HashMap::new(), values: vec![Interval::ZERO] }
    }

    /// Adds `value` to the coefficient of `set`.
    pub(crate) fn add(&mut self, set: &VarSet, value: Interval) {
        let mut members = set.iter();
        match (members.next(), members.next(), members.next()) {
            (None, _, _) => self.add_pair(0, 0, value),
            (Some(i), None, _) => self.add_pair(0, i + 1, value),
            (Some(i), Some(j), None) => self.add_pair(i + 1, j + 1, value),
            _ => {
                let at = *self.higher.entry(set.clone()).or_insert(self.values.len());
                self.add_at(at, value);
            }
        }
    }

    /// Adds `value` to the coefficient of `z_a z_b`, z = (1, x), a <= b; a = b is the constant.
    pub(crate) fn add_pair(&mut self, a: usize, b: usize, value: Interval) {
        let (a, b) = if a == b { (0, 0) } else { (a, b) };
        match &mut self.pairs {
            Pairs::Dense(packed) => {
                let entry = &mut packed[b * (b + 1) / 2 + a];
                *entry = *entry + value;
            }
            Pairs::Sparse(index) => {
                let at = *index.entry([a as u32, b as u32]).or_insert(self.values.len());
                self.add_at(at, value);
            }
        }
    }

    fn add_at(&mut self, at: usize, value: Interval) {
        match self.values.get_mut(at) {
            Some(entry) => *entry = *entry + value,
            None => self.values.push(value),
        }
    }

    /// Adds `weight * p`.
    pub(crate) fn add_polynomial(&mut self, weight: Interval, p: &Polynomial) {
        let ising = p.pairwise_part();
        self.add_pair(0, 0, weight * Interval::point(ising.constant()));
        for (i, &h) in ising.fields().iter().enumerate().filter(|(_, h)| **h != 0.0) {
            self.add_pair(0, i + 1, weight * Interval::point(h));
        }
        for (i, j, v) in ising.triples() {
            self.add_pair(i + 1, j + 1, weight * Interval::point(v));
        }
        for (set, v) in p.terms() {
            self.add(set, weight * Interval::point(*v));
        }
    }

    /// Adds `weight * phi^T M phi` for a symmetric matrix.
    ///
    /// **Cost** O(n^2), without hashing for (1, x).
    pub(crate) fn add_quadratic(&mut self, weight: Interval, features: &Features, m: &Square) -> Result<()> {
        let n = features.len();
        check_features(features, self.d)?;
        if m.n() != n {
            return Err(Error::Certificate(format!("a matrix of size {} for {n} features", m.n())));
        }
        if !features.is_linear() {
            return self.add_by_classes(weight, features, m);
        }
        let mut trace = ExactSum::default();
        for b in 0..n {
            let column = m.column(b);
            trace.add(column[b]);
            for (a, &v) in column[..b].iter().enumerate().filter(|(_, v)| **v != 0.0) {
                self.add_pair(a, b, weight * Interval::point(2.0 * v));
            }
        }
        self.add_pair(0, 0, weight * trace.total());
        Ok(())
    }

    fn add_by_classes(&mut self, weight: Interval, features: &Features, m: &Square) -> Result<()> {
        let classes = features.classes();
        let mut sums = vec![ExactSum::default(); classes.len()];
        for (&class, &v) in classes.of().iter().zip(m.data()).filter(|(_, v)| **v != 0.0) {
            sums[class as usize].add(v);
        }
        for (set, sum) in classes.sets().iter().zip(&sums) {
            self.add(set, weight * sum.total());
        }
        Ok(())
    }

    /// D, rounded up; infinite or NaN when some coefficient is.
    pub(crate) fn bound_up(&self) -> f64 {
        let (constant, packed) = match &self.pairs {
            Pairs::Dense(packed) => (packed[0], &packed[1..]),
            Pairs::Sparse(_) => (self.values[0], &[][..]),
        };
        let rest = packed.iter().chain(&self.values[1..]);
        add_up(constant.hi, sum_up(rest.map(|v| v.magnitude())))
    }
}

/// `sum_A |theta_A|`, the constant included, in plain floating point and without naming any set.
pub(crate) fn magnitude(p: &Polynomial) -> f64 {
    let ising = p.pairwise_part();
    let pairwise = ising.fields().iter().chain(ising.couplings()).map(|v| v.abs()).sum::<f64>();
    ising.constant().abs() + pairwise + p.terms().iter().map(|(_, v)| v.abs()).sum::<f64>()
}

/// Rejects features that name a spin the model does not have.
pub(crate) fn check_features(features: &Features, d: usize) -> Result<()> {
    match features.sets().iter().find(|set| set.largest() >= Some(d)) {
        Some(set) => Err(Error::Certificate(format!("feature {set} is out of range for d = {d}"))),
        None => Ok(()),
    }
}

/// A sum of floats with its rounding errors kept: accurate to one float unless terms cancel by 2^50.
#[derive(Clone, Copy, Default)]
pub(crate) struct ExactSum {
    sum: f64,
    errors: f64,
    absolute_errors: f64,
    count: f64,
}

impl ExactSum {
    /// Adds one number.
    pub(crate) fn add(&mut self, x: f64) {
        let (sum, error) = two_sum(self.sum, x);
        self.sum = sum;
        self.errors += error;
        self.absolute_errors += error.abs();
        self.count += 1.0;
    }

    /// `sum + errors` is exact but for the rounding of `errors`, at most `count u` times their
    /// absolute sum; doubled to cover the rounding of that sum itself.
    pub(crate) fn total(&self) -> Interval {
        let radius = (self.count * f64::EPSILON * self.absolute_errors).next_up();
        let errors =
            if self.absolute_errors == 0.0 { Interval::ZERO } else { Interval::around(self.errors, radius) };
        Interval::point(self.sum) + errors
    }
}
