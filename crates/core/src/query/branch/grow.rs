//! The loop: take the leaves that matter most, split them, bound the parts.

use super::Goal;
use super::checkpoint::Checkpoint;
use super::choose::candidates;
use super::leaf::{Bounder, Known, Rule};
use super::tree::Tree;
use crate::aside::Aside;
use crate::error::{Error, Result};
use crate::exact::{Wanted, pool};
use crate::model::Model;
use crate::observer::Monitor;
use crate::run::cost;
use crate::settings::Settings;
use crate::solution::StopReason;
use rayon::prelude::*;

/// Leaves that are split at a time: the tree does not depend on the number of threads.
pub(super) const BATCH: usize = 4;

/// Variables tried at each split, by the depth of the leaf: the first splits matter to all others.
const TRIED: [usize; 6] = [4, 4, 3, 3, 2, 2];

/// Share of the memory limit that the nodes may take; bounds of parts need the rest.
const TREE_SHARE: u64 = 2;

/// Seconds for an elimination order of the whole.
const PLAN_SECS: f64 = 0.5;

/// A growing tree.
pub(super) struct Growth<'a> {
    pub(super) bounder: Bounder<'a>,
    pub(super) tree: Tree,
    pub(super) pool: Option<rayon::ThreadPool>,
    checkpoint: Option<Checkpoint>,
    /// Whether the exact sum of the whole may still be worth its time.
    pub(super) may_sum: bool,
    /// `eps log` of the number of joint states: from log Z to phi.
    entropy: f64,
}

impl<'a> Growth<'a> {
    /// A tree of one leaf, or that of a checkpoint.
    pub(super) fn new(
        model: &'a Model,
        eps: f64,
        goal: &Goal,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        Growth::with_rule(model, eps, goal, None, settings, monitor)
    }

    /// As [`Growth::new`], with the bound of parts if it is known.
    pub(super) fn with_rule(
        model: &'a Model,
        eps: f64,
        goal: &Goal,
        rule: Option<Rule>,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        // Runs that are counted do not look at the clock; proofs of the whole would take the time of all of its table.
        let may_sum = settings.max_iterations.is_none() && !goal.want_certificate;
        let mut settings = settings.for_part(monitor.deadline(), None);
        let pool = pool(settings.threads)?;
        // Parts are bounded side by side, each on one thread.
        settings.threads = 1;
        settings.max_iterations = None;
        // A plan that took long to find would be of no use to the parts.
        let hasty =
            settings.clone().with_time_limit(Some(PLAN_SECS.min(0.05 * settings.deadline.seconds_left())));
        let exact_secs = cost::exact(model, Wanted::LOG_Z, &hasty).map_or(f64::INFINITY, |e| e.seconds);
        let (keep, free) = (goal.want_certificate, model.free_variables());
        let mut bounder = Bounder { model, eps, rule: Rule::MiniBuckets, keep, exact_secs, settings, free };
        let checkpoint = goal.checkpoint.as_ref().map(|path| Checkpoint::new(path, model, eps));
        let known = checkpoint.as_ref().map(|c| c.read(&model.free_cardinalities())).transpose()?.flatten();
        let root = match rule {
            Some(rule) => {
                bounder.rule = rule;
                bounder.bound(&[], None)?
            }
            None => bounder.root(monitor)?,
        };
        let mut tree = match known {
            // Proofs are not kept on disk.
            Some(tree) if !keep => tree,
            _ => Tree::new(eps, root, keep),
        };
        tree.room = bounder.settings.memory_limit / TREE_SHARE;
        let logs = model.free_cardinalities().into_iter().map(|q| f64::from(q).ln());
        Ok(Growth { bounder, tree, pool, checkpoint, may_sum, entropy: eps * logs.sum::<f64>() })
    }

    /// Grows the tree until the goal, a limit, or until nothing is left to split.
    pub(super) fn run(&mut self, goal: &Goal, monitor: &mut Monitor<'_>) -> Result<StopReason> {
        let tol = self.bounder.settings.tol;
        let stop = loop {
            let (low, high) = self.tree.bracket();
            let gap = high - low;
            let closed = tol * high.abs().max(self.bounder.eps);
            let wanted = goal.target_gap.unwrap_or(0.0).max(0.5 * closed);
            if (high < f64::INFINITY && gap <= wanted) || high == f64::NEG_INFINITY {
                break StopReason::Converged;
            }
            // Where every part is half as wide, so is the whole.
            self.tree.narrow = 0.5 * wanted;
            if self.bounder.keep && self.tree.is_full() {
                // Proofs cannot be forgotten.
                break StopReason::Stalled;
            }
            if let Some(stop) = monitor.iteration(low - self.entropy, high - self.entropy) {
                break stop;
            }
            if self.is_time_for_the_whole(monitor) && self.sum_whole(monitor)? {
                continue;
            }
            let leaves = self.tree.take_open(BATCH);
            if leaves.is_empty() {
                break StopReason::Stalled;
            }
            self.step(&leaves, monitor)?;
            if let Some(checkpoint) = &mut self.checkpoint {
                checkpoint.write_if_due(&self.tree)?;
            }
        };
        self.save()?;
        Ok(stop)
    }

