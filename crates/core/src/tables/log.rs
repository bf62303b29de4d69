//! The same loops on logarithms: for buckets whose products leave the range of numbers, and for the maximum.

use super::linear::{Pool, Stop, for_each};
use super::spare::Spare;
use super::table::Table;
use super::view::{Layout, Shape, View, scatter};
use crate::exact::vector::{LOG_ADD_ULPS, exp_all, log_add_all};

/// Entries that one thread takes at a time.
const TASK: usize = 1 << 13;
/// Entries between two questions whether to stop: some tens of milliseconds.
const SLAB: usize = 1 << 21;
/// An entry takes about this many times as long as one of numbers.
const COSTLIER: usize = 8;

/// `log sum_x exp(sum_t t(x, y))` for every state y of those that stay.
pub(crate) fn sum_out(
    shape: &Shape,
    tables: &[&Table],
    states: &[u32],
    pool: &Pool,
    stop: Stop<'_>,
) -> Vec<f64> {
    let views: Vec<View<'_>> = tables.iter().map(|t| View::new(shape, t, states)).collect();
    let mut data = vec![f64::NEG_INFINITY; shape.size()];
    let per_task = (TASK / shape.chunk).max(1);
    let tasks = data.chunks_mut(per_task * shape.chunk).enumerate();
    for_each(pool, tasks, COSTLIER * per_task * shape.chunk * shape.states, stop, |(number, task)| {
        let (mut total, mut gathered) = (vec![0.0; shape.chunk], vec![0.0; shape.chunk]);
        let mut sum = vec![0.0; shape.chunk];
        for (k, out) in task.chunks_exact_mut(shape.chunk).enumerate() {
            for state in 0..shape.states {
                add_up(&views, number * per_task + k, state, &mut total, &mut gathered);
                log_add_all(&mut sum, out, &total);
                out.copy_from_slice(&sum);
            }
        }
    });
    data
}

/// Bound, in units of u, on the error of an entry of [`sum_out`]: every addition of tables and every
/// `log_add` rounds a number of at most `s + log states`, s the sum of the tables' magnitudes.
pub(crate) fn roundings(tables: &[&Table], states: usize) -> f64 {
    let s: f64 = tables.iter().map(|t| t.magnitude()).sum();
    let steps = (tables.len() + states) as f64;
    steps * (s + 1.0 + (states as f64).ln()) + states as f64 * LOG_ADD_ULPS
}

/// The best state of the variable that leaves, per entry of a message.
pub(crate) enum Choices {
    /// Up to 256 states.
    Narrow(Vec<u8>),
    /// More.
    Wide(Vec<u32>),
}

impl Choices {
    pub(crate) fn get(&self, at: usize) -> u32 {
        match self {
            Choices::Narrow(list) => u32::from(list[at]),
            Choices::Wide(list) => list[at],
        }
    }
}

/// `max_x sum_t t(x, y)` with the first state that attains it; the entries are written over `data`, which has as many.
pub(crate) fn maximise_out(
    shape: &Shape,
    tables: &[&Table],
    states: &[u32],
    memory: Vec<f64>,
    pool: &Pool,
    stop: Stop<'_>,
) -> (Vec<f64>, Choices) {
    if shape.states <= 256 {
        let (data, choices) = maximise(shape, tables, states, memory, pool, stop, |state| state as u8);
        (data, Choices::Narrow(choices))
    } else {
        let (data, choices) = maximise(shape, tables, states, memory, pool, stop, |state| state as u32);
        (data, Choices::Wide(choices))
    }
}

