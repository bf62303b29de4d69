//! What is decided and what follows: unit propagation with watched literals, and clauses learned from conflicts.

use super::clauses::{Formula, Literal};

/// No clause.
const NONE: u32 = u32::MAX;

/// Conflicts after which earlier ones count half as much for the choice of variables.
const HALF_LIFE: u32 = 256;

/// Learned clauses above this many literals are not kept: they hardly ever propagate.
const LONGEST_LEARNED: usize = 60;

/// Literals of learned clauses at most: some hundred megabytes.
const LEARNED_LITERALS: usize = 20_000_000;

/// A clause that watches a literal, and another literal of it that often makes it true.
#[derive(Clone, Copy)]
struct Watch {
    clause: u32,
    blocker: Literal,
}

/// The state of the search.
pub(super) struct Trail {
    literals: Vec<Literal>,
    starts: Vec<usize>,
    watches: Vec<Vec<Watch>>,
    /// By literal: 1 true, -1 false, 0 open.
    values: Vec<i8>,
    /// By variable: the clause that implies it, and its level.
    reasons: Vec<u32>,
    levels: Vec<u32>,
    trail: Vec<Literal>,
    /// Where each level begins.
    marks: Vec<usize>,
    head: usize,
    /// By variable: how often conflicts met it, recent ones above all.
    pub(super) activity: Vec<f64>,
    conflicts: u32,
    /// By variable: whether the conflict at hand met it; and those it met.
    seen: Vec<bool>,
    touched: Vec<usize>,
    /// Learned clauses of one literal.
    units: Vec<Literal>,
    /// The clause that was learned last, if it says something where the search goes on.
    asserting: Option<u32>,
    /// Literals of all clauses beyond which no more are learned.
    most_literals: usize,
}

/// A clause that cannot hold any more.
pub(super) struct Conflict(u32);

impl Trail {
    /// The clauses of a formula, with what follows from them at once; `None` when that is a contradiction.
    pub(super) fn new(formula: &Formula) -> Option<Self> {
        let d = formula.d;
        let mut out = Trail {
            literals: formula.literals.clone(),
            starts: formula.starts.clone(),
            watches: vec![Vec::new(); 2 * d],
            values: vec![0; 2 * d],
            reasons: vec![NONE; d],
            levels: vec![0; d],
            trail: Vec::with_capacity(d),
            marks: Vec::new(),
            head: 0,
            activity: vec![0.0; d],
            conflicts: 0,
            seen: vec![false; d],
            touched: Vec::new(),
            units: Vec::new(),
            asserting: None,
            most_literals: formula.literals.len() + LEARNED_LITERALS,
        };
        for c in 0..formula.clauses() {
            match *out.clause(c as u32) {
                [] => return None,
                [l] if out.value(l) < 0 => return None,
                [l] if out.value(l) == 0 => out.assign(l, NONE),
                [_] => {}
                [a, b, ..] => out.watch(c as u32, a, b),
            }
        }
        out.propagate().is_none().then_some(out)
    }

    fn clause(&self, c: u32) -> &[Literal] {
        &self.literals[self.starts[c as usize]..self.starts[c as usize + 1]]
    }

    fn watch(&mut self, clause: u32, a: Literal, b: Literal) {
        self.watches[a as usize].push(Watch { clause, blocker: b });
        self.watches[b as usize].push(Watch { clause, blocker: a });
    }

    /// 1 true, -1 false, 0 open.
    pub(super) fn value(&self, l: Literal) -> i8 {
        self.values[l as usize]
    }

    /// Whether a variable has no state yet.
    pub(super) fn is_open(&self, v: u32) -> bool {
        self.values[2 * v as usize] == 0
    }

    fn assign(&mut self, l: Literal, reason: u32) {
        self.values[l as usize] = 1;
        self.values[(l ^ 1) as usize] = -1;
        self.reasons[(l >> 1) as usize] = reason;
        self.levels[(l >> 1) as usize] = self.marks.len() as u32;
        self.trail.push(l);
    }

    /// Assumes a literal and whatever follows, learned clauses of the branch before included.
    pub(super) fn decide(&mut self, l: Literal) -> Option<Conflict> {
        self.marks.push(self.trail.len());
        self.assign(l, NONE);
        for k in 0..self.units.len() {
            if self.value(self.units[k]) == 0 {
                self.assign(self.units[k], NONE);
                // It follows from the clauses alone: conflicts need not name it.
                self.levels[(self.units[k] >> 1) as usize] = 0;
            }
        }
        if let Some(c) = self.asserting.take() {
            let first = self.clause(c)[0];
            if self.value(first) == 0 && self.clause(c)[1..].iter().all(|&l| self.value(l) < 0) {
                self.assign(first, c);
            }
        }
        self.propagate()
    }

