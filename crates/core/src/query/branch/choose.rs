//! Which variable to split.

use super::leaf::Known;
use crate::error::Result;
use crate::model::Model;

/// Weight of a variable that the bound holds for decided, next to an undecided one: its mean may be wrong.
const DECIDED: f64 = 0.1;

/// Free variables of a part (numbered among themselves) by how much fixing them should tell, best first.
///
/// A variable tells the more the stronger its factors and the less decided it is.
pub(super) fn candidates(part: &Model, known: &Known, count: usize) -> Result<Vec<usize>> {
    let tables = part.factors()?;
    let mut pull = vec![0.0f64; tables.d()];
    for factor in tables.factors() {
        let finite = || factor.table.iter().copied().filter(|v| v.is_finite());
        let range = finite().fold(f64::NEG_INFINITY, f64::max) - finite().fold(f64::INFINITY, f64::min);
        let range = if finite().count() < factor.table.len() { range.max(0.0) + HARD } else { range };
        // Fields of single variables do not tie anything.
        if factor.scope.len() > 1 {
            factor.scope.iter().for_each(|&v| pull[v as usize] += range);
        }
    }
    if let Some(means) = known.means.as_ref().filter(|means| means.len() == pull.len()) {
        pull.iter_mut().zip(means).for_each(|(p, m)| *p *= DECIDED + 1.0 - m * m);
    }
    let mut order: Vec<usize> = (0..pull.len()).filter(|&v| tables.cardinalities()[v] > 1).collect();
    order.sort_by(|&a, &b| pull[b].total_cmp(&pull[a]).then(a.cmp(&b)));
    order.truncate(count);
    Ok(order)
}

/// What a hard zero counts next to differences of finite values.
const HARD: f64 = 5.0;
