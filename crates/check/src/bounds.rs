//! The bounds a certificate proves about a model, re-derived.
//!
//! Upper: `f + cuts + phi^T S phi = sum_k w_k f_k + delta`, so `Phi(f) <= sum_k w_k Phi(f_k) + delta_0 + sum |delta_C|`.
//! Lower: `Phi(f) >= E_q f - eps D(q || uniform)`.

use crate::cert::{Cut, Form, Matrix, Polynomial, Proof, Quadratic, Witness};
use crate::interval::{Interval, LN_2, ONE, PI, Sum, ZERO, at, sum_up};
use crate::limits::{Limits, Stop};
use crate::model::{Set, Subject, Terms};
use crate::require;
use crate::spectrum::{maximum, minimum, radius};
use crate::sums::{eliminate, eliminate_weighted};
use crate::tangent::{metric_matrix, tangent};
use crate::weighted::{Side, Tables, replay};
use crate::{bethe, blocks, cost, forest, layer, sparse, states, tree};
use std::collections::BTreeMap;

/// A bound, on phi or on eps log Z, as its proof has it.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    Phi(f64),
    LogZ(f64),
}

impl Bound {
    /// Given `eps sum_i log q_i`.
    pub(crate) fn phi(self, entropy: Interval) -> Interval {
        match self {
            Bound::Phi(v) => at(v),
            Bound::LogZ(v) => at(v) - entropy,
        }
    }

    pub(crate) fn log_z(self, entropy: Interval) -> Interval {
        match self {
            Bound::Phi(v) => at(v) + entropy,
            Bound::LogZ(v) => at(v),
        }
    }
}

/// `eps sum_i log q_i`.
pub(crate) fn entropy(eps: f64, states: &[usize]) -> Interval {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    states.iter().for_each(|q| *counts.entry(*q).or_insert(0) += 1);
    let log = |q: usize| if q == 2 { LN_2 } else { at(q as f64).log() };
    at(eps) * counts.iter().fold(ZERO, |sum, (&q, &n)| sum + at(n as f64) * log(q))
}

/// Upper bound (on max f when eps = 0).
pub(crate) fn upper(
    proof: &Proof,
    subject: &Subject<'_>,
    (eps, zero_floor): (f64, Option<f64>),
    limits: &Limits,
) -> Result<Bound, Stop> {
    let d = subject.states.len();
    if let [(_, Form::Tree(tree))] = &proof.components[..] {
        let alone = proof.cuts.is_empty() && proof.squares.is_empty() && zero_floor.is_none();
        require(alone, "a tree comes with slack or a floor for zeros")?;
        return tree::upper(tree, subject, eps, limits).map(Bound::LogZ);
    }
    if let [(_, Form::Tables(elimination))] = &proof.components[..] {
        let alone = proof.cuts.is_empty() && proof.squares.is_empty();
        require(alone, "a proof about tables comes with slack")?;
        let (constant, factors) = subject.tables()?;
        let model = Tables { constant, factors: &factors, states: &subject.states };
        return Ok(Bound::LogZ(replay(&model, elimination, None, eps, Side::Upper, limits)?.hi));
    }
    limits.allow(cost::of_matrices(proof))?;
    let total = proof.components.iter().fold(ZERO, |sum, (w, _)| sum + at(*w));
    require(proof.components.iter().all(|(w, _)| *w >= 0.0), "a weight is negative")?;
    require(total.lo > 0.0 && total.hi.is_finite(), "the weights do not have a positive sum")?;
    let mut delta = subject.polynomial(zero_floor)?;
    let mut value = ZERO;
    for cut in &proof.cuts {
        add_cut(cut, d, &mut delta)?;
    }
    for square in &proof.squares {
        add_quadratic(ONE, &square.features, &square.matrix, &mut delta);
        // Both are finite, so that no NaN can hide behind `max`.
        let short = at(radius(&square.matrix, &square.pairs)?) - at(minimum(&square.pairs.values));
        value = value + at(square.matrix.n as f64) * at(short.hi.max(0.0));
    }
    for (weight, form) in &proof.components {
        let share = if proof.components.len() == 1 { ONE } else { at(*weight) / total };
        value = value + share * at(settle(form, share, eps, &subject.states, &mut delta, limits)?);
    }
    let constant = delta.remove(&Set::new()).unwrap_or(ZERO);
    Ok(Bound::Phi((value + constant + at(sum_up(delta.values().map(|v| v.size())))).hi))
}

