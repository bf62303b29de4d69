//! The four inequalities `1 + s m_kl + t m_km + st m_lm >= 0` of three vertices of z = (1, x).
//!
//! For a triple through vertex 0 the left sides are `4 P(x_i = s, x_j = t)`.

/// Four numbers, one per inequality, in the order of [`SIGNS`].
pub(crate) type Quad = [f64; 4];

/// Signs of the sides (k,l), (k,m), (l,m); their product is 1.
pub(crate) const SIGNS: [[i8; 3]; 4] = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]];

/// `constant + s a + t b + st c` for the four pairs of signs.
#[inline]
pub(crate) fn sides(constant: f64, [a, b, c]: [f64; 3]) -> Quad {
    [constant + a + b + c, constant + a - b - c, constant - a + b - c, constant - a - b + c]
}

/// The four left sides at the moments of the sides (k,l), (k,m), (l,m).
#[inline]
pub(crate) fn slacks(moments: [f64; 3]) -> Quad {
    sides(1.0, moments)
}

/// The adjoint of [`sides`]: `(sum s w, sum t w, sum st w)`.
#[inline]
pub(crate) fn adjoint(w: &Quad) -> [f64; 3] {
    [w[0] + w[1] - w[2] - w[3], w[0] - w[1] + w[2] - w[3], w[0] - w[1] - w[2] + w[3]]
}

/// Lower triangle of `sum_q w_q c_q c_q^T`, c_q the signs of inequality q: products of two signs are the third.
#[inline]
pub(crate) fn gram(w: &Quad) -> [[f64; 3]; 3] {
    let total = w[0] + w[1] + w[2] + w[3];
    let [a, b, c] = adjoint(w);
    [[total, 0.0, 0.0], [c, total, 0.0], [b, a, total]]
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
    fn sides_adjoint_and_gram_are_sums_over_the_signs() {
        let (at, w) = ([0.3, -0.2, 0.7], [1.0, 2.0, 4.0, 8.0]);
        let signs = SIGNS.map(|s| s.map(f64::from));
        for (slack, of) in slacks(at).into_iter().zip(signs) {
            let expected: f64 = 1.0 + of.iter().zip(&at).map(|(s, m)| s * m).sum::<f64>();
            assert!((slack - expected).abs() < 1e-15);
        }
        for p in 0..3 {
            let sum = |f: &dyn Fn(usize) -> f64| (0..4).map(|q| w[q] * f(q)).sum::<f64>();
            assert_eq!(adjoint(&w)[p], sum(&|q| signs[q][p]));
            (0..=p).for_each(|r| assert_eq!(gram(&w)[p][r], sum(&|q| signs[q][p] * signs[q][r])));
        }
    }
}
