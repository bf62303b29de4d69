//! Answers over slices of the state space, put together.

use super::descend::Marginals;
use super::rounding::{Enclosure, U};
use super::vector::EXP_ULPS;
use crate::model::FactorModel;
use crate::tables::order::interaction_graph;
use std::collections::BTreeMap;

/// What is known about one slice, which has states of positive weight.
pub(crate) struct Part {
    /// Variables of the model that are fixed, and their states.
    pub(crate) states: Vec<(u32, u32)>,
    /// `eps log` of the slice's sum, and its enclosure.
    pub(crate) value: f64,
    pub(crate) bounds: Enclosure,
    /// Of the variables that are not fixed, numbered without the others.
    pub(crate) marginals: Option<Marginals>,
    pub(crate) best: Option<Vec<u32>>,
}

/// The answer over all states.
pub(crate) struct Whole {
    /// `eps log sum_x exp(f/eps)`, and its enclosure.
    pub(crate) value: f64,
    pub(crate) bounds: Enclosure,
    /// Where every part has them.
    pub(crate) marginals: Option<Marginals>,
    /// A state of largest f.
    pub(crate) best: Option<Vec<u32>>,
}

/// The answer over all states from those over slices that together hold every state of positive weight.
pub(crate) fn join(model: &FactorModel, eps: f64, parts: Vec<Part>) -> Whole {
    let values: Vec<(f64, Enclosure)> = parts.iter().map(|p| (p.value, p.bounds)).collect();
    let (value, bounds) = total(&values, eps);
    let best = best_of(model, &parts);
    let has_marginals = !parts.is_empty() && parts.iter().all(|p| p.marginals.is_some());
    let marginals = has_marginals.then(|| mixture(model, eps, value, &parts));
    Whole { value, bounds, marginals, best }
}

/// `eps log sum_s exp(v_s/eps)` of numbers and of their enclosures.
pub(crate) fn total(values: &[(f64, Enclosure)], eps: f64) -> (f64, Enclosure) {
    let add = |terms: &dyn Fn(&(f64, Enclosure)) -> f64| {
        let top = values.iter().map(terms).fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return (top, 0.0);
        }
        // Terms below e^-700 of the largest weigh nothing, and a bound that leaves them out stays one on
        // either side of the margin below.
        let exponent = |v: &(f64, Enclosure)| ((terms(v) - top) / eps).max(-700.0);
        let sum: f64 = values.iter().map(|v| libm::exp(exponent(v))).sum();
        let value = top + eps * libm::log(sum);
        // Two roundings of exponents up to 700, exponentials, a sum of so many terms, its logarithm.
        let relative = 1400.0 + EXP_ULPS + values.len() as f64 + 64.0;
        (value, 2.0 * U * (eps * relative + top.abs() + value.abs()) + eps * values.len() as f64 * 1e-290)
    };
    let (value, _) = add(&|v| v.0);
    let ((low, below), (high, above)) = (add(&|v| v.1.low), add(&|v| v.1.high));
    let bounds = Enclosure { low, high };
    (value, if high > f64::NEG_INFINITY { bounds.widened(below.max(above)) } else { bounds })
}

/// The states of the whole model: those that are fixed and, in between, those of the rest.
fn whole_states(d: usize, fixed: &[(u32, u32)], rest: &[u32]) -> Vec<u32> {
    let mut out = vec![u32::MAX; d];
    fixed.iter().for_each(|&(v, s)| out[v as usize] = s);
    let free = out.iter_mut().filter(|s| **s == u32::MAX);
    free.zip(rest).for_each(|(s, &r)| *s = r);
    out
}

/// The best state of all parts, the first of equals.
fn best_of(model: &FactorModel, parts: &[Part]) -> Option<Vec<u32>> {
    let mut best: Option<(f64, Vec<u32>)> = None;
    for part in parts {
        let states = whole_states(model.d(), &part.states, part.best.as_ref()?);
        let value = model.value_of(&states);
        if best.as_ref().is_none_or(|b| value > b.0) {
            best = Some((value, states));
        }
    }
    best.map(|b| b.1)
}

