//! Boxes round a state of positive weight in which all tables with zeros of a bucket fit together.
//!
//! Reverse Hoelder gives nothing for a table with zeros under a negative weight. Fixing a few variables to the states they
//! have in a good assignment makes room: what is left out only lowers the sum.

use super::reduced::Reduced;
use super::structure::{Builder, Rule};
use super::track::Layout;
use crate::model::FactorModel;
use crate::tables::propagate::{Outcome, Propagator};

/// What boxes are built from.
pub(super) struct BoxSource<'a> {
    pub(super) model: &'a FactorModel,
    /// States left to every variable.
    pub(super) left: &'a [Vec<u32>],
    /// A state of positive weight.
    pub(super) state: &'a [u32],
    /// Estimated probability of that state, per variable.
    pub(super) likely: &'a [f64],
}

impl BoxSource<'_> {
    /// A layout along `order` within `rule`, on a box that is as likely as can be managed greedily.
    pub(super) fn layout(
        &self,
        order: &[u32],
        rule: Rule,
        propagator: &mut Propagator<'_>,
    ) -> Option<Layout> {
        let sizes = self.model.cardinalities();
        let mut left = self.left.to_vec();
        let root = propagator.trail().len();
        loop {
            let model = Reduced::new(self.model, sizes, order, &left);
            let (structure, fixed) =
                Builder::new(&model, rule).build(|scope, sizes| self.choose(order, scope, sizes));
            if fixed.is_empty() {
                propagator.unwind(root);
                return Some(Layout { model, structure, allowed: Some(left) });
            }
            for &u in &fixed {
                let v = order[u as usize] as usize;
                propagator.assign(v, self.state[v] as usize);
            }
            // The state itself survives, so nothing becomes empty.
            if propagator.run(u64::MAX) == Outcome::Empty {
                propagator.unwind(root);
                return None;
            }
            for (v, list) in left.iter_mut().enumerate() {
                list.retain(|&s| propagator.is_alive(v, s as usize));
            }
        }
    }

    /// The variable whose fixing costs least per unit of size won.
    fn choose(&self, order: &[u32], scope: &[u32], sizes: &[u32]) -> Option<u32> {
        let price = |u: u32| {
            let p = self.likely[order[u as usize] as usize].clamp(1e-9, 1.0);
            (1e-6 - p.ln()) / f64::from(sizes[u as usize]).ln()
        };
        let open = scope.iter().copied().filter(|&u| sizes[u as usize] > 1);
        open.min_by(|&a, &b| price(a).total_cmp(&price(b)).then(a.cmp(&b)))
    }
}