fn add(delta: &mut Polynomial, set: Set, value: Interval) {
    let entry = delta.entry(set).or_insert(ZERO);
    *entry = *entry + value;
}

/// A cycle inequality is valid when `(-1)^k prod signs = -1`: then not every edge can be violated at once.
fn add_cut((multiplier, cycle, signs): &Cut, d: usize, delta: &mut Polynomial) -> Result<(), String> {
    let (k, mut vertices) = (cycle.len(), cycle.clone());
    vertices.sort_unstable();
    let distinct = vertices.windows(2).all(|w| w[0] != w[1]) && vertices.last().is_some_and(|&v| v <= d);
    let negative = signs.iter().filter(|s| **s < 0).count();
    let valid = k >= 3 && signs.len() == k && (k + negative) % 2 == 1;
    let valid = distinct && valid && *multiplier >= 0.0 && multiplier.is_finite();
    require(valid, &format!("the cut over {cycle:?} is not valid"))?;
    add(delta, Set::new(), at((k - 2) as f64) * at(*multiplier));
    for p in 0..k {
        let (a, b) = (cycle[p], cycle[(p + 1) % k]);
        let set: Set = [a.min(b), a.max(b)].into_iter().filter(|&v| v > 0).map(|v| v - 1).collect();
        add(delta, set, at(f64::from(signs[p]) * multiplier));
    }
    Ok(())
}

/// Symmetric difference of two sets: the product of their monomials.
fn product(a: &Set, b: &Set) -> Set {
    let mut out: Set = a.iter().filter(|i| b.binary_search(i).is_err()).copied().collect();
    out.extend(b.iter().filter(|i| a.binary_search(i).is_err()));
    out.sort_unstable();
    out
}

/// `delta += weight phi^T M phi`.
fn add_quadratic(weight: Interval, features: &[Set], m: &Matrix, delta: &mut Polynomial) {
    let mut sums: BTreeMap<Set, Sum> = BTreeMap::new();
    for (j, b) in features.iter().enumerate() {
        for (i, a) in features[..=j].iter().enumerate() {
            let v = m.at(i, j);
            if v != 0.0 {
                // Both triangles; doubling is exact.
                sums.entry(product(a, b)).or_insert(Sum::EMPTY).add(if i == j { v } else { 2.0 * v });
            }
        }
    }
    for (set, sum) in sums {
        add(delta, set, weight * sum.total());
    }
}

fn add_polynomial(weight: Interval, p: &Polynomial, delta: &mut Polynomial) {
    p.iter().for_each(|(set, v)| add(delta, set.clone(), weight * *v));
}

/// Takes `weight f_k` out of delta and bounds `Phi(f_k)`.
fn settle(
    form: &Form,
    weight: Interval,
    eps: f64,
    states: &[usize],
    delta: &mut Polynomial,
    limits: &Limits,
) -> Result<f64, Stop> {
    let d = states.len();
    match form {
        Form::Spectral(q) => {
            add_quadratic(-weight, &q.features, &q.matrix, delta);
            let n = at(q.matrix.n as f64);
            let top = maximum(&q.pairs.values);
            let soft = soft_sum(&q.pairs.values, n, n, eps);
            Ok((n * (at(top) + at(radius(&q.matrix, &q.pairs)?)) + soft).hi)
        }
        Form::Weighted(q) => {
            add_quadratic(-weight, &q.features, &q.matrix, delta);
            let (b, rounding) = metric_matrix(&q.parameters, &q.matrix, eps)?;
            let top = maximum(&q.pairs.values);
            let soft = soft_sum(&q.pairs.values, ONE, ONE, eps);
            Ok((at(top) + at(radius(&b, &q.pairs)?) + at(rounding) + soft).hi)
        }
        Form::Elimination(polynomial, order) => {
            add_polynomial(-weight, polynomial, delta);
            Ok((eliminate(polynomial, order, d, eps, limits)? - entropy(eps, states)).hi)
        }
        Form::WeightedElimination(terms, elimination) => {
            terms.iter().for_each(|(set, v)| add(delta, set.clone(), -weight * *v));
            Ok((eliminate_weighted(terms, elimination, d, eps, limits)? - entropy(eps, states)).hi)
        }
        Form::LogDet(q, noise) => {
            add_quadratic(-weight, &q.features, &q.matrix, delta);
            Ok(log_det(&q.parameters, q, noise, eps)?)
        }
        Form::Tangent(q, point) => {
            add_quadratic(-weight, &q.features, &q.matrix, delta);
            let n = at(q.matrix.n as f64);
            let quadratic = n * (at(maximum(&q.pairs.values)) + at(radius(&q.matrix, &q.pairs)?));
            if eps == 0.0 {
                return Ok(quadratic.hi);
            }
            let t = tangent(&q.parameters, point, eps)?;
            add_quadratic(-(weight * at(t.eps)), &q.features, &t.gradient, delta);
            Ok((quadratic + at(t.eps) * (at(t.offset) + n * at(t.error))).hi)
        }
        Form::SparseDual(polynomial, diagonal, order) => {
            add_polynomial(-weight, polynomial, delta);
            sparse::sparse_dual(polynomial, diagonal, order, d, limits)
        }
        Form::Constant(c) => {
            add(delta, Set::new(), -(weight * at(*c)));
            Ok(*c)
        }
        Form::Tables(_) | Form::Tree(_) => Err("a proof about tables is one component without slack".into()),
    }
}

