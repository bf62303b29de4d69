//! Newton's method on the messages: the stationarity conditions of TRW, solved as equations.
//!
//! With `u_s = h_s + sum_e rho_e M_{e->s}` and cavities `a = u_s - M_{e->s}`, the messages of an optimum
//! obey `M_{e->s} = atanh(tanh J_e tanh a_t)`. The map is piecewise linear at low temperature with
//! slopes in [-1, 1], so that frozen spins do no harm, and eliminating the two messages of each edge
//! leaves a system on the spins with the sparsity of the graph.

use super::trees::{Messages, Scaled};
use crate::linalg::graph_system::GraphSystem;
use crate::relax::forest::message;

/// Newton steps before giving up.
const MAX_STEPS: usize = 60;

/// Pairs of spins locked more firmly than this, relative to the edge's probability, count as this
/// firmly locked: Newton's method then shrinks their error by this factor per step, and rounding
/// errors are amplified by no more than its inverse. It is the slopes that are lowered: changing the
/// play alone would give the two ends of an edge different ideas of its messages.
const SMALLEST_PLAY: f64 = 1e-7;

/// Total pull on a spin, in units of the temperature, that needs no cooling.
const HOT: f64 = 2.0;

/// Ratio of the temperatures of two cooling stages.
const COOLING: f64 = 2.0;

/// Error of the messages that is good enough for an intermediate temperature.
const STAGE_TOL: f64 = 1e-2;

/// A dual point with the defects of its stationarity conditions.
#[derive(Clone, Debug)]
pub(super) struct MessagePoint {
    pub(super) messages: Messages,
    /// Half log-odds `h_s + sum_e rho_e M_{e->s}`.
    pub(super) odds: Vec<f64>,
    /// What each message should change by.
    errors: Messages,
    /// Derivative of each message in the cavity field it comes from.
    slopes: Messages,
    /// One minus the product of the two slopes: how far the pair is from being locked.
    play: Vec<f64>,
    /// Root of the sum of squared errors `rho_e times error`: what they do to the half log-odds.
    pub(super) size: f64,
}

impl MessagePoint {
    /// Evaluates the conditions at `messages`.
    ///
    /// **Cost** O(d + m), a few exponentials per edge.
    pub(super) fn new(model: &Scaled, rho: &[f64], messages: Messages) -> Self {
        let couplings = model.tree_couplings(rho);
        let mut odds = model.fields.clone();
        for (e, &[i, j]) in model.ends.iter().enumerate() {
            odds[i as usize] += rho[e] * messages[e][0];
            odds[j as usize] += rho[e] * messages[e][1];
        }
        let m = messages.len();
        let (mut errors, mut slopes) = (Vec::with_capacity(m), Vec::with_capacity(m));
        let mut play = Vec::with_capacity(m);
        let mut size = 0.0;
        for (e, &[i, j]) in model.ends.iter().enumerate() {
            let cavity = [odds[i as usize] - messages[e][0], odds[j as usize] - messages[e][1]];
            let coupling = couplings[e];
            let error = [0, 1].map(|side| message(coupling, cavity[1 - side]) - messages[e][side]);
            // One minus the magnitude of each slope, without cancellation.
            let below = |x: f64| 1.0 / (1.0 + (2.0 * x).exp());
            let lack = [1, 0].map(|side: usize| {
                let lack = below(coupling.abs() + cavity[side]) + below(coupling.abs() - cavity[side]);
                lack.max(0.5 * SMALLEST_PLAY * rho[e])
            });
            size += (rho[e] * error[0]).powi(2) + (rho[e] * error[1]).powi(2);
            errors.push(error);
            slopes.push(lack.map(|q| (1.0 - q).copysign(coupling)));
            play.push(lack[0] + lack[1] - lack[0] * lack[1]);
        }
        MessagePoint { messages, odds, errors, slopes, play, size: size.sqrt() }
    }

