//! Naive mean field: independent spins, coordinate ascent, polynomials of any arity.

use crate::deadline::Deadline;
use crate::model::Polynomial;
use crate::relax::forest::log_cosh;

/// A polynomial indexed by spin: for every spin the terms it is in, without it.
pub(super) struct Incidence {
    d: usize,
    constant: f64,
    fields: Vec<f64>,
    /// Where the terms of each spin start in `terms`.
    start: Vec<usize>,
    /// Coefficient and the range of the other spins in `others`.
    terms: Vec<(f64, usize, usize)>,
    others: Vec<u32>,
    deadline: Deadline,
}

impl Incidence {
    /// Searches end early at the deadline.
    ///
    /// **Cost** O(sum of squared arities).
    pub(super) fn new(f: &Polynomial, deadline: &Deadline) -> Self {
        let ising = f.pairwise_part();
        let pairs = || ising.triples().filter(|t| t.2 != 0.0);
        let higher = || f.terms().iter().filter(|t| t.1 != 0.0);
        let mut start = vec![0usize; f.d() + 1];
        pairs().for_each(|(i, j, _)| [i, j].into_iter().for_each(|k| start[k + 1] += 1));
        higher().for_each(|(set, _)| set.iter().for_each(|k| start[k + 1] += 1));
        (0..f.d()).for_each(|k| start[k + 1] += start[k]);
        let mut next = start.clone();
        let mut terms = vec![(0.0, 0, 0); start[f.d()]];
        let mut others = Vec::with_capacity(2 * ising.edges().len());
        let mut put = |k: usize, v: f64, rest: &mut dyn Iterator<Item = usize>| {
            let from = others.len();
            others.extend(rest.map(|j| j as u32));
            terms[next[k]] = (v, from, others.len());
            next[k] += 1;
        };
        for (i, j, v) in pairs() {
            put(i, v, &mut std::iter::once(j));
            put(j, v, &mut std::iter::once(i));
        }
        for (set, v) in higher() {
            for i in set.iter() {
                put(i, *v, &mut set.iter().filter(|&j| j != i));
            }
        }
        let fields = ising.fields().to_vec();
        let deadline = deadline.clone();
        Incidence { d: f.d(), constant: ising.constant(), fields, start, terms, others, deadline }
    }

    /// Whether the deadline has passed.
    pub(super) fn is_late(&self) -> bool {
        self.deadline.stop().is_some()
    }

    /// Number of spins.
    pub(super) fn d(&self) -> usize {
        self.d
    }

    /// Number of factors read by one sweep.
    pub(super) fn work(&self) -> usize {
        self.d + self.others.len()
    }

    /// `d E f / d m_i` for independent spins with the given means.
    pub(super) fn field(&self, i: usize, means: &[f64]) -> f64 {
        self.terms[self.start[i]..self.start[i + 1]].iter().fold(self.fields[i], |sum, &(v, from, to)| {
            sum + self.others[from..to].iter().fold(v, |product, &j| product * means[j as usize])
        })
    }

    /// Largest possible field, the scale at which spins start to order.
    pub(super) fn largest_pull(&self) -> f64 {
        let pull = |i: usize| {
            let terms = &self.terms[self.start[i]..self.start[i + 1]];
            self.fields[i].abs() + terms.iter().map(|t| t.0.abs()).sum::<f64>()
        };
        (0..self.d).map(pull).fold(0.0, f64::max)
    }

    /// `E f` for independent spins: every term counted once per member, divided by its arity.
    fn expectation(&self, means: &[f64]) -> f64 {
        let share = |i: usize| {
            let terms = &self.terms[self.start[i]..self.start[i + 1]];
            let higher: f64 = terms
                .iter()
                .map(|&(v, from, to)| {
                    let product = self.others[from..to].iter().fold(v, |p, &j| p * means[j as usize]);
                    product / (to - from + 1) as f64
                })
                .sum();
            means[i] * (self.fields[i] + higher)
        };
        self.constant + (0..self.d).map(share).sum::<f64>()
    }

    /// One pass of `m_i <- tanh(field_i / eps)`; returns the largest change.
    pub(super) fn sweep(&self, odds: &mut [f64], means: &mut [f64], eps: f64) -> f64 {
        let mut change = 0.0f64;
        for i in 0..self.d {
            odds[i] = self.field(i, means) / eps;
            let new = odds[i].tanh();
            change = change.max((new - means[i]).abs());
            means[i] = new;
        }
        change
    }

    /// `E_q f - eps D(q || uniform)` for `means = tanh(odds)`.
    pub(super) fn value(&self, odds: &[f64], means: &[f64], eps: f64) -> f64 {
        let divergence: f64 = odds.iter().zip(means).map(|(u, m)| u * m - log_cosh(*u)).sum();
        self.expectation(means) - eps * divergence
    }

    /// Flips spins while that raises f; returns the local maximum and its value.
    pub(super) fn local_maximum(&self, means: &[f64]) -> (Vec<i8>, f64) {
        let mut point: Vec<f64> = means.iter().map(|&m| if m < 0.0 { -1.0 } else { 1.0 }).collect();
        // f rises with every flip, so that the loop ends; the cap guards against rounding.
        for _ in 0..200 {
            let mut flipped = false;
            for i in 0..self.d {
                if self.field(i, &point) * point[i] < 0.0 {
                    point[i] = -point[i];
                    flipped = true;
                }
            }
            if !flipped || self.is_late() {
                break;
            }
        }
        let value = self.expectation(&point);
        (point.iter().map(|&x| x as i8).collect(), value)
    }
}
