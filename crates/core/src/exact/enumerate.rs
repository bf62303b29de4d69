//! Enumeration of all 2^d states, block by block.
//!
//! Two passes over blocks of up to 2^16 states (see `layout.rs`): the first finds `max f`, or for log Z alone a level not
//! far below it, the second adds up `exp((f - max f)/eps)`. In the factored layout the sum over a block is
//! `u^T W v` with W shared by all blocks, so the second pass is one matrix product (three with
//! moments) and no state has an exponential of its own.
//!
//! Blocks are grouped in tasks of fixed size whose results are combined in order: the answer has
//! the same bits for any number of threads.

use super::layout::{BlockWalk, Layout};
use super::maximum::{find_level, find_maximum};
use super::moments::{Moments, Tally};
use super::rounding::{CompensatedSum, Enclosure, U};
use super::vector::{EXP_ULPS, exp, exp_all, max_of};
use super::workers::{TASK_BITS, Workers};
use crate::error::{Error, Result};
use crate::model::Polynomial;
use crate::observer::Monitor;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Most spins that enumeration accepts: 2^40 states are half an hour of one core.
pub const MAX_SPINS: usize = 40;

/// Blocks per matrix product.
const BATCH: usize = 64;
/// A block whose upper bound lies this far (in units of eps) below the level, which some state reaches, is left out; all
/// such blocks together weigh less than `2^40 e^-200 < 1e-74` of the largest state.
const NEGLIGIBLE: f64 = 200.0;
/// The factored layout is used while no block's upper bound exceeds the maximum by more than
/// this: then states clamped at `e^-708` add at most `3 * 2^40 e^(400 - 708) < 1e-120`.
const EXCESS: f64 = 400.0;
/// Covers the two estimates above.
const TRUNCATION: f64 = 1e-60;

/// What enumeration finds.
#[derive(Debug)]
pub(crate) struct Enumeration {
    /// `eps log sum_x exp(f/eps)`.
    pub(crate) log_z: f64,
    /// Encloses `log_z` of the polynomial, its uncertainty not included.
    pub(crate) bounds: Enclosure,
    /// The number of a state of large f, bit i set for `x_i = +1`: of the largest when moments are asked for.
    pub(crate) argmax: u64,
    /// Means, pair moments and `E (f - max f)`, when asked for.
    pub(crate) moments: Option<Moments>,
    /// `log sum_x exp((f - max f)/eps)`.
    pub(crate) log_sum: f64,
    /// Bound on the error of every sum of weights with signs, relative to the sum of all weights.
    pub(crate) relative: f64,
}

/// Enumerates f at temperature eps.
///
/// # Errors
/// More than [`MAX_SPINS`] spins, or [`Error::Interrupted`].
pub(crate) fn enumerate(
    f: &Polynomial,
    eps: f64,
    want_moments: bool,
    threads: usize,
    monitor: &mut Monitor<'_>,
) -> Result<Enumeration> {
    if f.d() > MAX_SPINS {
        return Err(Error::NotApplicable(format!(
            "enumeration of 2^{} states: at most 2^{MAX_SPINS} are supported",
            f.d()
        )));
    }
    let mut layout = Layout::new(f, false);
    let mut workers = Workers::new(threads, monitor)?;
    let mut top = if want_moments {
        find_maximum(&layout, &mut workers)?
    } else {
        find_level(f, &layout, &mut workers)?
    };
    if layout.is_factored() && (top.bound - top.value) / eps > EXCESS {
        layout = Layout::new(f, true);
        top = find_maximum(&layout, &mut workers)?;
    }
    let weights = Weights::new(&layout, eps, top.value, want_moments);
    let mut sum = CompensatedSum::default();
    let mut tally = Tally::new(&layout, want_moments);
    workers.run(
        &layout,
        |task| weights.task(task),
        |part: Tally| {
            sum.add(part.total);
            tally.absorb(&part);
        },
    )?;
    let total = sum.value();
    let log_sum = libm::log(total);
    Ok(Enumeration {
        log_z: top.value + eps * log_sum,
        bounds: enclose(&layout, eps, top.value, total),
        argmax: top.state,
        moments: want_moments.then(|| tally.moments(&layout, &weights.table, total)),
        log_sum,
        relative: relative_error(&layout, eps),
    })
}