fn maximise<C: Copy + Default + Send>(
    shape: &Shape,
    tables: &[&Table],
    states: &[u32],
    mut data: Vec<f64>,
    pool: &Pool,
    stop: Stop<'_>,
    name: impl Fn(usize) -> C + Sync,
) -> (Vec<f64>, Vec<C>) {
    let views: Vec<View<'_>> = tables.iter().map(|t| View::new(shape, t, states)).collect();
    let mut choices = vec![C::default(); shape.size()];
    let len = (TASK / shape.chunk).max(1) * shape.chunk;
    let tasks = data.chunks_mut(len).zip(choices.chunks_mut(len)).enumerate();
    for_each(pool, tasks, 2 * len * shape.states, stop, |(number, (task, choice))| {
        let (mut total, mut gathered) = (vec![0.0; shape.chunk], vec![0.0; shape.chunk]);
        let rows = task.chunks_exact_mut(shape.chunk).zip(choice.chunks_exact_mut(shape.chunk));
        for (k, (out, choice)) in rows.enumerate() {
            let chunk = number * (len / shape.chunk) + k;
            // The first state is every entry's choice until a better one comes.
            add_up(&views, chunk, 0, out, &mut gathered);
            for state in 1..shape.states {
                add_up(&views, chunk, state, &mut total, &mut gathered);
                let here = name(state);
                for ((x, c), &t) in out.iter_mut().zip(choice.iter_mut()).zip(&total) {
                    (*x, *c) = if t > *x { (t, here) } else { (*x, *c) };
                }
            }
        }
    });
    (data, choices)
}

/// As [`super::linear::beliefs`], from logarithms.
pub(crate) fn beliefs(
    shape: &Shape,
    tables: &[&Table],
    (message, above): (&[f64], &[f64]),
    targets: &[Vec<u32>],
    states: &[u32],
    stop: Stop<'_>,
) -> Vec<Vec<f64>> {
    let views: Vec<View<'_>> = tables.iter().map(|t| View::new(shape, t, states)).collect();
    let layouts: Vec<Layout> = targets.iter().map(|scope| Layout::new(shape, scope, states)).collect();
    let mut out = Spare::default().zeros(targets, states);
    let (mut total, mut gathered) = (vec![0.0; shape.chunk], vec![0.0; shape.chunk]);
    let pause = (SLAB / (shape.chunk * shape.states)).max(1);
    for chunk in 0..shape.chunks {
        if chunk % pause == pause - 1 && stop() {
            break;
        }
        let here = chunk * shape.chunk..(chunk + 1) * shape.chunk;
        for state in 0..shape.states {
            add_up(&views, chunk, state, &mut total, &mut gathered);
            let given = total.iter_mut().zip(&message[here.clone()]);
            // An impossible event has probability 0, also given one.
            given.for_each(|(t, m)| *t = if *t > f64::NEG_INFINITY { *t - m } else { f64::NEG_INFINITY });
            let possible: Vec<bool> = total.iter().map(|t| *t > crate::exact::vector::EXP_FLOOR).collect();
            exp_all(&mut total, 0.0, 1.0);
            let weights = total.iter_mut().zip(&above[here.clone()]).zip(possible);
            weights.for_each(|((t, a), possible)| *t = if possible { *t * a } else { 0.0 });
            for (layout, table) in layouts.iter().zip(&mut out) {
                scatter(layout, chunk, state, &total, table);
            }
        }
    }
    out
}

/// The sum of the tables along one chunk: those that do not vary first, added up beforehand.
fn add_up(views: &[View<'_>], chunk: usize, state: usize, total: &mut [f64], gathered: &mut [f64]) {
    let constants: f64 = views.iter().filter_map(|view| view.constant(chunk, state)).sum();
    let n = total.len();
    let mut varying = views.iter().filter(|view| !view.is_constant());
    match varying.next() {
        None => total.fill(constants),
        Some(first) => {
            let slice = first.slice(chunk, state, n, gathered);
            total.iter_mut().zip(slice).for_each(|(t, x)| *t = constants + x);
        }
    }
    for view in varying {
        let slice = view.slice(chunk, state, n, gathered);
        total.iter_mut().zip(slice).for_each(|(t, x)| *t += x);
    }
}
