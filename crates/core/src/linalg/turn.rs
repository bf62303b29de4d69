//! Turning an orthonormal basis so that its last columns span a given subspace.

use super::eigen::{Eigen, EigenWork, eigh};
use super::multiply;
use super::square::Square;

/// Squared cosine below which a direction of the subspace is nearly orthogonal to the last columns.
const LEAST: f64 = 1e-4;

/// An orthonormal basis of what is orthogonal to `top`, into `rest`: the first columns of `V Q` for the block reflector Q that
/// takes the last columns of V into the span of `top`. V and `top` have orthonormal columns; the first ones of V
/// move no further than the last have to. `false` when the subspaces are too far apart.
///
/// With `C = V^T top`, `C_1` and `C_2` its first and last rows and `C_2 = P H` (polar),
/// `rest = V_1 - (top + V_2 P) (I + H)^-1 C_1^T`. **Cost** two products n x n x columns of `top`.
#[must_use]
pub(crate) fn complement(v: &Square, top: &[f64], rest: &mut [f64]) -> bool {
    let n = v.n();
    let b = top.len() / n;
    let mut overlap = vec![0.0; n * b];
    multiply::square_transposed_times(v, top, b, &mut overlap);
    let last: Vec<f64> = overlap.chunks_exact(n).flat_map(|c| &c[n - b..]).copied().collect();
    let mut gram = Square::zeros(b);
    multiply::transposed_left(&last, &last, b, b, gram.data_mut());
    let mut polar = Eigen::default();
    if !eigh(&gram, &mut polar, &mut EigenWork::default()) || !(polar.values[0] > LEAST) {
        return false;
    }
    let cosines: Vec<f64> = polar.values.iter().map(|v| v.sqrt()).collect();
    let turned = polar.vectors.data();
    let mut factor = gram;
    multiply::tall_times(&last, b, turned, b, factor.data_mut(), false);
    for (column, h) in factor.data_mut().chunks_exact_mut(b).zip(&cosines) {
        column.iter_mut().for_each(|x| *x /= h);
    }
    let mut left = vec![0.0; n * b];
    multiply::tall_times(top, n, turned, b, &mut left, false);
    multiply::tall_times(&v.data()[n * (n - b)..], n, factor.data(), b, &mut left, true);
    for (column, h) in left.chunks_exact_mut(n).zip(&cosines) {
        column.iter_mut().for_each(|x| *x /= 1.0 + h);
    }
    let mut right = vec![0.0; n * b];
    multiply::tall_times(&overlap, n, turned, b, &mut right, false);
    rest.copy_from_slice(&v.data()[..n * (n - b)]);
    multiply::subtract_outer(&left, &right, n, rest);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complement_and_the_subspace_are_orthonormal_together() {
        let (n, b) = (40, 5);
        let entry = |i: usize, j: usize| ((i * j + i + j) as f64 * 12.9898).sin();
        let mut a = Square::from_column_major(n, (0..n * n).map(|k| entry(k % n, k / n)).collect());
        let (mut old, mut new, mut work) = (Eigen::default(), Eigen::default(), EigenWork::default());
        assert!(eigh(&a, &mut old, &mut work));
        (0..n).for_each(|i| a.data_mut()[i * (n + 1)] += 0.3 * (i as f64).cos());
        assert!(eigh(&a, &mut new, &mut work));
        let split = n * (n - b);
        let mut basis = new.vectors.clone();
        assert!(complement(&old.vectors, &new.vectors.data()[split..], &mut basis.data_mut()[..split]));
        let mut gram = Square::zeros(n);
        multiply::transposed_left(basis.data(), basis.data(), n, n, gram.data_mut());
        let off = |k: usize| (gram.data()[k] - if k.is_multiple_of(n + 1) { 1.0 } else { 0.0 }).abs();
        assert!((0..n * n).all(|k| off(k) < 1e-12));
        let far: f64 =
            basis.data()[..split].iter().zip(old.vectors.data()).map(|(x, y)| (x - y).powi(2)).sum();
        assert!(far < 2.0 * b as f64, "{far}");
    }

    #[test]
    fn subspaces_far_apart_are_refused() {
        let basis = Square::identity(4);
        assert!(!complement(&basis, &[1.0, 0.0, 0.0, 0.0], &mut [0.0; 12]));
    }
}
