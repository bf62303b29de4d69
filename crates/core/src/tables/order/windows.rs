//! Local improvement of an order. Which graph is left after some vertices does not depend on the order among
//! them: a stretch of an order may be eliminated anew, and what it saves is saved for good.

use super::core::Core;
use super::noise::Noise;
use super::search::{Order, random_style};

/// Fewest vertices of a stretch: greedy runs seldom miss much on fewer.
const LEAST: usize = 6;
/// A stretch has fewer than this many vertices more.
const MORE: usize = 60;
/// Greedy runs on a stretch.
const TRIES: usize = 3;
/// A stretch that costs less than this part of its share of the whole is left as it is.
const NEGLIGIBLE: f64 = 0.1;

/// What eliminating along an order meets, by vertex.
struct Survey {
    /// The later vertices that the vertex is joined to when it goes.
    members: Vec<Vec<u32>>,
    /// Entries of its clique.
    entries: Vec<f64>,
}

impl Survey {
    fn new(start: &Core, order: &[u32]) -> (Self, u64) {
        let n = order.len();
        let mut core = start.clone();
        let mut survey = Survey { members: vec![Vec::new(); n], entries: vec![0.0; n] };
        for &v in order {
            survey.members[v as usize] = core.members(v as usize);
            survey.entries[v as usize] = core.entries(v as usize);
            core.eliminate(v);
        }
        (survey, core.work)
    }

    /// The same elimination in another sequence: every vertex goes after those whose messages it receives. Either one
    /// branch of the tree after the other, branches at random, or what is cheap first and the costly of all branches
    /// side by side.
    fn arrange(&self, order: &[u32], noise: &mut Noise) -> Vec<u32> {
        let n = order.len();
        let mut position = vec![0u32; n];
        order.iter().enumerate().for_each(|(p, &v)| position[v as usize] = p as u32);
        let parent = |v: u32| self.members[v as usize].iter().copied().min_by_key(|&u| position[u as usize]);
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut stack = Vec::new();
        let mut peak = self.entries.clone();
        for &v in order {
            match parent(v) {
                Some(up) => {
                    children[up as usize].push(v);
                    peak[up as usize] = peak[up as usize].max(peak[v as usize]);
                }
                None => stack.push(v),
            }
        }
        // Parents first, then turned round.
        let mut out = Vec::with_capacity(n);
        while let Some(v) = stack.pop() {
            out.push(v);
            let list = &mut children[v as usize];
            for k in (1..list.len()).rev() {
                list.swap(k, noise.below(k + 1));
            }
            stack.extend_from_slice(list);
        }
        out.reverse();
        if noise.below(2) == 0 {
            out.sort_by(|&a, &b| peak[a as usize].total_cmp(&peak[b as usize]));
        }
        out
    }
}

/// Goes once through an order and improves it stretch by stretch; returns the work done.
pub(crate) fn improve(
    start: &Core,
    best: &mut Order,
    noise: &mut Noise,
    stop: &mut dyn FnMut() -> bool,
) -> u64 {
    let n = best.order.len();
    let (survey, mut work) = Survey::new(start, &best.order);
    best.order = survey.arrange(&best.order, noise);
    let mut core = start.clone();
    let mut at = 0;
    while at < n {
        let len = LEAST + noise.below(MORE);
        let end = n.min(at + len);
        let stretch = &mut best.order[at..end];
        let cost: f64 = stretch.iter().map(|&v| survey.entries[v as usize]).sum();
        if cost * n as f64 > NEGLIGIBLE * best.cost * stretch.len() as f64 && !stop() {
            work += improve_stretch(&core, stretch, noise);
        }
        let next = n.min(at + len.div_ceil(2));
        best.order[at..next].iter().for_each(|&v| core.eliminate(v));
        at = next;
    }
    best.cost = core.cost;
    work + core.work
}

/// Eliminates a stretch in other ways and keeps the cheapest; returns the work done.
fn improve_stretch(core: &Core, stretch: &mut [u32], noise: &mut Noise) -> u64 {
    let (graph, names) = core.around(stretch);
    let whole = Core::new(&graph);
    let edges: usize = graph.neighbours.iter().map(Vec::len).sum();
    let mut now = whole.clone();
    (0..stretch.len() as u32).for_each(|v| now.eliminate(v));
    let mut work = now.work + (graph.len() * 4 + edges * (2 + graph.len() / 64)) as u64;
    let mut least = now.cost;
    for _ in 0..TRIES {
        let mut order = Vec::with_capacity(stretch.len());
        let mut run = whole.clone();
        let candidates = (0..stretch.len() as u32).collect();
        let style = random_style(noise);
        // An order that costs the same is a new start for the next sweep.
        let limit = least * (1.0 + 1e-12);
        if run.greedy(candidates, style, noise, (limit, u64::MAX), &mut order) {
            least = run.cost.min(least);
            order.iter().zip(stretch.iter_mut()).for_each(|(&k, v)| *v = names[k as usize]);
        }
        work += run.work;
    }
    work
}

#[cfg(test)]
mod tests {
    use super::super::graph::Graph;
    use super::*;

    #[test]
    fn a_sweep_never_makes_an_order_dearer_and_keeps_all_vertices() {
        let mut noise = Noise::new(5);
        for n in [1usize, 2, 7, 40, 150] {
            let graph = Graph::random(n, 3 * n, &mut noise);
            let start = Core::new(&graph);
            let mut order: Vec<u32> = (0..n as u32).collect();
            let cost = |order: &[u32]| {
                let mut core = start.clone();
                order.iter().for_each(|&v| core.eliminate(v));
                core.cost
            };
            let mut best = Order { cost: cost(&order), order: order.clone() };
            let first = best.cost;
            for _ in 0..5 {
                let before = best.cost;
                improve(&start, &mut best, &mut noise, &mut || false);
                assert!(best.cost <= before * (1.0 + 1e-9), "{n}: {before} {}", best.cost);
                assert!((cost(&best.order) / best.cost - 1.0).abs() < 1e-9);
            }
            assert!(n < 40 || best.cost < 0.5 * first, "{n}: {first} {}", best.cost);
            order = best.order;
            order.sort_unstable();
            assert!(order.into_iter().eq(0..n as u32));
        }
    }
}
