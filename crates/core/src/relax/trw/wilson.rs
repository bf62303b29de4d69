//! Random spanning forests by loop-erased random walks (Wilson, 1996).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Forests that are drawn.
pub(super) const SAMPLES: usize = 256;

/// Steps of the walk between two looks at the clock.
const STEPS_PER_POLL: usize = 1 << 14;

/// Share of [`SAMPLES`] uniform spanning forests that each edge is in, the same on every machine; `None`
/// when `stop` says so.
///
/// **Cost** per forest the mean hitting time of a node, O(d) to O(d^2) steps.
pub(super) fn sampled_frequencies(
    d: usize,
    ends: &[[u32; 2]],
    stop: &mut dyn FnMut() -> bool,
) -> Option<Vec<f64>> {
    let mut neighbours: Vec<Vec<(u32, u32)>> = vec![Vec::new(); d];
    for (e, &[i, j]) in ends.iter().enumerate() {
        neighbours[i as usize].push((j, e as u32));
        neighbours[j as usize].push((i, e as u32));
    }
    let roots = roots(&neighbours);
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut counts = vec![0.0; ends.len()];
    let mut steps = 0;
    for _ in 0..SAMPLES {
        let mut settled = roots.clone();
        let mut exit = vec![(0u32, 0u32); d];
        for start in 0..d {
            let mut at = start;
            while !settled[at] {
                steps += 1;
                if steps % STEPS_PER_POLL == 0 && stop() {
                    return None;
                }
                let ways = &neighbours[at];
                exit[at] = ways[(((random.next_u64() >> 32) * ways.len() as u64) >> 32) as usize];
                at = exit[at].0 as usize;
            }
            // The last exits from each node are the walk without its loops.
            at = start;
            while !settled[at] {
                settled[at] = true;
                counts[exit[at].1 as usize] += 1.0 / SAMPLES as f64;
                at = exit[at].0 as usize;
            }
        }
    }
    Some(counts)
}

/// One node of every component.
fn roots(neighbours: &[Vec<(u32, u32)>]) -> Vec<bool> {
    let mut roots = vec![false; neighbours.len()];
    let mut seen = vec![false; neighbours.len()];
    for root in 0..neighbours.len() {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        roots[root] = true;
        let mut open = vec![root];
        while let Some(i) = open.pop() {
            for &(j, _) in &neighbours[i] {
                if !std::mem::replace(&mut seen[j as usize], true) {
                    open.push(j as usize);
                }
            }
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_those_of_uniform_spanning_forests() {
        // A triangle (2/3 each), a bridge (1) and a lone pair (1), plus an isolated node.
        let ends = [[0, 1], [1, 2], [0, 2], [2, 3], [4, 5]];
        let share = sampled_frequencies(7, &ends, &mut || false).unwrap();
        assert!(share[..3].iter().all(|s| (s - 2.0 / 3.0).abs() < 0.12), "{share:?}");
        assert!((share[..3].iter().sum::<f64>() - 2.0).abs() < 1e-12);
        assert!(share[3..].iter().all(|s| (s - 1.0).abs() < 1e-12));
    }
}
