//! Where a solve ended, as the start of another: the same model with one spin fixed.

use super::factor::Factor;
use crate::linalg::dot;
use crate::relax::combined::gaussian::Gaussian;
use crate::relax::cuts::augmented::{Augmented, Priced};
use crate::relax::cuts::{Cycle, Pairs};
use std::collections::BTreeMap;

/// The moments and the cuts of a point.
#[derive(Clone)]
pub(crate) struct Start {
    pub(super) factor: Factor,
    pub(super) gaussian: Gaussian,
    /// Cuts with their multipliers.
    cuts: Vec<(Cycle, f64)>,
}

/// A spin that is all but certain to be the other one leaves no direction to turn to.
const LEAST_NORM: f64 = 1e-3;

impl Start {
    pub(super) fn new(factor: Factor, gaussian: Gaussian, cuts: &Augmented) -> Self {
        let cuts = cuts.list.iter().filter(|cut| cut.nu > 0.0);
        Start { factor, gaussian, cuts: cuts.map(|cut| (cut.cycle.clone(), cut.nu)).collect() }
    }

    /// Number of spins.
    pub(crate) fn d(&self) -> usize {
        self.factor.n - 1
    }

    /// Bytes that it takes, about: a cut of three sides is four words beside its header.
    pub(crate) fn bytes(&self) -> u64 {
        8 * self.factor.rows.len() as u64 + 100 * self.cuts.len() as u64
    }

    /// The point with spin `v` fixed to `s`: its vertex becomes that of the constant, or the opposite of it.
    ///
    /// Moments between the other spins stay as they are, and their means become those with the mean direction of the
    /// two vertices. Cuts stay cuts; those that held both vertices are gone.
    pub(crate) fn fixed(&self, v: usize, s: i8) -> Self {
        let (gone, sign) = (v as u32 + 1, f64::from(s));
        let mut cuts: BTreeMap<Cycle, f64> = BTreeMap::new();
        for (cycle, nu) in &self.cuts {
            if let Some(cycle) = cycle.fixed(gone, s) {
                *cuts.entry(cycle).or_insert(0.0) += nu;
            }
        }
        let (factor, gaussian) = (self.turned(v + 1, sign), self.gaussian.clone());
        Start { factor, gaussian, cuts: cuts.into_iter().collect() }
    }

    /// The factor without row `gone`, turned so that the mean of that row and the first becomes the first.
    fn turned(&self, gone: usize, sign: f64) -> Factor {
        let Factor { n, rank, .. } = self.factor;
        let mut axis: Vec<f64> = self.factor.row(gone).iter().map(|v| sign * v).collect();
        axis[0] += 1.0;
        let norm = dot(&axis, &axis).sqrt();
        // The reflection that takes the unit vector u to the first one has the axis u - e.
        axis.iter_mut().for_each(|v| *v /= norm);
        axis[0] -= 1.0;
        let square = dot(&axis, &axis);
        let is_needed = norm > LEAST_NORM && square > 0.0;
        let mut rows = Vec::with_capacity((n - 1) * rank);
        for k in (0..n).filter(|k| *k != gone) {
            let row = self.factor.row(k);
            let along = if is_needed { 2.0 * dot(row, &axis) / square } else { 0.0 };
            rows.extend(row.iter().zip(&axis).map(|(v, a)| v - along * a));
        }
        let mut factor = Factor { n: n - 1, rank, rows };
        factor.normalize();
        factor
    }

    /// The cuts, their sides numbered.
    pub(super) fn cuts(&self, pairs: &mut Pairs) -> Vec<Priced> {
        self.cuts.iter().map(|(cycle, nu)| Priced::new(cycle.clone(), *nu, pairs)).collect()
    }
}
