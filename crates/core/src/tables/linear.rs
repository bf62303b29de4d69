//! The inner loops of elimination on numbers: products of tables over a bucket, chunk by chunk, on any
//! number of threads.
//!
//! All entries are `>= 0`, so relative errors add: an entry of the message is within
//! `(tables + states) u` of the exact function of the tables' entries.

use super::spare::Spare;
use super::table::{Table, power};
use super::view::{Layout, Shape, View, scatter};
use rayon::prelude::*;

/// Entries that one thread takes at a time.
const TASK: usize = 1 << 14;

/// A pool of threads, or the caller's own.
pub(crate) type Pool = Option<rayon::ThreadPool>;

/// `sum_x prod_t t(x, y)` for every state y of those that stay, with the smallest positive and the largest.
/// The entries are written over `data`, which has as many.
pub(crate) fn sum_out(
    shape: &Shape,
    tables: &[&Table],
    states: &[u32],
    mut data: Vec<f64>,
    pool: &Pool,
    stop: Stop<'_>,
) -> (Vec<f64>, (f64, f64)) {
    let views: Vec<View<'_>> = tables.iter().map(|t| View::new(shape, t, states)).collect();
    let per_task = (TASK / shape.chunk).max(1);
    let mut extremes = vec![(f64::INFINITY, 0.0f64); shape.chunks.div_ceil(per_task)];
    let tasks = data.chunks_mut(per_task * shape.chunk).zip(&mut extremes).enumerate();
    for_each(pool, tasks, per_task * shape.chunk * shape.states, stop, |(number, (task, extreme))| {
        let mut scratch = Scratch::new(shape.chunk);
        for (k, out) in task.chunks_exact_mut(shape.chunk).enumerate() {
            product::<true>(&views, (number * per_task + k, 0), 1.0, out, &mut scratch);
            for state in 1..shape.states {
                product::<false>(&views, (number * per_task + k, state), 1.0, out, &mut scratch);
            }
            let (least, most) = positive_range(out);
            *extreme = (extreme.0.min(least), extreme.1.max(most));
        }
    });
    let join = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    (data, extremes.into_iter().fold((f64::INFINITY, 0.0), join))
}

/// Buffers of a thread.
struct Scratch {
    product: Vec<f64>,
    gathered: [Vec<f64>; 2],
}

impl Scratch {
    fn new(chunk: usize) -> Self {
        Scratch { product: vec![0.0; chunk], gathered: [vec![0.0; chunk], vec![0.0; chunk]] }
    }
}

/// Adds `scale` times the product of the tables along one chunk, or puts it in place when `FRESH`.
fn product<const FRESH: bool>(
    views: &[View<'_>],
    (chunk, state): (usize, usize),
    scale: f64,
    out: &mut [f64],
    scratch: &mut Scratch,
) {
    let put = |x: &mut f64, y: f64| *x = if FRESH { y } else { *x + y };
    let mut factor = scale;
    for view in views {
        factor *= view.constant(chunk, state).unwrap_or(1.0);
    }
    let mut varying = views.iter().filter(|v| !v.is_constant());
    let n = out.len();
    let Scratch { product, gathered: [one, two] } = scratch;
    match (varying.next(), varying.next()) {
        _ if factor == 0.0 => out.iter_mut().for_each(|x| put(x, 0.0)),
        (None, _) => out.iter_mut().for_each(|x| put(x, factor)),
        (Some(a), None) => {
            let a = a.slice(chunk, state, n, one);
            out.iter_mut().zip(a).for_each(|(x, a)| put(x, factor * a));
        }
        (Some(a), Some(b)) => {
            let (a, b) = (a.slice(chunk, state, n, one), b.slice(chunk, state, n, two));
            let mut rest = varying.peekable();
            if rest.peek().is_none() {
                out.iter_mut().zip(a.iter().zip(b)).for_each(|(x, (a, b))| put(x, factor * a * b));
                return;
            }
            product.iter_mut().zip(a.iter().zip(b)).for_each(|(x, (a, b))| *x = factor * a * b);
            while let Some(view) = rest.next() {
                let c = view.slice(chunk, state, n, one);
                match rest.peek() {
                    Some(_) => product.iter_mut().zip(c).for_each(|(x, c)| *x *= c),
                    None => {
                        out.iter_mut().zip(product.iter().zip(c)).for_each(|(x, (p, c))| put(x, p * c));
                    }
                }
            }
        }
    }
}

/// The smallest positive and the largest of numbers `>= 0`.
fn positive_range(values: &[f64]) -> (f64, f64) {
    let (whole, rest) = values.as_chunks::<8>();
    let (mut least, mut most) = ([f64::INFINITY; 8], [0.0f64; 8]);
    let positive = |x: f64| if x > 0.0 { x } else { f64::INFINITY };
    for chunk in whole {
        for k in 0..8 {
            let p = positive(chunk[k]);
            least[k] = if p < least[k] { p } else { least[k] };
            most[k] = if chunk[k] > most[k] { chunk[k] } else { most[k] };
        }
    }
    let low = least.into_iter().chain(rest.iter().map(|&x| positive(x))).fold(f64::INFINITY, f64::min);
    (low, most.into_iter().chain(rest.iter().copied()).fold(0.0, f64::max))
}

/// What turns products of tables into probabilities: the law of those that stay, the message, and the
/// exponent of what was taken out of it, with the sign changed.
pub(crate) struct Given<'a> {
    pub(crate) message: &'a [f64],
    pub(crate) exponent: i64,
    pub(crate) above: &'a [f64],
}

