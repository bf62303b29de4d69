//! Entries that weigh nothing: where a message spans more than floating point can multiply, its smallest entries are
//! dropped, and how much that can lower the sum is kept with it.
//!
//! A table `t` with `|t - T| <= L`, T the true one, is known up to L. The product of several, each of at most `H_k`, is
//! then known up to `prod (H_k + L_k) - prod H_k`, and a sum over q states up to q times that. All of this is in
//! logarithms; roundings of entries are below the margin of a millionth that every step adds.

/// Logarithm of the part of the largest entry below which entries are dropped. Two messages and the factors of a bucket
/// still multiply within the range of floating point.
pub(crate) const DROPPED: f64 = 150.0;
/// What the logarithm of a sum may lack: beyond, it is computed again with all entries.
pub(crate) const MOST_LOST: f64 = 1e-13;
/// Margin of a step.
const MARGIN: f64 = 1e-6;

/// `log(prod (H_k + L_k) - prod H_k)` with `highest` the sum of all `log H` and `(log H_k, log L_k)` for those that lack
/// something.
pub(crate) fn product(highest: f64, known: impl Iterator<Item = (f64, f64)>) -> f64 {
    let relative: f64 = known.map(|(high, lost)| libm::log1p(libm::exp(lost - high))).sum();
    if relative == 0.0 { f64::NEG_INFINITY } else { highest + libm::log(libm::expm1(relative)) + MARGIN }
}

/// Logarithm of what a sum of products is off by when these leave the range of normal numbers, in `steps` operations,
/// each of which then errs by less than `2^-1022` and is multiplied by at most `e^above`.
pub(crate) fn underflow(steps: usize, above: f64) -> f64 {
    libm::log(steps as f64) - 1022.0 * std::f64::consts::LN_2 + above + MARGIN
}

/// `log(e^a + e^b)`.
pub(crate) fn either(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp(low - high)) + MARGIN }
}

/// What the logarithm of a number may lack that may itself lack `e^lost`.
pub(crate) fn share(lost: f64, log: f64) -> f64 {
    libm::log1p(libm::exp(lost - log + MARGIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::order::Noise;

    #[test]
    fn products_of_tables_that_lack_something_are_off_by_no_more_than_said() {
        let mut noise = Noise::new(4);
        let mut unit = move || f64::from(noise.next()) / f64::from(u32::MAX);
        for _ in 0..2000 {
            // Largest entries, what they may lack, and true entries that lack some of it.
            let tables: Vec<(f64, f64)> =
                (0..3).map(|_| (1.0 + 9.0 * unit(), 10f64.powf(-12.0 * unit()))).collect();
            let known = tables.iter().map(|&(high, lost)| (high.ln(), lost.ln()));
            let said = product(tables.iter().map(|t| t.0.ln()).sum(), known).exp();
            let (mut found, mut truth) = (1.0, 1.0);
            for &(high, lost) in &tables {
                let entry = high * unit();
                found *= entry;
                truth *= entry + lost * (2.0 * unit() - 1.0);
            }
            assert!((found - truth).abs() <= said + 1e-12 * found, "{found} {truth} {said}");
        }
        assert_eq!(product(3.0, [(1.0, f64::NEG_INFINITY)].into_iter()), f64::NEG_INFINITY);
        assert_eq!(either(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert!((either(0.0, 0.0) - 2f64.ln()).abs() < 1e-5 && either(-800.0, 1.0) >= 1.0);
        assert!(share(f64::NEG_INFINITY, 0.0) == 0.0 && share(-30.0, 0.0) >= (-30f64).exp());
    }
}
