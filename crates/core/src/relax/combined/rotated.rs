//! Curvature of a quantum entropy in the eigenbasis, for blocks in which many entries share a moment.

use super::curvature::Curvature;
use super::space::Block;
use crate::spectral::{Eigen, Square, multiply};
use faer::Par;

/// Multiplications of a matrix product that take the time of one step of [`Block::add_curvature`].
const PRODUCT_SPEED: f64 = 3.0;
/// Matrices that [`super::spectra::logarithm`] makes, about.
const NODES: f64 = 15.0;

/// Entries of a block by their moment.
struct Shared {
    number: u32,
    entries: Vec<[u32; 2]>,
}

/// The moments of a block with their entries; `None` when each has so few that going through pairs of entries
/// costs less.
fn shared(block: &Block) -> Option<Vec<Shared>> {
    let mut list: Vec<(u32, [u32; 2])> = Vec::with_capacity(block.numbers.len());
    let mut numbers = block.numbers.iter();
    for l in 0..block.n() as u32 {
        list.extend((0..l).zip(numbers.by_ref()).map(|(k, number)| (*number, [k, l])));
    }
    list.sort_unstable();
    let runs = list.chunk_by(|a, b| a.0 == b.0);
    let shared: Vec<Shared> =
        runs.map(|run| Shared { number: run[0].0, entries: run.iter().map(|e| e.1).collect() }).collect();
    let (n, count) = (block.n() as f64, shared.len() as f64);
    let here = count * 2.0 * n.powi(3) + count * count * n * n;
    (here < PRODUCT_SPEED * NODES * n.powi(4)).then_some(shared)
}

/// Adds `weight <A_C, U (K o (U^T A_D U)) U^T>`, `K_kl = (log s_k - log s_l) / (s_k - s_l)`, the second derivative of
/// `weight tr Sigma log Sigma`; `false` when that is not the cheaper way.
///
/// **Cost** 2 N n^3 + N^2 n^2 flops for N moments.
pub(super) fn add_logarithm(block: &Block, eigen: &Eigen, weight: f64, into: &mut Curvature) -> bool {
    let Some(shared) = shared(block) else { return false };
    let (n, count) = (block.n(), shared.len());
    let roots = kernel_roots(&eigen.values, weight);
    let mut rows = vec![0.0; roots.len() * count];
    let (mut moved, mut rotated) = (Square::zeros(n), Square::zeros(n));
    for (of, row) in shared.iter().zip(rows.chunks_exact_mut(roots.len())) {
        moved.data_mut().fill(0.0);
        let columns = moved.data_mut().chunks_exact_mut(n).zip(eigen.vectors.data().chunks_exact(n));
        for (moved, u) in columns {
            for &[k, l] in &of.entries {
                moved[k as usize] += u[l as usize];
                moved[l as usize] += u[k as usize];
            }
        }
        multiply::square_transposed_times(&eigen.vectors, moved.data(), n, rotated.data_mut());
        let lower = (0..n).flat_map(|l| &rotated.column(l)[..=l]);
        row.iter_mut().zip(lower).zip(&roots).for_each(|((out, v), root)| *out = root * v);
    }
    let mut gram = vec![0.0; count * count];
    multiply::gram_lower(&rows, roots.len(), count, &mut gram, Par::Seq);
    for (c, column) in gram.chunks_exact(count.max(1)).enumerate() {
        for (of, v) in shared[c..].iter().zip(&column[c..]) {
            into.add(of.number as usize, shared[c].number as usize, *v);
        }
    }
    true
}

/// `sqrt(weight K_kl)` for k <= l, those with k < l counted twice.
fn kernel_roots(values: &[f64], weight: f64) -> Vec<f64> {
    let mut out = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (l, &high) in values.iter().enumerate() {
        for (k, &low) in values[..=l].iter().enumerate() {
            let x = (high - low) / low;
            // log(1 + x) / x without cancellation.
            let slope = if x < 1e-8 { 1.0 - 0.5 * x } else { x.ln_1p() / x };
            let twice = if k == l { 1.0 } else { 2.0 };
            out.push((twice * weight * slope / low).sqrt());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::relax::combined::space::Space;
    use crate::relax::combined::spectra::{decompose, logarithm};
    use crate::spectral::EigenWork;

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
