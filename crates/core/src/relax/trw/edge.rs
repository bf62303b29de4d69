//! One edge of the TRW free energy: the pair distribution with given means and odds ratio.

use std::f64::consts::LN_2;

/// The pair distribution with half log-odds `u` of its two spins and log odds ratio `4 J`, and what
/// the Newton methods need of it. All cells are computed as logarithms without cancellation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EdgeState {
    /// Half log-odds each end receives through the edge: `[to first, to second]`.
    pub(super) messages: [f64; 2],
    /// `E x_s x_t`.
    pub(super) moment: f64,
    /// Mutual information, natural logarithm.
    pub(super) information: f64,
    /// `r^2 / (1 - r^2)` for the correlation coefficient r.
    pub(super) diagonal: f64,
    /// `r / (1 - r^2)`.
    pub(super) off_diagonal: f64,
    /// Curvature `16 / sum_x 1/p_x`, the inverse of d^2 I / dc^2.
    pub(super) inverse_curvature: f64,
    /// `d^2 I / dc dm_s` over `d^2 I / dc^2`, per end.
    pub(super) slopes: [f64; 2],
}

/// Keeps the Newton matrix finite: correlations closer to one than this are as good as one.
const LOG_WEIGHT_CAP: f64 = 30.0;

impl EdgeState {
    /// The state of an edge with coupling `j` between spins of half log-odds `u`.
    pub(super) fn new(u: [f64; 2], j: f64) -> Self {
        if j == 0.0 {
            return EdgeState { inverse_curvature: independent_curvature(u), ..EdgeState::default() }
                .with_independent(u);
        }
        // Reduce by symmetry to J > 0, u_0 + u_1 <= 0, u_0 <= u_1.
        let flip_second = if j < 0.0 { -1.0 } else { 1.0 };
        let (mut a, mut b) = (u[0], u[1] * flip_second);
        let flip_both = if a + b > 0.0 { -1.0 } else { 1.0 };
        (a, b) = (a * flip_both, b * flip_both);
        let swap = a > b;
        if swap {
            std::mem::swap(&mut a, &mut b);
        }
        let mut state = Self::reduced(a, b, j.abs());
        if swap {
            state.messages.swap(0, 1);
            state.slopes.swap(0, 1);
        }
        // m_s and c change sign with the flips; the slope d c / d m_s changes with both.
        state.messages[0] *= flip_both;
        state.messages[1] *= flip_both * flip_second;
        state.moment *= flip_second;
        state.off_diagonal *= flip_second;
        state.slopes[0] *= flip_both * flip_second;
        state.slopes[1] *= flip_both;
        state
    }

    fn with_independent(mut self, u: [f64; 2]) -> Self {
        let (m, k) = (u[0].tanh(), u[1].tanh());
        self.moment = m * k;
        // For independent spins c = m k, and the level set of I has dc = k dm + m dk.
        self.slopes = [-k, -m];
        self
    }

    /// `j > 0`, `a <= b`, `a + b <= 0`: P(first = +) <= P(second = +) <= P(first = -).
    fn reduced(a: f64, b: f64, j: f64) -> Self {
        let log_2cosh = |x: f64| x.abs() + (-2.0 * x.abs()).exp().ln_1p();
        let log_2sinh = |x: f64| x + (-(-2.0 * x).exp_m1()).ln();
        let (na, nb) = (log_2cosh(a), log_2cosh(b));
        let n = na + nb;
        let (delta, sum) = (b - a, -(a + b));
        // Logarithms of q - p, 1 - p - q, 1 - exp(-4J) with p = P(first = +), q = P(second = +).
        let l_difference = log_2sinh(delta) - n;
        let l_rest = log_2sinh(sum) - n;
        let l_kappa = (-(-4.0 * j).exp_m1()).ln();
        // (p - z)(1 - q - z) = e^{4J} z (q - p + z) for the cell z = P(+, -), all terms positive.
        let l_b = log_add(-4.0 * j, l_kappa + l_difference);
        let l_root = 0.5 * log_add(2.0 * l_b, 2.0 * LN_2 + l_kappa - 4.0 * j - delta - n);
        let pm = LN_2 - delta - n - 4.0 * j - log_add(l_b, l_root);
        let (lp, lq) = (a - na, b - nb);
        let l_b2 = log_add(l_rest - 4.0 * j, log_add(lp, lq));
        let pp = LN_2 - sum - n - log_add(l_b2, l_root);
        let mp = log_add(l_difference, pm);
        let mm = log_add(l_rest, pp);
        let (lp_minus, lq_minus) = (-a - na, -b - nb);

        let cells = [pp.exp(), pm.exp(), mp.exp(), mm.exp()];
        let marginals = [lp + lq, lp + lq_minus, lp_minus + lq, lp_minus + lq_minus];
        let logs = [pp, pm, mp, mm];
        let information = (0..4).map(|k| cells[k] * (logs[k] - marginals[k])).sum::<f64>().max(0.0);
        let l_variances = lp + lp_minus + lq + lq_minus;
        let l_covariance = l_kappa + pp + mm;
        let l_smallest = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let inverse = logs.map(|l| (l_smallest - l).exp());
        let inverse_sum: f64 = inverse.iter().sum();
        // p q (1-p)(1-q) - cov^2 = sum of the products of three cells.
        let l_triples = pp + pm + mp + mm - l_smallest + inverse_sum.ln();
        let cap = |l: f64| l.min(LOG_WEIGHT_CAP).exp();
        EdgeState {
            messages: [a - 0.25 * (pp + pm - mp - mm), b - 0.25 * (pp + mp - pm - mm)],
            moment: cells[0] + cells[3] - cells[1] - cells[2],
            information,
            diagonal: cap(2.0 * l_covariance - l_triples),
            off_diagonal: cap(l_covariance + 0.5 * l_variances - l_triples),
            inverse_curvature: 16.0 * l_smallest.exp() / inverse_sum,
            slopes: [
                (inverse[0] - inverse[1] + inverse[2] - inverse[3]) / inverse_sum,
                (inverse[0] + inverse[1] - inverse[2] - inverse[3]) / inverse_sum,
            ],
        }
    }
}

