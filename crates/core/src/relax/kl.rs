//! Lower bounds on Kullback-Leibler divergences from moments (paper, sections 3 and 5).
//!
//! `D(p || q) >= D_V(A, B) = tr V B^(1/2) h(B^(-1/2) A B^(-1/2)) B^(1/2)`, `h(t) = t log t - t + 1`, with the moment matrices A of p and B of q,
//! for `V = I/n` and, with a learned diagonal metric, for every `V = e_i e_i^T`.

use crate::error::{Error, Result};
use crate::features::Features;
use crate::model::{Model, Source, VarSet};
use crate::observer::{Monitor, Silent};
use crate::settings::Settings;
use crate::solution::StopReason;
use crate::spectral::multiply::{square_transposed_times, squares};
use crate::spectral::{Eigen, EigenWork, Square, eigh};
use std::collections::HashSet;

/// Spins up to which distributions are written out.
pub const MAX_TABLE_SPINS: usize = 20;

/// A distribution on {-1,+1}^d as a table: bit i of the index is set when `x_i = +1`.
///
/// ```
/// use zbound::relax::kl::{Distribution, divergence};
/// use zbound::{Features, Ising, Model};
/// let model = Model::from(Ising::new(2, &[0.3, 0.0], &[(0, 1, 0.5)])?);
/// let (p, q) = (Distribution::gibbs(&model, 1.0)?, Distribution::uniform(2)?);
/// let all = divergence(&p, &q, &Features::degree(2, 2))?;
/// assert!((all.kl_lower - p.kl(&q)).abs() < 1e-12);
/// assert!(divergence(&p, &q, &Features::degree(2, 1))?.kl_lower < all.kl_lower);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    d: usize,
    probability: Vec<f64>,
}

impl Distribution {
    /// Takes `2^d` numbers of at least 0 and divides them by their sum.
    ///
    /// # Errors
    /// A length that is no power of two or above 2^20, a negative or non-finite number, a sum of 0.
    pub fn new(mut table: Vec<f64>) -> Result<Self> {
        let d = table.len().trailing_zeros() as usize;
        if !table.len().is_power_of_two() || d > MAX_TABLE_SPINS {
            return Err(Error::Model(format!(
                "a table of {} probabilities; expected 2^d of them, d at most {MAX_TABLE_SPINS}",
                table.len()
            )));
        }
        if let Some(k) = table.iter().position(|p| !(*p >= 0.0 && p.is_finite())) {
            return Err(Error::Model(format!("probability {k} is {}, expected a number >= 0", table[k])));
        }
        let total: f64 = table.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(Error::Model(format!("the probabilities sum to {total}")));
        }
        table.iter_mut().for_each(|p| *p /= total);
        Ok(Distribution { d, probability: table })
    }

    /// Reads a JSON list of numbers, as [`Distribution::new`].
    ///
    /// # Errors
    /// Text that is no such list, and as [`Distribution::new`].
    pub fn from_json(text: &str) -> Result<Self> {
        let table: Vec<f64> = serde_json::from_str(text)
            .map_err(|e| Error::Model(format!("the table is not a JSON list of numbers: {e}")))?;
        Distribution::new(table)
    }

    /// The uniform distribution.
    ///
    /// # Errors
    /// More than [`MAX_TABLE_SPINS`] spins.
    pub fn uniform(d: usize) -> Result<Self> {
        check_size(d)?;
        Distribution::new(vec![1.0; 1 << d])
    }

    /// `p(x) ~ exp(f(x)/eps)` over the free spins of a model.
    ///
    /// # Errors
    /// Too many spins, a temperature that is not positive, a model without states.
    pub fn gibbs(model: &Model, eps: f64) -> Result<Self> {
        check_size(model.d())?;
        if !(eps > 0.0 && eps.is_finite()) {
            return Err(Error::Setting(format!("eps = {eps}: expected a temperature above 0")));
        }
        let mut values = match model.source() {
            Source::Polynomial(_) => {
                let f = model.polynomial()?;
                let mut table = vec![0.0; 1 << f.d()];
                f.coefficients().for_each(|(set, v)| table[bits(&set)] += v);
                butterfly(&mut table, |without, with| (without - with, without + with));
                table
            }
            Source::Factors(_) => {
                let (tables, d) = (model.factors()?, model.d());
                let spins =
                    |k: usize| (0..d).map(|i| if k >> i & 1 == 1 { 1 } else { -1 }).collect::<Vec<i8>>();
                (0..1usize << d).map(|k| tables.value(&spins(k))).collect()
            }
        };
        let top = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        if top == f64::NEG_INFINITY {
            return Err(Error::NotApplicable("no state has positive weight".into()));
        }
        values.iter_mut().for_each(|v| *v = ((*v - top) / eps).exp());
        Distribution::new(values)
    }

    /// Number of spins.
    pub fn d(&self) -> usize {
        self.d
    }

    /// The table.
    pub fn probabilities(&self) -> &[f64] {
        &self.probability
    }

    /// `D(p || q)`, infinite when p has a state that q lacks.
    pub fn kl(&self, q: &Distribution) -> f64 {
        let part = |p: f64, q: f64| if p == 0.0 { 0.0 } else { p * (p / q).ln() };
        self.probability.iter().zip(&q.probability).map(|(p, q)| part(*p, *q)).sum::<f64>().max(0.0)
    }

    /// `E x^A` for every A, indexed by the bits of A.
    ///
    /// **Cost** `d 2^d`.
    pub fn moments(&self) -> Vec<f64> {
        let mut table = self.probability.clone();
        butterfly(&mut table, |minus, plus| (minus + plus, plus - minus));
        table
    }
}

