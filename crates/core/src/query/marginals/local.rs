//! Intervals from the factors round one variable: the law of every variable on its own, for tables of any kind.
//!
//! Whatever the other variables do, the weight of state s is at most `exp(D_st / eps)` times that of state t, where `D_st` adds up,
//! over the factors that hold the variable, the largest difference between an entry with s and the entry with t
//! beside it. A pair of entries that are both hard zeros belongs to states without weight and says nothing.

use crate::certify::Interval;
use crate::exact::{Shares, shares};
use crate::model::FactorModel;

/// Most states of a variable that are compared two by two.
const MOST_STATES: usize = 64;

/// Largest differences between states, for every variable.
pub(super) struct Local {
    /// `D_st` at `s q + t` from `start[i]` on; rounded up.
    differences: Vec<f64>,
    start: Vec<usize>,
    eps: f64,
    slack: f64,
}

impl Local {
    pub(super) fn new(f: &FactorModel, eps: f64) -> Self {
        let states: Vec<usize> = f.cardinalities().iter().map(|&q| q as usize).collect();
        let mut start = vec![0];
        for &q in &states {
            let size = if q <= MOST_STATES { q * q } else { 0 };
            start.push(start.last().copied().unwrap_or(0) + size);
        }
        let mut differences = vec![0.0f64; start.last().copied().unwrap_or(0)];
        for factor in f.factors() {
            let mut stride = 1;
            for &v in factor.scope {
                let (v, q) = (v as usize, states[v as usize]);
                if q <= MOST_STATES {
                    let own = &mut differences[start[v]..start[v + 1]];
                    add_differences(own, factor.table, stride, q);
                }
                stride *= q;
            }
        }
        let slack = 2.0 * f.uncertainty();
        Local { differences, start, eps, slack }
    }

    /// Proved intervals for the law of free variable `i`, which has `q` states.
    pub(super) fn law(&self, i: usize, q: usize) -> Vec<[f64; 2]> {
        let own = &self.differences[self.start[i]..self.start[i + 1]];
        if own.is_empty() {
            return vec![[0.0, 1.0]; q];
        }
        let against = |s: usize| -> Vec<Interval> {
            let part = |t: usize| Interval {
                lo: (-own[s * q + t] - self.slack).next_down(),
                hi: (own[t * q + s] + self.slack).next_up(),
            };
            (0..q).map(|t| if t == s { Interval::ZERO } else { part(t) }).collect()
        };
        let whole = super::cells::UNKNOWN;
        let share = |s: usize| shares(&Shares { parts: &against(s), whole, eps: self.eps })[s];
        (0..q).map(share).collect()
    }
}

/// Adds what one factor says of a variable of stride `stride` and `q` states.
fn add_differences(own: &mut [f64], table: &[f64], stride: usize, q: usize) {
    for s in 0..q {
        for t in 0..q {
            if s == t {
                continue;
            }
            let mut most = f64::NEG_INFINITY;
            for block in table.chunks(stride * q) {
                let (with_s, with_t) = (&block[s * stride..][..stride], &block[t * stride..][..stride]);
                for (a, b) in with_s.iter().zip(with_t) {
                    if *a > f64::NEG_INFINITY {
                        most = most.max((a - b).next_up());
                    }
                }
            }
            // One of the two states is impossible when minus infinity meets infinity: nothing is known of their ratio.
            let sum = own[s * q + t] + most;
            own[s * q + t] = if sum.is_nan() { f64::INFINITY } else { sum.next_up() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{RngCore, SeedableRng};

    /// Up to five variables of one to four states, tables over one to three of them, some entries zero.
    fn draw(random: &mut ChaCha8Rng) -> FactorModel {
        let mut below = |n: u32| random.next_u32() % n;
        let d = 1 + below(5) as usize;
        let states: Vec<usize> = (0..d).map(|_| 1 + below(4) as usize).collect();
        let mut f = FactorModel::with_cardinalities(&states).unwrap();
        for _ in 0..1 + below(6) {
            let mut scope: Vec<usize> = (0..d).filter(|_| below(2) == 0).collect();
            scope.truncate(3);
            let size: usize = scope.iter().map(|&v| states[v]).product();
            let zeros = below(3);
            let mut entry =
                || if below(10) < zeros { f64::NEG_INFINITY } else { f64::from(below(4000)) / 1e3 - 2.0 };
            let table: Vec<f64> = (0..size).map(|_| entry()).collect();
            f.push(&scope, &table).unwrap();
        }
        f
    }

    /// Every variable's law by enumeration; empty when no state has weight.
    fn truth(f: &FactorModel, eps: f64) -> Vec<Vec<f64>> {
        let states: Vec<u32> = f.cardinalities().to_vec();
        let mut laws: Vec<Vec<f64>> = states.iter().map(|&q| vec![0.0; q as usize]).collect();
        let count: u32 = states.iter().product();
        for mut number in 0..count {
            let digit = |q: &u32| {
                let state = number % q;
                number /= q;
                state
            };
            let x: Vec<u32> = states.iter().map(digit).collect();
            let weight = (f.value_of(&x) / eps).exp();
            x.iter().zip(&mut laws).for_each(|(&s, law)| law[s as usize] += weight);
        }
        let total: f64 = laws[0].iter().sum();
        if total == 0.0 {
            return Vec::new();
        }
        laws.iter().map(|law| law.iter().map(|w| w / total).collect()).collect()
    }

    #[test]
    fn differences_of_entries_hold_the_law_of_any_model() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut informative = 0;
        for case in 0..3000 {
            let f = draw(&mut random);
            let eps = [0.3, 1.0, 5.0][case % 3];
            let local = Local::new(&f, eps);
            for (i, law) in truth(&f, eps).iter().enumerate() {
                for (p, [low, high]) in law.iter().zip(local.law(i, law.len())) {
                    assert!(low <= p + 1e-12 && *p <= high + 1e-12, "case {case}: {low} {p} {high}");
                    informative += usize::from(high - low < 0.9);
                }
            }
        }
        assert!(informative > 1000, "{informative}");
    }
}
