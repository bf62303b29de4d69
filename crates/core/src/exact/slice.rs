//! Slicing: where tables do not fit the memory, a few variables are fixed to each of their states in turn and
//! the sums over the rest are added up.

use super::eliminate::Elimination;
use super::rounding::{Enclosure, U};
use super::vector::EXP_ULPS;
use crate::error::Result;
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::tables::linear::Pool;
use crate::tables::order::Graph;
use crate::tables::plan::Plan;

/// Most slices: beyond, elimination would take thousands of times as long as with more memory.
const MOST_SLICES: f64 = 4096.0;

/// Variables to fix, and the plan for what is left.
pub(crate) struct Slicing {
    /// Variables of the model, and their numbers of states.
    pub(crate) fixed: Vec<(u32, u32)>,
    /// Plan of the model with these variables fixed.
    pub(crate) plan: Plan,
}

impl Slicing {
    /// Fixes the variables that shrink the tables most for the least work, until they fit `limit` bytes.
    pub(crate) fn new(model: &FactorModel, plan: &Plan, limit: f64) -> Option<Self> {
        // Fixing a variable of q states makes a table at most q times smaller.
        if plan.bytes() > MOST_SLICES * limit {
            return None;
        }
        let mut graph = Graph::of(model);
        let mut states = model.cardinalities().to_vec();
        let mut fixed = Vec::new();
        let mut best = plan.clone();
        while best.bytes() > limit {
            let largest = (0..best.scopes.len()).max_by(|&a, &b| best.size(a).total_cmp(&best.size(b)))?;
            let members = best.scopes[largest].iter().map(|&q| best.order[q as usize]);
            let candidates = members.filter(|&v| states[v as usize] > 1).map(|v| {
                let plan = without(&graph, &states, v, &best.order);
                (plan.peak * plan.entries * f64::from(states[v as usize]), v, plan)
            });
            let (_, v, plan) = candidates.min_by(|a, b| a.0.total_cmp(&b.0))?;
            isolate(&mut graph, v);
            fixed.push((v, std::mem::replace(&mut states[v as usize], 1)));
            best = plan;
            if fixed.iter().map(|f| f64::from(f.1)).product::<f64>() > MOST_SLICES {
                return None;
            }
        }
        Some(Slicing { plan: renumbered(model, &fixed, &best.order), fixed })
    }

    /// Number of slices.
    pub(crate) fn count(&self) -> f64 {
        self.fixed.iter().map(|f| f64::from(f.1)).product()
    }

    /// `eps log sum_x exp(f/eps)` and its enclosure, the constant included.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub(crate) fn sum(
        &self,
        model: &FactorModel,
        eps: f64,
        pool: &Pool,
        monitor: &mut Monitor<'_>,
    ) -> Result<(f64, Enclosure)> {
        let mut values = Vec::new();
        let mut evidence = vec![None; model.d()];
        for slice in 0..self.count() as usize {
            let mut rest = slice;
            for &(v, states) in &self.fixed {
                evidence[v as usize] = Some((rest % states as usize) as u32);
                rest /= states as usize;
            }
            let part = model.condition(&evidence)?;
            let up = Elimination { model: &part, plan: &self.plan, pool }.sum(eps, false, monitor)?;
            if up.log_sum > f64::NEG_INFINITY && part.constant() > f64::NEG_INFINITY {
                // Conditioning may round the constant; the model's own uncertainty is the caller's.
                let extra = (part.uncertainty() - model.uncertainty()).max(0.0) * (1.0 + 1e-9);
                let (value, bounds) = up.total(eps, part.constant());
                values.push((value, bounds.widened(extra)));
            }
        }
        Ok(total(&values, eps))
    }
}

/// `eps log sum_s exp(v_s/eps)` of numbers and of their enclosures.
fn total(values: &[(f64, Enclosure)], eps: f64) -> (f64, Enclosure) {
    let add = |terms: &dyn Fn(&(f64, Enclosure)) -> f64| {
        let top = values.iter().map(terms).fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return (top, 0.0);
        }
        // Terms below e^-700 of the largest weigh nothing, and a bound that leaves them out stays one on
        // either side of the margin below.
        let exponent = |v: &(f64, Enclosure)| ((terms(v) - top) / eps).max(-700.0);
        let sum: f64 = values.iter().map(|v| libm::exp(exponent(v))).sum();
        let value = top + eps * libm::log(sum);
        // Two roundings of exponents up to 700, exponentials, a sum of at most 4096 terms, its logarithm.
        let relative = 1400.0 + EXP_ULPS + values.len() as f64 + 64.0;
        (value, 2.0 * U * (eps * relative + top.abs() + value.abs()) + eps * 1e-290)
    };
    let (value, _) = add(&|v| v.0);
    let ((low, below), (high, above)) = (add(&|v| v.1.low), add(&|v| v.1.high));
    let bounds = Enclosure { low, high };
    (value, if value > f64::NEG_INFINITY { bounds.widened(below.max(above)) } else { bounds })
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

/// The plan of the model with variables fixed and the others renumbered.
fn renumbered(model: &FactorModel, fixed: &[(u32, u32)], order: &[u32]) -> Plan {
    let is_fixed = |v: u32| fixed.iter().any(|f| f.0 == v);
    let kept: Vec<u32> = (0..model.d() as u32).filter(|&v| !is_fixed(v)).collect();
    let mut name = vec![u32::MAX; model.d()];
    kept.iter().enumerate().for_each(|(new, &v)| name[v as usize] = new as u32);
    let graph = Graph::of(model).induced(&kept, &mut vec![u32::MAX; model.d()]);
    let states: Vec<u32> = kept.iter().map(|&v| model.cardinalities()[v as usize]).collect();
    let order = order.iter().filter(|&&v| !is_fixed(v)).map(|&v| name[v as usize]).collect();
    Plan::new(&graph, &states, order)
}
