//! The Wright omega function on the real line.

/// `omega(x)`, the solution of `w + log w = x`, to a few ulp for every finite x.
///
/// For x <= 0 Halley's method solves `w e^w = e^x`, whose residual keeps its relative accuracy where
/// that of the logarithmic form is lost to x; above, Fritsch-Shafer-Crowley steps (fourth order)
/// start within 10 %. Both are repeated until nothing moves. `omega(-inf) = 0`.
///
/// ```
/// use zbound::linalg::wright_omega;
/// assert!((wright_omega(1.0) - 1.0).abs() < 1e-15);
/// assert!((wright_omega(0.0) - 0.567_143_290_409_783_8).abs() < 1e-15);
/// assert_eq!(wright_omega(-800.0), 0.0);
/// ```
pub fn wright_omega(x: f64) -> f64 {
    match x {
        x if x.is_nan() => x,
        // omega = e^x (1 - e^x + 3/2 e^2x - ...): the third term is below 1e-25.
        x if x < -30.0 => x.exp() - x.exp() * x.exp(),
        x if x <= 0.0 => below(x.exp()),
        x if x > 1e17 => x - x.ln(),
        x => above(x),
    }
}

/// Steps that are always enough from the starts below.
const MAX_STEPS: usize = 6;

/// The solution of `w e^w = y` for y in (0, 1].
fn below(y: f64) -> f64 {
    let mut w = y / (1.0 + y);
    for _ in 0..MAX_STEPS {
        let e = w.exp();
        let f = w * e - y;
        let next = w - f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0));
        if next == w {
            break;
        }
        w = next;
    }
    w
}

fn above(x: f64) -> f64 {
    let mut w = if x > 2.0 { x - x.ln() * (1.0 - 1.0 / x) } else { 0.567 + 0.4365 * x };
    for _ in 0..MAX_STEPS {
        let r = x - (w + w.ln());
        let wp = w + 1.0;
        let q = 2.0 * wp * (wp + 2.0 / 3.0 * r);
        let next = w * (1.0 + r / wp * (q - r) / (q - 2.0 * r));
        if next == w {
            break;
        }
        w = next;
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(x, omega(x))` to 25 digits, computed with 60-digit arithmetic (mpmath `lambertw(exp(x))`).
    const HIGH_PRECISION: [(f64, f64); 14] = include!("wright_omega_values.in");

    #[test]
    fn values_agree_with_high_precision_to_a_few_ulp() {
        for (x, expected) in HIGH_PRECISION {
            let ulps = (wright_omega(x) - expected).abs() / (expected.next_up() - expected);
            assert!(ulps <= 4.0, "x = {x}: {} against {expected}, {ulps} ulp", wright_omega(x));
        }
    }

    #[test]
    fn defining_equation_holds_over_the_whole_line() {
        for k in -4000..4000 {
            let x = f64::from(k) * 0.173;
            let w = wright_omega(x);
            if w > 1e-300 {
                let allowed = 8.0 * f64::EPSILON * (1.0 + x.abs().max(w));
                assert!((w + w.ln() - x).abs() <= allowed, "x = {x}");
            }
        }
        for x in [1e3, 1e8, 1e15, 1e18, 1e300] {
            let w = wright_omega(x);
            assert!((w + w.ln() - x).abs() <= 1e-15 * x, "x = {x}");
        }
    }
}
