//! What a search moves on: the change of f under a change of one variable.

use super::random::{LogUniform, Random};

/// f around one assignment that the search changes one variable at a time.
pub(super) trait Landscape: Send {
    /// Number of variables.
    fn d(&self) -> usize;

    /// Moves to an assignment.
    ///
    /// **Cost** O(size of the model).
    fn set(&mut self, states: &[u32]);

    /// The assignment now.
    fn states(&self) -> Vec<u32>;

    /// Proposes another state for variable `i`, takes it if it loses less than `temperature` times a random
    /// number, and returns what f gained.
    ///
    /// **Cost** O(degree).
    fn visit(&mut self, i: usize, temperature: f64, draw: &mut Draw<'_>) -> f64;

    /// The best state for variable `i` given the others, taken only if it gains more than `least`; returns the gain.
    fn improve(&mut self, i: usize, least: f64) -> f64;

    /// Magnitudes of f: the pull on each variable by all others, of which the schedule takes quantiles.
    fn pulls(&self) -> Vec<f64>;

    /// `f(states)` from scratch, with the penalty for violated factors; the order of merit of assignments.
    fn merit(&self, states: &[u32]) -> f64;

    /// Whether f stays the same when every binary variable changes its state.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// Factors that forbid the assignment now.
    fn violations(&self) -> usize {
        0
    }

    /// Moves variables of violated factors until none is violated or patience ends; returns what f gained.
    fn repair(&mut self, _random: &mut Random) -> f64 {
        0.0
    }

    /// Number of states of variable `i`.
    fn cardinality(&self, _i: usize) -> u32 {
        2
    }
}

/// Random numbers of one lane.
pub(super) struct Draw<'a> {
    pub(super) random: &'a mut Random,
    pub(super) logs: &'a LogUniform,
}

impl Draw<'_> {
    /// Metropolis: always uphill, downhill with probability `exp(gain / temperature)`.
    pub(super) fn accepts(&mut self, gain: f64, temperature: f64) -> bool {
        gain >= 0.0
            || (gain > self.logs.least() * temperature && gain > self.logs.draw(self.random) * temperature)
    }
}
