//! Curvature of a quantum entropy in the eigenbasis, for blocks in which many entries share a moment.

use super::curvature::Curvature;
use super::space::Block;
use crate::features::{Classes, Features};
use crate::linalg::{Eigen, Square};
use crate::relax::quantum::{Rows, fill_log_kernel};
use faer::Par;
use std::sync::Arc;

/// Multiplications of a matrix product that take the time of one step of [`Block::add_curvature`].
const PRODUCT_SPEED: f64 = 3.0;
/// Matrices that [`super::spectra::logarithm`] makes, about.
const NODES: f64 = 15.0;

/// The classes of features whose products coincide so often that going through pairs of entries costs more.
pub(super) fn shared(features: &Features) -> Option<Arc<Classes>> {
    let classes = features.classes();
    let (n, count) = (classes.n() as f64, classes.len() as f64);
    let here = count * 2.0 * n.powi(3) + count * count * n * n;
    (here < PRODUCT_SPEED * NODES * n.powi(4)).then(|| Arc::new(classes))
}

/// Adds the second derivative of `weight tr Sigma log Sigma`; `false` when that is not the cheaper way.
///
/// **Cost** about 2 N n^3 + N^2 n^2 flops for N moments.
pub(super) fn add_logarithm(block: &Block, eigen: &Eigen, weight: f64, into: &mut Curvature) -> bool {
    let Some(classes) = &block.shared else { return false };
    let (n, count) = (block.n(), classes.len());
    let mut kernel = Square::zeros(n);
    fill_log_kernel(&eigen.values, weight, 0.0, &mut kernel);
    let lower = Rows::new(classes, Par::Seq).lower(&eigen.vectors, &kernel);
    // The first class is the constant's.
    let mut numbers = vec![0; count];
    let mut own = block.numbers.iter();
    for l in 0..n {
        (0..l).zip(own.by_ref()).for_each(|(k, number)| numbers[classes.of()[k + n * l] as usize] = *number);
    }
    for (c, column) in lower.chunks_exact(count).enumerate().skip(1) {
        for (d, v) in (c..).zip(&column[c..]) {
            into.add(numbers[d] as usize, numbers[c] as usize, *v);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::linalg::EigenWork;
    use crate::relax::combined::space::Space;
    use crate::relax::combined::spectra::{decompose, logarithm};

    #[test]
    fn both_ways_to_the_curvature_agree() {
        for (d, degree) in [(5, 2), (5, 3)] {
            let space = Space::new(d, vec![Features::degree(d, degree)]);
            let m: Vec<f64> = (0..space.len()).map(|k| 0.05 * (3.0 * k as f64).cos()).collect();
            let block = &space.blocks[0];
            let eigen = decompose(&block.fill(&m, 1.0), &mut EigenWork::default()).unwrap();
            let [mut here, mut there] = [0, 1].map(|_| Curvature::new(space.len(), 1).unwrap());
            here.clear();
            there.clear();
            assert!(add_logarithm(block, &eigen, 0.3, &mut here));
            block.add_curvature(&logarithm(&eigen, 0.3), &mut there);
            for a in 0..space.len() {
                for b in 0..space.len() {
                    let (x, y) = (here.at(a, b), there.at(a, b));
                    // The quadrature errs by some thousandths.
                    let scale = (here.at(a, a) * here.at(b, b)).sqrt();
                    assert!((x - y).abs() < 4e-3 * scale, "{a} {b}: {x} {y}");
                }
            }
        }
    }
}
