//! The landscape of factor tables: any arity, any number of states, hard zeros as penalties.

use super::landscape::{Draw, Landscape};
use super::random::Random;
use crate::model::FactorModel;
use std::sync::Arc;

/// Factors by variable, with what a step of that variable adds to a table's index.
struct Incidence {
    cardinalities: Vec<u32>,
    constant: f64,
    /// Where the factors of each variable start in `of_variable`.
    start: Vec<usize>,
    /// Factor and stride of the variable in it.
    of_variable: Vec<(u32, u32)>,
    /// Variables of each factor.
    scope_start: Vec<usize>,
    scopes: Vec<u32>,
    /// Where each factor's entries start in `entries`.
    table_start: Vec<usize>,
    /// Log values, hard zeros replaced by `-penalty`.
    entries: Vec<f64>,
    /// Which entries are hard zeros; empty when none is.
    zero: Vec<bool>,
    /// What a violated factor costs in the order of merit: above every difference of f.
    forbidden: f64,
}

/// One assignment with the entry that it selects in every table.
#[derive(Clone)]
pub(super) struct Tables {
    model: Arc<Incidence>,
    states: Vec<u32>,
    index: Vec<u32>,
    /// Factors that select a hard zero, and where each is in that list.
    violated: Vec<u32>,
    place: Vec<u32>,
}

/// Place of a factor that is not violated.
const SATISFIED: u32 = u32::MAX;

/// Tries to satisfy violated factors by one repair, per variable.
const REPAIRS_PER_VARIABLE: usize = 20;

/// One repair in this many moves a random variable of the factor instead of the best: a way out of cycles.
const NOISE: usize = 4;

impl Tables {
    /// `None` when the tables have more than 2^32 entries each, which no memory holds.
    ///
    /// **Cost** O(size of the tables).
    pub(super) fn new(f: &FactorModel) -> Option<Self> {
        let cardinalities = f.cardinalities().to_vec();
        let d = f.d();
        let spread = |table: &[f64]| {
            let finite = table.iter().filter(|v| v.is_finite());
            let (low, high) =
                finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
            (high - low).max(0.0)
        };
        let (mut widest, mut all) = (0.0f64, 0.0);
        let mut start = vec![0usize; d + 1];
        for factor in f.factors() {
            widest = widest.max(spread(factor.table));
            all += factor.table.iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()));
            u32::try_from(factor.table.len()).ok()?;
            factor.scope.iter().for_each(|&i| start[i as usize + 1] += 1);
        }
        (0..d).for_each(|i| start[i + 1] += start[i]);
        // On the way a violation costs more than any difference within one factor.
        let penalty = 2.0 * widest + 1.0;
        let mut next = start.clone();
        let mut of_variable = vec![(0, 0); start[d]];
        let (mut table_start, mut entries) = (Vec::with_capacity(f.len()), Vec::new());
        let (mut scope_start, mut scopes) = (vec![0], Vec::new());
        for (k, factor) in f.factors().enumerate() {
            let mut stride = 1;
            for &i in factor.scope {
                of_variable[next[i as usize]] = (k as u32, stride);
                next[i as usize] += 1;
                stride *= cardinalities[i as usize];
            }
            scopes.extend_from_slice(factor.scope);
            scope_start.push(scopes.len());
            table_start.push(entries.len());
            // Zeros lie below everything else of their factor, or a violation might pay.
            let low = factor.table.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::min);
            entries.extend(factor.table.iter().map(|&v| if v.is_finite() { v } else { low - penalty }));
        }
        let constant = if f.constant().is_finite() { f.constant() } else { 0.0 };
        let zero = if f.has_hard_zeros() {
            f.factors().flat_map(|k| k.table.iter().map(|v| !v.is_finite())).collect()
        } else {
            Vec::new()
        };
        // No assignment of positive weight is below one of weight zero.
        let forbidden = 2.0 * all + penalty;
        let model = Incidence {
            cardinalities,
            constant,
            start,
            of_variable,
            scope_start,
            scopes,
            table_start,
            entries,
            zero,
            forbidden,
        };
        let (index, place) = (vec![0; f.len()], vec![SATISFIED; f.len()]);
        let mut tables =
            Tables { model: Arc::new(model), states: vec![0; d], index, violated: Vec::new(), place };
        tables.set(&vec![0; d]);
        Some(tables)
    }

    /// What f gains when variable `i` moves by `step` states.
    fn gain(&self, i: usize, step: i64) -> f64 {
        let model = &*self.model;
        let list = &model.of_variable[model.start[i]..model.start[i + 1]];
        list.iter()
            .map(|&(k, stride)| {
                let base = model.table_start[k as usize];
                let here = i64::from(self.index[k as usize]);
                let there = here + step * i64::from(stride);
                model.entries[base + there as usize] - model.entries[base + here as usize]
            })
            .sum()
    }

    fn shift(&mut self, i: usize, step: i64) {
        let model = &*self.model;
        for &(k, stride) in &model.of_variable[model.start[i]..model.start[i + 1]] {
            let index = &mut self.index[k as usize];
            *index = (i64::from(*index) + step * i64::from(stride)) as u32;
            if !model.zero.is_empty() {
                let is_zero = model.zero[model.table_start[k as usize] + *index as usize];
                mark(&mut self.violated, &mut self.place, k, is_zero);
            }
        }
        self.states[i] = (i64::from(self.states[i]) + step) as u32;
    }

    fn indices(&self, states: &[u32]) -> Vec<u32> {
        let model = &*self.model;
        let mut index = vec![0; self.index.len()];
        for (i, &state) in states.iter().enumerate() {
            for &(k, stride) in &model.of_variable[model.start[i]..model.start[i + 1]] {
                index[k as usize] += state * stride;
            }
        }
        index
    }
}

