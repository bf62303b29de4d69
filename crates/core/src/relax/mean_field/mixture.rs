//! A mixture over disjoint parts of the state space, each with a product of blocks of its own.
//!
//! A product of blocks knows one mode, and nothing of what goes on between blocks. Fixing the states of a variable in turn
//! never loses: with `q = sum_s q(s) q(.|s)`, `E_q f + eps H(q) = sum_s q(s) V_s + eps H(q(s)) <= eps log sum_s exp(V_s/eps)`, `V_s` the
//! value of `q(.|s)` on its part, which is a product of blocks again and may be improved (docs/theory.md, section 8).

use super::ascent::Ascent;
use super::partition::Partition;
use super::wide::{Best, climb};
use crate::certify::{Tree, Witness};
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::search::{Effort, best_states, modes};
use crate::settings::Settings;

/// Parts at most.
const MOST_PARTS: usize = 1024;

/// Entries that the ascents of all parts may visit without a time limit, some 10 ns each.
const WORK: u64 = 30_000_000;

/// Share of the mixture's sum, in units of eps, below which a split is not worth its proof.
const WORTH: f64 = 1e-4;

/// Splits of one part that gain nothing before the part is left alone.
const PATIENCE: usize = 2;

/// Probability under the law of the whole part below which a state needs a start of its own.
const RARE: f64 = 0.1;

/// Visits of the search for such a start, some 10 ns each.
const VISITS: u64 = 1_000_000;

/// A sum over parts.
pub(super) struct Mixture {
    /// Bound on `eps log Z`, counting measure, in plain floating point.
    pub(super) value: f64,
    pub(super) marginals: Vec<Vec<f64>>,
    pub(super) witness: Witness,
}

/// A part of the state space.
struct Part {
    fixed: Vec<Option<u32>>,
    /// The best law of the free variables, in their own numbering; `None` for a part without weight.
    law: Option<Best>,
    /// Variables whose split gained nothing.
    failed: Vec<u32>,
}

/// Nodes of the tree of parts.
enum Node {
    Leaf(Part),
    Split { variable: u32, children: Vec<usize> },
}

/// Grows a tree of parts from the law of the whole.
pub(super) struct Mixing<'a, 'm, 'o> {
    tables: &'a FactorModel,
    eps: f64,
    settings: &'a Settings,
    monitor: &'m mut Monitor<'o>,
    nodes: Vec<Node>,
    /// Good assignments with their values, best first.
    modes: Vec<(Vec<u32>, f64)>,
    work: u64,
    most_parts: usize,
}

impl<'a, 'm, 'o> Mixing<'a, 'm, 'o> {
    /// A mixture of at most `most_parts`; `settings` end it.
    pub(super) fn new(
        tables: &'a FactorModel,
        eps: f64,
        settings: &'a Settings,
        most_parts: usize,
        monitor: &'m mut Monitor<'o>,
    ) -> Self {
        let work = if settings.ends().is_limited() { u64::MAX } else { WORK };
        let most_parts = most_parts.min(MOST_PARTS);
        Mixing { tables, eps, settings, monitor, nodes: Vec::new(), modes: Vec::new(), work, most_parts }
    }

    /// Splits parts, those that promise most first, until time, work or gains end; `None` when nothing was gained.
    pub(super) fn run(mut self, whole: &Best) -> Option<Mixture> {
        self.modes = modes(self.tables, Effort::brief(self.settings), self.monitor);
        let fixed = vec![None; self.tables.d()];
        let root = Part { fixed, law: Some(whole.clone()), failed: Vec::new() };
        self.nodes.push(Node::Leaf(root));
        let mut parts = 1;
        while parts < self.most_parts && self.work > 0 && self.monitor.interrupted().is_none() {
            let Some((node, variable)) = self.most_promising() else { break };
            let Node::Leaf(part) = &self.nodes[node] else { break };
            let states = self.tables.cardinalities()[variable as usize];
            let fixed = part.fixed.clone();
            let children: Vec<Option<Best>> =
                (0..states).map(|s| self.child(node, &fixed, variable, s)).collect();
            if self.replace(node, variable, children) {
                parts += states as usize - 1;
            }
        }
        (parts > 1).then(|| self.finish())
    }

    fn leaves(&self) -> impl Iterator<Item = (usize, &Part)> {
        self.nodes.iter().enumerate().filter_map(|(k, node)| match node {
            Node::Leaf(part) => Some((k, part)),
            Node::Split { .. } => None,
        })
    }