fn check_size(d: usize) -> Result<()> {
    if d > MAX_TABLE_SPINS {
        return Err(Error::NotApplicable(format!(
            "the model has {d} free spins; divergences are computed from all states, up to {MAX_TABLE_SPINS} spins"
        )));
    }
    Ok(())
}

fn bits(set: &VarSet) -> usize {
    set.iter().fold(0, |bits, i| bits | 1 << i)
}

/// One pass per bit over pairs that differ in it.
fn butterfly(table: &mut [f64], rule: impl Fn(f64, f64) -> (f64, f64)) {
    let mut half = 1;
    while half < table.len() {
        for block in table.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            low.iter_mut().zip(high).for_each(|(a, b)| (*a, *b) = rule(*a, *b));
        }
        half *= 2;
    }
}

/// Lower bounds on `D(p || q)` from one set of features. Each is computed in floating point and lowered by
/// an allowance for its rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Divergence {
    /// With `V = I/n`.
    pub kl_lower: f64,
    /// With the best diagonal V: the largest diagonal entry.
    pub kl_lower_diag: f64,
}

/// `D^QT(Sigma_p || Sigma_q)` and its diagonal-metric version.
///
/// **Cost** `d 2^d` for the moments, two eigendecompositions.
///
/// # Errors
/// Distributions of different size, a feature out of range, an eigensolver that fails.
pub fn divergence(p: &Distribution, q: &Distribution, features: &Features) -> Result<Divergence> {
    Pair::new(p, q)?.divergence(features.sets())
}

/// One step of [`greedy`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KlStep {
    /// The feature added.
    pub feature: VarSet,
    /// The bounds with it.
    pub divergence: Divergence,
}

/// Values closer than this are ties, which the first in the pool wins.
const TIE: f64 = 1e-10;

/// Adds `count` features to `features`, each the one at distance one from the set that raises `kl_lower` most.
///
/// The pool is `A xor {i}` for A in the set, in order, and i = 0, .., d - 1. Fewer are added when it runs empty.
///
/// # Errors
/// As [`divergence`].
pub fn greedy(p: &Distribution, q: &Distribution, features: &Features, count: usize) -> Result<Vec<KlStep>> {
    let mut silent = Silent;
    let mut monitor = Monitor::new(&Settings::default(), usize::MAX, &mut silent);
    Ok(greedy_with(p, q, features, count, &mut monitor)?.0)
}

/// As [`greedy`], watched: the steps taken, and why they are fewer than asked for if the monitor ended them.
pub(crate) fn greedy_with(
    p: &Distribution,
    q: &Distribution,
    features: &Features,
    count: usize,
    monitor: &mut Monitor<'_>,
) -> Result<(Vec<KlStep>, Option<StopReason>)> {
    let pair = Pair::new(p, q)?;
    let mut sets = features.sets().to_vec();
    let mut steps = Vec::new();
    for _ in 0..count {
        let mut values = Vec::new();
        for feature in pool(&sets, p.d()) {
            if let Some(stop) = monitor.interrupted() {
                return Ok((steps, Some(stop)));
            }
            sets.push(feature.clone());
            let divergence = pair.divergence(&sets);
            sets.pop();
            values.push(KlStep { feature, divergence: divergence? });
        }
        let value = |step: &KlStep| step.divergence.kl_lower;
        let top = values.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let Some(step) = values.into_iter().find(|s| value(s) >= top - TIE) else { break };
        sets.push(step.feature.clone());
        let bound = value(&step);
        steps.push(step);
        if let Some(stop) = monitor.iteration(bound, f64::NAN) {
            return Ok((steps, Some(stop)));
        }
    }
    Ok((steps, None))
}

/// Features at distance one from the set, each once.
fn pool(sets: &[VarSet], d: usize) -> Vec<VarSet> {
    let mut seen: HashSet<VarSet> = sets.iter().cloned().collect();
    let neighbours = sets.iter().flat_map(|set| (0..d).map(move |i| set.xor(&VarSet::singleton(i))));
    neighbours.filter(|set| seen.insert(set.clone())).collect()
}

