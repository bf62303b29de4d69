//! The bounds a certificate proves about a model, re-derived.
//!
//! Upper: `f + cuts + phi^T S phi = sum_k w_k f_k + delta`, so `Phi(f) <= sum_k w_k Phi(f_k) + delta_0 + sum |delta_C|`.
//! Lower: `Phi(f) >= E_q f - eps D(q || uniform)`.

use crate::cert::{Certificate, Cut, Form, Matrix, Polynomial, Quadratic, Witness};
use crate::interval::{Interval, LN_2, ONE, PI, Sum, ZERO, at, sum_up};
use crate::model::{Model, Set};
use crate::require;
use crate::spectrum::{maximum, minimum, radius};
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
    let total = certificate.components.iter().fold(ZERO, |sum, (w, _)| sum + at(*w));
    require(certificate.components.iter().all(|(w, _)| *w >= 0.0), "a weight is negative")?;
    require(total.lo > 0.0 && total.hi.is_finite(), "the weights do not have a positive sum")?;
    let mut delta = model.terms.clone();
    let mut value = ZERO;
    for cut in &certificate.cuts {
        add_cut(cut, model.d, &mut delta)?;
    }
    for square in &certificate.squares {
        add_quadratic(ONE, &square.features, &square.matrix, &mut delta);
        // Both are finite, so that no NaN can hide behind `max`.
        let short = at(radius(&square.matrix, &square.pairs)?) - at(minimum(&square.pairs.values));
        value = value + at(square.matrix.n as f64) * at(short.hi.max(0.0));
    }
    for (weight, form) in &certificate.components {
        let share = if certificate.components.len() == 1 { ONE } else { at(*weight) / total };
        value = value + share * at(settle(form, share, eps, model.d, &mut delta)?);
    }
    let constant = delta.remove(&Set::new()).unwrap_or(ZERO);
    Ok((value + constant + at(sum_up(delta.values().map(|v| v.size())))).hi)
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
fn settle(form: &Form, weight: Interval, eps: f64, d: usize, delta: &mut Polynomial) -> Result<f64, String> {
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
            Ok(eliminate(polynomial, order, d, eps)?.hi)
        }
        Form::LogDet(q) => {
            add_quadratic(-weight, &q.features, &q.matrix, delta);
            log_det(&q.parameters, q, eps)
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
            sparse_dual(polynomial, diagonal, order, d)
        }
        Form::Constant(c) => {
            add(delta, Set::new(), -(weight * at(*c)));
            Ok(*c)
        }
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

/// `lambda_0 + (4/3) sum lambda_i - (eps/2) log det((2/eps) M) - eps n/2 + (eps d/2) log(pi e/2) - eps d log 2`,
/// M = diag(lambda) - F, F hollow but for its corner.
fn log_det(lambda: &[f64], q: &Quadratic, eps: f64) -> Result<f64, String> {
    let n = q.matrix.n;
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
    let per_spin = at(0.5) * (PI.log() + ONE - LN_2) - LN_2;
    let rest = at((n - 1) as f64) * per_spin - at(0.5) * (log + at(n as f64));
    Ok((at(lambda[0]) + at(4.0) * spins / at(3.0) + at(eps) * rest).hi)
}

/// Lower bound on Phi.
pub(crate) fn lower(witness: &Witness, model: &Model, eps: f64) -> Result<f64, String> {
    let d = model.d;
    let value = match witness {
        Witness::Point(spins) => {
            require(spins.len() == d, "the witness has the wrong number of spins")?;
            let sign = |set: &Set| set.iter().map(|&i| spins[i]).product::<i8>();
            let value = model.terms.iter().fold(ZERO, |sum, (s, v)| sum + if sign(s) > 0 { *v } else { -*v });
            value - entropy(eps, d)
        }
        Witness::Product(means) => {
            require(means.iter().all(|m| m.abs() <= 1.0), "a mean is outside [-1, 1]")?;
            let term = |set: &Set, v: Interval| set.iter().fold(v, |product, &i| product * at(means[i]));
            let value = model.terms.iter().fold(ZERO, |sum, (set, v)| sum + term(set, *v));
            let part = |p: Interval| if p.hi <= 0.0 { ZERO } else { p * p.log() };
            let divergence = means.iter().fold(ZERO, |sum, m| sum + part(ONE + at(*m)) + part(ONE - at(*m)));
            value - at(0.5) * at(eps) * divergence
        }
        Witness::Forest(g) => {
            require(eps > 0.0, "a forest witness needs eps > 0")?;
            let law = Forest::new(g, d, eps)?;
            let value = model.terms.iter().fold(law.phi, |sum, (s, v)| sum + *v * law.expectation(s));
            g.iter().fold(value, |sum, (s, v)| sum - *v * law.expectation(s))
        }
        Witness::Elimination(order) => eliminate(&model.terms, order, d, eps)?,
    };
    Ok(value.lo)
}
