//! A state of positive weight, by search with propagation.

use crate::model::FactorModel;
use crate::tables::propagate::{Outcome, Propagator};

/// Dead ends after which a search starts again, with the variables that caused them first.
const DEAD_ENDS: usize = 200;

/// Sweeps over the variables that improve a state one variable at a time.
const CLIMBS: usize = 20;

/// Looks for a state of positive weight among those left in `propagator` (which is settled), most likely values first;
/// `likely` holds one list of probabilities per variable, or nothing. Gives up after `budget` table entries or when `stop` says so.
pub(super) fn search(
    propagator: &mut Propagator<'_>,
    likely: &[Vec<f64>],
    budget: u64,
    mut stop: impl FnMut() -> bool,
) -> Option<Vec<u32>> {
    let d = propagator.variables();
    let root = propagator.trail().len();
    let limit = propagator.work().saturating_add(budget);
    let mut blame = vec![0u32; d];
    let mut dead_ends = DEAD_ENDS;
    loop {
        let mut order: Vec<usize> = (0..d).filter(|&v| propagator.left(v) > 1).collect();
        let peak = |v: usize| likely.get(v).into_iter().flatten().fold(0.0f64, |m, &p| m.max(p));
        order.sort_by(|&a, &b| blame[b].cmp(&blame[a]).then(peak(b).total_cmp(&peak(a))).then(a.cmp(&b)));
        match descend(propagator, likely, &order, &mut blame, dead_ends, limit, &mut stop) {
            Ending::Found => {
                let state = (0..d).map(|v| propagator.states(v).next().unwrap_or(0) as u32).collect();
                propagator.unwind(root);
                return Some(state);
            }
            Ending::Exhausted => {
                propagator.unwind(root);
                return None;
            }
            Ending::Restart => propagator.unwind(root),
        }
        // Longer and longer searches: some restart explores everything.
        dead_ends += dead_ends / 2;
    }
}

enum Ending {
    Found,
    /// Nothing there, or no work left.
    Exhausted,
    Restart,
}

fn descend(
    propagator: &mut Propagator<'_>,
    likely: &[Vec<f64>],
    order: &[usize],
    blame: &mut [u32],
    mut dead_ends: usize,
    limit: u64,
    stop: &mut impl FnMut() -> bool,
) -> Ending {
    // Decisions: place in the order, the length of the trail before, and the state tried.
    let mut decisions: Vec<(usize, usize, usize)> = Vec::new();
    let mut at = 0;
    let mut steps = 0usize;
    loop {
        while at < order.len() && propagator.left(order[at]) == 1 {
            at += 1;
        }
        let Some(&v) = order.get(at) else { return Ending::Found };
        let value = |s: &usize| likely.get(v).and_then(|law| law.get(*s)).copied().unwrap_or(0.0);
        let Some(best) = propagator.states(v).max_by(|a, b| value(a).total_cmp(&value(b)).then(b.cmp(a)))
        else {
            return Ending::Exhausted;
        };
        decisions.push((at, propagator.trail().len(), best));
        propagator.assign(v, best);
        steps += 1;
        if propagator.work() > limit || (steps.is_multiple_of(256) && stop()) {
            return Ending::Exhausted;
        }
        let mut outcome = propagator.run(u64::MAX);
        while outcome != Outcome::Settled {
            let Some((place, length, tried)) = decisions.pop() else { return Ending::Exhausted };
            let v = order[place];
            blame[v] += 1;
            dead_ends = dead_ends.saturating_sub(1);
            if dead_ends == 0 {
                return Ending::Restart;
            }
            propagator.unwind(length);
            at = at.min(place);
            propagator.forbid(v, tried);
            outcome = if propagator.left(v) == 0 { Outcome::Empty } else { propagator.run(u64::MAX) };
            if propagator.work() > limit {
                return Ending::Exhausted;
            }
        }
    }
}

/// Improves `state` one variable at a time without leaving positive weight.
pub(super) fn climb(model: &FactorModel, state: &mut [u32], mut stop: impl FnMut() -> bool) {
    let d = model.d();
    let sizes = model.cardinalities();
    let mut start = vec![0usize; d + 1];
    model.factors().for_each(|f| f.scope.iter().for_each(|&v| start[v as usize + 1] += 1));
    (0..d).for_each(|v| start[v + 1] += start[v]);
    let (mut fill, mut near) = (start.clone(), vec![0u32; start[d]]);
    for (k, factor) in model.factors().enumerate() {
        for &v in factor.scope {
            near[fill[v as usize]] = k as u32;
            fill[v as usize] += 1;
        }
    }
    let mut gains = Vec::new();
    for _ in 0..CLIMBS {
        let mut has_moved = false;
        for v in 0..d {
            gains.clear();
            gains.resize(sizes[v] as usize, 0.0);
            for &k in &near[start[v]..start[v + 1]] {
                let factor = model.factor(k as usize);
                let (mut base, mut own, mut stride) = (0, 0, 1);
                for &u in factor.scope {
                    if u as usize == v {
                        own = stride;
                    } else {
                        base += state[u as usize] as usize * stride;
                    }
                    stride *= sizes[u as usize] as usize;
                }
                gains.iter_mut().enumerate().for_each(|(s, g)| *g += factor.table[base + s * own]);
            }
            let now = state[v] as usize;
            let best = (0..gains.len()).fold(now, |b, s| if gains[s] > gains[b] { s } else { b });
            if best != now {
                state[v] = best as u32;
                has_moved = true;
            }
        }
        if !has_moved || stop() {
            return;
        }
    }
}
