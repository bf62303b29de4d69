//! The Wright omega function on the real line.

/// `omega(x)`, the solution of `w + log w = x`, to a few ulp for every finite x.
///
/// For x <= 1 it is `W_0(exp(x))`; above, one Fritsch-Shafer-Crowley step (fourth order) from a
/// start with at most 10 % error is repeated until it no longer moves. `omega(-inf) = 0`.
///
/// ```
/// use zbound::spectral::wright_omega;
/// assert!((wright_omega(1.0) - 1.0).abs() < 1e-15);
/// assert!((wright_omega(0.0) - 0.567_143_290_409_783_8).abs() < 1e-15);
/// assert_eq!(wright_omega(-800.0), 0.0);
/// ```
pub fn wright_omega(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < -30.0 {
        // omega = e^x (1 - e^x + 3/2 e^2x - ...): the third term is below 1e-25.
        let e = x.exp();
        return e - e * e;
    }
    if x <= 0.0 {
        return lambert_w::lambert_w0(x.exp());
    }
    if x > 1e17 {
        return x - x.ln();
    }
    let mut w = if x > 2.0 { x - x.ln() * (1.0 - 1.0 / x) } else { 0.567 + 0.4365 * x };
    for _ in 0..3 {
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
            assert!((wright_omega(x) + x.ln() - x).abs() <= 1e-15 * x);
        }
    }
}