/// Puts factor `k` on the list of violated ones or takes it off.
fn mark(violated: &mut Vec<u32>, place: &mut [u32], k: u32, is_zero: bool) {
    let at = place[k as usize];
    if is_zero && at == SATISFIED {
        place[k as usize] = violated.len() as u32;
        violated.push(k);
    } else if !is_zero && at != SATISFIED {
        violated.swap_remove(at as usize);
        if let Some(&moved) = violated.get(at as usize) {
            place[moved as usize] = at;
        }
        place[k as usize] = SATISFIED;
    }
}

impl Landscape for Tables {
    fn d(&self) -> usize {
        self.states.len()
    }

    fn set(&mut self, states: &[u32]) {
        self.states.copy_from_slice(states);
        self.index = self.indices(states);
        self.violated.clear();
        self.place.fill(SATISFIED);
        if !self.model.zero.is_empty() {
            for k in 0..self.index.len() {
                let is_zero = self.model.zero[self.model.table_start[k] + self.index[k] as usize];
                mark(&mut self.violated, &mut self.place, k as u32, is_zero);
            }
        }
    }

    fn states(&self) -> Vec<u32> {
        self.states.clone()
    }

    fn visit(&mut self, i: usize, temperature: f64, draw: &mut Draw<'_>) -> f64 {
        let q = self.model.cardinalities[i] as usize;
        if q < 2 {
            return 0.0;
        }
        let other = (self.states[i] as usize + 1 + draw.random.below(q - 1)) % q;
        let step = other as i64 - i64::from(self.states[i]);
        let gain = self.gain(i, step);
        if draw.accepts(gain, temperature) {
            self.shift(i, step);
            return gain;
        }
        0.0
    }

    fn improve(&mut self, i: usize, least: f64) -> f64 {
        let here = i64::from(self.states[i]);
        let steps = (0..i64::from(self.model.cardinalities[i])).map(|s| s - here).filter(|s| *s != 0);
        let best = steps.map(|step| (self.gain(i, step), step)).reduce(|a, b| if b.0 > a.0 { b } else { a });
        match best {
            Some((gain, step)) if gain > least => {
                self.shift(i, step);
                gain
            }
            _ => 0.0,
        }
    }

    fn pulls(&self) -> Vec<f64> {
        let model = &*self.model;
        // A table pulls by the root mean square of half its entries' distances: for a term theta x^A that is |theta|.
        let deviation = |k: usize| {
            let end = model.table_start.get(k + 1).copied().unwrap_or(model.entries.len());
            let table = &model.entries[model.table_start[k]..end];
            let mean = table.iter().sum::<f64>() / table.len() as f64;
            table.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / table.len() as f64
        };
        let squares: Vec<f64> = (0..self.index.len()).map(deviation).collect();
        let pull = |i: usize| {
            let list = &model.of_variable[model.start[i]..model.start[i + 1]];
            list.iter().map(|&(k, _)| squares[k as usize]).sum::<f64>().sqrt()
        };
        (0..self.d()).map(pull).collect()
    }

    fn merit(&self, states: &[u32]) -> f64 {
        let model = &*self.model;
        let entry = |(&base, k): (&usize, u32)| match model.zero.get(base + k as usize) {
            Some(true) => -model.forbidden,
            _ => model.entries[base + k as usize],
        };
        let value: f64 = model.table_start.iter().zip(self.indices(states)).map(entry).sum();
        model.constant + value
    }

    fn violations(&self) -> usize {
        self.violated.len()
    }

    fn repair(&mut self, random: &mut Random) -> f64 {
        let mut gain = 0.0;
        for _ in 0..REPAIRS_PER_VARIABLE * self.d() {
            if self.violated.is_empty() {
                break;
            }
            let k = self.violated[random.below(self.violated.len())] as usize;
            let scope = &self.model.scopes[self.model.scope_start[k]..self.model.scope_start[k + 1]];
            let noisy = random.below(NOISE) == 0;
            let chosen = random.below(scope.len());
            let mut best = (f64::NEG_INFINITY, 0, 0);
            for (p, &i) in scope.iter().enumerate().filter(|&(p, _)| !noisy || p == chosen) {
                let (i, here) = (i as usize, i64::from(self.states[i as usize]));
                for step in (0..i64::from(self.model.cardinalities[i])).map(|s| s - here).filter(|s| *s != 0)
                {
                    // Ties are broken by the draw, or the first variable of a factor would always move.
                    let value = self.gain(i, step) + 1e-9 * ((p + chosen) % scope.len()) as f64;
                    best = if value > best.0 { (value, i, step) } else { best };
                }
            }
            if best.2 != 0 {
                gain += self.gain(best.1, best.2);
                self.shift(best.1, best.2);
            }
        }
        gain
    }

    fn cardinality(&self, i: usize) -> u32 {
        self.model.cardinalities[i]
    }
}
