//! The search: decide a variable, propagate, split what is left into parts that share nothing, look them up or count them.

use super::cache::{Cache, Mark};
use super::clauses::{Formula, Literal, Weight};
use super::component::{Component, Splitter};
use super::trail::Trail;
use crate::error::{Error, Result};
use crate::observer::Monitor;

/// Decisions between two looks at the clock: a millisecond or two.
const POLL: u64 = 256;

/// A component that is being counted.
struct Frame {
    component: Component,
    key: Vec<u8>,
    /// What is decided first; then its opposite.
    decision: Literal,
    is_second: bool,
    /// The sum so far, and the product of the branch under way.
    total: Weight,
    branch: Weight,
    /// Parts of the branch that are still to be counted, and how many it had.
    parts: Vec<Component>,
    count: usize,
    mark: Mark,
}

/// The search under way.
pub(super) struct Count<'a> {
    formula: &'a Formula,
    trail: Trail,
    cache: Cache,
    splitter: Splitter,
    /// By variable: how often open clauses and tables name it.
    frequency: Vec<f64>,
    decisions: u64,
}

impl<'a> Count<'a> {
    /// `None` when nothing satisfies the clauses; `most_bytes` bounds the memory of counts that are kept.
    pub(super) fn new(formula: &'a Formula, most_bytes: usize) -> Option<Self> {
        Some(Count {
            formula,
            trail: Trail::new(formula)?,
            cache: Cache::new(most_bytes),
            splitter: Splitter::new(formula.d),
            frequency: vec![0.0; formula.d],
            decisions: 0,
        })
    }

    /// The weighted count of everything.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(super) fn run(&mut self, monitor: &mut Monitor<'_>) -> Result<Weight> {
        let whole = Component {
            variables: (0..self.formula.d as u32).collect(),
            clauses: (0..self.formula.clauses() as u32).collect(),
            tables: (0..self.formula.tables.len() as u32).collect(),
        };
        let (weight, parts) = self.splitter.split(&whole, self.formula, &self.trail);
        let mut product = weight;
        for part in parts {
            let count = self.count(part, monitor)?;
            product = product.times(count);
            if product.is_zero() {
                break;
            }
        }
        Ok(product)
    }

    /// The weighted count of one component under what is decided.
    fn count(&mut self, component: Component, monitor: &mut Monitor<'_>) -> Result<Weight> {
        let mut frames: Vec<Frame> = Vec::new();
        let mut found = self.enter(component, &mut frames);
        while let Some(frame) = frames.last_mut() {
            if let Some(weight) = found.take() {
                frame.branch = frame.branch.times(weight);
            }
            if let Some(part) = frame.parts.pop().filter(|_| !frame.branch.is_zero()) {
                found = self.enter(part, &mut frames);
                continue;
            }
            self.end_branch(frame);
            if !frame.is_second {
                frame.is_second = true;
                frame.decision ^= 1;
                self.begin_branch(frame);
                self.decisions += 1;
                if self.decisions.is_multiple_of(POLL)
                    && let Some(stop) = monitor.interrupted()
                {
                    return Err(Error::Interrupted(stop));
                }
                continue;
            }
            self.cache.insert(&frame.key, frame.total);
            found = Some(frame.total);
            frames.pop();
        }
        Ok(found.unwrap_or(Weight::ZERO))
    }

    /// The count, if it is known; otherwise a frame is opened for it and its first branch begun.
    fn enter(&mut self, component: Component, frames: &mut Vec<Frame>) -> Option<Weight> {
        let mut key = Vec::new();
        component.key(self.formula, &self.trail, &mut key);
        if let Some(weight) = self.cache.get(&key) {
            return Some(weight);
        }
        let decision = self.choose(&component);
        let mut frame = Frame {
            component,
            key,
            decision,
            is_second: false,
            total: Weight::ZERO,
            branch: Weight::ZERO,
            parts: Vec::new(),
            count: 0,
            mark: self.cache.mark(),
        };
        self.begin_branch(&mut frame);
        frames.push(frame);
        None
    }

    fn begin_branch(&mut self, frame: &mut Frame) {
        frame.mark = self.cache.mark();
        if let Some(conflict) = self.trail.decide(frame.decision) {
            self.trail.learn(conflict);
            frame.branch = Weight::ZERO;
            frame.parts.clear();
            frame.count = 0;
            return;
        }
        (frame.branch, frame.parts) = self.splitter.split(&frame.component, self.formula, &self.trail);
        // The smallest is popped first: it is the cheapest to be found impossible.
        frame.parts.reverse();
        frame.count = frame.parts.len();
    }

    /// Adds the branch to the sum. Clauses learned in one part may speak of another: where some part turns out to be impossible, the counts of
    /// the others found beside it may be too small, and are forgotten.
    fn end_branch(&mut self, frame: &mut Frame) {
        self.trail.back();
        if frame.branch.is_zero() {
            if frame.count > 1 {
                self.cache.truncate(frame.mark);
            }
        } else {
            frame.total = if frame.total.is_zero() { frame.branch } else { frame.total.plus(frame.branch) };
        }
        frame.parts.clear();
    }

    /// The literal that is decided first: a variable that conflicts and open clauses name often.
    fn choose(&mut self, component: &Component) -> Literal {
        for &v in &component.variables {
            self.frequency[v as usize] = 0.0;
        }
        for &c in &component.clauses {
            let open = self.formula.clause(c as usize).iter().filter(|&&l| self.trail.value(l) == 0);
            open.for_each(|l| self.frequency[(l >> 1) as usize] += 1.0);
        }
        for &t in &component.tables {
            let scope = &self.formula.tables[t as usize].scope;
            scope.iter().for_each(|&v| self.frequency[v as usize] += 1.0);
        }
        let score = |v: u32| {
            let v = v as usize;
            self.frequency[v] + self.trail.activity[v]
        };
        let best = component.variables.iter().copied().fold((f64::NEG_INFINITY, 0), |best, v| {
            let value = score(v);
            if value > best.0 { (value, v) } else { best }
        });
        2 * best.1 + 1
    }
}
