//! Lower bounds on Kullback-Leibler divergences from moments (paper, sections 3 and 5).
//!
//! `D(p || q) >= D_V(A, B) = tr V B^(1/2) h(B^(-1/2) A B^(-1/2)) B^(1/2)`, `h(t) = t log t - t + 1`, with the moment matrices A of p and B of q,
//! for `V = I/n` and, with a learned diagonal metric, for every `V = e_i e_i^T`.

mod divergence;
mod enclosure;
mod report;

pub(crate) use divergence::greedy_with;
pub use divergence::{Divergence, KlStep, divergence, greedy};
pub use report::{KL_SCHEMA, KlRecord, KlStepRecord, Law, kl, kl_with};

use crate::certify::Interval;
use crate::error::{Error, Result};
use crate::model::{Model, Source, VarSet};

/// Spins up to which distributions are written out.
pub const MAX_TABLE_SPINS: usize = 20;

/// A distribution on {-1,+1}^d as a table: bit i of the index is set when `x_i = +1`.
///
/// ```
/// use zbound::query::kl::{Distribution, divergence};
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
    /// Logarithms of weights that are proportional to the probabilities.
    logs: Vec<f64>,
    /// How far each finite logarithm may be from the exact one.
    radius: f64,
    /// Top value of f and temperature, for Gibbs distributions: `f = top + eps logs`.
    gibbs: Option<(f64, f64)>,
}

impl Distribution {
    /// Takes `2^d` numbers of at least 0 and divides them by their sum.
    ///
    /// # Errors
    /// A length that is no power of two or above 2^20, a negative or non-finite number, a sum of 0.
    pub fn new(table: Vec<f64>) -> Result<Self> {
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
        let log = |p: &f64| match *p {
            0.0 => (f64::NEG_INFINITY, 0.0),
            p => Interval::point(p).log().center_radius(),
        };
        let (logs, radii): (Vec<f64>, Vec<f64>) = table.iter().map(log).unzip();
        let radius = radii.into_iter().fold(0.0, f64::max);
        Ok(Distribution { d, probability: normalised(table), logs, radius, gibbs: None })
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
        let (mut values, error) = match model.source() {
            Source::Polynomial(_) => {
                let f = model.polynomial()?;
                let mut table = vec![0.0; 1 << f.d()];
                f.coefficients().for_each(|(set, v)| table[bits(&set)] += v);
                butterfly(&mut table, |without, with| (without - with, without + with));
                let size = f.l1_norm() + f.pairwise_part().constant().abs();
                (table, f.uncertainty() + (f.d() + 4) as f64 * f64::EPSILON * size)
            }
            Source::Factors(_) => {
                let (tables, d) = (model.factors()?, model.d());
                let spins =
                    |k: usize| (0..d).map(|i| if k >> i & 1 == 1 { 1 } else { -1 }).collect::<Vec<i8>>();
                let finite = |table: &[f64]| {
                    table.iter().filter(|v| v.is_finite()).fold(0.0f64, |top, v| top.max(v.abs()))
                };
                let size = tables.constant().abs() + tables.factors().map(|f| finite(f.table)).sum::<f64>();
                let error = tables.uncertainty() + (tables.len() + 4) as f64 * f64::EPSILON * size;
                ((0..1usize << d).map(|k| tables.value(&spins(k))).collect(), error)
            }
        };
        let top = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        if top == f64::NEG_INFINITY {
            return Err(Error::NotApplicable("no state has positive weight".into()));
        }
        values.iter_mut().for_each(|v| *v = (*v - top) / eps);
        let depth = values.iter().filter(|v| v.is_finite()).fold(0.0f64, |low, v| low.max(-v));
        let radius = 1.01 * (error / eps + 4.0 * f64::EPSILON * depth);
        let probability = normalised(values.iter().map(|v| v.exp()).collect());
        Ok(Distribution { d: model.d(), probability, logs: values, radius, gibbs: Some((top, eps)) })
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
        let total = |side: &Distribution| side.logs.iter().map(|l| l.exp()).sum::<f64>().ln();
        // Logarithms, since probabilities may underflow.
        let shift = total(q) - total(self);
        let ratio = |k: usize| self.logs[k] - q.logs[k] + shift;
        // p log(p/q) - p + q, whose terms are not negative and sum without cancellation.
        let part = |k: usize| match self.probability[k] {
            // So small a p leaves q alone, unless q is zero.
            p if p < 1e-290 && (p == 0.0 || ratio(k) < f64::INFINITY) => q.probability[k],
            p => p * ((-ratio(k)).exp_m1() + ratio(k)),
        };
        (0..self.logs.len()).map(part).sum::<f64>().max(0.0)
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

fn normalised(mut table: Vec<f64>) -> Vec<f64> {
    let total: f64 = table.iter().sum();
    table.iter_mut().for_each(|p| *p /= total);
    table
}
