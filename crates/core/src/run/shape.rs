//! The methods that pay for a kind of model, in order.

use super::job::Job;
use crate::error::Result;
use crate::settings::Method;

/// Edges per spin above which a graph counts as dense: a tree carries d - 1 of the m edges, so that bounds made of
/// trees work with couplings m/(d - 1) times as large.
const DENSITY: usize = 4;

/// Spins up to which the combined bound is worth its time: dense and sparse graphs.
const COMBINED_SPINS: (usize, usize) = (2000, 400);

/// Spins up to which log-det is worth its factorisations.
const LOGDET_SPINS: usize = 250;

/// Spins up to which a quantum bound is a matter of a tenth of a second.
const QUICK_SPINS: usize = 300;

/// Features of a model with larger terms up to which its quantum bound takes seconds.
const TERM_FEATURES: usize = 400;

/// Spins up to which splitting a dense model gains more than a better bound of the whole: at 60, Gaussian, the width falls
/// from 28 to 1 in a minute.
const BRANCH_SPINS: usize = 120;

/// Spins from which sparse models leave time for little more than mini-buckets: at 10^5 a pass takes half a second and
/// twenty of them are worth more than any other method's first bound.
const LARGE_SPINS: usize = 20_000;

/// What kind of model it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Pairwise with few edges per spin.
    Sparse,
    /// Pairwise with many.
    Dense,
    /// Larger terms, hard zeros, or more than two states.
    Tables,
}

/// What the choice of methods looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    kind: Kind,
    d: usize,
    /// Features of the smallest moment matrix, when f is a polynomial.
    features: Option<usize>,
}

impl Shape {
    pub(super) fn of(job: &Job<'_>) -> Result<Self> {
        let d = job.model.d();
        let Some(f) = job.polynomial()? else { return Ok(Shape { kind: Kind::Tables, d, features: None }) };
        let kind = match f.as_ising() {
            Some(f) if f.edges().len() <= DENSITY * d => Kind::Sparse,
            Some(_) => Kind::Dense,
            None => Kind::Tables,
        };
        Ok(Shape { kind, d, features: Some(1 + d + f.terms().len()) })
    }

    /// Something of each side within a fraction of a second.
    pub(super) fn quick(self) -> Vec<Method> {
        match self.kind {
            // Both sides in the time that one of the others takes to begin.
            Kind::Sparse if self.d > LARGE_SPINS => vec![Method::Trw],
            Kind::Sparse => vec![Method::MeanField, Method::Trw],
            Kind::Tables => vec![Method::MeanField, Method::Wmb],
            Kind::Dense if self.d <= QUICK_SPINS => vec![Method::MeanField, Method::Quantum],
            Kind::Dense => vec![Method::MeanField, Method::Trw],
        }
    }

    /// The methods that pay, in order.
    pub(super) fn steps(self) -> Vec<Step> {
        let d = self.d;
        let steps = match self.kind {
            Kind::Sparse if d > LARGE_SPINS => {
                vec![
                    (true, (Method::Bethe, 0.3)),
                    (true, (Method::Wmb, 0.85)),
                    (true, (Method::MeanField, 1.0)),
                ]
            }
            Kind::Sparse => vec![
                (true, (Method::Wmb, 0.4)),
                (true, (Method::Bethe, 0.2)),
                (true, (Method::MeanField, 0.25)),
                (d > COMBINED_SPINS.1, (Method::Trw, 0.2)),
                (d <= COMBINED_SPINS.1, (Method::Combined, 0.6)),
                (true, (Method::Wmb, 1.0)),
            ],
            Kind::Dense if d <= BRANCH_SPINS => vec![
                (true, (Method::Bethe, 0.15)),
                (true, (Method::MeanField, 0.05)),
                (true, (Method::Combined, 0.1)),
                (true, (Method::Branch, 1.0)),
            ],
            Kind::Dense => vec![
                (true, (Method::Quantum, 0.4)),
                (true, (Method::MeanField, 0.15)),
                (true, (Method::Bethe, 0.15)),
                (d > COMBINED_SPINS.0, (Method::Trw, 0.2)),
                (d <= LOGDET_SPINS, (Method::LogDet, 0.3)),
                (d <= COMBINED_SPINS.0, (Method::Combined, 1.0)),
            ],
            Kind::Tables => vec![
                (true, (Method::Wmb, 0.5)),
                (true, (Method::MeanField, 0.3)),
                (self.features.is_some_and(|n| n <= TERM_FEATURES), (Method::Quantum, 0.4)),
                (true, (Method::Wmb, 1.0)),
            ],
        };
        steps.into_iter().filter(|(pays, _)| *pays).map(|(_, step)| step).collect()
    }
}

/// One method and the share of the time left that it may take.
pub(super) type Step = (Method, f64);
