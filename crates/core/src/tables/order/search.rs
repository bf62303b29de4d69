//! The search for a cheap order: safe vertices first, then on the core layers, greedy runs and recursive bisection,
//! each improved stretch by stretch, for as long as that promises to save more than it costs.

use super::core::{Core, Rule, Style};
use super::dissect::dissect;
use super::graph::{Graph, Neighbours};
use super::layers::reverse_cuthill_mckee;
use super::noise::Noise;
use super::sparse::{Sparse, degeneracy};
use super::windows::improve;
use crate::tables::plan::Plan;

/// Elementary steps of the search per table entry of the best order so far: a step takes about a nanosecond and an
/// entry two (log Z alone) to ten (all answers), so that a search takes at most a quarter of what it plans.
const STEPS_PER_ENTRY: f64 = 0.5;
/// Steps granted to every search: a millisecond.
const LEAST_STEPS: f64 = 1e6;
/// Steps after which a search ends, whatever elimination would cost: some three seconds.
const MOST_STEPS: f64 = 1.5e9;
/// Entries beyond which elimination takes days and would have to become a thousand times cheaper to matter.
const OUT_OF_REACH: f64 = 1e15;
/// Steps granted to a search beyond that: half a second.
const FAR_STEPS: f64 = 5e8;
/// Steps of a run before its first vertex: copying the graph.
const RUN_STEPS: u64 = 500;
/// Steps after which elimination on lists is given up: some seconds.
const SPARSE_STEPS: u64 = 1_000_000_000;
/// Vertices up to which the core is held as rows of bits.
const CORE_VERTICES: usize = 2048;
/// Orders that are only compared before one is improved.
const STARTS: usize = 8;
/// Sweeps without a gain after which an order is left for a new one.
const IDLE: usize = 10;
/// Ratio of costs that counts as a gain.
const GAINED: f64 = 0.999;
/// A search that has not gained for so many times the work up to its last gain is done.
const PATIENCE: u64 = 8;
/// Work on improving orders per work on finding new ones.
const IMPROVING: u64 = 3;
/// An order that costs more than the best one by this factor is not worth improving.
const PROMISING: f64 = 8.0;
/// A clique of more than `2^48` entries will never be computed: no search.
const HOPELESS_BITS: f64 = 48.0;

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

/// Greedy rules that runs take in turn.
const RULES: [Rule; 4] = [Rule::FillThenWeight, Rule::Weight, Rule::Fill, Rule::Growth];
/// Scales of the noise on their prices, relative to a price.
const NOISES: [f64; 5] = [0.0, 0.02, 0.05, 0.1, 0.2];

/// A rule with more or less noise.
pub(super) fn random_style(noise: &mut Noise) -> Style {
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
    // The order under improvement, and sweeps since it last became cheaper.
    let (mut now, mut idle) = (best.clone(), 0);
    let (mut run, mut spent) = (0, 0);
    let mut gained = 0;
    while work + spent < budget(best.cost).min(PATIENCE * (gained + LEAST_STEPS as u64)) && !stop() {
        if run >= STARTS && idle < IDLE && spent <= IMPROVING * work {
            let before = now.cost;
            spent += improve(&start, &mut now, noise, stop);
            idle = if now.cost < GAINED * before { 0 } else { idle + 1 };
        } else {
            let most = if run < STARTS { best.cost } else { PROMISING * best.cost };
            let limits = (most, budget(best.cost).saturating_sub(work + spent));
            let (found, steps) = fresh((graph, &start), &best, run, noise, limits);
            run += 1;
            work += steps;
            match found {
                Some(found) if found.cost < now.cost || idle >= IDLE => (now, idle) = (found, 0),
                _ => {}
            }
        }
        if now.cost < best.cost {
            gained = if now.cost < GAINED * best.cost { work + spent } else { gained };
            best = now.clone();
        }
    }
    best
}

/// A new order: the plain rules first, then in turn a greedy run with noise, the best order up to a random place and a
/// greedy run from there, and a recursive bisection. None when it costs more than `limits` allow; also the work done.
fn fresh(
    (graph, start): (&Graph, &Core),
    best: &Order,
    run: usize,
    noise: &mut Noise,
    limits: (f64, u64),
) -> (Option<Order>, u64) {
    let plain = RULES.get(run).map(|&rule| Style { rule, noise: 0.0 });
    if plain.is_none() && run % 4 == 2 {
        // Balanced sides at one end, strips at the other.
        let share = 0.1 + 0.35 * noise.below(100) as f64 / 100.0;
        let (found, work) = dissect(graph, start, share, noise, limits.0);
        return (found.map(|(order, cost)| Order { order, cost }), work);
    }
    let (mut core, mut order) = (start.clone(), Vec::with_capacity(graph.len()));
    let kept = if plain.is_none() && run % 2 == 1 { noise.below(graph.len()) } else { 0 };
    for &v in &best.order[..kept] {
        core.eliminate(v);
        order.push(v);
    }
    let rest = if kept > 0 { best.order[kept..].to_vec() } else { (0..graph.len() as u32).collect() };
    let style = plain.unwrap_or_else(|| random_style(noise));
    let done = core.greedy(rest, style, noise, limits, &mut order);
    let work = core.work + RUN_STEPS + (graph.len() * graph.len() / 64) as u64;
    (done.then_some(Order { order, cost: core.cost }), work)
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
            let all = (0..graph.len() as u32).collect();
            if Core::new(&graph).greedy(all, style, &mut noise, (f64::INFINITY, u64::MAX), &mut order) {
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
