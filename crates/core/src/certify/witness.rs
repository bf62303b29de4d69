//! Lower bounds: for any distribution q, `Phi(f) >= E_q f - eps D(q || uniform)`.

use super::bound::entropy;
use super::certificate::Witness;
use super::elimination;
use super::forest::ForestLaw;
use super::interval::Interval;
use super::layer;
use super::tables;
use crate::error::{Error, Result};
use crate::model::Polynomial;

/// Encloses the value a witness proves; its lower end is the bound.
pub(crate) fn enclose(witness: &Witness, f: &Polynomial, eps: f64) -> Result<Interval> {
    match witness {
        Witness::Product { means } => product(means, f, eps),
        Witness::Forest { polynomial } => forest(polynomial, f, eps),
        Witness::Point { spins } => point(spins, f, eps),
        Witness::Elimination { order } => elimination::enclose(f, order, eps),
        // On the counting measure, as every proof about tables.
        Witness::Bethe { means, edges, correlations, flips } => {
            Ok(tables::bethe(f, means, edges, correlations, flips, eps)? - entropy(eps, f.d()))
        }
        Witness::Layer { means, summed } => layer::enclose(means, summed, f, eps),
        Witness::Tables { .. }
        | Witness::States { .. }
        | Witness::StateProduct { .. }
        | Witness::Blocks { .. }
        | Witness::Tree(_) => Err(Error::Certificate("the witness is not about one polynomial".into())),
    }
}

/// A point mass has divergence `d log 2`.
fn point(spins: &[i8], f: &Polynomial, eps: f64) -> Result<Interval> {
    if spins.len() != f.d() || spins.iter().any(|s| *s != 1 && *s != -1) {
        return Err(Error::Certificate(format!("the witness is not {} spins", f.d())));
    }
    let mut value = Interval::ZERO;
    f.visit(|members, v| {
        let sign: i8 = members.iter().map(|&i| spins[i]).product();
        value = value + Interval::point(if sign > 0 { v } else { -v });
    });
    Ok(value - entropy(eps, f.d()))
}

/// `E_q f = sum_A theta_A prod m_i`; the divergence of a spin with mean m is `((1+m) log(1+m) + (1-m) log(1-m)) / 2`.
fn product(means: &[f64], f: &Polynomial, eps: f64) -> Result<Interval> {
    if means.len() != f.d() || !means.iter().all(|m| m.abs() <= 1.0) {
        return Err(Error::Certificate(format!("the witness is not {} means in [-1, 1]", f.d())));
    }
    let mean = |i: usize| Interval::point(means[i]);
    let mut value = Interval::ZERO;
    f.visit(|members, v| {
        value = value + members.iter().fold(Interval::point(v), |product, &i| product * mean(i));
    });
    let part = |p: Interval| if p.hi <= 0.0 { Interval::ZERO } else { p * p.log() };
    // A mean of zero has divergence exactly zero; large models have many of them.
    let biased = (0..means.len()).filter(|&i| means[i] != 0.0);
    let divergence = biased
        .fold(Interval::ZERO, |sum, i| sum + part(Interval::ONE + mean(i)) + part(Interval::ONE - mean(i)));
    Ok(value - Interval::point(0.5 * eps) * divergence)
}

/// With q proportional to `exp(g/eps)`, `eps D(q || uniform) = E_q g - Phi(g)`, so the value is `Phi(g) + E_q(f - g)`.
fn forest(g: &Polynomial, f: &Polynomial, eps: f64) -> Result<Interval> {
    if g.d() != f.d() || !(eps > 0.0) {
        return Err(Error::Certificate("a forest witness needs the model's spins and eps > 0".into()));
    }
    let Some(pairwise) = g.as_ising() else {
        return Err(Error::Certificate("a forest witness is not pairwise".into()));
    };
    let mut law = ForestLaw::new(pairwise, eps)?;
    let mut value = law.phi();
    f.visit(|members, v| {
        if v != 0.0 {
            value = value + Interval::point(v) * law.expectation(members);
        }
    });
    g.visit(|members, v| {
        if v != 0.0 {
            value = value - Interval::point(v) * law.expectation(members);
        }
    });
    Ok(value)
}
