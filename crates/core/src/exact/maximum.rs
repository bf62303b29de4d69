//! The largest value of f over all states, block by block.

use super::layout::{BlockWalk, Layout};
use super::vector::max_of;
use super::workers::Workers;
use crate::error::Result;

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
