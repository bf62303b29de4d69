//! Where larger tables gain most.
//!
//! A state drawn from the messages shows, bucket by bucket, how far the messages sent are from the sum they stand for;
//! these costs add up to about the gap, and most come from a fifth of the split buckets. If the cost of a split falls
//! in proportion to the size of its tables, the sum of all costs within a given work is least where tables are as large
//! as the square roots of the costs.

use super::boxes::uniform;
use super::decode::costs_of_splits;
use super::reduced::Reduced;
use super::solve::Run;
use super::structure::{NONE, Rule, Structure};
use super::track::{Layout, Track};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// States at which costs are looked at, and mini-buckets looked at in all of them.
const SAMPLES: usize = 16;
const MOST_LOOKS: usize = 4_000_000;

/// Share of a cost that counts where the messages of its bucket go: tables that are not split there arrive here.
const CARRIED: f64 = 0.5;

/// How much larger than elsewhere tables may be.
const MOST: f64 = 8.0;

/// Cost, as a power of two below the largest, under which nothing is raised; and steps of the search for where to stop.
const LEAST_COST: f64 = 24.0;
const STEPS: usize = 6;

impl Run<'_, '_, '_> {
    /// By variable, what the split of its bucket costs, after passes of `tracks` on one layout.
    pub(super) fn costs(&self, tracks: &[&Track]) -> Vec<f64> {
        let layout = &tracks[0].layout;
        let samples = (MOST_LOOKS / layout.structure.len().max(1)).clamp(1, SAMPLES);
        let mut random = ChaCha8Rng::seed_from_u64(self.wishes.seed);
        let mut costs = vec![0.0; layout.model.d()];
        for track in tracks {
            let mut next = || uniform(&mut random);
            let own = costs_of_splits(layout, &track.side, self.wishes.eps, samples, &mut next);
            costs.iter_mut().zip(own).for_each(|(cost, own)| *cost += own);
        }
        carry(layout, &mut costs);
        let position = &layout.model.position;
        position.iter().map(|&p| costs[p as usize]).collect()
    }
}

/// Hands a share of every cost on along the messages.
fn carry(layout: &Layout, costs: &mut [f64]) {
    let structure = &layout.structure;
    let mut position = vec![0; structure.len()];
    (0..costs.len()).for_each(|p| structure.bucket(p).for_each(|c| position[c] = p));
    for p in 0..costs.len() {
        for home in structure.bucket(p).map(|c| structure.home[c]).filter(|&home| home != NONE) {
            let to = position[home as usize];
            costs[to] = costs[to].max(CARRIED * costs[p]);
        }
    }
}

/// What is left of the work is spent on the buckets with the largest `costs`: `uniform` is what the same limit for all
/// gives, and `fits` says whether a structure is within the work and the memory.
pub(super) fn raised(
    model: &Reduced,
    rule: Rule,
    costs: &[f64],
    mut uniform: Structure,
    fits: impl Fn(&Structure) -> bool,
) -> Structure {
    let top = costs.iter().fold(0.0f64, |m, &c| m.max(c));
    if top <= 0.0 || !fits(&uniform) {
        return uniform;
    }
    let (mut low, mut high) = (0.0, LEAST_COST);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        let unit = top / f64::exp2(middle);
        let factors = |&v: &u32| (costs[v as usize] / unit).sqrt().clamp(1.0, MOST) as f32;
        let factors = model.order.iter().map(factors).collect();
        let larger = Structure::new(model, rule, factors);
        if fits(&larger) {
            (low, uniform) = (middle, larger);
        } else {
            high = middle;
        }
    }
    uniform
}
