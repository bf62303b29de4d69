//! The methods that pay for a kind of model, in order.

use super::cost::constants::{BRANCH_SPINS, COMBINED_SPINS, QUICK, WORTHWHILE_PASSES};
use super::cost::{self, Estimate};
use super::shape::{Kind, Shape};
use crate::settings::{Method, Settings};

/// One method and the share of the time left that it may take.
pub(super) type Step = (Method, f64);

/// The choice of methods for one model, given the time that is left.
pub(super) struct Steps<'a> {
    shape: Shape,
    settings: &'a Settings,
    left: f64,
}

impl<'a> Steps<'a> {
    pub(super) fn new(shape: Shape, settings: &'a Settings) -> Self {
        Steps { shape, settings, left: settings.ends().seconds_left() }
    }

    /// Whether a method can be expected to end by itself within so many seconds.
    fn ends_within(&self, method: Method, seconds: f64) -> bool {
        let fits = |e: Estimate| e.seconds <= seconds && e.fits(self.settings);
        cost::estimate(method, &self.shape, self.settings).is_some_and(fits)
    }

    /// Whether there is time for little more than mini-buckets.
    fn is_large(&self) -> bool {
        let pass = cost::pass_seconds(&self.shape, self.settings.ends().speed());
        WORTHWHILE_PASSES * pass > self.left
    }

    /// Something of each side within a fraction of a second.
    pub(super) fn quick(&self) -> Vec<Method> {
        match self.shape.kind {
            // Both sides in the time that one of the others takes to begin.
            Kind::Sparse if self.is_large() => vec![Method::Trw],
            Kind::Sparse => vec![Method::MeanField, Method::Trw],
            Kind::Tables => vec![Method::MeanField, Method::Wmb],
            Kind::Dense if self.ends_within(Method::Quantum, QUICK.1) => {
                vec![Method::MeanField, Method::Quantum]
            }
            Kind::Dense => vec![Method::MeanField, Method::Trw],
        }
    }

    /// The methods that pay, in order.
    pub(super) fn all(&self) -> Vec<Step> {
        let d = self.shape.d;
        let logdet = self.ends_within(Method::LogDet, 0.3 * self.left);
        let steps = match self.shape.kind {
            Kind::Sparse if self.is_large() => {
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
                (logdet, (Method::LogDet, 0.3)),
                (d <= COMBINED_SPINS.0, (Method::Combined, 1.0)),
            ],
            Kind::Tables => vec![
                (true, (Method::Wmb, 0.5)),
                (true, (Method::MeanField, 0.3)),
                (self.ends_within(Method::Quantum, 0.4 * self.left), (Method::Quantum, 0.4)),
                (true, (Method::Wmb, 1.0)),
            ],
        };
        steps.into_iter().filter(|(pays, _)| *pays).map(|(_, step)| step).collect()
    }
}
