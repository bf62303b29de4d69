//! Triangle inequalities: all of them, or those that are violated.
//!
//! Over all pairs of a clique, triangle inequalities imply those of every longer cycle, so no longer
//! ones are needed.

use super::program::{Program, Triple};
use super::space::Space;
use std::collections::HashSet;

/// Triangles added per round and spin.
const PER_SPIN: usize = 10;
/// A violation below this is left alone.
const VIOLATION: f64 = 1e-5;

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

/// The triangles that are not present and violated by more than `least`, the worst first, at most ten
/// per spin.
pub(super) fn violated(program: &Program, all: &[Triple], m: &[f64], least: f64) -> Vec<Triple> {
    let worst = |triple: &Triple| triple.slacks(m).into_iter().fold(f64::INFINITY, f64::min);
    let mut found: Vec<(f64, Triple)> = all.iter().map(|t| (worst(t), *t)).collect();
    found.retain(|(side, _)| *side < -least.max(VIOLATION));
    let present: HashSet<[u32; 3]> = program.triples.iter().map(|t| t.vertices).collect();
    found.retain(|(_, triple)| !present.contains(&triple.vertices));
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.vertices.cmp(&b.1.vertices)));
    found.truncate(PER_SPIN * program.space.d);
    found.into_iter().map(|(_, triple)| triple).collect()
}