    /// Takes the last decision back.
    pub(super) fn back(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        for l in self.trail.drain(mark..) {
            self.values[l as usize] = 0;
            self.values[(l ^ 1) as usize] = 0;
        }
        self.head = mark;
    }

    fn propagate(&mut self) -> Option<Conflict> {
        while self.head < self.trail.len() {
            let falsified = self.trail[self.head] ^ 1;
            self.head += 1;
            let mut watches = std::mem::take(&mut self.watches[falsified as usize]);
            let mut kept = 0;
            let mut conflict = None;
            for k in 0..watches.len() {
                let watch = watches[k];
                if conflict.is_some() || self.value(watch.blocker) > 0 || !self.moved(watch.clause, falsified)
                {
                    watches[kept] = watch;
                    kept += 1;
                    if conflict.is_none() && self.value(watch.blocker) <= 0 {
                        conflict = self.unit(watch.clause, &mut watches[kept - 1].blocker);
                    }
                }
            }
            watches.truncate(kept);
            self.watches[falsified as usize] = watches;
            if conflict.is_some() {
                self.head = self.trail.len();
                return conflict;
            }
        }
        None
    }

    /// Lets a clause watch another literal that is not false, if it has one. The literal that turned false ends up second.
    fn moved(&mut self, clause: u32, falsified: Literal) -> bool {
        let (from, to) = (self.starts[clause as usize], self.starts[clause as usize + 1]);
        if self.literals[from] == falsified {
            self.literals.swap(from, from + 1);
        }
        let first = self.literals[from];
        if self.value(first) > 0 {
            return false;
        }
        let Some(k) = (from + 2..to).find(|&k| self.value(self.literals[k]) >= 0) else { return false };
        self.literals.swap(from + 1, k);
        let l = self.literals[from + 1];
        self.watches[l as usize].push(Watch { clause, blocker: first });
        true
    }

    /// A clause all of whose literals but the first are false.
    fn unit(&mut self, clause: u32, blocker: &mut Literal) -> Option<Conflict> {
        let first = self.literals[self.starts[clause as usize]];
        *blocker = first;
        match self.value(first) {
            0 => self.assign(first, clause),
            v if v < 0 => return Some(Conflict(clause)),
            _ => {}
        }
        None
    }

    /// Learns the clause of the first unique implication point of a conflict.
    pub(super) fn learn(&mut self, conflict: Conflict) {
        self.conflicts += 1;
        if self.conflicts.is_multiple_of(HALF_LIFE) {
            self.activity.iter_mut().for_each(|a| *a *= 0.5);
        }
        let level = self.marks.len() as u32;
        let mut learned: Vec<Literal> = vec![0];
        let (mut open, mut at, mut clause) = (0usize, self.trail.len(), conflict.0);
        let mut resolved = 0;
        loop {
            for k in self.starts[clause as usize]..self.starts[clause as usize + 1] {
                let l = self.literals[k];
                let v = (l >> 1) as usize;
                // The literal that a reason implies is true and stands for itself.
                if self.value(l) > 0 || self.seen[v] {
                    continue;
                }
                self.seen[v] = true;
                self.touched.push(v);
                self.activity[v] += 1.0;
                if self.levels[v] == level {
                    open += 1;
                } else if self.levels[v] > 0 {
                    learned.push(l);
                }
            }
            if open == 0 {
                // Everything was decided before: there is nothing to learn about this decision.
                break;
            }
            let met = loop {
                at -= 1;
                let l = self.trail[at];
                if self.seen[(l >> 1) as usize] && self.levels[(l >> 1) as usize] == level {
                    break l;
                }
            };
            open -= 1;
            if open == 0 {
                learned[0] = met ^ 1;
                break;
            }
            (clause, resolved) = (self.reasons[(met >> 1) as usize], resolved + 1);
        }
        self.touched.drain(..).for_each(|v| self.seen[v] = false);
        if resolved > 0 {
            self.keep(learned);
        }
    }

    fn keep(&mut self, mut learned: Vec<Literal>) {
        if let [unit] = learned[..] {
            self.units.push(unit);
        }
        if learned.len() < 2 || learned.len() > LONGEST_LEARNED || self.literals.len() > self.most_literals {
            return;
        }
        // The latest of the others is watched too: it is the first to be open again.
        let latest = (1..learned.len()).max_by_key(|&k| self.levels[(learned[k] >> 1) as usize]);
        learned.swap(1, latest.unwrap_or(1));
        let c = self.starts.len() as u32 - 1;
        self.watch(c, learned[0], learned[1]);
        self.literals.extend_from_slice(&learned);
        self.starts.push(self.literals.len());
        self.asserting = Some(c);
    }
}
