//! Violated triangle inequalities.

use super::program::{Program, Triple};
use std::collections::HashSet;

/// Triangles added per round and spin.
const PER_SPIN: usize = 10;
/// A violation below this is left alone.
const VIOLATION: f64 = 1e-5;

/// The most violated triangles of spins that are not present, at most ten per spin.
///
/// Over all pairs of a clique, triangle inequalities imply those of every longer cycle, so no longer
/// ones are needed.
///
/// **Cost** four sums per triple of vertices of every block.
pub(super) fn violated(program: &Program, m: &[f64]) -> Vec<Triple> {
    let space = &program.space;
    let present: HashSet<[u32; 3]> = program.triples.iter().map(|t| t.vertices).collect();
    let mut seen = HashSet::new();
    let mut found: Vec<(f64, Triple)> = Vec::new();
    for block in &space.blocks {
        let mut vertices: Vec<u32> =
            block.features.sets().iter().filter(|s| s.len() == 1).filter_map(|s| s.largest()).map(|i| i as u32 + 1).collect();
        vertices.sort_unstable();
        for (a, &k) in vertices.iter().enumerate() {
            for (b, &l) in vertices.iter().enumerate().skip(a + 1) {
                for &v in &vertices[b + 1..] {
                    let Some(triple) = Triple::new(space, [k, l, v]) else { continue };
                    let least = triple.sides(m).into_iter().fold(f64::INFINITY, f64::min);
                    let new = least < -VIOLATION && !present.contains(&triple.vertices);
                    if new && (space.blocks.len() == 1 || seen.insert(triple.vertices)) {
                        found.push((least, triple));
                    }
                }
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.vertices.cmp(&b.1.vertices)));
    found.truncate(PER_SPIN * space.d);
    found.into_iter().map(|(_, triple)| triple).collect()
}