    /// Writes the tree down, if it is kept.
    pub(super) fn save(&mut self) -> Result<()> {
        match &mut self.checkpoint {
            Some(checkpoint) => checkpoint.write(&self.tree),
            None => Ok(()),
        }
    }

    pub(super) fn into_tree(self) -> Tree {
        self.tree
    }

    /// Splits leaves; those whose parts were not finished in time stay leaves.
    fn step(&mut self, leaves: &[u32], monitor: &mut Monitor<'_>) -> Result<()> {
        let (bounder, tree) = (&self.bounder, &self.tree);
        let is_pooled = self.pool.is_some();
        let work = |&leaf: &u32| bounder.split(&tree.path(leaf), tree.known(leaf), is_pooled);
        let found = watched(&self.pool, monitor, || match &self.pool {
            Some(_) => leaves.par_iter().map(work).collect::<Vec<_>>(),
            None => leaves.iter().map(work).collect(),
        });
        for (&leaf, split) in leaves.iter().zip(found) {
            match split {
                Ok(Some((variable, parts))) => self.tree.split(leaf, variable, parts),
                Ok(None) => self.tree.close(leaf),
                Err(Error::Interrupted(_)) => self.tree.offer(leaf),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Runs `work` on the pool, or here when there is none, looking at the clock and the user all the while.
pub(super) fn watched<T: Send>(
    pool: &Option<rayon::ThreadPool>,
    monitor: &mut Monitor<'_>,
    work: impl FnOnce() -> T + Send,
) -> T {
    std::thread::scope(|scope| {
        let work = Aside::begin(scope, || match pool {
            Some(pool) => pool.install(work),
            None => work(),
        });
        // Stopping is the deadline's business, which the work has been handed.
        work.end(|| {
            let _ = monitor.interrupted();
        })
    })
}

impl Bounder<'_> {
    /// The best variable to split below a path, and what is known of its states; none when nothing is free.
    ///
    /// States of all variables that are tried are independent of each other: a pool takes them one by one.
    fn split(
        &self,
        path: &[(u32, u32)],
        known: &Known,
        is_pooled: bool,
    ) -> Result<Option<(u32, Vec<Known>)>> {
        let part = self.part(path)?;
        let tried = TRIED.get(path.len()).copied().unwrap_or(1);
        let names: Vec<u32> =
            (0..self.free.len() as u32).filter(|&v| path.iter().all(|step| step.0 != v)).collect();
        let mut tasks = Vec::new();
        for candidate in candidates(&part, known, tried)? {
            let states = self.model.cardinality(self.free[names[candidate] as usize]);
            tasks.extend((0..states).map(|state| (candidate, state)));
        }
        let work = |&(candidate, state): &(usize, u32)| {
            if let Some(stop) = self.settings.deadline.stop() {
                return Err(Error::Interrupted(stop));
            }
            let below: Vec<(u32, u32)> = path.iter().copied().chain([(names[candidate], state)]).collect();
            let spin = if state == 1 { 1 } else { -1 };
            let start = known.start.as_ref().map(|start| start.fixed(candidate, spin));
            self.bound(&below, start)
        };
        let found: Vec<Result<Known>> =
            if is_pooled { tasks.par_iter().map(work).collect() } else { tasks.iter().map(work).collect() };
        let mut found = found.into_iter();
        let mut best: Option<(f64, u32, Vec<Known>)> = None;
        for family in tasks.chunk_by(|a, b| a.0 == b.0) {
            let parts = found.by_ref().take(family.len()).collect::<Result<Vec<Known>>>()?;
            let score = total(&parts, self.eps);
            if best.as_ref().is_none_or(|(top, ..)| score < *top) {
                best = Some((score, names[family[0].0], parts));
            }
        }
        Ok(best.map(|(_, variable, parts)| (variable, parts)))
    }
}

/// `eps log` of what all parts add to the width.
fn total(parts: &[Known], eps: f64) -> f64 {
    let top = parts.iter().map(|p| p.upper).fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return top;
    }
    let width = |p: &Known| ((p.upper - top) / eps).exp() - ((p.lower - top) / eps).exp();
    top + eps * parts.iter().map(width).sum::<f64>().max(0.0).ln()
}