/// The law of the whole as a mixture of those of the parts.
///
/// A probability is a sum of products of a weight and a probability of a part, all `>= 0`: it errs by no more than the
/// worst of them, and by the roundings of the sum.
fn mixture(model: &FactorModel, eps: f64, value: f64, parts: &[Part]) -> Marginals {
    let d = model.d();
    let mut mix = Mixture {
        states: model.cardinalities().iter().map(|&q| vec![0.0; q as usize]).collect(),
        roundings: vec![0.0; d],
        pairs: BTreeMap::new(),
    };
    let mut entropy = 0.0;
    let graph = interaction_graph(model);
    for part in parts {
        let Some(marginals) = &part.marginals else { continue };
        let log_weight = ((part.value - value) / eps).max(-700.0);
        let weight = libm::exp(log_weight);
        entropy += weight * (marginals.entropy - log_weight);
        // The value, two roundings of an exponent up to 700, the exponential.
        let radius = (part.bounds.high - part.bounds.low) / eps / U + 1400.0 + EXP_ULPS;
        mix.add(model, part, marginals, (weight, radius));
        mix.add_fixed_pairs(model, &graph, part, weight);
    }
    for (law, roundings) in mix.states.iter_mut().zip(&mut mix.roundings) {
        let sum: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p = (*p / sum).clamp(0.0, 1.0));
        *roundings += (parts.len() + law.len() + 4) as f64;
    }
    let pairs = mix.pairs.into_iter().map(|((i, j), v)| (i, j, v.clamp(-1.0, 1.0))).collect();
    Marginals { states: mix.states, pairs, entropy: entropy.max(0.0), roundings: mix.roundings }
}

/// Sums over parts.
struct Mixture {
    states: Vec<Vec<f64>>,
    roundings: Vec<f64>,
    pairs: BTreeMap<(u32, u32), f64>,
}

impl Mixture {
    fn add(&mut self, model: &FactorModel, part: &Part, found: &Marginals, (weight, radius): (f64, f64)) {
        for &(v, s) in &part.states {
            self.states[v as usize][s as usize] += weight;
            self.roundings[v as usize] = self.roundings[v as usize].max(radius);
        }
        let free = free_variables(model.d(), &part.states);
        for ((&v, law), roundings) in free.iter().zip(&found.states).zip(&found.roundings) {
            self.states[v as usize].iter_mut().zip(law).for_each(|(p, q)| *p += weight * q);
            // A law that is right up to a common factor errs twice as much once it adds up to one.
            let error = 2.0 * roundings + radius + 4.0;
            self.roundings[v as usize] = self.roundings[v as usize].max(error);
        }
        for &(i, j, moment) in &found.pairs {
            *self.pairs.entry((free[i as usize], free[j as usize])).or_insert(0.0) += weight * moment;
        }
    }

    /// Pairs of spins of a common factor of which one or both are fixed.
    fn add_fixed_pairs(&mut self, model: &FactorModel, graph: &[Vec<u32>], part: &Part, weight: f64) {
        let Some(found) = &part.marginals else { return };
        let mut means = vec![f64::NAN; model.d()];
        let mut fixed = vec![false; model.d()];
        for (&v, law) in free_variables(model.d(), &part.states).iter().zip(&found.states) {
            means[v as usize] = if law.len() == 2 { law[1] - law[0] } else { f64::NAN };
        }
        for &(v, s) in &part.states {
            fixed[v as usize] = true;
            means[v as usize] = 2.0 * f64::from(s) - 1.0;
        }
        let is_spin = |v: u32| model.cardinalities()[v as usize] == 2;
        for &(i, _) in part.states.iter().filter(|&&(i, _)| is_spin(i)) {
            // A pair that is fixed on both sides counts once.
            let others = graph[i as usize].iter().filter(|&&j| is_spin(j) && (!fixed[j as usize] || i < j));
            for &j in others {
                let moment = weight * means[i as usize] * means[j as usize];
                *self.pairs.entry((i.min(j), i.max(j))).or_insert(0.0) += moment;
            }
        }
    }
}

/// The variables that are not fixed, increasing.
fn free_variables(d: usize, fixed: &[(u32, u32)]) -> Vec<u32> {
    (0..d as u32).filter(|v| fixed.iter().all(|f| f.0 != *v)).collect()
}
