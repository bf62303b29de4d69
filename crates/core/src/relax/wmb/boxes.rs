//! Boxes round a state of positive weight in which all tables with zeros of a bucket fit together.
//!
//! Reverse Hoelder gives nothing for a table with zeros under a negative weight. Fixing a few variables to the states they
//! have in a good assignment makes room: what is left out only lowers the sum. From the exact law inside a box comes a
//! better assignment, and round that another box, with other variables fixed.

use super::decode::decode;
use super::orders::open_first;
use super::partition::Builder;
use super::reduced::Reduced;
use super::structure::Rule;
use super::track::{Layout, Track};
use crate::model::FactorModel;
use crate::tables::propagate::{Outcome, Propagator};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

/// Factor by which a variable that was fixed in the last box is dearer in the next.
const AGAIN: f64 = 4.0;

/// The search over boxes.
pub(super) struct Boxes {
    /// A state of positive weight.
    pub(super) state: Vec<u32>,
    /// Estimated probability of that state, per variable.
    likely: Vec<f64>,
    was_fixed: Vec<bool>,
    random: ChaCha8Rng,
    rounds: usize,
    /// Tables of a box may be larger than those of the other side by this much.
    pub(super) room: f64,
}

impl Boxes {
    pub(super) fn new(state: Vec<u32>, marginals: Option<&Vec<Vec<f64>>>, random: ChaCha8Rng) -> Self {
        let likely = match marginals {
            Some(laws) => laws.iter().zip(&state).map(|(law, &s)| law[s as usize]).collect(),
            None => vec![1.0; state.len()],
        };
        let was_fixed = vec![false; state.len()];
        Boxes { state, likely, was_fixed, random, rounds: 0, room: 1.0 }
    }

    /// A layout along `order` within `rule`, on a box that is as likely as can be managed greedily.
    pub(super) fn layout(
        &mut self,
        model: &FactorModel,
        left: &[Vec<u32>],
        order: &[u32],
        rule: Rule,
        propagator: &mut Propagator<'_>,
    ) -> Option<Layout> {
        let mut left = left.to_vec();
        let root = propagator.trail().len();
        let mut is_fixed = vec![false; left.len()];
        let prices = self.prices(model.cardinalities());
        loop {
            let order = open_first(order, &left);
            let choose = |scope: &[u32], sizes: &[u32]| {
                let price = |u: u32| prices[order[u as usize] as usize];
                let open = scope.iter().copied().filter(|&u| sizes[u as usize] > 1);
                open.min_by(|&a, &b| price(a).total_cmp(&price(b)).then(a.cmp(&b)))
            };
            let reduced = Reduced::new(model, model.cardinalities(), &order, &left);
            let (structure, fixed) = Builder::new(&reduced, rule).build(choose);
            if fixed.is_empty() {
                propagator.unwind(root);
                let allowed = is_fixed.contains(&true).then_some(left);
                self.was_fixed = is_fixed;
                return Some(Layout { model: reduced, structure, allowed });
            }
            for &u in &fixed {
                let v = order[u as usize] as usize;
                is_fixed[v] = true;
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

    /// What fixing each variable costs per unit of size won, with some noise after the first box.
    fn prices(&mut self, sizes: &[u32]) -> Vec<f64> {
        let is_first = self.rounds == 0;
        let mut noise = || if is_first { 1.0 } else { (uniform(&mut self.random) * 2.0 - 1.0).exp() };
        let dear = |v: usize| if self.was_fixed[v] { AGAIN } else { 1.0 };
        (0..sizes.len())
            .map(|v| {
                let loss = 0.01 - self.likely[v].clamp(1e-9, 1.0).ln();
                noise() * dear(v) * loss / f64::from(sizes[v].max(2)).ln()
            })
            .collect()
    }

    /// Takes up a state from the exact law inside the box of `track`, which has done a pass.
    pub(super) fn advance(&mut self, track: &Track, eps: f64) {
        self.rounds += 1;
        let layout = &track.layout;
        let Some(allowed) = layout.allowed.as_ref().filter(|_| layout.is_exact()) else { return };
        let random = &mut self.random;
        let mut next = || uniform(random);
        let is_draw = self.rounds.is_multiple_of(2);
        let found = decode(layout, &track.side, eps, is_draw.then_some(&mut next as &mut dyn FnMut() -> f64));
        let mut at = 0;
        for (p, &v) in layout.model.order.iter().enumerate() {
            let v = v as usize;
            let size = layout.model.sizes[p] as usize;
            self.state[v] = allowed[v][found[p] as usize];
            if size > 1 {
                let law = &track.side.marginals[at..at + size];
                self.likely[v] = law[found[p] as usize] / law.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            }
            at += size;
        }
    }
}

/// A number in [0, 1).
pub(super) fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
