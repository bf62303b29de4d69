//! The bounds a certificate proves about a model, re-derived.
//!
//! Upper: `f + cuts + phi^T S phi = sum_k w_k f_k + delta`, so `Phi(f) <= sum_k w_k Phi(f_k) + delta_0 + sum |delta_C|`.
//! Lower: `Phi(f) >= E_q f - eps D(q || uniform)`.

use crate::cert::{Certificate, Cut, Form, Polynomial, Quadratic, Witness};
use crate::interval::{Interval, LN_2, ONE, PI, Sum, ZERO, at, sum_up};
use crate::model::{Model, Set};
use crate::spectrum::{maximum, radius};
use crate::sums::{Forest, eliminate, sparse_dual};
use crate::tangent::{metric_matrix, tangent};
use std::collections::BTreeMap;

/// `eps d log 2`.
pub(crate) fn entropy(eps: f64, d: usize) -> Interval {
    at(eps) * at(d as f64) * LN_2
}

/// Upper bound on Phi (on max f when eps = 0).
pub(crate) fn upper(certificate: &Certificate, model: &Model) -> Result<f64, String> {
    let eps = certificate.eps;
    if !certificate.components.iter().all(|(w, _)| *w >= 0.0 && w.is_finite()) {
        return Err("a weight is negative or not finite".into());
    }
    let total = certificate.components.iter().fold(ZERO, |sum, (w, _)| sum + at(*w));
    if !(total.lo > 0.0 && total.hi.is_finite()) {
        return Err("the weights do not have a positive sum".into());
    }
    let mut delta = model.terms.clone();
    let mut value = ZERO;
    for cut in &certificate.cuts {
        add_cut(cut, model.d, &mut delta)?;
    }
    for square in &certificate.squares {
        add_quadratic(ONE, square, &mut delta);
        let least = -maximum(&square.pairs.values.iter().map(|v| -v).collect::<Vec<_>>());
        let short = at(radius(&square.matrix, &square.pairs)?) - at(least);
        value = value + at(square.matrix.n as f64) * at(positive(short.hi));
    }
    for (weight, form) in &certificate.components {
        let share = if certificate.components.len() == 1 { ONE } else { at(*weight) / total };
        value = value + share * at(settle(form, share, eps, model.d, &mut delta)?);
    }
    let constant = delta.remove(&Set::new()).unwrap_or(ZERO);
    Ok((value + constant + at(sum_up(delta.values().map(|v| v.size())))).hi)
}

/// `max(x, 0)`, NaN for NaN.
fn positive(x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { x }
}

fn add(delta: &mut Polynomial, set: Set, value: Interval) {
    let entry = delta.entry(set).or_insert(ZERO);
    *entry = *entry + value;
}