    /// The Newton step of the messages.
    fn step(&self, model: &Scaled, rho: &[f64], system: &mut GraphSystem) -> Messages {
        let mut diagonal = vec![1.0; model.d];
        let mut entries = vec![[0.0; 2]; model.ends.len()];
        let mut rhs = vec![0.0; model.d];
        for (e, &[i, j]) in model.ends.iter().enumerate() {
            let (t, error) = (self.slopes[e], self.errors[e]);
            let share = rho[e] / self.play[e];
            diagonal[i as usize] += share * t[0] * t[1];
            diagonal[j as usize] += share * t[0] * t[1];
            entries[e] = [-share * t[0], -share * t[1]];
            rhs[i as usize] += share * (error[0] - t[0] * error[1]);
            rhs[j as usize] += share * (error[1] - t[1] * error[0]);
        }
        system.set(&diagonal, &entries);
        system.solve(&mut rhs);
        let solve_pair = |(e, &[i, j]): (usize, &[u32; 2])| {
            let (t, error) = (self.slopes[e], self.errors[e]);
            let (du, dv) = (rhs[i as usize], rhs[j as usize]);
            let first = (error[0] + t[0] * (dv - error[1] - t[1] * du)) / self.play[e];
            // Not by the mirrored formula: rounding would spoil the sum of the two messages.
            [first, error[1] + t[1] * (du - first)]
        };
        model.ends.iter().enumerate().map(solve_pair).collect()
    }
}

/// Solves the conditions from `point` to a size of `target`; true on success. `stop` sees every
/// point.
///
/// **Cost** per step one elimination on the graph and O(m).
pub(super) fn settle(
    model: &Scaled,
    rho: &[f64],
    point: &mut MessagePoint,
    system: &mut GraphSystem,
    target: f64,
    stop: &mut dyn FnMut(&MessagePoint) -> bool,
) -> bool {
    for _ in 0..MAX_STEPS {
        if stop(point) {
            return false;
        }
        if point.size <= target {
            return true;
        }
        let step = point.step(model, rho, system);
        let Some(next) = backtrack(model, rho, point, &step, system) else { return false };
        *point = next;
    }
    point.size <= target
}

/// The longest of the steps 1, 1/2, 1/4, ... that shrinks the error.
fn backtrack(
    model: &Scaled,
    rho: &[f64],
    point: &MessagePoint,
    step: &Messages,
    system: &GraphSystem,
) -> Option<MessagePoint> {
    let mut t = 1.0;
    for _ in 0..12 {
        if system.is_late() {
            return None;
        }
        let moved = point.messages.iter().zip(step).map(|(m, s)| [m[0] + t * s[0], m[1] + t * s[1]]);
        let next = MessagePoint::new(model, rho, moved.collect());
        if next.size <= (1.0 - 0.1 * t) * point.size {
            return Some(next);
        }
        t *= 0.5;
    }
    None
}

/// Messages for the model at hand from hotter copies of it, where Newton's method needs no care.
///
/// At low temperature messages scale with the inverse temperature, which makes the solution of one
/// stage a good start for the next.
pub(super) fn cool(
    model: &Scaled,
    rho: &[f64],
    system: &mut GraphSystem,
    stop: &mut dyn FnMut() -> bool,
) -> MessagePoint {
    let heat = (model.largest_pull() / HOT).max(1.0);
    let stages = (heat.ln() / COOLING.ln()).ceil() as i32;
    let mut messages = vec![[0.0; 2]; rho.len()];
    for stage in 0..stages {
        if system.is_late() {
            break;
        }
        let hot = model.times(COOLING.powi(stage - stages));
        let mut point = MessagePoint::new(&hot, rho, messages);
        settle(&hot, rho, &mut point, system, STAGE_TOL, &mut |_| stop());
        messages = point.messages;
        messages.iter_mut().flatten().for_each(|m| *m *= COOLING);
    }
    MessagePoint::new(model, rho, messages)
}