/// All moments of two distributions.
struct Pair {
    d: usize,
    /// Whether `D(p || q)` is finite.
    finite: bool,
    p: Vec<f64>,
    q: Vec<f64>,
}

/// Eigenvalues of B are raised to this fraction of the largest: `D(A, B + E) <= D(A, B) + tr V E`, by joint convexity and
/// homogeneity, so that what was added is taken off the bound.
const FLOOR: f64 = 1e-12;

impl Pair {
    fn new(p: &Distribution, q: &Distribution) -> Result<Self> {
        if p.d != q.d {
            return Err(Error::Model(format!("p is over {} spins and q over {}", p.d, q.d)));
        }
        Ok(Pair { d: p.d, finite: p.kl(q).is_finite(), p: p.moments(), q: q.moments() })
    }

    fn divergence(&self, sets: &[VarSet]) -> Result<Divergence> {
        if let Some(set) = sets.iter().find(|set| set.largest() >= Some(self.d)) {
            return Err(Error::Features(format!("feature {set} is out of range for d = {}", self.d)));
        }
        let (a, b) = (matrix(sets, &self.p), matrix(sets, &self.q));
        between(&a, &b, self.finite)
            .ok_or_else(|| Error::Model("the eigensolver failed on the moments".into()))
    }
}

fn matrix(sets: &[VarSet], moments: &[f64]) -> Square {
    let names: Vec<usize> = sets.iter().map(bits).collect();
    let n = names.len();
    Square::from_column_major(n, (0..n * n).map(|k| moments[names[k % n] ^ names[k / n]]).collect())
}

/// The two traces. With `B = U diag(b) U^T` and `C = b^(-1/2) U^T A U b^(-1/2) = W diag(c) W^T` the matrix under the trace is
/// `G diag(h(c)) G^T`, `G = U b^(1/2) W`.
fn between(a: &Square, b: &Square, finite: bool) -> Option<Divergence> {
    let n = a.n();
    let mut work = EigenWork::default();
    let (mut of_b, mut of_c) = (Eigen::default(), Eigen::default());
    if !eigh(b, &mut of_b, &mut work) {
        return None;
    }
    let top = of_b.values.last().copied().unwrap_or(0.0);
    let (mut product, mut c) = (Square::zeros(n), Square::zeros(n));
    squares(a, &of_b.vectors, &mut product);
    square_transposed_times(&of_b.vectors, product.data(), n, c.data_mut());
    let lost: f64 = (0..n).filter(|&k| of_b.values[k] < FLOOR * top).map(|k| c.at(k, k)).sum();
    if !finite && lost > 1e-9 * n as f64 {
        // Some polynomial vanishes under q but not under p.
        return Some(Divergence { kl_lower: f64::INFINITY, kl_lower_diag: f64::INFINITY });
    }
    let raised: Vec<f64> = of_b.values.iter().map(|v| v.max(FLOOR * top)).collect();
    let added = raised.iter().zip(&of_b.values).fold(0.0f64, |m, (r, v)| m.max(r - v));
    let roots: Vec<f64> = raised.iter().map(|v| v.sqrt()).collect();
    for (k, v) in c.data_mut().iter_mut().enumerate() {
        *v /= roots[k % n] * roots[k / n];
    }
    c.symmetrize();
    if !eigh(&c, &mut of_c, &mut work) {
        return None;
    }
    let mut scaled = of_c.vectors.clone();
    scaled.data_mut().iter_mut().enumerate().for_each(|(k, v)| *v *= roots[k % n]);
    let mut g = product;
    squares(&of_b.vectors, &scaled, &mut g);
    let h = |t: f64| if t <= 0.0 { 1.0 } else { t * t.ln() - t + 1.0 };
    let diagonal: Vec<f64> =
        (0..n).map(|i| (0..n).map(|k| h(of_c.values[k]) * g.at(i, k) * g.at(i, k)).sum()).collect();
    let largest = of_c.values.iter().fold(1.0f64, |m, c| m.max(*c));
    let least = raised.iter().fold(f64::INFINITY, |m, v| m.min(*v));
    // Errors of n u in A and B reach C divided by the least eigenvalue of B, and h there has slope log c.
    let allowance = 8.0 * n as f64 * f64::EPSILON * (1.0 + largest.ln()) * (1.0 + largest) * (top / least);
    let lowered = |v: f64| (v - allowance - added).max(0.0);
    let kl_lower = lowered(diagonal.iter().sum::<f64>() / n as f64);
    let kl_lower_diag = lowered(diagonal.iter().fold(0.0f64, |m, v| m.max(*v)));
    Some(Divergence { kl_lower, kl_lower_diag })
}