/// A cycle inequality is valid when `(-1)^k prod signs = -1`: then not every edge can be violated at once.
fn add_cut(cut: &Cut, d: usize, delta: &mut Polynomial) -> Result<(), String> {
    let k = cut.cycle.len();
    let mut vertices = cut.cycle.clone();
    vertices.sort_unstable();
    let negative = cut.signs.iter().filter(|s| **s < 0).count();
    let shape = k >= 3 && cut.signs.len() == k && (k + negative) % 2 == 1;
    if !(shape && cut.multiplier >= 0.0 && cut.multiplier.is_finite())
        || vertices.windows(2).any(|w| w[0] == w[1])
        || vertices[k - 1] > d
    {
        return Err(format!("the cut over {:?} is not valid", cut.cycle));
    }
    add(delta, Set::new(), at((k - 2) as f64) * at(cut.multiplier));
    for p in 0..k {
        let (a, b) = (cut.cycle[p], cut.cycle[(p + 1) % k]);
        let set: Set = [a.min(b), a.max(b)].into_iter().filter(|&v| v > 0).map(|v| v - 1).collect();
        add(delta, set, if cut.signs[p] > 0 { at(cut.multiplier) } else { at(-cut.multiplier) });
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
pub(crate) fn add_quadratic(weight: Interval, q: &Quadratic, delta: &mut Polynomial) {
    add_form(weight, &q.features, |i, j| q.matrix.at(i, j), delta);
}

pub(crate) fn add_form(
    weight: Interval,
    features: &[Set],
    entry: impl Fn(usize, usize) -> f64,
    delta: &mut Polynomial,
) {
    let mut sums: BTreeMap<Set, Sum> = BTreeMap::new();
    for (j, b) in features.iter().enumerate() {
        for (i, a) in features[..=j].iter().enumerate() {
            let v = entry(i, j);
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
fn settle(form: &Form, weight: Interval, eps: f64, d: usize, delta: &mut Polynomial) -> Result<f64, String> {
    match form {
        Form::Spectral(q) => {
            add_quadratic(-weight, q, delta);
            let n = at(q.matrix.n as f64);
            let top = maximum(&q.pairs.values);
            let mean = |v: f64| soft_sum(&q.pairs.values, v, n, eps) / n;
            let soft = if eps == 0.0 { ZERO } else { at(eps) * mean(top).log() };
            Ok((n * (at(top) + at(radius(&q.matrix, &q.pairs)?)) + soft).hi)
        }
        Form::Weighted { eta, quadratic: q } => {
            add_quadratic(-weight, q, delta);
            let (b, rounding) = metric_matrix(eta, &q.matrix, eps)?;
            let top = maximum(&q.pairs.values);
            let soft =
                if eps == 0.0 { ZERO } else { at(eps) * soft_sum(&q.pairs.values, top, ONE, eps).log() };
            Ok((at(top) + at(radius(&b, &q.pairs)?) + at(rounding) + soft).hi)
        }
        Form::Elimination { polynomial, order } => {
            add_polynomial(-weight, polynomial, delta);
            Ok(eliminate(polynomial, order, d, eps)?.hi)
        }
        Form::LogDet { lambda, quadratic } => {
            add_quadratic(-weight, quadratic, delta);
            log_det(lambda, quadratic, eps)
        }
        Form::Tangent { eta, point, quadratic: q } => {
            add_quadratic(-weight, q, delta);
            let n = at(q.matrix.n as f64);
            let quadratic = n * (at(maximum(&q.pairs.values)) + at(radius(&q.matrix, &q.pairs)?));
            if eps == 0.0 {
                return Ok(quadratic.hi);
            }
            let t = tangent(eta, point, eps)?;
            add_form(-(weight * at(t.eps)), &q.features, |i, j| t.gradient.at(i, j), delta);
            Ok((quadratic + at(t.eps) * (at(t.offset) + n * at(t.error))).hi)
        }
        Form::SparseDual { polynomial, diagonal, order } => {
            add_polynomial(-weight, polynomial, delta);
            sparse_dual(polynomial, diagonal, order, d)
        }
        Form::Constant(c) => {
            add(delta, Set::new(), -(weight * at(*c)));
            Ok(*c)
        }
    }
}

/// `sum_i exp(n (Lambda_i - top) / eps)`, rounded up.
fn soft_sum(values: &[f64], top: f64, n: Interval, eps: f64) -> Interval {
    at(sum_up(values.iter().map(|v| (n * (at(*v) - at(top)) / at(eps)).exp().hi)))
}

/// `lambda_0 + (4/3) sum lambda_i - (eps/2) log det((2/eps) M) - eps n/2 + (eps d/2) log(pi e/2) - eps d log 2`,
/// M = diag(lambda) - F, F hollow but for its corner.
fn log_det(lambda: &[f64], q: &Quadratic, eps: f64) -> Result<f64, String> {
    let n = q.matrix.n;
    if !lambda.iter().all(|l| l.is_finite()) || (1..n).any(|i| q.matrix.at(i, i) != 0.0) {
        return Err("a log-det matrix has a diagonal, or a multiplier is not finite".into());
    }
    let mut m = crate::cert::Matrix { n, data: q.matrix.data.iter().map(|v| -v).collect() };
    (1..n).for_each(|i| m.data[i * (n + 1)] = lambda[i]);
    let corner = at(lambda[0]) - at(q.matrix.at(0, 0));
    let (middle, error) = corner.middle();
    m.data[0] = middle;
    let reach = at(radius(&m, &q.pairs)?) + at(error);
    let spins = lambda[1..].iter().fold(ZERO, |sum, l| sum + at(*l));
    if eps == 0.0 {
        let least = -maximum(&q.pairs.values.iter().map(|v| -v).collect::<Vec<_>>());
        let short = at(positive((reach - at(least)).hi));
        return Ok((at(lambda[0]) + spins + at(n as f64) * short).hi);
    }
    let mut log = ZERO;
    for value in &q.pairs.values {
        let least = (at(*value) - reach).lo;
        if !(least > 0.0) {
            return Err("a log-det matrix is not positive definite".into());
        }
        log = log + (at(2.0) * at(least) / at(eps)).log();
    }
    let per_spin = at(0.5) * (PI.log() + ONE - LN_2) - LN_2;
    let rest = at((n - 1) as f64) * per_spin - at(0.5) * (log + at(n as f64));
    Ok((at(lambda[0]) + at(4.0) * spins / at(3.0) + at(eps) * rest).hi)
}

/// Lower bound on Phi.
pub(crate) fn lower(witness: &Witness, model: &Model, eps: f64) -> Result<f64, String> {
    let d = model.d;
    let value = match witness {
        Witness::Point(spins) => {
            if spins.len() != d {
                return Err("the witness has the wrong number of spins".into());
            }
            let sign = |set: &Set| set.iter().map(|&i| spins[i]).product::<i8>();
            let value = model.terms.iter().fold(ZERO, |sum, (s, v)| sum + if sign(s) > 0 { *v } else { -*v });
            value - entropy(eps, d)
        }
        Witness::Product(means) => {
            if !means.iter().all(|m| m.abs() <= 1.0) {
                return Err("a mean is outside [-1, 1]".into());
            }
            let value = model
                .terms
                .iter()
                .fold(ZERO, |sum, (set, v)| sum + set.iter().fold(*v, |product, &i| product * at(means[i])));
            let part = |p: Interval| if p.hi <= 0.0 { ZERO } else { p * p.log() };
            let divergence = means.iter().fold(ZERO, |sum, m| sum + part(ONE + at(*m)) + part(ONE - at(*m)));
            value - at(0.5) * at(eps) * divergence
        }
        Witness::Forest(g) => {
            if !(eps > 0.0) {
                return Err("a forest witness needs eps > 0".into());
            }
            let law = Forest::new(g, d, eps)?;
            let value = model.terms.iter().fold(law.phi, |sum, (s, v)| sum + *v * law.expectation(s));
            g.iter().fold(value, |sum, (s, v)| sum - *v * law.expectation(s))
        }
        Witness::Elimination(order) => eliminate(&model.terms, order, d, eps)?,
    };
    Ok(value.lo)
}
