//! Cycle inequalities with multipliers: which ones are present, and what they add to the augmented Lagrangian.
//!
//! A cut `g_c(m) = k - 2 + <c, m> >= 0` enters as `-(max(0, nu - rho g)^2 - nu^2) / (2 rho)`; at the end of a round its
//! multiplier becomes `max(0, nu - rho g)`, which is nonnegative at every point and so always proves something.

use super::{Cycle, Pairs};
use std::collections::HashSet;

/// One cut that is present.
pub(crate) struct Priced {
    pub(crate) cycle: Cycle,
    /// Numbers of its sides in [`Pairs`], with their signs.
    sides: Vec<(u32, f64)>,
    /// Multiplier.
    nu: f64,
}

impl Priced {
    /// Its left side at moments by pair.
    pub(crate) fn slack(&self, x: &[f64]) -> f64 {
        self.cycle.constant() + self.sides.iter().map(|&(p, s)| s * x[p as usize]).sum::<f64>()
    }

    /// `out += value c`.
    pub(crate) fn add(&self, value: f64, out: &mut [f64]) {
        self.sides.iter().for_each(|&(p, s)| out[p as usize] += value * s);
    }
}

/// The cuts that are present.
pub(crate) struct Augmented {
    pub(crate) list: Vec<Priced>,
    /// rho.
    pub(crate) penalty: f64,
}

/// Cuts with less slack than this stay although their multiplier is zero: moments move by about as much in a round.
const NEARLY_TIGHT: f64 = 0.02;

impl Augmented {
    pub(crate) fn new() -> Self {
        Augmented { list: Vec::new(), penalty: 1.0 }
    }

    /// What the cuts add to the objective; their coefficients join `out`.
    pub(crate) fn evaluate(&self, x: &[f64], out: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for cut in &self.list {
            let y = self.multiplier(cut, x);
            if y > 0.0 {
                cut.add(y, out);
            }
            total -= (y - cut.nu) * (y + cut.nu);
        }
        0.5 * total / self.penalty
    }

    /// The multiplier that the moments call for.
    pub(crate) fn multiplier(&self, cut: &Priced, x: &[f64]) -> f64 {
        (cut.nu - self.penalty * cut.slack(x)).max(0.0)
    }

    /// Takes over the multipliers and forgets cuts that are slack; returns the largest violation.
    pub(crate) fn update(&mut self, x: &[f64]) -> f64 {
        let mut violation = 0.0f64;
        let penalty = self.penalty;
        self.list.retain_mut(|cut| {
            let slack = cut.slack(x);
            violation = violation.max(-slack);
            cut.nu = (cut.nu - penalty * slack).max(0.0);
            cut.nu > 0.0 || slack < NEARLY_TIGHT
        });
        violation
    }

    /// Adds those of the violated cuts, the worst first, that are not present, at most `count`; returns the largest
    /// violation among them.
    pub(crate) fn extend(
        &mut self,
        found: impl IntoIterator<Item = (f64, Cycle)>,
        count: usize,
        pairs: &mut Pairs,
    ) -> f64 {
        let present: HashSet<&Cycle> = self.list.iter().map(|cut| &cut.cycle).collect();
        let new = found.into_iter().filter(|(_, cycle)| !present.contains(cycle)).take(count);
        let new: Vec<(f64, Cycle)> = new.collect();
        let worst = new.iter().fold(0.0f64, |worst, (slack, _)| worst.max(-slack));
        new.into_iter().for_each(|(_, cycle)| self.admit(cycle, 0.0, pairs));
        worst
    }

    /// Adds a cut with its multiplier.
    pub(crate) fn admit(&mut self, cycle: Cycle, nu: f64, pairs: &mut Pairs) {
        let sides = cycle.sides().map(|(ends, sign)| (pairs.number(ends), sign)).collect();
        self.list.push(Priced { cycle, sides, nu });
    }

    /// The cuts with a multiplier.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = (&Cycle, f64)> {
        self.list.iter().filter(|cut| cut.nu > 0.0).map(|cut| (&cut.cycle, cut.nu))
    }
}
