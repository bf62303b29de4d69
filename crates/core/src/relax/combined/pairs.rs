//! Entropies of one and two spins, as functions of their moments.

use crate::relax::cuts::quad::{adjoint, gram, slacks};

/// Probabilities below this are rounding of the moments they come from.
pub(super) const LEAST: f64 = 1e-17;

/// `atanh m`, finite also where m rounds to 1.
pub(super) fn half_log_odds(m: f64) -> f64 {
    0.5 * ((1.0 + m).max(LEAST).ln() - (1.0 - m).max(LEAST).ln())
}

/// Minus the second derivative of [`spin_entropy`].
pub(super) fn spin_curvature(m: f64) -> f64 {
    1.0 / ((1.0 - m) * (1.0 + m)).max(LEAST)
}

pub(super) fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

/// Entropy of a spin of mean m, minus log 2.
pub(super) fn spin_entropy(m: f64) -> f64 {
    -x_log_x(0.5 * (1.0 + m)) - x_log_x(0.5 * (1.0 - m)) - std::f64::consts::LN_2
}

/// Mutual information of two spins with means a, b and moment c.
pub(super) fn information([a, b, c]: [f64; 3]) -> f64 {
    let joint: f64 = slacks([a, b, c]).iter().map(|q| x_log_x(q / 4.0)).sum();
    joint + spin_entropy(a) + spin_entropy(b) + 2.0 * std::f64::consts::LN_2
}

/// Its derivatives, which are also the parameters of the pair's distribution beyond independence:
/// `log p_st / (p_s p_t) = const + u x_s + v x_t + w x_s x_t`.
pub(super) fn information_gradient([a, b, c]: [f64; 3]) -> [f64; 3] {
    let logs = slacks([a, b, c]).map(|q| q.max(LEAST).ln());
    let [u, v, w] = adjoint(&logs).map(|along| 0.25 * along);
    [u - half_log_odds(a), v - half_log_odds(b), w]
}

/// Its second derivatives, lower triangle.
pub(super) fn information_curvature([a, b, c]: [f64; 3]) -> [[f64; 3]; 3] {
    let mut out = gram(&slacks([a, b, c]).map(|q| 0.25 / q.max(LEAST)));
    out[0][0] -= spin_curvature(a);
    out[1][1] -= spin_curvature(b);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let (at, h) = ([0.2, -0.3, 0.15], 1e-5);
        let moved = |p: usize, by: f64| {
            let mut m = at;
            m[p] += by;
            m
        };
        for p in 0..3 {
            let slope = (information(moved(p, h)) - information(moved(p, -h))) / (2.0 * h);
            assert!((slope - information_gradient(at)[p]).abs() < 1e-9);
            let (up, down) = (information_gradient(moved(p, h)), information_gradient(moved(p, -h)));
            for q in 0..=p {
                let second = (up[q] - down[q]) / (2.0 * h);
                assert!((second - information_curvature(at)[p][q]).abs() < 1e-8);
            }
        }
    }
}
