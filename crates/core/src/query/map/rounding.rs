//! From vectors to spins: random hyperplanes, from which the search starts.

use super::Factor;
use super::random::Normal;

/// Hyperplanes drawn per factor.
const HYPERPLANES: usize = 32;

/// Assignments on the sides of random hyperplanes through the rows of a factor of the moment matrix of (1, x)
/// (row 0 belongs to the constant); none for an empty factor.
pub(super) fn starts(factor: &Factor, d: usize, seed: u64) -> Vec<Vec<i8>> {
    if d == 0 || factor.rows.is_empty() {
        return Vec::new();
    }
    let mut random = Normal::new(seed);
    (0..HYPERPLANES).map(|_| hyperplane(&factor.rows, factor.rank, d, &mut random)).collect()
}

/// `x_i = sign <v_i, g> sign <v_0, g>`.
fn hyperplane(rows: &[f64], rank: usize, d: usize, random: &mut Normal) -> Vec<i8> {
    let normal = random.vector(rank);
    let side = |i: usize| {
        let projection = crate::linalg::dot(&rows[rank * i..rank * (i + 1)], &normal);
        if projection < 0.0 { -1 } else { 1 }
    };
    let zero: i8 = side(0);
    (1..=d).map(|i| side(i) * zero).collect()
}