/// `eps log((1/m) sum_i exp(n (Lambda_i - top) / eps))` from above, top the largest; its limit 0 (or less) at eps = 0.
fn soft_sum(values: &[f64], n: Interval, m: Interval, eps: f64) -> Interval {
    if eps == 0.0 {
        return ZERO;
    }
    let term = |v: &f64| (n * (at(*v) - at(maximum(values))) / at(eps)).exp().hi;
    at(eps) * (at(sum_up(values.iter().map(term))) / m).log()
}

/// `lambda_0 + E R^2 sum lambda_i - (eps/2) log det((2/eps) M) - eps n/2 + eps d ((1/2) log(2 pi e) - h(R) - log 2)`,
/// M = diag(lambda) - F, F hollow but for its corner.
fn log_det(lambda: &[f64], q: &Quadratic, noise: &[f64], eps: f64) -> Result<f64, String> {
    let n = q.matrix.n;
    let (square, entropy) = law(noise)?;
    let hollow = (1..n).all(|i| q.matrix.at(i, i) == 0.0) && lambda.iter().all(|l| l.is_finite());
    require(hollow, "a log-det matrix has a diagonal, or a multiplier is not finite")?;
    let mut m = Matrix { n, data: q.matrix.data.iter().map(|v| -v).collect() };
    (1..n).for_each(|i| m.data[i * (n + 1)] = lambda[i]);
    let error;
    (m.data[0], error) = (at(lambda[0]) - at(q.matrix.at(0, 0))).middle();
    let reach = at(radius(&m, &q.pairs)?) + at(error);
    let spins = lambda[1..].iter().fold(ZERO, |sum, l| sum + at(*l));
    if eps == 0.0 {
        let short = at((reach - at(minimum(&q.pairs.values))).hi.max(0.0));
        return Ok((at(lambda[0]) + spins + at(n as f64) * short).hi);
    }
    let mut log = ZERO;
    for value in &q.pairs.values {
        let least = (at(*value) - reach).lo;
        require(least > 0.0, "a log-det matrix is not positive definite")?;
        log = log + (at(2.0) * at(least) / at(eps)).log();
    }
    let per_spin = at(0.5) * (PI.log() + ONE - LN_2) - entropy;
    let rest = at((n - 1) as f64) * per_spin - at(0.5) * (log + at(n as f64));
    Ok((at(lambda[0]) + square * spins + at(eps) * rest).hi)
}

