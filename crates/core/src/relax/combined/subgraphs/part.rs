//! One subgraph: its elimination, and the law of the model on it.

use crate::error::Result;
use crate::exact::Elimination;
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::tables::order::{Graph, Neighbours, reverse_cuthill_mckee};
use crate::tables::plan::Plan;

/// A subgraph of small width on all vertices.
#[derive(Clone)]
pub(super) struct Part {
    /// Numbers of its edges among those of the model.
    pub(super) edges: Vec<u32>,
    pub(super) plan: Plan,
}

/// What the law of a part says.
pub(super) struct Laws {
    /// `eps log Z`.
    pub(super) value: f64,
    /// In nats.
    pub(super) entropy: f64,
    /// `E x_i`.
    pub(super) means: Vec<f64>,
    /// `E x_i x_j` by edge of the part.
    pub(super) correlations: Vec<f64>,
}

impl Part {
    /// The subgraph of the edges (of `ends`) numbered `edges`, in an order that goes along `guide` where that is cheaper than
    /// in breadth-first layers; `None` when tables of `limit` entries are too small for either.
    pub(super) fn new(
        d: usize,
        ends: &[[u32; 2]],
        edges: Vec<u32>,
        guide: &[u64],
        limit: f64,
    ) -> Option<Self> {
        let mut neighbours: Neighbours = vec![Vec::new(); d];
        for &e in &edges {
            let [i, j] = ends[e as usize];
            neighbours[i as usize].push(j);
            neighbours[j as usize].push(i);
        }
        neighbours.iter_mut().for_each(|list| list.sort_unstable());
        let layered = reverse_cuthill_mckee(&neighbours);
        let graph = Graph { neighbours, bits: vec![1.0; d] };
        let mut guided: Vec<u32> = (0..d as u32).collect();
        guided.sort_by_key(|&v| guide[v as usize]);
        let spins = vec![2; d];
        let width = (limit.log2() - 1.0).max(0.0) as usize;
        let plans = [guided, layered].map(|order| Plan::within(&graph, &spins, order, width));
        let key = |plan: &Plan| (plan.width, plan.entries);
        let plan = match plans {
            [Some(guided), Some(layered)] => {
                if key(&guided) <= key(&layered) {
                    guided
                } else {
                    layered
                }
            }
            [guided, layered] => guided.or(layered)?,
        };
        Some(Part { edges, plan })
    }

    /// Entries of the largest table.
    pub(super) fn largest(&self) -> f64 {
        (self.plan.width as f64 + 1.0).exp2()
    }

    /// The law proportional to `exp(f / eps)` with the given fields, and couplings on the part's edges.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub(super) fn laws(
        &self,
        ends: &[[u32; 2]],
        (fields, couplings): (&[f64], &[f64]),
        eps: f64,
        monitor: &mut Monitor<'_>,
    ) -> Result<Laws> {
        let mut model = FactorModel::new(fields.len());
        for (i, h) in fields.iter().enumerate() {
            model.push(&[i], &[-h, *h])?;
        }
        for (&e, v) in self.edges.iter().zip(couplings) {
            let [i, j] = ends[e as usize].map(|i| i as usize);
            model.push(&[i, j], &[*v, -v, -v, *v])?;
        }
        let elimination = Elimination { model: &model, plan: &self.plan, pool: &None };
        let up = elimination.sum(eps, true, monitor)?;
        let (value, _) = up.total(eps, 0.0);
        let found = elimination.descend(up, monitor)?;
        // Pairs come in the order of the edges, both sorted.
        debug_assert_eq!(found.pairs.len(), self.edges.len());
        Ok(Laws {
            value,
            entropy: found.entropy,
            means: found.states.iter().map(|p| p[1] - p[0]).collect(),
            correlations: found.pairs.iter().map(|p| p.2).collect(),
        })
    }
}
