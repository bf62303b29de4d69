//! Entropies of three spins of which the means and pair moments are known.
//!
//! ```text
//! H(m) = max { entropy of p : p a law of three spins with the six moments m },
//! J(m) = H_i + H_j + H_k - H(m)
//! ```
//! H is a maximum over the third moment c of a function concave in (m, c), so it is concave; the best law
//! is the one without a third-order interaction, so the gradient of H has none either.

use super::pairs::{LEAST, half_log_odds, spin_curvature, spin_entropy, x_log_x};

/// Signs of `x_i, x_j, x_k, x_i x_j, x_i x_k, x_j x_k`: the four states with `x_i x_j x_k = 1`, then the
/// four with -1.
const STATES: [[f64; 6]; 8] = [
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [1.0, -1.0, -1.0, -1.0, -1.0, 1.0],
    [-1.0, 1.0, -1.0, -1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0, 1.0, -1.0, -1.0],
    [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0, -1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0, -1.0, 1.0, -1.0],
    [1.0, 1.0, -1.0, 1.0, -1.0, -1.0],
];

/// Newton steps and bisections at most; four to eight do.
const STEPS: usize = 60;
/// Log-odds of the even against the odd states that count as none.
const BALANCED: f64 = 1e-13;

/// Probabilities below this, the product of three that rounding leaves of the moments, are rounded up to it.
const FLOOR: f64 = LEAST * LEAST * LEAST;