/// States per second of the sum alone (log Z without moments) on a Gaussian model of `d` spins.
///
/// # Errors
/// As [`crate::exact::exact`].
pub fn throughput(d: usize, threads: usize) -> Result<f64> {
    use crate::model::generate::{Family, GenerateSpec, Graph, generate};
    let spec = GenerateSpec { family: Family::Gaussian, graph: Graph::Complete, d, w: 0.0, seed: 1 };
    let f = Polynomial::from(generate(&spec)?);
    let settings = crate::Settings::default();
    let mut silent = crate::Silent;
    let mut monitor = Monitor::new(&settings, usize::MAX, &mut silent);
    enumerate(&f, (d as f64).sqrt(), false, threads, &mut monitor)?;
    Ok((d as f64).exp2() / monitor.seconds())
}

/// Bounds `log Z = shift + eps log(total)`.
///
/// Every exponent is off by at most `argument/eps`, counted in roundings of `L = sum |theta|`.
/// Each coefficient enters one sum of at most `longest_sum` terms and at most `a + b` butterfly
/// stages. Subtracting the maxima of alpha, beta and g, multiplying by 1/eps and rounding 1/eps
/// itself: 3 roundings of numbers whose bounds add up to `2 L`, so 6. The block's own exponent: 3
/// additions, one difference and two roundings of the product, the last three of at most
/// `2 L`, so 9. The count below has 28 for these 15.
///
/// The total is a sum of products of four exponentials: `2^b + 2` roundings in the matrix
/// product, a in the folding, `2^TASK_BITS` in the task, 4 in the compensated sum over tasks,
/// 8 for scalings.
fn enclose(layout: &Layout, eps: f64, shift: f64, total: f64) -> Enclosure {
    let argument = argument_error(layout);
    let terms = (1 << layout.b) + layout.a + (1 << TASK_BITS) + 14;
    let relative = 1.01 * (4.0 * EXP_ULPS + terms as f64) * U + TRUNCATION;
    Enclosure::log(total).widened(relative).times(eps).plus(Enclosure::point(shift)).widened(argument)
}

fn argument_error(layout: &Layout) -> f64 {
    let roundings = (layout.longest_sum + layout.a + layout.b + 28) as f64;
    1.01 * roundings * U * layout.l1
}

/// As [`enclose`] for sums with signs: the folding and the Walsh transform round once a stage, sums over tasks are not
/// compensated.
fn relative_error(layout: &Layout, eps: f64) -> f64 {
    let tasks = f64::exp2(layout.high().saturating_sub(TASK_BITS) as f64);
    let terms = (1 << layout.b) + (1 << layout.a) + 2 * (layout.a + layout.b) + (1 << TASK_BITS) + 64;
    let sums = 1.01 * (4.0 * EXP_ULPS + terms as f64 + tasks) * U + TRUNCATION;
    // exp(x) - 1 is below 1.5 x up to a half.
    1.5 * argument_error(layout) / eps + sums
}

/// The second pass.
struct Weights<'a> {
    layout: &'a Layout,
    inverse_eps: f64,
    shift: f64,
    want_moments: bool,
    /// `W = exp((g - max g)/eps)`.
    table: Vec<f64>,
    cross_max: f64,
}

/// One matrix product's worth of blocks, a column each.
struct Batch {
    blocks: Vec<u64>,
    constants: Vec<f64>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    /// `exp(alpha/eps)`, scaled to carry the weight of the block.
    u: Vec<f64>,
    v: Vec<f64>,
    /// `W v`, then `W^T u`.
    wv: Vec<f64>,
    wu: Vec<f64>,
}

impl<'a> Weights<'a> {
    fn new(layout: &'a Layout, eps: f64, shift: f64, want_moments: bool) -> Self {
        let (inverse_eps, cross_max) = (1.0 / eps, max_of(&layout.cross));
        let mut table = layout.cross.clone();
        exp_all(&mut table, cross_max, inverse_eps);
        Weights { layout, inverse_eps, shift, want_moments, table, cross_max }
    }

