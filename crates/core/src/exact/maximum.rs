//! The largest value of f over all states, block by block.

use super::layout::{BlockWalk, Layout};
use super::vector::max_of;
use super::workers::Workers;
use crate::error::Result;
use crate::model::Polynomial;

/// The best state of a range of blocks.
#[derive(Clone, Copy)]
pub(crate) struct Top {
    pub(crate) value: f64,
    pub(crate) state: u64,
    /// Upper bound on f that the factored layout sees, largest over blocks.
    pub(crate) bound: f64,
}

/// Largest f; of equal values the state with the smallest number (bit i is spin i).
pub(crate) fn find_maximum(layout: &Layout, workers: &mut Workers<'_, '_>) -> Result<Top> {
    let mut top = Top { value: f64::NEG_INFINITY, state: 0, bound: f64::NEG_INFINITY };
    let cross_max = max_of(&layout.cross);
    workers.run(
        layout,
        |task| task_maximum(layout, cross_max, task),
        |part: Top| {
            top.bound = top.bound.max(part.bound);
            if part.value > top.value {
                (top.value, top.state) = (part.value, part.state);
            }
        },
    )?;
    Ok(top)
}

/// A level to measure weights from where the largest value is not wanted: f at a state that no flip of one spin improves,
/// which is at most the maximum, and the bound over all blocks. It costs a fraction of [`find_maximum`].
pub(crate) fn find_level(f: &Polynomial, layout: &Layout, workers: &mut Workers<'_, '_>) -> Result<Top> {
    let (value, state) = climbed(f);
    let mut top = Top { value, state, bound: f64::NEG_INFINITY };
    let cross_max = max_of(&layout.cross);
    workers.run(
        layout,
        |task| task_bound(layout, cross_max, task),
        |bound| top.bound = top.bound.max(bound),
    )?;
    Ok(top)
}

/// A local maximum of f from the state of all +1, and its number.
fn climbed(f: &Polynomial) -> (f64, u64) {
    let mut x = vec![1i8; f.d()];
    let mut best = f.value(&x);
    let mut is_done = false;
    while !is_done {
        is_done = true;
        for i in 0..x.len() {
            x[i] = -x[i];
            let value = f.value(&x);
            if value > best {
                (best, is_done) = (value, false);
            } else {
                x[i] = -x[i];
            }
        }
    }
    let state = x.iter().enumerate().map(|(i, &s)| u64::from(s > 0) << i).sum();
    (best, state)
}

/// The largest bound on f over the states of a block.
fn task_bound(layout: &Layout, cross_max: f64, blocks: std::ops::Range<u64>) -> f64 {
    let (mut alpha, mut beta) = (vec![0.0; 1 << layout.a], vec![0.0; 1 << layout.b]);
    let mut walk = BlockWalk::new(layout);
    let bound = |h: u64| {
        let c = walk.visit(h, &mut alpha, &mut beta);
        ((cross_max + max_of(&beta)) + max_of(&alpha)) + c
    };
    blocks.map(bound).fold(f64::NEG_INFINITY, f64::max)
}

fn task_maximum(layout: &Layout, cross_max: f64, blocks: std::ops::Range<u64>) -> Top {
    let (size_a, size_b) = (1 << layout.a, 1 << layout.b);
    let (mut alpha, mut beta, mut best) = (vec![0.0; size_a], vec![0.0; size_b], vec![0.0; size_a]);
    let mut walk = BlockWalk::new(layout);
    let mut top = Top { value: f64::NEG_INFINITY, state: 0, bound: f64::NEG_INFINITY };
    for h in blocks {
        let c = walk.visit(h, &mut alpha, &mut beta);
        // Rounding is monotone, so this is at least every value computed below.
        let bound = ((cross_max + max_of(&beta)) + max_of(&alpha)) + c;
        top.bound = top.bound.max(bound);
        if bound <= top.value {
            continue;
        }
        best.fill(f64::NEG_INFINITY);
        for (&beta_b, column) in beta.iter().zip(layout.cross.chunks_exact(size_a)) {
            for (m, &g) in best.iter_mut().zip(column) {
                let v = g + beta_b;
                *m = if v > *m { v } else { *m };
            }
        }
        best.iter_mut().zip(&alpha).for_each(|(m, &v)| *m += v);
        let value = max_of(&best) + c;
        if value > top.value {
            let states = beta.iter().zip(layout.cross.chunks_exact(size_a));
            let mut states =
                states.flat_map(|(b, col)| col.iter().zip(&alpha).map(move |(g, a)| (g + b) + a));
            let first = states.position(|v| v + c == value).unwrap_or(0) as u64;
            (top.value, top.state) = (value, h << (layout.a + layout.b) | first);
        }
    }
    top
}
