//! Decompositions of dense symmetric matrices: the unit in which the quantum relaxation is paid.

mod clock;

use zbound::linalg::{Eigen, EigenWork, Square, eigh};

fn main() {
    for n in [10, 50, 200, 400] {
        let entry =
            |i: usize, j: usize| ((i.max(j) * 7919 + i.min(j) * 104_729) % 1009) as f64 / 1009.0 - 0.5;
        let matrix = Square::from_column_major(n, (0..n * n).map(|k| entry(k % n, k / n)).collect());
        let (mut eigen, mut work) = (Eigen::default(), EigenWork::default());
        clock::time(&format!("eigen/{n}"), || eigh(&matrix, &mut eigen, &mut work));
    }
}
