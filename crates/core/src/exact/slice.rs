//! Slicing: where tables do not fit the memory, a few variables are fixed to each of their states in turn and
//! the answers over the rest are put together.

use super::cost::Wanted;
use super::eliminate::Elimination;
use super::join::{Part, Whole, join};
use super::pace::Pace;
use crate::error::Result;
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::tables::linear::Pool;
use crate::tables::order::{Graph, search};
use crate::tables::plan::Plan;

/// Most slices: beyond, elimination would take thousands of times as long as with more memory.
const MOST_SLICES: f64 = 4096.0;
/// Most work, relative to elimination in one piece, for answers besides log Z: without these there still is log Z.
const MOST_WORK: f64 = 16.0;

/// Share of the slices after which the time so far tells how long the rest takes.
const TELLING: f64 = 0.01;

/// Variables to fix, and the plan for what is left.
pub(crate) struct Slicing {
    /// Variables of the model, and their numbers of states.
    pub(crate) fixed: Vec<(u32, u32)>,
    /// Plan of the model with these variables fixed.
    pub(crate) plan: Plan,
    /// What fits the memory.
    pub(crate) wanted: Wanted,
}

impl Slicing {
    /// Fixes the variables that shrink the tables most for the least work, until what is wanted fits `limit` bytes;
    /// then searches anew for an order of what is left.
    pub(crate) fn new(
        model: &FactorModel,
        plan: &Plan,
        limit: f64,
        wanted: Wanted,
        (seed, stop): (u64, &mut dyn FnMut() -> bool),
    ) -> Option<Self> {
        // Fixing a variable of q states makes a table at most q times smaller.
        let bytes = |plan: &Plan| plan.bytes_of(wanted.marginals, wanted.maximum);
        if bytes(plan) > MOST_SLICES * limit {
            return None;
        }
        let mut graph = Graph::of(model);
        let mut states = model.cardinalities().to_vec();
        let mut fixed: Vec<(u32, u32)> = Vec::new();
        let mut best = plan.clone();
        while bytes(&best) > limit && !stop() {
            let largest = (0..best.scopes.len()).max_by(|&a, &b| best.size(a).total_cmp(&best.size(b)))?;
            let members = best.scopes[largest].iter().map(|&q| best.order[q as usize]);
            let candidates = members.filter(|&v| states[v as usize] > 1).map(|v| {
                let plan = without(&graph, &states, v, &best.order);
                (bytes(&plan) * plan.entries * f64::from(states[v as usize]), v, plan)
            });
            let (_, v, plan) = candidates.min_by(|a, b| a.0.total_cmp(&b.0))?;
            isolate(&mut graph, v);
            fixed.push((v, std::mem::replace(&mut states[v as usize], 1)));
            best = plan;
            if count(&fixed) > MOST_SLICES {
                return None;
            }
        }
        let work = count(&fixed) * best.entries;
        if bytes(&best) > limit || (wanted != Wanted::LOG_Z && work > MOST_WORK * plan.entries) {
            return None;
        }
        let fits = |plan: &Plan| bytes(plan) <= limit;
        let plan = renumbered(model, &fixed, &best.order, fits, (seed, stop));
        Some(Slicing { fixed, plan, wanted })
    }

    /// Number of slices.
    pub(crate) fn count(&self) -> f64 {
        count(&self.fixed)
    }

    /// The states of the fixed variables in one slice.
    pub(crate) fn states(&self, slice: usize) -> Vec<(u32, u32)> {
        let mut rest = slice;
        let mut state = |&(v, states): &(u32, u32)| {
            let state = (rest % states as usize) as u32;
            rest /= states as usize;
            (v, state)
        };
        self.fixed.iter().map(&mut state).collect()
    }

    /// What was wanted of the whole model, the constant included.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub(crate) fn solve(
        &self,
        model: &FactorModel,
        eps: f64,
        pool: &Pool,
        monitor: &mut Monitor<'_>,
    ) -> Result<Whole> {
        let mut parts = Vec::new();
        let pace = Pace::new(TELLING, monitor);
        for slice in 0..self.count() as usize {
            pace.check(slice as f64 / self.count(), monitor)?;
            let states = self.states(slice);
            let mut evidence = vec![None; model.d()];
            states.iter().for_each(|&(v, s)| evidence[v as usize] = Some(s));
            let rest = model.condition(&evidence)?;
            if rest.constant() == f64::NEG_INFINITY {
                continue;
            }
            let elimination = Elimination { model: &rest, plan: &self.plan, pool };
            let up = elimination.sum(eps, self.wanted.marginals, monitor)?;
            if up.log_sum == f64::NEG_INFINITY {
                continue;
            }
            // Conditioning may round the constant; the model's own uncertainty is the caller's.
            let extra = (rest.uncertainty() - model.uncertainty()).max(0.0) * (1.0 + 1e-9);
            let (value, bounds) = up.total(eps, rest.constant());
            let marginals =
                if self.wanted.marginals { Some(elimination.descend(up, monitor)?) } else { None };
            let best = if self.wanted.maximum { Some(elimination.maximise(monitor)?.states) } else { None };
            parts.push(Part { states, value, bounds: bounds.widened(extra), marginals, best });
        }
        Ok(join(model, eps, parts))
    }
}

fn count(fixed: &[(u32, u32)]) -> f64 {
    fixed.iter().map(|f| f64::from(f.1)).product()
}

fn isolate(graph: &mut Graph, v: u32) {
    for j in std::mem::take(&mut graph.neighbours[v as usize]) {
        graph.neighbours[j as usize].retain(|&i| i != v);
    }
}

/// The plan along the same order with v fixed, where it stands.
fn without(graph: &Graph, states: &[u32], v: u32, order: &[u32]) -> Plan {
    let mut graph = graph.clone();
    let mut states = states.to_vec();
    isolate(&mut graph, v);
    states[v as usize] = 1;
    Plan::new(&graph, &states, order.to_vec())
}

/// The variables that are left, their graph and their numbers of states.
fn left(model: &FactorModel, fixed: &[(u32, u32)]) -> (Vec<u32>, Graph, Vec<u32>) {
    let is_fixed = |v: u32| fixed.iter().any(|f| f.0 == v);
    let kept: Vec<u32> = (0..model.d() as u32).filter(|&v| !is_fixed(v)).collect();
    let graph = Graph::of(model).induced(&kept, &mut vec![u32::MAX; model.d()]);
    let states = kept.iter().map(|&v| model.cardinalities()[v as usize]).collect();
    (kept, graph, states)
}

/// The plan of the model with variables fixed and the others renumbered: along the order of `plan`, or a new one that is
/// cheaper and fits.
fn renumbered(
    model: &FactorModel,
    fixed: &[(u32, u32)],
    order: &[u32],
    fits: impl Fn(&Plan) -> bool,
    (seed, stop): (u64, &mut dyn FnMut() -> bool),
) -> Plan {
    let (kept, graph, states) = left(model, fixed);
    let mut name = vec![u32::MAX; model.d()];
    kept.iter().enumerate().for_each(|(new, &v)| name[v as usize] = new as u32);
    let order = order.iter().map(|&v| name[v as usize]).filter(|&v| v != u32::MAX).collect();
    let plan = Plan::new(&graph, &states, order);
    let found = search(&graph, seed, stop);
    if found.cost < plan.entries {
        let other = Plan::new(&graph, &states, found.order);
        if fits(&other) {
            return other;
        }
    }
    plan
}
