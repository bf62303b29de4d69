//! The methods that pay for a kind of model, in order.

use super::cost::constants::{
    BRANCH_MOST_SPINS, BRANCH_SECS, BRANCH_SPINS, COMBINED_SPINS, DEFAULT_SECS, QUICK, STRIP_PASSES,
    WORTHWHILE_PASSES,
};
use super::cost::{self, Estimate};
use super::shape::{Kind, Shape};
use crate::settings::{Method, Settings};

/// One method and the share of the time left that it may take.
pub(super) type Step = (Method, f64);

/// Share of the time left that rivals get to show which of them suits the model: strips are best at low temperatures, mini-buckets at
/// high ones and where there are few cycles, spectra where there are many.
const TRIAL: f64 = 0.1;

/// Edges per spin up to which mini-buckets are rivals of spectra.
const RIVAL_EDGES: usize = 10;

/// Spins above which a trial of the combined bound says little: its parts alone take seconds, and mean field its half of one.
const SLOW_START: usize = 300;

/// The choice of methods for one model, given the time that is left.
pub(super) struct Steps<'a> {
    shape: Shape,
    settings: &'a Settings,
    left: f64,
}

impl<'a> Steps<'a> {
    pub(super) fn new(shape: Shape, settings: &'a Settings) -> Self {
        let ends = settings.ends();
        let left = if ends.is_limited() { ends.seconds_left() } else { DEFAULT_SECS };
        Steps { shape, settings, left }
    }

    /// Whether a method can be expected to end by itself within so many seconds.
    fn ends_within(&self, method: Method, seconds: f64) -> bool {
        let fits = |e: Estimate| e.seconds <= seconds && e.fits(self.settings);
        cost::estimate(method, &self.shape, self.settings).is_some_and(fits)
    }

    /// Whether there is no time for so many passes of mini-buckets and their proofs.
    fn is_too_large_for(&self, passes: f64) -> bool {
        passes * cost::pass_seconds(&self.shape, self.settings.ends().speed()) > self.left
    }

    /// Whether there is time for little more than the first bounds of one method.
    fn is_large(&self) -> bool {
        self.is_too_large_for(WORTHWHILE_PASSES)
    }

