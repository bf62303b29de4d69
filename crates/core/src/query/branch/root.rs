//! The whole: which bound is used on its parts.

use super::leaf::{Bounder, Known, Rule};
use crate::error::{Error, Result};
use crate::model::Source;
use crate::observer::Monitor;
use crate::run::cost::constants::BRANCH_MOST_SPINS;
use crate::settings::Method;
use std::time::Instant;

/// Expected fall of the upper bound per split of every leaf, in units of eps: what doubling the time of a bound must
/// gain to be worth it.
const GAIN: f64 = 0.5;

/// Share of the time left, and seconds, that a rule may take at the root.
const ROOT_SHARE: f64 = 0.1;
const ROOT_SECS: f64 = 2.0;

/// Spins up to which bounds with dense matrices are tried at the root, all of them or those that the combined bound leaves a chance.
const DENSE_SPINS: usize = 300;
const RIVAL_SPINS: usize = 150;

/// Spins between which, and edges per spin from which on, the first-order method of the combined bound is used on parts:
/// below, exact sums are near; on sparse graphs its dense matrices are a waste.
const COMBINED_SPINS: std::ops::RangeInclusive<usize> = 16..=BRANCH_MOST_SPINS;
const DENSITY: usize = 4;

impl Bounder<'_> {
    /// The whole: every rule that applies is tried, and the one that promises most is used below.
    pub(super) fn root(&mut self, monitor: &mut Monitor<'_>) -> Result<Known> {
        let mut best: Option<(f64, Rule)> = None;
        let mut known = Known::unknown();
        for rule in self.rules() {
            if best.is_some() && monitor.interrupted().is_some() {
                break;
            }
            let start = Instant::now();
            let limit = (ROOT_SHARE * self.settings.deadline.seconds_left()).min(ROOT_SECS);
            let found = match self.relaxed(self.model, rule, None, Some(limit)) {
                Ok(found) => found,
                Err(Error::NotApplicable(_) | Error::Memory { .. } | Error::Interrupted(_)) => continue,
                Err(error) => return Err(error),
            };
            let seconds = start.elapsed().as_secs_f64().max(1e-4);
            let lower = if found.lower.is_finite() { found.lower } else { known.lower };
            let score = found.upper - lower.min(found.upper) + GAIN * self.eps * seconds.log2();
            if best.is_none_or(|(top, _)| score < top) {
                best = Some((score, rule));
            }
            known.start = known.start.or(found.start);
            if found.upper < known.upper {
                (known.upper, known.proof, known.means) = (found.upper, found.proof, found.means);
            }
            if found.lower > known.lower {
                (known.lower, known.witness) = (found.lower, found.witness);
            }
        }
        let Some((_, rule)) = best else {
            return Err(Error::NotApplicable("no method bounds this model".into()));
        };
        self.rule = rule;
        Ok(known)
    }

    /// Rules that may apply.
    fn rules(&self) -> Vec<Rule> {
        let polynomial = match self.model.source() {
            Source::Polynomial(_) => true,
            Source::Factors(f) => f.is_binary() && !f.has_hard_zeros(),
        };
        let d = self.free.len();
        let combined = self.is_dense().then_some(Method::Combined);
        let relaxations: &[Method] = match combined {
            _ if !polynomial => &[],
            Some(_) if d > RIVAL_SPINS => &[Method::Quantum],
            _ if d <= DENSE_SPINS => &[Method::Quantum, Method::LogDet, Method::Trw],
            _ => &[],
        };
        let rules = relaxations.iter().copied().chain(combined).map(Rule::Relaxation);
        rules.chain([Rule::MiniBuckets]).collect()
    }

    /// Whether the combined bound takes some hundredths of a second.
    fn is_dense(&self) -> bool {
        let f = match self.model.source() {
            Source::Polynomial(_) if COMBINED_SPINS.contains(&self.free.len()) => {
                self.model.polynomial().ok()
            }
            _ => None,
        };
        let ising = f.as_ref().and_then(|f| f.as_ising());
        ising.is_some_and(|f| f.edges().len() > DENSITY * f.d())
    }
}
