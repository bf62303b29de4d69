//! What a verification gives.

use super::interval::Interval;
use crate::error::{Error, Result};

/// A proved bound on phi and on `eps log Z`. Only verification of a [`Certificate`](super::Certificate) makes one, and
/// sums over verified parts.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[must_use]
pub struct CertifiedBound {
    phi: f64,
    log_z: f64,
}

/// Which side of phi a bound is on: it decides how to round.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Side {
    Upper,
    Lower,
}

impl CertifiedBound {
    /// Wraps a bound on phi that verification has just derived; `entropy` is `eps log` of the number of joint states.
    pub(super) fn from_phi(phi: f64, entropy: Interval, side: Side) -> Result<Self> {
        let log_z = Interval::point(phi) + entropy;
        CertifiedBound { phi, log_z: if side == Side::Upper { log_z.hi } else { log_z.lo } }.checked()
    }

    /// As [`CertifiedBound::from_phi`] for a bound on `eps log Z`.
    pub(super) fn from_log_z(log_z: f64, entropy: Interval, side: Side) -> Result<Self> {
        let phi = Interval::point(log_z) - entropy;
        CertifiedBound { phi: if side == Side::Upper { phi.hi } else { phi.lo }, log_z }.checked()
    }

    /// A bound on `eps log Z` that was put together from certified ones of parts of the state space.
    pub(crate) fn of_whole(log_z: f64, eps: f64, cardinalities: &[u32], upper: bool) -> Option<Self> {
        let side = if upper { Side::Upper } else { Side::Lower };
        CertifiedBound::from_log_z(log_z, entropy_of(eps, cardinalities), side).ok()
    }

    fn checked(self) -> Result<Self> {
        if !(self.phi.is_finite() && self.log_z.is_finite()) {
            return Err(Error::Certificate("the bound is not finite".into()));
        }
        Ok(self)
    }

    /// The bound on phi.
    pub fn phi(self) -> f64 {
        self.phi
    }

    /// The bound on `eps log Z`, rounded up for an upper bound and down for a lower one.
    pub fn log_z(self) -> f64 {
        self.log_z
    }
}

/// `eps d log 2`.
pub(super) fn entropy(eps: f64, d: usize) -> Interval {
    Interval::point(eps) * Interval::point(d as f64) * Interval::LN_2
}

/// `eps sum_i log q_i`.
pub(super) fn entropy_of(eps: f64, cardinalities: &[u32]) -> Interval {
    let mut counts = std::collections::BTreeMap::new();
    cardinalities.iter().for_each(|q| *counts.entry(*q).or_insert(0usize) += 1);
    let log = |q: u32| if q == 2 { Interval::LN_2 } else { Interval::point(f64::from(q)).log() };
    let add = |sum, (&q, &count): (&u32, &usize)| sum + Interval::point(count as f64) * log(q);
    Interval::point(eps) * counts.iter().fold(Interval::ZERO, add)
}