    /// Whether bounds of the parts of a dense model add up to more in the time left than a better bound of the whole.
    fn is_worth_splitting(&self) -> bool {
        let d = self.shape.d;
        let ends = d <= BRANCH_MOST_SPINS && BRANCH_SECS * (d * d) as f64 <= self.left;
        d <= BRANCH_SPINS || ends
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
            // Trees of a large dense graph take longer than that and say next to nothing.
            Kind::Dense => vec![Method::MeanField],
        }
    }

    /// The methods that pay, in order. Where one gains most from time for models of this kind it comes last and gets more than half
    /// of it, so that `auto` with twice the time is not behind that method alone. Elsewhere there is time left, which goes to those
    /// that had the best sides after a trial. `is_open` says of a quick method whether more time could help it.
    pub(super) fn all(&self, is_open: impl Fn(Method) -> bool) -> Vec<Step> {
        let d = self.shape.d;
        let steps = match self.shape.kind {
            Kind::Sparse if self.is_too_large_for(STRIP_PASSES) => vec![
                (true, (Method::Bethe, 0.2)),
                (true, (Method::Wmb, 0.85)),
                (true, (Method::MeanField, 1.0)),
            ],
            Kind::Sparse if self.is_large() => vec![
                (true, (Method::Bethe, 0.2)),
                (true, (Method::MeanField, 0.3)),
                (true, (Method::Combined, 1.0)),
            ],
            Kind::Sparse => vec![
                (true, (Method::Bethe, 0.1)),
                (true, (Method::MeanField, 0.12)),
                (true, (Method::Combined, TRIAL)),
                (true, (Method::Wmb, TRIAL)),
            ],
            Kind::Dense if self.is_worth_splitting() => vec![
                (true, (Method::Bethe, 0.1)),
                (true, (Method::MeanField, 0.05)),
                // Splitting does little for a cold model that is large: there the bound of the whole has to be good.
                (d > BRANCH_SPINS, (Method::Combined, 0.3)),
                (true, (Method::Branch, 1.0)),
            ],
            Kind::Dense if d <= COMBINED_SPINS && self.shape.edges <= RIVAL_EDGES * d && d > SLOW_START => {
                vec![
                    (true, (Method::Bethe, 0.1)),
                    (true, (Method::Wmb, 2.0 * TRIAL)),
                    (true, (Method::MeanField, 0.12)),
                    (true, (Method::Combined, 1.0)),
                ]
            }
            Kind::Dense if d <= COMBINED_SPINS && self.shape.edges <= RIVAL_EDGES * d => vec![
                (true, (Method::Bethe, 0.1)),
                (true, (Method::MeanField, 0.12)),
                (true, (Method::Combined, TRIAL)),
                (true, (Method::Wmb, TRIAL)),
            ],
            // The combined bound begins with the quantum bound, which needs what time there is.
            Kind::Dense if d <= COMBINED_SPINS && !self.ends_within(Method::Quantum, 0.5 * self.left) => {
                vec![(true, (Method::MeanField, 0.1)), (true, (Method::Quantum, 1.0))]
            }
            Kind::Dense if d <= COMBINED_SPINS => vec![
                (true, (Method::Bethe, 0.1)),
                (true, (Method::MeanField, if d <= SLOW_START { 0.08 } else { 0.15 })),
                // All but two states weigh next to nothing in most balanced models, and tables know the maximum.
                (self.shape.is_balanced, (Method::Wmb, TRIAL)),
                (true, (Method::Combined, 1.0)),
            ],
            Kind::Dense => vec![
                (true, (Method::MeanField, 0.12)),
                (true, (Method::Bethe, 0.1)),
                (true, (Method::Quantum, 0.7)),
                (true, (Method::Trw, 1.0)),
            ],
            // Mini-buckets have one rival, a good product of blocks below.
            Kind::Tables => vec![
                (self.ends_within(Method::Quantum, 0.2 * self.left), (Method::Quantum, 0.2)),
                (is_open(Method::MeanField), (Method::MeanField, 0.2)),
                (true, (Method::Wmb, 1.0)),
            ],
        };
        steps.into_iter().filter(|(pays, _)| *pays).map(|(_, step)| step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(kind: Kind, d: usize) -> Shape {
        let edges = if kind == Kind::Dense { d * (d - 1) / 2 } else { 2 * d };
        let entries = 4.0 * edges as f64;
        Shape {
            kind,
            d,
            edges,
            has_fields: true,
            is_balanced: false,
            coupling: 1.0,
            entries,
            features: Some(d + 1),
        }
    }

    #[test]
    fn one_method_gets_more_than_half_of_the_time_whatever_the_model() {
        for limit in [0.5, 10.0, 1e4] {
            let settings = Settings::default().with_time_limit(Some(limit));
            for kind in [Kind::Sparse, Kind::Dense, Kind::Tables] {
                for d in [5, 50, 200, 1000, 10_000, 1_000_000] {
                    let steps = Steps::new(shape(kind, d), &settings).all(|_| true);
                    let mut left = 1.0;
                    let mut most: f64 = 0.0;
                    for (_, share) in &steps {
                        most = most.max(share * left);
                        left *= 1.0 - share;
                    }
                    let most = most.max(left);
                    assert!(most > 0.5, "{kind:?} {d} {limit}: {steps:?}");
                }
            }
        }
    }

    #[test]
    fn large_sparse_models_are_left_to_the_combined_bound_and_larger_ones_to_mini_buckets() {
        let settings = Settings::default().with_time_limit(Some(10.0));
        let is_given = |d, method| {
            let steps = Steps::new(shape(Kind::Sparse, d), &settings).all(|_| true);
            steps.iter().any(|step| step.0 == method && step.1 > 0.5)
        };
        assert!(!is_given(1000, Method::Wmb) && is_given(100_000_000, Method::Wmb));
        assert!(!is_given(1000, Method::Combined) && !is_given(100_000_000, Method::Combined));
    }

    #[test]
    fn dense_models_are_split_where_there_is_time_for_it() {
        let ends_with = |d, limit| {
            let settings = Settings::default().with_time_limit(Some(limit));
            Steps::new(shape(Kind::Dense, d), &settings).all(|_| true).last().map(|step| step.0)
        };
        assert_eq!(ends_with(140, 1.0), Some(Method::Branch));
        assert_eq!(ends_with(250, 60.0), Some(Method::Branch));
        assert_ne!(ends_with(250, 5.0), Some(Method::Branch));
        assert_ne!(ends_with(1500, 1e4), Some(Method::Branch));
    }

    #[test]
    fn balanced_dense_models_have_a_trial_of_mini_buckets() {
        let settings = Settings::default().with_time_limit(Some(10.0));
        let tries = |is_balanced| {
            let steps = Steps::new(Shape { is_balanced, ..shape(Kind::Dense, 800) }, &settings).all(|_| true);
            steps.iter().any(|step| step.0 == Method::Wmb)
        };
        assert!(tries(true) && !tries(false));
    }
}
