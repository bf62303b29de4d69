//! Vectors: inner products, steps to the boundary of the nonnegative orthant.

/// `<a, b>` in eight running sums, which the processor adds side by side, in an order that does not depend on the
/// compiler.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_blocks, b_blocks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; 8];
    for (a, b) in a_blocks.zip(b_blocks) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(s, (a, b))| *s += a * b);
    }
    sums.iter().sum::<f64>() + tail
}

/// `|a|_2`.
pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// The largest `t <= 1` for which `x + t dx >= 0`; `x` must be positive.
pub(crate) fn longest_step(x: &[f64], dx: &[f64]) -> f64 {
    x.iter().zip(dx).filter(|(_, dx)| **dx < 0.0).fold(1.0, |t: f64, (x, dx)| t.min(-x / dx))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_are_sums_of_products_whatever_the_length() {
        for n in 0..40 {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            let expected: f64 = a.iter().map(|v| v * v).sum();
            assert_eq!(dot(&a, &a), expected);
            assert_eq!(norm(&a), expected.sqrt());
        }
    }

    #[test]
    fn steps_end_where_the_first_entry_vanishes() {
        assert_eq!(longest_step(&[1.0, 2.0], &[-4.0, -2.0]), 0.25);
        assert_eq!(longest_step(&[1.0, 2.0], &[5.0, -1.0]), 1.0);
    }
}
