//! The inner loops of elimination: one clique, chunk by chunk, on any number of threads.
//!
//! The spin that leaves is the top bit of the clique's index, so that its two values are two
//! contiguous halves.

use super::clique::{CHUNK_BITS, View};
use super::vector::{joint_from_conditional, log_add_all};
use rayon::prelude::*;

/// Chunks that one thread takes at a time.
const CHUNKS_PER_TASK: usize = 8;

/// A message that went up: entries shifted so that the largest is 0.
pub(crate) struct Message {
    pub(crate) data: Vec<f64>,
    /// What was subtracted; `-inf` when no entry is finite.
    pub(crate) offset: f64,
    /// Largest magnitude of a finite entry after the shift.
    pub(crate) magnitude: f64,
}

/// Sums out the top spin of a clique with `bits` others.
pub(crate) fn sum_out(views: &[View<'_>], bits: usize, pool: &Option<rayon::ThreadPool>) -> Message {
    let mut data = vec![0.0; 1 << bits];
    let tasks = data.chunks_mut(task_size(bits)).enumerate().collect();
    for_each(pool, tasks, |(number, task)| {
        halves(views, bits, number * task_size(bits), task.len(), |at, minus, plus| {
            log_add_all(&mut task[at..at + minus.len()], minus, plus);
        });
    });
    shifted(data)
}

/// Maximises over the top spin; bit y of the choices is set where +1 is strictly better.
pub(crate) fn maximise_out(
    views: &[View<'_>],
    bits: usize,
    pool: &Option<rayon::ThreadPool>,
) -> (Message, Vec<u64>) {
    let mut data = vec![0.0; 1 << bits];
    let mut choices = vec![0u64; (1usize << bits).div_ceil(64)];
    let words = task_size(bits).div_ceil(64);
    let tasks = data.chunks_mut(task_size(bits)).zip(choices.chunks_mut(words)).enumerate().collect();
    for_each(pool, tasks, |(number, (task, choice))| {
        halves(views, bits, number * task_size(bits), task.len(), |at, minus, plus| {
            for (k, (&a, &b)) in minus.iter().zip(plus).enumerate() {
                let y = at + k;
                choice[y / 64] |= u64::from(b > a) << (y % 64);
                task[y] = if b > a { b } else { a };
            }
        });
    });
    (shifted(data), choices)
}

/// `P(x, y) = P(x | y) P(y)` over the clique (x its top spin), and `-sum P(x, y) log P(x | y)`.
pub(crate) fn belief(
    views: &[View<'_>],
    message: &Message,
    above: &[f64],
    pool: &Option<rayon::ThreadPool>,
) -> (Vec<f64>, f64) {
    let bits = above.len().trailing_zeros() as usize;
    let size = task_size(bits);
    let mut belief = vec![0.0; 2 * above.len()];
    let mut entropies = vec![0.0; above.len().div_ceil(size)];
    let (minus, plus) = belief.split_at_mut(above.len());
    let both = minus.chunks_mut(size).zip(plus.chunks_mut(size));
    let tasks = both.zip(&mut entropies).enumerate().collect();
    for_each(pool, tasks, |(number, ((to_minus, to_plus), entropy))| {
        let start = number * size;
        halves(views, bits, start, to_minus.len(), |at, minus, plus| {
            let here = start + at..start + at + minus.len();
            for (half, out) in [(minus, &mut *to_minus), (plus, &mut *to_plus)] {
                let out = &mut out[at..at + half.len()];
                for ((out, &joint), &m) in out.iter_mut().zip(half).zip(&message.data[here.clone()]) {
                    *out = (joint - m) - message.offset;
                }
                *entropy += joint_from_conditional(out, &above[here.clone()]);
            }
        });
    });
    (belief, entropies.into_iter().sum())
}

/// Entries per task: whole chunks.
fn task_size(bits: usize) -> usize {
    CHUNKS_PER_TASK << bits.min(CHUNK_BITS)
}

/// Calls `work(offset, minus, plus)` on the chunks of `start..start + len` with the summed
/// tables where the top spin is -1 and +1.
fn halves(
    views: &[View<'_>],
    bits: usize,
    start: usize,
    len: usize,
    mut work: impl FnMut(usize, &[f64], &[f64]),
) {
    let chunk = 1 << bits.min(CHUNK_BITS);
    let (mut minus, mut plus) = (vec![0.0; chunk], vec![0.0; chunk]);
    for at in (0..len).step_by(chunk) {
        for (base, half) in [(start + at, &mut minus), (start + at + (1 << bits), &mut plus)] {
            half.fill(0.0);
            views.iter().for_each(|view| view.add_to(base, half));
        }
        work(at, &minus, &plus);
    }
}

fn for_each<T: Send>(pool: &Option<rayon::ThreadPool>, tasks: Vec<T>, work: impl Fn(T) + Send + Sync) {
    match pool {
        Some(pool) if tasks.len() > 1 => pool.install(|| tasks.into_par_iter().for_each(work)),
        _ => tasks.into_iter().for_each(work),
    }
}

/// Subtracts the largest entry.
fn shifted(mut data: Vec<f64>) -> Message {
    let offset = super::vector::max_of(&data);
    let mut lowest = 0.0f64;
    if offset > f64::NEG_INFINITY {
        for x in &mut data {
            *x -= offset;
            let finite = if *x > f64::NEG_INFINITY { *x } else { 0.0 };
            lowest = if finite < lowest { finite } else { lowest };
        }
    }
    Message { data, offset, magnitude: -lowest }
}
