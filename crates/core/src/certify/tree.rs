//! Disjoint parts of the state space: `Z` is the sum of theirs, and a bound on each bounds the whole.

use super::bound::{CertifiedBound, Side, entropy_of};
use super::certificate::{Certificate, Witness};
use super::interval::{Interval, add_down, add_up, mul_up};
use super::limits::{Cost, Limits};
use super::verify::CUSHION;
use crate::error::{Error, Result};
use crate::model::{Model, Source};

/// A decision tree over the states of variables, with a proof at each leaf.
///
/// Variables are numbered as the free ones of the whole model; the proof of a leaf is about the model with the states
/// above it fixed, its free variables renumbered in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree<T> {
    /// The nodes in preorder: the variable that is split and its number of states, followed by one subtree per state;
    /// or `None` for a leaf.
    pub nodes: Vec<Option<(u32, u32)>>,
    /// One proof per leaf, in the same order.
    pub leaves: Vec<T>,
}

impl<T> Tree<T> {
    /// Calls `visit` with the states above each leaf and its proof.
    fn walk(&self, mut visit: impl FnMut(&[(u32, u32)], &T) -> Result<()>) -> Result<()> {
        let broken = || Error::Certificate("the nodes are not a tree with one proof per leaf".into());
        // The states above the next node, and how many states each of those variables has.
        let (mut path, mut counts): (Vec<(u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut leaves = self.leaves.iter();
        let mut is_done = false;
        for node in &self.nodes {
            if is_done {
                return Err(broken());
            }
            if let Some((variable, states)) = *node {
                if states == 0 {
                    return Err(broken());
                }
                path.push((variable, 0));
                counts.push(states);
                continue;
            }
            visit(&path, leaves.next().ok_or_else(broken)?)?;
            while let (Some(last), Some(&states)) = (path.last_mut(), counts.last()) {
                last.1 += 1;
                if last.1 < states {
                    break;
                }
                path.pop();
                counts.pop();
            }
            is_done = path.is_empty();
        }
        if is_done && leaves.next().is_none() { Ok(()) } else { Err(broken()) }
    }

    /// Number of variables that are fixed at each leaf.
    pub(super) fn depths(&self) -> Result<Vec<usize>> {
        let mut depths = Vec::new();
        self.walk(|path, _| {
            depths.push(path.len());
            Ok(())
        })?;
        Ok(depths)
    }

    /// Whether every node splits a free variable of the model into all of its states, no variable twice on a path.
    fn check(&self, cardinalities: &[u32]) -> Result<()> {
        let fits = |&(v, q): &(u32, u32)| cardinalities.get(v as usize) == Some(&q);
        if !self.nodes.iter().flatten().all(fits) {
            return Err(Error::Certificate("a node of the tree does not fit the model".into()));
        }
        // When each variable was last seen on a path: paths change by their end only.
        let mut seen = vec![usize::MAX; cardinalities.len()];
        let mut leaf = 0;
        self.walk(|path, _| {
            for &(v, _) in path {
                if std::mem::replace(&mut seen[v as usize], leaf) == leaf {
                    return Err(Error::Certificate("a path of the tree fixes a variable twice".into()));
                }
            }
            leaf += 1;
            Ok(())
        })
    }

    /// The value that `bound` proves of each leaf, put together.
    fn total(
        &self,
        model: &Model,
        eps: f64,
        side: Side,
        limits: &Limits,
        bound: impl Fn(&Model, &T, &Limits) -> Result<f64>,
    ) -> Result<CertifiedBound> {
        let cardinalities = model.free_cardinalities();
        self.check(&cardinalities)?;
        limits.allow(Cost { operations: self.leaves.len() as f64 * size(model), bytes: 0.0 })?;
        let limits = limits.shared_by(self.leaves.len());
        let free = model.free_variables();
        let mut values = Vec::with_capacity(self.leaves.len());
        self.walk(|path, proof| {
            let states: Vec<_> = path.iter().map(|&(v, s)| (free[v as usize], s)).collect();
            let value = bound(&model.clone().with_states(&states)?, proof, &limits)?;
            if !(value < f64::INFINITY) {
                return Err(Error::Certificate("a leaf of the tree proves nothing".into()));
            }
            values.push(value);
            Ok(())
        })?;
        CertifiedBound::from_log_z(sum(&values, eps, side), entropy_of(eps, &cardinalities), side)
    }
}

impl Tree<Certificate> {
    /// Upper bound on the model from one on each leaf.
    pub(super) fn upper(&self, model: &Model, eps: f64, limits: &Limits) -> Result<CertifiedBound> {
        self.total(model, eps, Side::Upper, limits, |leaf, proof, share| proof.leaf_upper(leaf, eps, share))
    }
}

impl Tree<Option<Witness>> {
    /// Lower bound on the model from those on leaves that have one.
    pub(super) fn lower(&self, model: &Model, eps: f64, limits: &Limits) -> Result<CertifiedBound> {
        self.total(model, eps, Side::Lower, limits, |leaf, witness, share| match witness {
            Some(witness) => witness.bound(leaf, eps, share).map(CertifiedBound::log_z),
            None => Ok(f64::NEG_INFINITY),
        })
    }
}

/// Coefficients or table entries: what it takes to fix states of the model.
fn size(model: &Model) -> f64 {
    let size = match model.source() {
        Source::Polynomial(f) => f.d() + f.pairwise_part().edges().len() + f.terms().len(),
        Source::Factors(f) => f.d() + f.factors().map(|f| f.table.len()).sum::<usize>(),
    };
    size as f64
}

/// `eps log sum_k exp(v_k/eps)`, or the largest value at eps = 0, rounded to `side`; values may be `-inf`.
pub(crate) fn sum(values: &[f64], eps: f64, side: Side) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if eps == 0.0 || !top.is_finite() || values.iter().any(|v| v.is_nan()) {
        return if values.iter().any(|v| v.is_nan()) { f64::NAN } else { top };
    }
    let weight = |v: f64| ((Interval::point(v) - Interval::point(top)) / Interval::point(eps)).exp();
    let terms = values.iter().filter(|v| v.is_finite());
    let total = terms.fold(Interval::ZERO, |sum, &v| sum + weight(v));
    let value = Interval::point(top) + Interval::point(eps) * total.log();
    // Room for a checker that adds up in another order.
    let pad = mul_up(CUSHION, top.abs() + eps * (1.0 + values.len() as f64 / 64.0));
    match side {
        Side::Upper => add_up(value.hi, pad),
        Side::Lower => add_down(value.lo, -pad),
    }
}