    /// `eps log sum exp(V/eps)` over all parts.
    fn value(&self) -> f64 {
        let values: Vec<f64> = self.leaves().filter_map(|(_, part)| Some(part.law.as_ref()?.value)).collect();
        log_sum(&values, self.eps)
    }

    /// The leaf and the variable whose split promises the largest gain of the sum.
    fn most_promising(&self) -> Option<(usize, u32)> {
        let total = self.value();
        let mut best: Option<(f64, usize, u32)> = None;
        for (k, part) in self.leaves().filter(|(_, part)| part.failed.len() < PATIENCE) {
            let Some(law) = &part.law else { continue };
            let weight = ((law.value - total) / self.eps).exp();
            if best.is_some_and(|b| weight * std::f64::consts::LN_2 <= b.0) || weight < WORTH {
                continue;
            }
            let Some((score, variable)) = self.best_split(part, law) else { continue };
            // Two halves of a part are worth log 2 at most where they are alike.
            let gain = weight * score.min(std::f64::consts::LN_2);
            if gain > WORTH && best.is_none_or(|b| gain > b.0) {
                best = Some((gain, k, variable));
            }
        }
        best.map(|(_, k, variable)| (k, variable))
    }

    /// The variable between blocks, or between modes, from whose states most depends.
    fn best_split(&self, part: &Part, law: &Best) -> Option<(f64, u32)> {
        let free: Vec<usize> = (0..self.tables.d()).filter(|&v| part.fixed[v].is_none()).collect();
        if free.len() < 2 {
            return None;
        }
        let mut score = law.missed.clone();
        let likely: Vec<u32> = law.marginals.iter().map(|row| likeliest(row)).collect();
        let mut typical: Vec<u32> = part.fixed.iter().map(|s| s.unwrap_or(0)).collect();
        free.iter().zip(&likely).for_each(|(&v, &s)| typical[v] = s);
        let own = self.tables.value_of(&typical);
        for (mode, value) in self.modes.iter().filter(|(mode, _)| agrees(mode, &part.fixed)) {
            let share = ((value - own) / self.eps).min(0.0).exp();
            for (k, &v) in free.iter().enumerate().filter(|&(k, &v)| mode[v] != likely[k]) {
                // Where the law itself is undecided the mode is no other one.
                score[k] += share * (1.0 - 2.0 * law.marginals[k][mode[v] as usize]).max(0.0);
            }
        }
        let open = |&(k, _): &(usize, &usize)| !part.failed.contains(&(free[k] as u32));
        let (k, &v) = free
            .iter()
            .enumerate()
            .filter(open)
            .max_by(|a, b| score[a.0].total_cmp(&score[b.0]).then(b.1.cmp(a.1)))?;
        Some((score[k], v as u32))
    }

    /// The best law of the part of a leaf in which `variable` has a state.
    fn child(&mut self, node: usize, fixed: &[Option<u32>], variable: u32, state: u32) -> Option<Best> {
        let Node::Leaf(Part { law: Some(parent), .. }) = &self.nodes[node] else { return None };
        let mut inner = fixed.to_vec();
        inner[variable as usize] = Some(state);
        let model = self.tables.condition(&inner).ok().filter(|m| m.constant().is_finite())?;
        let k = (0..variable as usize).filter(|&v| fixed[v].is_none()).count();
        let partition = without(&parent.blocks, k as u32);
        let mut start = parent.marginals.clone();
        let probability = start.remove(k)[state as usize];
        let mut starts = vec![start];
        if probability < RARE {
            let known = self.modes.iter().map(|m| &m.0).find(|mode| agrees(mode, &inner));
            let free = |mode: &Vec<u32>| -> Vec<u32> {
                inner.iter().zip(mode).filter(|(f, _)| f.is_none()).map(|(_, &s)| s).collect()
            };
            let start = known.map(free);
            let effort = Effort { visits: VISITS, ..Effort::brief(self.settings) };
            let mode = start.unwrap_or_else(|| best_states(&model, &[], effort, self.monitor).states);
            self.work = self.work.saturating_sub(VISITS);
            starts.push(point(&mode, model.cardinalities()));
        }
        let mut best: Option<Best> = None;
        let mut ascent = Ascent::new(&model, self.eps, &partition, &starts[0]);
        for (turn, start) in starts.iter().enumerate() {
            if turn > 0 {
                ascent.begin(start);
            }
            climb(&mut ascent, self.settings.tol, self.monitor, &mut self.work);
            let found = Best::of(&ascent);
            if found.value.is_finite() && best.as_ref().is_none_or(|b| found.value > b.value) {
                best = Some(found);
            }
        }
        best
    }

