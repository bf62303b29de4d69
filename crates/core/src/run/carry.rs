//! What a solution at another temperature is worth here.
//!
//! The identity behind a certificate, `f + slack = sum_k w_k f_k + defect`, does not know the temperature, and neither does a witness: verified
//! again at this temperature it is a bound at once, and near the other temperature a good one.

use crate::certify::{Certificate, CertifiedBound};
use crate::error::Result;
use crate::model::{FactorModel, Polynomial};
use crate::solution::{Solution, StopReason};

/// The proofs of an earlier solution with the bounds that they give here.
pub(super) struct Carried {
    certificate: Certificate,
    upper: Option<CertifiedBound>,
    lower: Option<CertifiedBound>,
}

/// Solves, and takes over what `earlier` proves here and the solve does not. Under a time limit that is found out first, for the solve to know
/// what is left; otherwise only after a solve that did not converge, since a proof can take as long to verify as a new one to find.
pub(super) fn solve_beside(
    earlier: Option<&Solution>,
    is_limited: bool,
    prove: impl Fn(&Solution) -> Option<Carried>,
    solve: impl FnOnce() -> Result<Solution>,
) -> Result<Solution> {
    let before = earlier.filter(|_| is_limited).and_then(&prove);
    let mut solution = solve()?;
    let is_open = solution.stop != StopReason::Converged;
    let carried = before.or_else(|| earlier.filter(|_| !is_limited && is_open).and_then(&prove));
    carried.into_iter().for_each(|carried| carried.improve(&mut solution));
    Ok(solution)
}

impl Carried {
    /// What `earlier` proves of the polynomial f at `eps`.
    pub(super) fn of(earlier: &Solution, f: &Polynomial, eps: f64) -> Option<Self> {
        let certificate = Certificate { eps, ..earlier.certificate.clone()? };
        let upper = earlier.upper.and_then(|_| certificate.verify(f).ok());
        let lower = earlier.lower.and_then(|_| certificate.verify_lower(f).ok());
        Some(Carried { certificate, upper, lower })
    }

    /// What `earlier` proves of tables at `eps`.
    pub(super) fn of_tables(earlier: &Solution, tables: &FactorModel, eps: f64) -> Option<Self> {
        let certificate = Certificate { eps, ..earlier.certificate.clone()? };
        let upper = earlier.upper.and_then(|_| certificate.verify_tables(tables).ok());
        let lower = earlier.lower.and_then(|_| certificate.verify_lower_tables(tables).ok());
        Some(Carried { certificate, upper, lower })
    }

    /// Gives `solution` the sides that are better here, with their proofs.
    pub(super) fn improve(self, solution: &mut Solution) {
        let Carried { certificate: Certificate { eps, slack, components, witness }, upper, lower } = self;
        let empty = || Certificate { eps, slack: Default::default(), components: Vec::new(), witness: None };
        if let Some(upper) = upper.filter(|new| solution.upper.is_none_or(|old| new.phi() < old.phi())) {
            let gain = solution.upper.map_or(0.0, |old| old.phi() - upper.phi());
            solution.relaxation_gap = solution.relaxation_gap.map(|gap| (gap - gain).max(0.0));
            solution.upper = Some(upper);
            let own = solution.certificate.get_or_insert_with(empty);
            (own.slack, own.components) = (slack, components);
        }
        if let Some(lower) = lower.filter(|new| solution.lower.is_none_or(|old| new.phi() > old.phi())) {
            solution.lower = Some(lower);
            solution.certificate.get_or_insert_with(empty).witness = witness;
        }
    }
}
