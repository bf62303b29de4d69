//! What the table entries alone say about log Z.

use crate::certify::Interval;
use crate::model::FactorModel;

/// Both sides of phi, the logarithm of the mean of `exp(f/eps)` times eps, from single entries: `max f <= c + sum of the
/// largest entries`, and by Jensen `phi >= E f = c + sum of the mean entries`, which is no bound with hard zeros.
///
/// **Cost** one look at every entry.
pub(crate) fn entry_bracket(model: &FactorModel) -> (Option<f64>, f64) {
    let constant = Interval::point(model.constant());
    let (mut lower, mut upper) = (constant, constant);
    for factor in model.factors() {
        let largest = factor.table.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        upper = upper + Interval::point(largest);
        let sum = factor.table.iter().fold(Interval::ZERO, |sum, v| sum + Interval::point(*v));
        lower = lower + sum / Interval::point(factor.table.len() as f64);
    }
    let radius = Interval::point(model.uncertainty());
    let lower = (lower - radius).lo;
    (Some(lower).filter(|v| v.is_finite()), (upper + radius).hi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_bracket_the_mean_weight_of_any_domain() {
        let mut model = FactorModel::with_cardinalities(&[3, 2]).unwrap();
        model.add_constant(0.5);
        model.push(&[0, 1], &[0.0, 1.0, -2.0, 0.3, 4.0, -1.0]).unwrap();
        model.push(&[0], &[0.1, 0.2, -0.7]).unwrap();
        let states = (0..3).flat_map(|a| [[a, 0], [a, 1]]);
        let phi = (states.map(|x| model.value_of(&x).exp()).sum::<f64>() / 6.0).ln();
        let (lower, upper) = entry_bracket(&model);
        assert!(lower.unwrap() <= phi && phi <= upper && upper <= 0.5 + 4.0 + 0.2 + 1e-12);
        model.push(&[1], &[f64::NEG_INFINITY, 0.0]).unwrap();
        assert_eq!(entry_bracket(&model).0, None);
    }
}