    fn task(&self, blocks: std::ops::Range<u64>) -> Tally {
        let layout = self.layout;
        let (size_a, size_b) = (1 << layout.a, 1 << layout.b);
        let mut tally = Tally::new(layout, self.want_moments);
        let mut walk = BlockWalk::new(layout);
        let columns = BATCH.min((blocks.end - blocks.start) as usize);
        let mut batch = Batch::new(size_a, size_b, columns);
        for h in blocks {
            let k = batch.blocks.len();
            let (alpha, beta) =
                (&mut batch.alpha[k * size_a..][..size_a], &mut batch.beta[k * size_b..][..size_b]);
            let c = walk.visit(h, alpha, beta);
            let (max_a, max_b) = (max_of(alpha), max_of(beta));
            let exponent = ((((self.cross_max + max_b) + max_a) + c) - self.shift) * self.inverse_eps;
            if exponent < -NEGLIGIBLE {
                continue;
            }
            let (u, v) = (&mut batch.u[k * size_a..][..size_a], &mut batch.v[k * size_b..][..size_b]);
            u.copy_from_slice(alpha);
            v.copy_from_slice(beta);
            exp_all(u, max_a, self.inverse_eps);
            exp_all(v, max_b, self.inverse_eps);
            let weight = exp(exponent);
            u.iter_mut().for_each(|x| *x *= weight);
            batch.constants.push(c - self.shift);
            batch.blocks.push(h);
            if batch.blocks.len() == columns {
                self.flush(&mut batch, &mut tally);
            }
        }
        self.flush(&mut batch, &mut tally);
        tally
    }

    fn flush(&self, batch: &mut Batch, tally: &mut Tally) {
        let (size_a, size_b, k) = (1 << self.layout.a, 1 << self.layout.b, batch.blocks.len());
        if k == 0 {
            return;
        }
        let table = MatRef::from_column_major_slice(&self.table, size_a, size_b);
        let u = MatRef::from_column_major_slice(&batch.u[..k * size_a], size_a, k);
        let v = MatRef::from_column_major_slice(&batch.v[..k * size_b], size_b, k);
        let wv = MatMut::from_column_major_slice_mut(&mut batch.wv[..k * size_a], size_a, k);
        matmul(wv, Accum::Replace, table, v, 1.0, Par::Seq);
        if self.want_moments {
            let wu = MatMut::from_column_major_slice_mut(&mut batch.wu[..k * size_b], size_b, k);
            matmul(wu, Accum::Replace, table.transpose(), u, 1.0, Par::Seq);
            let joint = MatMut::from_column_major_slice_mut(&mut tally.joint, size_a, size_b);
            matmul(joint, Accum::Add, u, v.transpose(), 1.0, Par::Seq);
        }
        for (q, &u) in batch.wv[..k * size_a].iter_mut().zip(&batch.u) {
            *q *= u;
        }
        for (column, &h) in batch.blocks.iter().enumerate() {
            let (at_a, at_b) = (column * size_a, column * size_b);
            let q = &mut batch.wv[at_a..at_a + size_a];
            if !self.want_moments {
                tally.add_total(q);
                continue;
            }
            let r = &mut batch.wu[at_b..at_b + size_b];
            r.iter_mut().zip(&batch.v[at_b..]).for_each(|(r, &v)| *r *= v);
            let (alpha, beta) = (&batch.alpha[at_a..at_a + size_a], &batch.beta[at_b..at_b + size_b]);
            tally.add_block(h, batch.constants[column], (alpha, q), (beta, r));
        }
        batch.blocks.clear();
        batch.constants.clear();
    }
}

impl Batch {
    fn new(size_a: usize, size_b: usize, columns: usize) -> Self {
        let (of_a, of_b) = (|| vec![0.0; size_a * columns], || vec![0.0; size_b * columns]);
        Batch {
            blocks: Vec::with_capacity(columns),
            constants: Vec::with_capacity(columns),
            alpha: of_a(),
            beta: of_b(),
            u: of_a(),
            v: of_b(),
            wv: of_a(),
            wu: of_b(),
        }
    }
}
