//! Disjoint parts of the cube: the bound on each, with a few spins fixed, and their sum.

use super::maximise::{Starts, maximise};
use super::{signed, witness};
use crate::certify::{Tree, Witness};
use crate::model::{Ising, Polynomial};
use crate::observer::Monitor;
use crate::settings::Settings;

/// Numbers of fixed spins, each tried while the one before it gained.
const FIXED: [usize; 5] = [1, 2, 4, 6, 8];

/// Edges of all parts together: each part is a solve of its own, and a model of its own for the checker.
const MOST_EDGES: usize = 120_000;

/// Gain in units of eps below which more parts are not tried.
const WORTH: f64 = 1e-3;

/// A sum over parts that is better than the whole.
pub(super) struct Split {
    /// On phi.
    pub(super) estimate: f64,
    pub(super) means: Vec<f64>,
    pub(super) witness: Witness,
}

/// The best sum over parts above `known`, a value on phi; `flips` make every coupling of f at least zero.
pub(super) fn split(
    f: &Polynomial,
    eps: f64,
    flips: &[i8],
    known: f64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Option<Split> {
    let ising = f.as_ising()?;
    let order = strongest(ising);
    let mut best: Option<Split> = None;
    for k in FIXED {
        let coupled = order.iter().take(k).filter(|s| s.1 > 0.0).count();
        if coupled < k || (ising.edges().len() << k) > MOST_EDGES {
            break;
        }
        let spins: Vec<u32> = order[..k].iter().map(|s| s.0).collect();
        let Some(split) = parts(f, eps, flips, &spins, settings, monitor) else { break };
        let before = best.as_ref().map_or(known, |b| b.estimate);
        let gain = split.estimate - before;
        if gain > 0.0 {
            best = Some(split);
        }
        if !(gain > WORTH * eps) {
            break;
        }
    }
    best
}

/// Spins with the sum of their couplings' magnitudes, largest first.
fn strongest(ising: &Ising) -> Vec<(u32, f64)> {
    let mut out: Vec<(u32, f64)> = (0..ising.d() as u32).map(|i| (i, 0.0)).collect();
    for (i, j, v) in ising.triples() {
        out[i].1 += v.abs();
        out[j].1 += v.abs();
    }
    out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    out
}

/// The sum over all assignments of `spins`; `None` when it was interrupted.
fn parts(
    f: &Polynomial,
    eps: f64,
    flips: &[i8],
    spins: &[u32],
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Option<Split> {
    let is_free = |i: &usize| !spins.contains(&(*i as u32));
    let free: Vec<usize> = (0..f.d()).filter(is_free).collect();
    let signs: Vec<i8> = free.iter().map(|&i| flips[i]).collect();
    let (mut witnesses, mut values, mut all_means) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..1usize << spins.len() {
        let mut fixed = vec![None; f.d()];
        let mut means = vec![0.0; f.d()];
        for (p, &i) in spins.iter().enumerate() {
            let spin = if k >> p & 1 == 1 { 1 } else { -1 };
            fixed[i as usize] = Some(spin);
            means[i as usize] = f64::from(spin);
        }
        let rest = f.condition(&fixed).ok()?;
        let ising = rest.as_ising()?;
        let maximum = maximise(&ising.flip(&signs).ok()?, eps, Starts::Few, settings, monitor);
        if monitor.interrupted().is_some() {
            return None;
        }
        free.iter().zip(signed(&maximum.point.means, &signs)).for_each(|(&i, m)| means[i] = m);
        witnesses.push(witness(ising, eps, &maximum.point.means, &signs));
        values.push(ising.constant() / eps + maximum.point.value);
        all_means.push(means);
    }
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = values.iter().map(|v| (v - top).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let mean = |i: usize| weights.iter().zip(&all_means).map(|(w, m)| w * m[i]).sum::<f64>() / sum;
    Some(Split {
        estimate: eps * (top + sum.ln() - f.d() as f64 * std::f64::consts::LN_2),
        means: (0..f.d()).map(mean).collect(),
        witness: Witness::Tree(complete_tree(spins, witnesses)),
    })
}

/// All assignments of `spins`, the first split at the root. Part k has `spins[p]` at +1 when bit p of k is set.
fn complete_tree(spins: &[u32], parts: Vec<Witness>) -> Tree<Option<Witness>> {
    let depth = spins.len();
    let mut parts: Vec<Option<Witness>> = parts.into_iter().map(Some).collect();
    let (mut nodes, mut leaves) = (Vec::new(), Vec::new());
    for k in 0..parts.len() {
        // In preorder the bits of a leaf count from the root: those that just became 0 open new nodes.
        let opened = if k == 0 { depth } else { k.trailing_zeros() as usize };
        nodes.extend(spins[depth - opened..].iter().map(|&i| Some((i, 2))));
        nodes.push(None);
        let part = (0..depth).fold(0, |part, p| part | (k >> (depth - 1 - p) & 1) << p);
        leaves.push(parts[part].take());
    }
    Tree { nodes, leaves }
}