/// `E R^2` and h(R) for R of mean 1 with a density in the proportions `weights` on intervals of equal length from 0.
///
/// On intervals of length one: mean `sum w (k + 1/2)`, second moment `sum w (k^2 + k + 1/3)`, entropy `-sum w log w`, w of sum one.
fn law(weights: &[f64]) -> Result<(Interval, Interval), String> {
    require(
        weights.iter().all(|w| *w >= 0.0 && w.is_finite()),
        "a weight of a noise is negative or not finite",
    )?;
    let sum = |term: &dyn Fn(f64, Interval) -> Interval| {
        let own = weights.iter().enumerate().filter(|(_, w)| **w > 0.0);
        own.fold(ZERO, |sum, (k, w)| sum + term(k as f64, at(*w)))
    };
    let total = sum(&|_, w| w);
    require(total.lo > 0.0, "a noise has no weight")?;
    let mean = sum(&|k, w| w * (at(k) + at(0.5))) / total;
    let square = sum(&|k, w| w * (at(k) * at(k) + at(k) + ONE / at(3.0))) / total / (mean * mean);
    let entropy = total.log() - sum(&|_, w| w * w.log()) / total - mean.log();
    let finite = [square, entropy].iter().all(|v| v.lo.is_finite() && v.hi.is_finite());
    require(finite, "a noise is out of range")?;
    Ok((square, entropy))
}

/// Lower bound.
pub(crate) fn lower(
    witness: &Witness,
    subject: &Subject<'_>,
    eps: f64,
    limits: &Limits,
) -> Result<Bound, Stop> {
    let states = &subject.states;
    if let Witness::Tables(..) | Witness::States(_) | Witness::StateProduct(_) | Witness::Blocks(..) = witness
    {
        let (constant, factors) = subject.tables()?;
        let model = Tables { constant, factors: &factors, states };
        let value = match witness {
            Witness::Tables(e, allowed) => replay(&model, e, allowed.as_ref(), eps, Side::Lower, limits)?,
            Witness::States(states) => states::states(&model, states)?,
            Witness::StateProduct(rows) => states::product(&model, rows, eps)?,
            Witness::Blocks(blocks, fields) => blocks::value(&model, blocks, fields, eps, limits)?,
            _ => return Err("this witness is not about tables".into()),
        };
        return Ok(Bound::LogZ(value.lo));
    }
    if let Witness::Tree(tree) = witness {
        return tree::lower(tree, subject, eps, limits).map(Bound::LogZ);
    }
    let terms = subject.polynomial(None)?;
    Ok(Bound::Phi(phi(witness, &terms, states.len(), eps, limits)?.lo))
}

/// The value on phi of a witness about a polynomial of `d` spins.
fn phi(witness: &Witness, terms: &Terms, d: usize, eps: f64, limits: &Limits) -> Result<Interval, Stop> {
    let entropy = entropy(eps, &vec![2; d]);
    Ok(match witness {
        Witness::Point(spins) => {
            require(spins.len() == d, "the witness has the wrong number of spins")?;
            let sign = |set: &Set| set.iter().map(|&i| spins[i]).product::<i8>();
            let value = terms.iter().fold(ZERO, |sum, (s, v)| sum + if sign(s) > 0 { *v } else { -*v });
            value - entropy
        }
        Witness::Product(means) => spin_product(means, terms, eps)?,
        Witness::Forest(g) => {
            require(eps > 0.0, "a forest witness needs eps > 0")?;
            let mut law = forest::Forest::new(g, d, eps)?;
            let mut value = law.phi;
            // E_q (f - g), coefficient by coefficient: where they agree nothing is rounded.
            let mut difference = terms.clone();
            g.iter().for_each(|(set, v)| add(&mut difference, set.clone(), -*v));
            for (set, v) in difference.iter().filter(|(_, v)| **v != ZERO) {
                value = value + *v * law.expectation(set);
            }
            value
        }
        Witness::Elimination(order) => eliminate(terms, order, d, eps, limits)? - entropy,
        Witness::Layer(means, summed) => layer::value(means, summed, terms, d, eps)?,
        Witness::Bethe(point) => bethe::value(point, terms, d, eps)? - entropy,
        _ => return Err("this witness is about tables".into()),
    })
}

/// Independent spins with given means.
fn spin_product(means: &[f64], terms: &Terms, eps: f64) -> Result<Interval, String> {
    require(means.iter().all(|m| m.abs() <= 1.0), "a mean is outside [-1, 1]")?;
    let term = |set: &Set, v: Interval| set.iter().fold(v, |product, &i| product * at(means[i]));
    let value = terms.iter().fold(ZERO, |sum, (set, v)| sum + term(set, *v));
    let part = |p: Interval| if p.hi <= 0.0 { ZERO } else { p * p.log() };
    let divergence = means.iter().fold(ZERO, |sum, m| sum + part(ONE + at(*m)) + part(ONE - at(*m)));
    Ok(value - at(0.5) * at(eps) * divergence)
}
