//! Parts of what is left that share nothing: clauses and tables that are still open tie variables together.

use super::clauses::{Formula, Weight, WeightTable};
use super::trail::Trail;

/// Variables without a state, and the clauses and tables that tie them together; all lists increase.
#[derive(Clone, Default)]
pub(super) struct Component {
    pub(super) variables: Vec<u32>,
    pub(super) clauses: Vec<u32>,
    pub(super) tables: Vec<u32>,
}

/// Splits components, with memory that is used again.
pub(super) struct Splitter {
    /// By variable: a variable of the same part, itself for one of each part.
    root: Vec<u32>,
    /// By root: the number of its part.
    part: Vec<u32>,
    open_clauses: Vec<u32>,
    open_tables: Vec<u32>,
}

/// Not in any part of two or more.
const ALONE: u32 = u32::MAX;

impl Splitter {
    pub(super) fn new(d: usize) -> Self {
        Splitter { root: vec![0; d], part: vec![ALONE; d], open_clauses: Vec::new(), open_tables: Vec::new() }
    }

    fn find(&mut self, v: u32) -> u32 {
        let mut v = v;
        while self.root[v as usize] != v {
            let up = self.root[self.root[v as usize] as usize];
            self.root[v as usize] = up;
            v = up;
        }
        v
    }

    fn tie(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.root[b as usize] = a;
        }
    }

    /// The parts of a component after something was decided in it, smallest first, and the weight of what they do not hold: literals
    /// and tables that are decided, and variables that nothing ties.
    pub(super) fn split(
        &mut self,
        whole: &Component,
        formula: &Formula,
        trail: &Trail,
    ) -> (Weight, Vec<Component>) {
        let mut weight = Weight::ONE;
        for &v in &whole.variables {
            (self.root[v as usize], self.part[v as usize]) = (v, ALONE);
        }
        self.tie_clauses(whole, formula, trail);
        weight = weight.times(self.tie_tables(whole, formula, trail));
        let mut parts: Vec<Component> = Vec::new();
        // A part is opened by its first clause or table; what is alone after that is tied to nothing.
        for k in 0..self.open_clauses.len() {
            let c = self.open_clauses[k];
            let clause = formula.clause(c as usize);
            let first = clause.iter().map(|l| l >> 1).find(|&v| trail.is_open(v));
            if let Some(part) = first.map(|v| self.place(v, &mut parts)) {
                parts[part].clauses.push(c);
            }
        }
        for k in 0..self.open_tables.len() {
            let t = self.open_tables[k];
            let first = formula.tables[t as usize].scope.iter().copied().find(|&v| trail.is_open(v));
            if let Some(part) = first.map(|v| self.place(v, &mut parts)) {
                parts[part].tables.push(t);
            }
        }
        for &v in &whole.variables {
            let of = |state: u32| formula.weights[(2 * v + state) as usize];
            if !trail.is_open(v) {
                weight = weight.times(of(u32::from(trail.value(2 * v + 1) > 0)));
                continue;
            }
            let root = self.find(v);
            match self.part[root as usize] {
                ALONE => weight = weight.times(of(0).plus(of(1))),
                part => parts[part as usize].variables.push(v),
            }
        }
        parts.sort_by_key(|part| part.variables.len());
        (weight, parts)
    }

    fn tie_clauses(&mut self, whole: &Component, formula: &Formula, trail: &Trail) {
        self.open_clauses.clear();
        for &c in &whole.clauses {
            let clause = formula.clause(c as usize);
            if clause.iter().any(|&l| trail.value(l) > 0) {
                continue;
            }
            self.open_clauses.push(c);
            let mut open = clause.iter().map(|l| l >> 1).filter(|&v| trail.is_open(v));
            if let Some(first) = open.next() {
                open.for_each(|v| self.tie(first, v));
            }
        }
    }

    /// Returns the weight of tables that are decided.
    fn tie_tables(&mut self, whole: &Component, formula: &Formula, trail: &Trail) -> Weight {
        let mut weight = Weight::ONE;
        self.open_tables.clear();
        for &t in &whole.tables {
            let table = &formula.tables[t as usize];
            let mut open = table.scope.iter().copied().filter(|&v| trail.is_open(v));
            let Some(first) = open.next() else {
                weight = weight.times(table.weights[decided(table, trail)]);
                continue;
            };
            self.open_tables.push(t);
            open.for_each(|v| self.tie(first, v));
        }
        weight
    }

    /// The part of a variable, a new one if it has none.
    fn place(&mut self, v: u32, parts: &mut Vec<Component>) -> usize {
        let root = self.find(v) as usize;
        if self.part[root] == ALONE {
            self.part[root] = parts.len() as u32;
            parts.push(Component::default());
        }
        self.part[root] as usize
    }
}

/// Position in a table of the states that are decided, open variables in state 0.
fn decided(table: &WeightTable, trail: &Trail) -> usize {
    let bit = |(k, &v): (usize, &u32)| usize::from(trail.value(2 * v + 1) > 0) << k;
    table.scope.iter().enumerate().map(bit).sum()
}

impl Component {
    /// What determines the count: the variables, the clauses that have lost a literal (those that have not are known from the
    /// variables), and the tables that have lost a variable, with the states these had.
    pub(super) fn key(&self, formula: &Formula, trail: &Trail, key: &mut Vec<u8>) {
        key.clear();
        // Differences of increasing numbers, shifted by one: a zero ends a list.
        let write = |numbers: &mut dyn Iterator<Item = u32>, key: &mut Vec<u8>| {
            let mut last = 0;
            for n in numbers {
                number(key, n + 1 - last);
                last = n + 1;
            }
            key.push(0);
        };
        write(&mut self.variables.iter().copied(), key);
        let is_cut = |c: &&u32| formula.clause(**c as usize).iter().any(|&l| trail.value(l) != 0);
        write(&mut self.clauses.iter().filter(is_cut).copied(), key);
        let is_cut = |t: &&u32| formula.tables[**t as usize].scope.iter().any(|&v| !trail.is_open(v));
        write(&mut self.tables.iter().filter(is_cut).copied(), key);
        for &t in self.tables.iter().filter(is_cut) {
            number(key, decided(&formula.tables[t as usize], trail) as u32);
        }
    }
}

/// Seven bits at a time, the last one marked.
fn number(key: &mut Vec<u8>, mut n: u32) {
    while n >= 0x80 {
        key.push(n as u8 & 0x7f | 0x80);
        n >>= 7;
    }
    key.push(n as u8);
}