/// Eight times the probabilities of the law of largest entropy, in the order of [`STATES`].
///
/// With c the third moment they are `g_s + c` and `g_s - c`, and entropy is largest where the two products
/// of four agree. The least of either four are `w u` and `w (1 - u)`, w the least slack among the triangle inequalities
/// of (1, i, j, k). As a function of `z = log u/(1 - u)` the logarithm of the products' ratio has a slope
/// between 1 and 4.
///
/// **Cost** one exponential and one logarithm per Newton step.
pub(super) fn law(m: [f64; 6]) -> [f64; 8] {
    let g = STATES.map(|s| 1.0 + s.iter().zip(&m).map(|(s, m)| s * m).sum::<f64>());
    let least = |half: &[f64]| half.iter().copied().fold(f64::INFINITY, f64::min);
    let (even, odd) = (least(&g[..4]), least(&g[4..]));
    let width = (even + odd).max(LEAST);
    let at = |u: f64, v: f64| -> [f64; 8] {
        std::array::from_fn(|s| if s < 4 { g[s] - even + width * u } else { g[s] - odd + width * v })
    };
    let (mut z, mut low, mut high) = (0.0f64, f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..STEPS {
        let (u, v) = logistic(z);
        let p = at(u, v);
        let ratio = (p[..4].iter().product::<f64>() / p[4..].iter().product::<f64>()).ln();
        if !(ratio.abs() > BALANCED) {
            break;
        }
        let slope = width * u * v * p.iter().map(|p| 1.0 / p).sum::<f64>();
        if ratio > 0.0 {
            (high, low) = (z, low.max(z - ratio))
        } else {
            (low, high) = (z, high.min(z - ratio))
        }
        z -= ratio / slope;
        if !(low < z && z < high) {
            z = 0.5 * (low + high);
        }
        if high - low < BALANCED {
            break;
        }
    }
    let (u, v) = logistic(z);
    at(u, v).map(|p| p.max(FLOOR))
}

/// `1/(1 + e^-z)` and `1/(1 + e^z)`, both to full relative accuracy.
fn logistic(z: f64) -> (f64, f64) {
    let small = (-z.abs()).exp();
    let (near, far) = (1.0 / (1.0 + small), small / (1.0 + small));
    if z >= 0.0 { (near, far) } else { (far, near) }
}

/// J, given the law of the moments m.
pub(super) fn information(law: &[f64; 8], m: [f64; 6]) -> f64 {
    let joint: f64 = law.iter().map(|p| x_log_x(p / 8.0)).sum();
    joint + m[..3].iter().map(|m| spin_entropy(*m)).sum::<f64>() + 3.0 * std::f64::consts::LN_2
}

/// Its derivatives.
pub(super) fn information_gradient(law: &[f64; 8], m: [f64; 6]) -> [f64; 6] {
    let logs = law.map(f64::ln);
    std::array::from_fn(|p| {
        let along = 0.125 * STATES.iter().zip(&logs).map(|(s, l)| s[p] * l).sum::<f64>();
        if p < 3 { along - half_log_odds(m[p]) } else { along }
    })
}

/// J and its derivatives, given the law and the entropies of its spins (less log 2) with theirs.
///
/// **Cost** eight logarithms.
pub(super) fn information_with_gradient(law: &[f64; 8], spins: [(f64, f64); 3]) -> (f64, [f64; 6]) {
    let logs = law.map(f64::ln);
    let joint: f64 = 0.125 * law.iter().zip(&logs).map(|(p, l)| p * l).sum::<f64>();
    let gradient = std::array::from_fn(|p| {
        let along = 0.125 * STATES.iter().zip(&logs).map(|(s, l)| s[p] * l).sum::<f64>();
        if p < 3 { along + spins[p].1 } else { along }
    });
    (joint + spins.iter().map(|spin| spin.0).sum::<f64>(), gradient)
}

/// Its second derivatives, lower triangle: a Gram matrix after the third moment is eliminated, less the spins'.
pub(super) fn information_curvature(law: &[f64; 8], m: [f64; 6]) -> [[f64; 6]; 6] {
    let weights = law.map(|p| 0.125 / p);
    let parity = |s: usize| if s < 4 { 1.0 } else { -1.0 };
    let total: f64 = weights.iter().sum();
    let centre: [f64; 6] =
        std::array::from_fn(|p| (0..8).map(|s| weights[s] * parity(s) * STATES[s][p]).sum::<f64>() / total);
    let mut out = [[0.0; 6]; 6];
    for (s, w) in weights.iter().enumerate() {
        let along: [f64; 6] = std::array::from_fn(|p| STATES[s][p] - parity(s) * centre[p]);
        for p in 0..6 {
            (0..=p).for_each(|q| out[p][q] += w * along[p] * along[q]);
        }
    }
    (0..3).for_each(|p| out[p][p] -= spin_curvature(m[p]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relax::combined::pairs;

    const AT: [f64; 6] = [0.2, -0.3, 0.1, 0.15, -0.4, 0.25];

    #[test]
    fn the_law_has_the_moments_and_no_third_interaction() {
        let near_the_edge = [0.9, 0.9, -0.9, 0.8 + 1e-9, -0.8 - 1e-9, -0.8 - 1e-9];
        for m in [AT, [0.0; 6], near_the_edge] {
            let law = law(m);
            for p in 0..6 {
                let moment: f64 = law.iter().zip(&STATES).map(|(v, s)| v * s[p] / 8.0).sum();
                assert!((moment - m[p]).abs() < 1e-14, "{m:?}: moment {p} is {moment}");
            }
            let ratio = law[..4].iter().product::<f64>() / law[4..].iter().product::<f64>();
            assert!(ratio.ln().abs() < 1e-12, "{m:?}: {ratio}");
        }
    }

    #[test]
    fn a_spin_that_depends_on_one_other_adds_the_information_of_that_pair() {
        // The chain i - j - k is the law of largest entropy when m_ik is what it implies.
        let (a, b) = (0.6f64, -0.5f64);
        let m = [0.0, 0.0, 0.0, a, a * b, b];
        let chain = pairs::information([0.0, 0.0, a]) + pairs::information([0.0, 0.0, b]);
        assert!((information(&law(m), m) - chain).abs() < 1e-14);
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let h = 1e-5;
        let moved = |p: usize, by: f64| {
            let mut m = AT;
            m[p] += by;
            (law(m), m)
        };
        let here = law(AT);
        for p in 0..6 {
            let ((up, m_up), (down, m_down)) = (moved(p, h), moved(p, -h));
            let slope = (information(&up, m_up) - information(&down, m_down)) / (2.0 * h);
            assert!((slope - information_gradient(&here, AT)[p]).abs() < 1e-9);
            let spins = [0, 1, 2].map(|k| (pairs::spin_entropy(AT[k]), -half_log_odds(AT[k])));
            let (value, gradient) = information_with_gradient(&here, spins);
            assert!((value - information(&here, AT)).abs() < 1e-14);
            assert!((slope - gradient[p]).abs() < 1e-9);
            let (up, down) = (information_gradient(&up, m_up), information_gradient(&down, m_down));
            for q in 0..=p {
                let second = (up[q] - down[q]) / (2.0 * h);
                assert!((second - information_curvature(&here, AT)[p][q]).abs() < 1e-8, "{p} {q}");
            }
        }
    }

    #[test]
    fn moments_on_the_boundary_give_finite_numbers() {
        for m in [[1.0; 6], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [1.0, -1.0, 0.0, -1.0, 0.0, 0.0]] {
            let law = law(m);
            assert!(information(&law, m).is_finite());
            assert!(information_gradient(&law, m).iter().all(|v| v.is_finite()));
            assert!(information_curvature(&law, m).as_flattened().iter().all(|v| v.is_finite()));
        }
    }
}
