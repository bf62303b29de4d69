//! Joint states from the messages of a forward pass, variable after variable from the end of the order.

use super::side::Side;
use super::track::Layout;
use crate::exact::vector::exp;

/// States by position, each the likeliest given those after it, or drawn from their law when `uniform` gives numbers in
/// [0, 1). On an exact layout that is a state of positive weight; elsewhere it need not be.
pub(super) fn decode(
    layout: &Layout,
    side: &Side,
    eps: f64,
    mut uniform: Option<&mut dyn FnMut() -> f64>,
) -> Vec<u32> {
    walk(layout, side, |_, scores, _| {
        let top = largest(scores);
        match &mut uniform {
            None => top as u32,
            Some(next) => draw(scores, scores[top], eps, next()),
        }
    })
}

/// By position, what the split of its bucket costs the bound: the mean over `samples` states of the messages sent less
/// the exact logarithm of the sum that they stand for. States are drawn from the law under which the costs of all
/// buckets together are the gap at least.
pub(super) fn costs_of_splits(
    layout: &Layout,
    side: &Side,
    eps: f64,
    samples: usize,
    uniform: &mut dyn FnMut() -> f64,
) -> Vec<f64> {
    let (model, structure) = (&layout.model, &layout.structure);
    let mut costs = vec![0.0; model.d()];
    for _ in 0..samples {
        walk(layout, side, |p, scores, states| {
            let top = scores[largest(scores)];
            let bucket = structure.bucket(p);
            if bucket.len() > 1 && top > f64::NEG_INFINITY {
                let total: f64 = scores.iter().map(|&s| exp((s - top) / eps)).sum();
                let mut cost = -top - eps * total.ln();
                for c in bucket {
                    let at = index(structure.scope(c), states, &model.sizes);
                    cost += side.messages[structure.message(c)][at];
                }
                if cost.is_finite() {
                    costs[p] += cost.abs() / samples as f64;
                }
            }
            draw(scores, top, eps, uniform())
        });
    }
    costs
}

/// Gives every position with a choice the state that `choose` names, from the position, the scores of its states given
/// those after it, and the states chosen so far.
fn walk(layout: &Layout, side: &Side, mut choose: impl FnMut(usize, &[f64], &[u32]) -> u32) -> Vec<u32> {
    let (model, structure) = (&layout.model, &layout.structure);
    let mut states = vec![0u32; model.d()];
    let mut scores: Vec<f64> = Vec::new();
    for p in (0..model.d()).rev() {
        scores.clear();
        scores.resize(model.sizes[p] as usize, 0.0);
        if scores.len() == 1 {
            continue;
        }
        for c in structure.bucket(p) {
            for &k in structure.factors(c) {
                add(&mut scores, model.scope(k as usize), model.table(k as usize), p, &states, &model.sizes);
            }
            for &m in structure.children(c) {
                let table = &side.messages[structure.message(m as usize)];
                add(&mut scores, structure.scope(m as usize), table, p, &states, &model.sizes);
            }
        }
        states[p] = choose(p, &scores, &states);
    }
    states
}

/// Place of the largest number.
fn largest(scores: &[f64]) -> usize {
    (0..scores.len()).fold(0, |b, s| if scores[s] > scores[b] { s } else { b })
}

/// Where `states` stand in a table over `scope`.
fn index(scope: &[u32], states: &[u32], sizes: &[u32]) -> usize {
    let (mut at, mut stride) = (0, 1);
    for &u in scope {
        at += states[u as usize] as usize * stride;
        stride *= sizes[u as usize] as usize;
    }
    at
}

/// The state at which the cumulated law passes `uniform`.
fn draw(scores: &[f64], top: f64, eps: f64, uniform: f64) -> u32 {
    let mass = |s: f64| if s > f64::NEG_INFINITY { exp((s - top) / eps) } else { 0.0 };
    let total: f64 = scores.iter().map(|&s| mass(s)).sum();
    let mut left = uniform * total;
    for (k, &s) in scores.iter().enumerate() {
        left -= mass(s);
        if left < 0.0 {
            return k as u32;
        }
    }
    scores.iter().rposition(|&s| s == top).unwrap_or(0) as u32
}

/// Adds the entries of a table that agree with the states after position p.
fn add(scores: &mut [f64], scope: &[u32], table: &[f64], p: usize, states: &[u32], sizes: &[u32]) {
    let (mut base, mut own, mut stride) = (0, 0, 1);
    for &u in scope {
        if u as usize == p {
            own = stride;
        } else {
            base += states[u as usize] as usize * stride;
        }
        stride *= sizes[u as usize] as usize;
    }
    scores.iter_mut().enumerate().for_each(|(s, score)| *score += table[base + s * own]);
}
