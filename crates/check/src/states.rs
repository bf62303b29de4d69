//! One assignment, or independent variables: `eps log Z >= E_q f + eps H(q)`.

use crate::interval::{Interval, ZERO, at};
use crate::require;
use crate::weighted::Tables;

/// `eps log Z >= f(x)`.
pub(crate) fn states(model: &Tables<'_>, states: &[usize]) -> Result<Interval, String> {
    let fits = states.len() == model.states.len() && states.iter().zip(model.states).all(|(s, q)| s < q);
    require(fits, "the witness is not a state for each variable")?;
    let mut value = model.constant;
    for factor in model.factors {
        let (mut index, mut stride) = (0, 1);
        for &v in &factor.scope {
            index += states[v as usize] * stride;
            stride *= model.states[v as usize];
        }
        require(factor.values[index].is_finite(), "the witness meets a zero of a table")?;
        value = value + at(factor.values[index]) + Interval { lo: -factor.error, hi: factor.error };
    }
    Ok(value)
}

/// Rows of weights, normalised here.
pub(crate) fn product(model: &Tables<'_>, rows: &[Vec<f64>], eps: f64) -> Result<Interval, String> {
    let fits =
        rows.len() == model.states.len() && rows.iter().zip(model.states).all(|(row, q)| row.len() == *q);
    require(fits, "the witness does not have a row for each variable")?;
    let (mut laws, mut entropy) = (Vec::with_capacity(rows.len()), ZERO);
    for row in rows {
        require(row.iter().all(|p| *p >= 0.0 && p.is_finite()), "a probability is negative or not finite")?;
        let total = row.iter().fold(ZERO, |sum, p| sum + at(*p));
        require(total.lo > 0.0 && total.hi.is_finite(), "probabilities do not have a positive sum")?;
        let law: Vec<Interval> = row.iter().map(|p| nonnegative(at(*p) / total)).collect();
        for p in law.iter().filter(|p| **p != ZERO) {
            entropy = entropy - information(*p);
        }
        laws.push(law);
    }
    let mut value = model.constant;
    for factor in model.factors {
        let own: Vec<&[Interval]> = factor.scope.iter().map(|&v| &laws[v as usize][..]).collect();
        value = value + expectation(&factor.values, &own)? + Interval { lo: -factor.error, hi: factor.error };
    }
    Ok(value + at(eps) * entropy)
}

/// What is known to be at least 0; NaN stays.
pub(crate) fn nonnegative(x: Interval) -> Interval {
    Interval { lo: if x.lo < 0.0 { 0.0 } else { x.lo }, hi: x.hi }
}

/// `p log p` for p > 0; a p whose lower end is 0 has underflowed.
fn information(p: Interval) -> Interval {
    if p.lo > 0.0 { p * p.log() } else { Interval { lo: -1e-300, hi: 0.0 } }
}

/// `sum_x table[x] prod p_i(x_i)`, first variable fastest; a state of probability exactly 0 counts for nothing.
pub(crate) fn expectation(table: &[f64], laws: &[&[Interval]]) -> Result<Interval, String> {
    let Some((last, before)) = laws.split_last() else {
        require(table[0].is_finite(), "the witness meets a zero of a table")?;
        return Ok(at(table[0]));
    };
    let chunk = table.len() / last.len();
    let mut sum = ZERO;
    for (part, p) in table.chunks_exact(chunk).zip(last.iter()).filter(|(_, p)| **p != ZERO) {
        sum = sum + *p * expectation(part, before)?;
    }
    Ok(sum)
}
