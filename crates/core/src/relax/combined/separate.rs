//! Triangle inequalities: all of them, or those that are violated.
//!
//! Over all pairs of a clique, triangle inequalities imply those of every longer cycle, so no longer
//! ones are needed.

use super::program::{Program, Triple};
use super::space::{Block, Space};
use crate::linalg::Square;
use crate::relax::cuts;
use std::collections::HashSet;

/// Triangles added per round and spin.
const PER_SPIN: usize = 10;
/// A violation below this is left alone: moments are not accurate to more before the end.
const VIOLATION: f64 = 1e-5;
/// Inequalities of one triple that may be violated at the same moments.
const PER_TRIPLE: usize = 2;

/// Triangles of spins within blocks, each once.
///
/// **Cost** three look-ups per triple.
pub(super) fn triangles(space: &Space) -> Vec<Triple> {
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for block in &space.blocks {
        let spins = block.spins();
        for (a, &i) in spins.iter().enumerate() {
            for (b, &j) in spins.iter().enumerate().skip(a + 1) {
                for &k in &spins[b + 1..] {
                    let vertices = [i + 1, j + 1, k + 1];
                    if space.blocks.len() == 1 || seen.insert(vertices) {
                        out.extend(Triple::new(space, vertices));
                    }
                }
            }
        }
    }
    out
}

/// The triples that are not present and violated by more than `least`, the worst first, at most ten
/// per spin.
///
/// **Cost** two comparisons per triple of every block.
pub(super) fn violated(program: &Program, m: &[f64], least: f64) -> Vec<Triple> {
    let space = &program.space;
    let mut seen: HashSet<[u32; 3]> = program.triples.iter().map(|t| t.vertices).collect();
    let count = PER_SPIN * space.d;
    let mut found: Vec<(f64, [u32; 3])> = Vec::new();
    for block in &space.blocks {
        let (vertices, moments) = spin_moments(space, block, m);
        let most = PER_TRIPLE * (count + seen.len());
        let list = cuts::violated(&moments, 0..vertices.len(), least.max(VIOLATION), most);
        found.extend(list.into_iter().map(|(slack, t)| (slack, t.vertices.map(|v| vertices[v as usize]))));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let new = found.into_iter().filter(|(_, vertices)| seen.insert(*vertices)).take(count);
    new.filter_map(|(_, vertices)| Triple::new(space, vertices)).collect()
}

/// The spins of a block as vertices of z, and the moments of their pairs.
fn spin_moments(space: &Space, block: &Block, m: &[f64]) -> (Vec<u32>, Square) {
    let vertices: Vec<u32> = block.spins().iter().map(|i| i + 1).collect();
    let n = vertices.len();
    let mut moments = Square::identity(n);
    for (l, &of_l) in vertices.iter().enumerate() {
        for (k, &of_k) in vertices[..l].iter().enumerate() {
            let v = space.vertices(of_k, of_l).map_or(0.0, |number| m[number as usize]);
            moments.data_mut()[k + n * l] = v;
            moments.data_mut()[l + n * k] = v;
        }
    }
    (vertices, moments)
}
