//! Entropies of one and two spins, as functions of their moments.

/// Signs of the four inequalities `1 + s m_kl + t m_km + st m_lm >= 0` of a triple of vertices of
/// z = (1, x); for a triple through vertex 0 the left sides are `4 P(x_i = s, x_j = t)`.
pub(super) const SIGNS: [[f64; 3]; 4] =
    [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];

/// Left sides of the four inequalities.
pub(super) fn slacks([a, b, c]: [f64; 3]) -> [f64; 4] {
    SIGNS.map(|s| 1.0 + s[0] * a + s[1] * b + s[2] * c)
}

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
    let along = |p: usize| 0.25 * SIGNS.iter().zip(&logs).map(|(s, l)| s[p] * l).sum::<f64>();
    [along(0) - half_log_odds(a), along(1) - half_log_odds(b), along(2)]
}

/// Its second derivatives, lower triangle.
pub(super) fn information_curvature([a, b, c]: [f64; 3]) -> [[f64; 3]; 3] {
    let weights = slacks([a, b, c]).map(|q| 0.25 / q.max(LEAST));
    let mut out = [[0.0; 3]; 3];
    for (s, w) in SIGNS.iter().zip(&weights) {
        for p in 0..3 {
            (0..=p).for_each(|q| out[p][q] += w * s[p] * s[q]);
        }
    }
    out[0][0] -= spin_curvature(a);
    out[1][1] -= spin_curvature(b);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inequalities_hold_at_every_vertex_of_the_cube() {
        for bits in 0..8 {
            let z = [0, 1, 2].map(|i| if bits >> i & 1 == 1 { 1.0 } else { -1.0 });
            assert!(slacks([z[0] * z[1], z[0] * z[2], z[1] * z[2]]).iter().all(|g| *g >= 0.0));
        }
    }

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
