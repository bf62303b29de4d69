//! Damped message passing of Wainwright, Jaakkola and Willsky, for comparison.

use super::trees::{Messages, Scaled};
use crate::relax::forest::message;

/// Weight of the old message.
const DAMPING: f64 = 0.4;

/// Change of the messages at which they count as converged.
const MESSAGE_TOL: f64 = 1e-8;

/// Sweeps before giving up.
pub(super) const MAX_SWEEPS: usize = 10_000;

/// How message passing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// Messages no longer change.
    Converged,
    /// The sweep cap was reached or messages are not finite.
    NotConverged,
    /// `stop` said so.
    Stopped,
}

/// Passes messages until they settle; `stop` is asked after every sweep.
///
/// **Cost** per sweep O(m).
pub(super) fn pass_messages(
    model: &Scaled,
    rho: &[f64],
    messages: &mut Messages,
    stop: &mut dyn FnMut(&Messages) -> bool,
) -> Passing {
    let couplings = model.tree_couplings(rho);
    for _ in 0..MAX_SWEEPS {
        let beliefs = beliefs(model, rho, messages);
        let mut change = 0.0f64;
        for (e, &[i, j]) in model.ends.iter().enumerate() {
            let [to_first, to_second] = messages[e];
            let from_second = message(couplings[e], beliefs[j as usize] - to_second);
            let from_first = message(couplings[e], beliefs[i as usize] - to_first);
            for (side, (old, new)) in
                [(to_first, from_second), (to_second, from_first)].into_iter().enumerate()
            {
                let damped = DAMPING * old + (1.0 - DAMPING) * new;
                change = change.max((damped - old).abs());
                messages[e][side] = damped;
            }
        }
        if !change.is_finite() {
            return Passing::NotConverged;
        }
        if stop(messages) {
            return Passing::Stopped;
        }
        if change <= MESSAGE_TOL {
            return Passing::Converged;
        }
    }
    Passing::NotConverged
}

/// Half log-odds `h_s + sum_e rho_e message_e` of every spin.
pub(super) fn beliefs(model: &Scaled, rho: &[f64], messages: &Messages) -> Vec<f64> {
    let mut beliefs = model.fields.clone();
    for (e, &[i, j]) in model.ends.iter().enumerate() {
        beliefs[i as usize] += rho[e] * messages[e][0];
        beliefs[j as usize] += rho[e] * messages[e][1];
    }
    beliefs
}
