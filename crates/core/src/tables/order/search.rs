//! The search for a cheap order: safe vertices first, then randomised greedy runs on the core, restarted
//! in the middle of the best order found, for as long as that promises to save more than it costs.

use super::core::{Core, Rule, Style};
use super::graph::{Graph, Neighbours};
use super::layers::reverse_cuthill_mckee;
use super::noise::Noise;
use super::sparse::{Sparse, degeneracy};
use crate::tables::plan::Plan;

/// Elementary steps of the search per table entry of the best order so far: a step and an entry both take
/// about a nanosecond, so that a search takes at most a quarter of what it plans.
const STEPS_PER_ENTRY: f64 = 0.25;
/// Steps granted to every search: a millisecond.
const LEAST_STEPS: f64 = 1e6;
/// Steps after which a search ends, whatever elimination would cost: some three seconds.
const MOST_STEPS: f64 = 1.5e9;
/// Entries beyond which elimination takes days and would have to become a thousand times cheaper to matter.
const OUT_OF_REACH: f64 = 1e15;
/// Steps granted to a search beyond that: a fifth of a second.
const FAR_STEPS: f64 = 2e8;
/// Steps of a run before its first vertex: copying the graph.
const RUN_STEPS: u64 = 500;
/// Steps after which elimination on lists is given up: some seconds.
const SPARSE_STEPS: u64 = 1_000_000_000;
/// Vertices up to which the core is held as rows of bits.
const CORE_VERTICES: usize = 2048;
/// A clique of more than `2^48` entries will never be computed: no search.
const HOPELESS_BITS: f64 = 48.0;
/// Runs from one state in the middle of an order.
const ROLLOUTS: usize = 4;

/// An elimination order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) order: Vec<u32>,
    /// Entries of all cliques; infinite when elimination is hopeless.
    pub(crate) cost: f64,
}

/// Finds a cheap order; the same for the same seed unless `stop` cuts the search short.
pub(crate) fn search(graph: &Graph, seed: u64, stop: &mut dyn FnMut() -> bool) -> Order {
    let mut sparse = Sparse::new(graph);
    sparse.eliminate_safe();
    let hopeless = |rest: &Graph| {
        let least = rest.bits.iter().copied().fold(f64::INFINITY, f64::min);
        rest.len() > 0 && degeneracy(rest) as f64 * least > HOPELESS_BITS
    };
    let large = sparse.left() > CORE_VERTICES;
    let feasible = !hopeless(&sparse.rest().0)
        && (!large || sparse.eliminate_cheapest(CORE_VERTICES, HOPELESS_BITS, SPARSE_STEPS));
    let (rest, names) = sparse.rest();
    let (mut order, mut cost) = (std::mem::take(&mut sparse.order), sparse.cost);
    if !feasible || hopeless(&rest) {
        order.extend(reverse_cuthill_mckee(&rest.neighbours).into_iter().map(|v| names[v as usize]));
        return Order { order, cost: f64::INFINITY };
    }
    let mut place = vec![u32::MAX; rest.len()];
    let parts = rest.components();
    let mut noise = Noise::new(seed);
    for part in &parts {
        let share = part.len() as f64 / rest.len() as f64;
        let found = search_core(&rest.induced(part, &mut place), cost, share, &mut noise, stop);
        cost += found.cost;
        order.extend(found.order.into_iter().map(|v| names[part[v as usize] as usize]));
    }
    Order { order, cost }
}

/// The styles tried in turn: the plain rules first, then each with more and more noise.
fn style(run: usize, noise: &mut Noise) -> Style {
    const RULES: [Rule; 4] = [Rule::FillThenWeight, Rule::Weight, Rule::Fill, Rule::Growth];
    const NOISES: [f64; 5] = [0.0, 0.02, 0.05, 0.1, 0.2];
    if run < RULES.len() {
        return Style { rule: RULES[run], noise: 0.0 };
    }
    let pick = noise.next() as usize;
    Style { rule: RULES[pick % RULES.len()], noise: NOISES[pick / 16 % NOISES.len()] }
}

/// Searches a connected core; `outside` is what the rest of the order costs, `share` the part of the least
/// effort that belongs to this core.
fn search_core(
    graph: &Graph,
    outside: f64,
    share: f64,
    noise: &mut Noise,
    stop: &mut dyn FnMut() -> bool,
) -> Order {
    let start = Core::new(graph);
    let layered = reverse_cuthill_mckee(&graph.neighbours);
    let mut first = start.clone();
    layered.iter().for_each(|&v| first.eliminate(v));
    let mut best = Order { order: layered, cost: first.cost };
    let mut work = first.work;
    let budget = |cost: f64| {
        let most = if cost < OUT_OF_REACH { MOST_STEPS } else { FAR_STEPS };
        (share * LEAST_STEPS).max(STEPS_PER_ENTRY * (outside + cost)).min(most) as u64
    };
    let mut run = 0;
    while work < budget(best.cost) && !stop() {
        // Half of the runs start afresh, half in the middle of the best order.
        let fresh = run < 8 || run % 2 == 0;
        let mut from = start.clone();
        let mut prefix = Vec::new();
        if !fresh {
            prefix.extend_from_slice(&best.order[..noise.below(graph.len())]);
            prefix.iter().for_each(|&v| from.eliminate(v));
            work += from.work;
            from.work = 0;
        }
        for _ in 0..if fresh { 1 } else { ROLLOUTS } {
            let mut core = from.clone();
            let mut order = prefix.clone();
            let style = style(run, noise);
            run += 1;
            let allowance = budget(best.cost).saturating_sub(work);
            if core.greedy(style, noise, best.cost, allowance, &mut order) {
                best = Order { order, cost: core.cost };
            }
            work += core.work + RUN_STEPS + (graph.len() * graph.len() / 64) as u64;
        }
    }
    best
}

/// Elimination that joins few pairs of variables: what a chordal extension of the graph should do.
///
/// **Cost** three greedy orders on graphs of up to [`CORE_VERTICES`] vertices, one on larger ones.
pub(crate) fn fewest_pairs(neighbours: Neighbours) -> Plan {
    let graph = Graph { bits: vec![1.0; neighbours.len()], neighbours };
    let spins = vec![2; graph.len()];
    let mut best = Plan::new(&graph, &spins, reverse_cuthill_mckee(&graph.neighbours));
    let mut orders = Vec::new();
    if graph.len() <= CORE_VERTICES {
        let mut noise = Noise::new(0);
        for rule in [Rule::Fill, Rule::FillThenWeight, Rule::Weight] {
            let mut order = Vec::with_capacity(graph.len());
            let style = Style { rule, noise: 0.0 };
            if Core::new(&graph).greedy(style, &mut noise, f64::INFINITY, u64::MAX, &mut order) {
                orders.push(order);
            }
        }
    } else {
        let mut sparse = Sparse::new(&graph);
        if sparse.eliminate_cheapest(0, f64::INFINITY, SPARSE_STEPS) {
            orders.push(sparse.order);
        }
    }
    let pairs = |plan: &Plan| plan.scopes.iter().map(Vec::len).sum::<usize>();
    for order in orders {
        let plan = Plan::new(&graph, &spins, order);
        if pairs(&plan) < pairs(&best) {
            best = plan;
        }
    }
    best
}
