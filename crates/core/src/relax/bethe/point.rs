//! The Bethe value of a locally consistent point, and the best correlations for given means.

/// `|E x|` of a spin stays below one by about this much, so that local consistency can be decided by rounded sums.
pub(super) const ROOM: f64 = 1e-12;

/// Roundings of a sum of four numbers up to 4, in units of which correlations stay inside their range.
const MARGIN: f64 = 8.0 * f64::EPSILON;

/// The correlation that maximises `J c + H_ij(mean_i, mean_j, c)` for a coupling `J >= 0`, and its part of the value:
/// `J c + H_ij - H_i - H_j`.
///
/// With `q = (1 + mean)/2` and `alpha = e^{4J} - 1` the probability of `++` is the smaller root of
/// `alpha p^2 - (1 + alpha (q_i + q_j)) p + (1 + alpha) q_i q_j = 0`.
pub(super) fn best_correlation(coupling: f64, mean_i: f64, mean_j: f64) -> f64 {
    let (a, b) = (0.5 * (1.0 + mean_i), 0.5 * (1.0 + mean_j));
    let both = if 4.0 * coupling < 1.0 {
        let alpha = (4.0 * coupling).exp_m1();
        let root = (alpha * (a - b)).powi(2) + 1.0 + 2.0 * alpha * (a * (1.0 - b) + b * (1.0 - a));
        2.0 * (1.0 + alpha) * a * b / (1.0 + alpha * (a + b) + root.sqrt())
    } else {
        // Divided by alpha where that is large: no term overflows and no difference cancels.
        let beta = 1.0 / (4.0 * coupling).exp_m1();
        let root = (a - b).powi(2) + beta * beta + 2.0 * beta * (a * (1.0 - b) + b * (1.0 - a));
        2.0 * (1.0 + beta) * a * b / (beta + a + b + root.sqrt())
    };
    inside(4.0 * both - mean_i - mean_j - 1.0, mean_i, mean_j)
}

/// The nearest correlation that is consistent with the means, with room for rounding.
fn inside(correlation: f64, mean_i: f64, mean_j: f64) -> f64 {
    let low = (mean_i + mean_j).abs() - 1.0 + MARGIN;
    let high = 1.0 - (mean_i - mean_j).abs() - MARGIN;
    if low < high { correlation.clamp(low, high) } else { mean_i * mean_j }
}

/// Entropy of a spin.
pub(super) fn entropy(mean: f64) -> f64 {
    minus_p_log_p(0.5 * (1.0 + mean)) + minus_p_log_p(0.5 * (1.0 - mean))
}

/// Entropy of a pair.
pub(super) fn pair_entropy(mean_i: f64, mean_j: f64, correlation: f64) -> f64 {
    let p = |a: f64, b: f64| 0.25 * (1.0 + a * mean_i + b * mean_j + a * b * correlation);
    [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(a, b)| minus_p_log_p(p(a, b))).iter().sum()
}

fn minus_p_log_p(p: f64) -> f64 {
    if p > 0.0 { -p * p.ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_correlation_beats_its_neighbours_and_is_consistent() {
        for coupling in [0.0, 1e-6, 0.1, 0.24, 0.26, 1.0, 5.0, 200.0] {
            for a in [-0.999, -0.5, 0.0, 0.3, 1.0 - ROOM] {
                for b in [-1.0 + ROOM, -0.2, 0.3, 0.31, 0.99] {
                    let value = |c: f64| coupling * c + pair_entropy(a, b, c);
                    let best = best_correlation(coupling, a, b);
                    for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                        assert!(1.0 + s * a + t * b + s * t * best >= 0.0, "{coupling} {a} {b}: {best}");
                    }
                    for step in [-1e-4, 1e-4] {
                        let other = inside(best + step, a, b);
                        assert!(value(other) <= value(best) + 1e-10, "{coupling} {a} {b}: {best}");
                    }
                }
            }
        }
    }
}