fn independent_curvature(u: [f64; 2]) -> f64 {
    // 16 / sum_x 1/p_x = v_s v_t for a product distribution.
    let v = |u: f64| 1.0 / u.cosh().powi(2);
    v(u[0]) * v(u[1])
}

fn log_add(a: f64, b: f64) -> f64 {
    let top = a.max(b);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + (-(a - b).abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pair law with fields a, b and coupling j, as cells ++, +-, -+, --.
    fn cells(a: f64, b: f64, j: f64) -> [f64; 4] {
        let w = [j + a + b, -j + a - b, -j - a + b, j - a - b].map(f64::exp);
        let z: f64 = w.iter().sum();
        w.map(|w| w / z)
    }

    #[test]
    fn states_match_the_pair_law_they_describe() {
        let grid = [-2.5, -0.8, -0.1, 0.0, 0.3, 1.1, 3.0];
        for a in grid {
            for b in grid {
                for j in [-2.0, -0.4, -1e-3, 1e-3, 0.7, 1.9] {
                    let p = cells(a, b, j);
                    let (s, t) = (p[0] + p[1] - p[2] - p[3], p[0] - p[1] + p[2] - p[3]);
                    let c = p[0] - p[1] - p[2] + p[3];
                    let state = EdgeState::new([s.atanh(), t.atanh()], j);
                    let close = |x: f64, y: f64, what: &str| {
                        assert!((x - y).abs() < 1e-9 * (1.0 + y.abs()), "{what} at {a} {b} {j}: {x} {y}");
                    };
                    close(state.moment, c, "moment");
                    close(state.messages[0], s.atanh() - a, "first message");
                    close(state.messages[1], t.atanh() - b, "second message");
                    let r = (c - s * t) / ((1.0 - s * s) * (1.0 - t * t)).sqrt();
                    close(state.diagonal, r * r / (1.0 - r * r), "diagonal");
                    close(state.off_diagonal, r / (1.0 - r * r), "off-diagonal");
                    let sum: f64 = p.iter().map(|p| 1.0 / p).sum();
                    close(state.inverse_curvature, 16.0 / sum, "curvature");
                    close(
                        state.slopes[0],
                        (1.0 / p[0] - 1.0 / p[1] + 1.0 / p[2] - 1.0 / p[3]) / sum,
                        "slope",
                    );
                    close(
                        state.slopes[1],
                        (1.0 / p[0] + 1.0 / p[1] - 1.0 / p[2] - 1.0 / p[3]) / sum,
                        "slope",
                    );
                }
            }
        }
    }

    #[test]
    fn frozen_spins_and_huge_couplings_stay_finite() {
        for u in [[800.0, -900.0], [1e9, 1e9], [-1e9, 0.0], [0.0, 0.0]] {
            for j in [-1e9, -1e3, 0.0, 1e-300, 1e9] {
                let state = EdgeState::new(u, j);
                let numbers = [state.messages[0], state.messages[1], state.moment, state.information];
                assert!(numbers.iter().all(|v| v.is_finite()), "{u:?} {j} {state:?}");
                assert!(state.moment.abs() <= 1.0 + 1e-12 && state.off_diagonal.is_finite());
            }
        }
    }
}