    /// Puts children in the place of a leaf if their sum is larger; says whether.
    fn replace(&mut self, node: usize, variable: u32, children: Vec<Option<Best>>) -> bool {
        let Node::Leaf(part) = &mut self.nodes[node] else { return false };
        let values: Vec<f64> = children.iter().flatten().map(|law| law.value).collect();
        let before = part.law.as_ref().map_or(f64::NEG_INFINITY, |law| law.value);
        if !(log_sum(&values, self.eps) - before > WORTH * self.eps) {
            part.failed.push(variable);
            return false;
        }
        let fixed = part.fixed.clone();
        let from = self.nodes.len();
        let count = children.len();
        for (state, law) in children.into_iter().enumerate() {
            let mut fixed = fixed.clone();
            fixed[variable as usize] = Some(state as u32);
            self.nodes.push(Node::Leaf(Part { fixed, law, failed: Vec::new() }));
        }
        self.nodes[node] = Node::Split { variable, children: (from..from + count).collect() };
        true
    }

    fn finish(self) -> Mixture {
        let value = self.value();
        let mut marginals: Vec<Vec<f64>> =
            self.tables.cardinalities().iter().map(|&q| vec![0.0; q as usize]).collect();
        for (_, part) in self.leaves() {
            let Some(law) = &part.law else { continue };
            let weight = ((law.value - value) / self.eps).exp();
            let mut free = law.marginals.iter();
            for (row, fixed) in marginals.iter_mut().zip(&part.fixed) {
                match fixed {
                    Some(s) => row[*s as usize] += weight,
                    None => {
                        let law = free.next().into_iter().flatten();
                        row.iter_mut().zip(law).for_each(|(sum, p)| *sum += weight * p);
                    }
                }
            }
        }
        let (mut nodes, mut leaves) = (Vec::new(), Vec::new());
        let mut open = vec![0];
        let mut all: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        while let Some(k) = open.pop() {
            match all[k].take() {
                Some(Node::Split { variable, children }) => {
                    nodes.push(Some((variable, children.len() as u32)));
                    open.extend(children.into_iter().rev());
                }
                Some(Node::Leaf(part)) => {
                    nodes.push(None);
                    leaves.push(part.law.map(Best::witness));
                }
                None => {}
            }
        }
        Mixture { value, marginals, witness: Witness::Tree(Tree { nodes, leaves }) }
    }
}

/// Whether an assignment has the states that are fixed.
fn agrees(mode: &[u32], fixed: &[Option<u32>]) -> bool {
    mode.iter().zip(fixed).all(|(s, f)| f.is_none_or(|f| f == *s))
}

/// The state of largest probability, the first of equals.
fn likeliest(row: &[f64]) -> u32 {
    let best = |best: usize, s: usize| if row[s] > row[best] { s } else { best };
    (1..row.len()).fold(0, best) as u32
}

/// Point masses.
fn point(states: &[u32], cardinalities: &[u32]) -> Vec<Vec<f64>> {
    let row = |(&s, &q): (&u32, &u32)| (0..q).map(|k| f64::from(u8::from(k == s))).collect();
    states.iter().zip(cardinalities).map(row).collect()
}

/// The blocks without variable `k`, renumbered; the block it was in first, so that an ascent begins with what its state
/// changes in its own block, given the others as they were.
fn without(blocks: &[Vec<u32>], k: u32) -> Partition {
    let home = blocks.iter().position(|block| block.contains(&k)).unwrap_or(0);
    let rest = blocks.iter().enumerate().filter(|(b, _)| *b != home).map(|(_, block)| block);
    let renumber = |block: &Vec<u32>| -> Vec<u32> {
        block.iter().filter(|&&v| v != k).map(|&v| v - u32::from(v > k)).collect()
    };
    let blocks: Vec<Vec<u32>> = std::iter::once(&blocks[home]).chain(rest).map(renumber).collect();
    Partition { blocks: blocks.into_iter().filter(|b| !b.is_empty()).collect(), cut: 0.0 }
}

/// `eps log sum exp(v/eps)`.
fn log_sum(values: &[f64], eps: f64) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + eps * values.iter().map(|v| ((v - top) / eps).exp()).sum::<f64>().ln()
}