/// `P(x, y) = P(x | y) P(y)` over the bucket, with `P(x | y)` the product of `tables` times `2^exponent`
/// over `message`, added up over the variables missing in each of `targets`, scopes within the bucket.
pub(crate) fn beliefs(
    shape: &Shape,
    tables: &[&Table],
    Given { message, exponent, above }: Given<'_>,
    targets: &[Vec<u32>],
    states: &[u32],
    spare: &mut Spare,
    stop: Stop<'_>,
) -> Vec<Vec<f64>> {
    let views: Vec<View<'_>> = tables.iter().map(|t| View::new(shape, t, states)).collect();
    let layouts: Vec<Layout> = targets.iter().map(|scope| Layout::new(shape, scope, states)).collect();
    let mut out = spare.zeros(targets, states);
    let mut scratch = Scratch::new(shape.chunk);
    let mut belief = vec![0.0; shape.chunk];
    let mut ratio = vec![0.0; shape.chunk];
    let pause = (SLAB / (shape.chunk * shape.states)).max(1);
    for chunk in 0..shape.chunks {
        if chunk % pause == pause - 1 && stop() {
            break;
        }
        let here = chunk * shape.chunk..(chunk + 1) * shape.chunk;
        let pairs = above[here.clone()].iter().zip(&message[here]);
        ratio.iter_mut().zip(pairs).for_each(|(r, (a, m))| *r = if *m > 0.0 { a / m } else { 0.0 });
        for state in 0..shape.states {
            product::<true>(&views, (chunk, state), power(exponent), &mut belief, &mut scratch);
            belief.iter_mut().zip(&ratio).for_each(|(b, r)| *b *= r);
            for (layout, table) in layouts.iter().zip(&mut out) {
                scatter(layout, chunk, state, &belief, table);
            }
        }
    }
    out
}

/// Asked between slabs of work whether to stop.
pub(crate) type Stop<'a> = &'a mut dyn FnMut() -> bool;

/// Entries of a bucket between two questions: some twenty milliseconds.
const SLAB: usize = 1 << 24;

/// Runs tasks of `entries` entries each on the pool, in any order; what is left when `stop` says so is not done.
pub(crate) fn for_each<T: Send>(
    pool: &Pool,
    tasks: impl Iterator<Item = T>,
    entries: usize,
    stop: Stop<'_>,
    work: impl Fn(T) + Send + Sync,
) {
    let mut tasks = tasks.peekable();
    while tasks.peek().is_some() {
        let slab: Vec<T> = tasks.by_ref().take((SLAB / entries.max(1)).max(1)).collect();
        match pool {
            Some(pool) if slab.len() > 1 => pool.install(|| slab.into_par_iter().for_each(&work)),
            _ => slab.into_iter().for_each(&work),
        }
        if tasks.peek().is_some() && stop() {
            return;
        }
    }
}
