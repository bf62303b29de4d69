//! A model of two-state variables as a weighted count: clauses for what hard zeros forbid, weights for the rest.

use crate::certify::Interval;
use crate::exact::scaled::Scaled;
use crate::model::{FactorModel, FactorRef};

/// A variable with a wish: `2 v` says "state 0", `2 v + 1` says "state 1".
pub(super) type Literal = u32;

/// The literal of a variable in a state.
pub(super) fn literal(v: u32, state: u32) -> Literal {
    2 * v + state
}

/// Variables of a table beyond which its zeros are not turned into clauses: 3^12 cubes are half a million.
const MOST_VARIABLES: usize = 12;

/// Clauses at most: some hundred megabytes.
const MOST_CLAUSES: usize = 5_000_000;

/// A positive number and a bound on its relative error, in units of the last place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weight {
    pub(super) number: Scaled,
    pub(super) roundings: f64,
}

impl Weight {
    pub(super) const ONE: Weight = Weight { number: Scaled { value: 1.0, exponent: 0 }, roundings: 0.0 };
    pub(super) const ZERO: Weight = Weight { number: Scaled { value: 0.0, exponent: 0 }, roundings: 0.0 };

    pub(super) fn is_zero(&self) -> bool {
        self.number.value == 0.0
    }

    /// `exp(a)`.
    fn exp(a: Interval) -> Self {
        if a.hi == f64::NEG_INFINITY {
            return Weight::ZERO;
        }
        let (number, relative) = Scaled::exp(a);
        Weight { number, roundings: relative / crate::exact::rounding::U + 1.0 }
    }

    /// Relative errors of a product add up.
    pub(super) fn times(self, other: Weight) -> Self {
        if self.is_zero() || other.is_zero() {
            return Weight::ZERO;
        }
        Weight { number: self.number.times(other.number), roundings: self.roundings + other.roundings + 1.0 }
    }

    /// That of a sum of positive numbers is the larger one.
    pub(super) fn plus(self, other: Weight) -> Self {
        Weight {
            number: self.number.plus(other.number),
            roundings: self.roundings.max(other.roundings) + 1.0,
        }
    }
}

/// A table that is not constant where it is positive.
pub(super) struct WeightTable {
    /// Variables, the first one fastest.
    pub(super) scope: Vec<u32>,
    /// Weights of joint states; what is forbidden has weight one here, and a clause.
    pub(super) weights: Vec<Weight>,
}

/// What is counted.
pub(super) struct Formula {
    /// Variables.
    pub(super) d: usize,
    /// Literals of all clauses, and where each begins.
    pub(super) literals: Vec<Literal>,
    pub(super) starts: Vec<usize>,
    /// By literal.
    pub(super) weights: Vec<Weight>,
    pub(super) tables: Vec<WeightTable>,
    /// The count times `exp(offset)` is the sum; without the model's constant.
    pub(super) offset: Interval,
}

impl Formula {
    /// `None` when a table is too large for clauses or a variable has more than two states.
    pub(super) fn new(model: &FactorModel, eps: f64) -> Option<Self> {
        if !model.is_binary() {
            return None;
        }
        let d = model.d();
        let mut out = Formula {
            d,
            literals: Vec::new(),
            starts: vec![0],
            weights: vec![Weight::ONE; 2 * d],
            tables: Vec::new(),
            offset: Interval::ZERO,
        };
        for factor in model.factors() {
            out.add(&factor, eps)?;
        }
        Some(out)
    }

    /// Number of clauses.
    pub(super) fn clauses(&self) -> usize {
        self.starts.len() - 1
    }

    /// The literals of a clause.
    pub(super) fn clause(&self, c: usize) -> &[Literal] {
        &self.literals[self.starts[c]..self.starts[c + 1]]
    }

    fn add(&mut self, factor: &FactorRef<'_>, eps: f64) -> Option<()> {
        if factor.scope.len() > MOST_VARIABLES {
            return None;
        }
        let top = factor.table.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        for cube in prime_cubes(factor.table, factor.scope.len()) {
            // A cube of zeros is a conjunction that never holds; its negation is a clause.
            for (k, &v) in factor.scope.iter().enumerate() {
                match cube / 3usize.pow(k as u32) % 3 {
                    2 => {}
                    state => self.literals.push(literal(v, 1 - state as u32)),
                }
            }
            self.starts.push(self.literals.len());
        }
        if self.clauses() > MOST_CLAUSES {
            return None;
        }
        if top == f64::NEG_INFINITY {
            return Some(());
        }
        let (unit, temperature) = (Interval::point(top), Interval::point(eps));
        self.offset = self.offset + unit / temperature;
        let positive = |v: &&f64| **v > f64::NEG_INFINITY;
        if factor.table.iter().filter(positive).all(|v| *v == top) {
            return Some(());
        }
        let weight = |v: &f64| {
            if *v > f64::NEG_INFINITY {
                Weight::exp((Interval::point(*v) - unit) / temperature)
            } else {
                Weight::ONE
            }
        };
        let weights: Vec<Weight> = factor.table.iter().map(weight).collect();
        match factor.scope {
            [v] => (0..2u32).for_each(|state| {
                let place = &mut self.weights[literal(*v, state) as usize];
                *place = place.times(weights[state as usize]);
            }),
            _ => self.tables.push(WeightTable { scope: factor.scope.to_vec(), weights }),
        }
        Some(())
    }
}

/// The largest cubes that hold zeros only, as numbers with one ternary digit per variable: its state, or 2 for either.
fn prime_cubes(table: &[f64], variables: usize) -> Vec<usize> {
    if !table.contains(&f64::NEG_INFINITY) {
        return Vec::new();
    }
    let powers: Vec<usize> = (0..=variables as u32).map(|k| 3usize.pow(k)).collect();
    // In increasing order the two halves of a cube come before the cube.
    let mut is_zero = vec![false; powers[variables]];
    for cube in 0..powers[variables] {
        let free = (0..variables).find(|&k| cube / powers[k] % 3 == 2);
        is_zero[cube] = match free {
            Some(k) => is_zero[cube - powers[k]] && is_zero[cube - 2 * powers[k]],
            None => {
                let index: usize = (0..variables).map(|k| (cube / powers[k] % 3) << k).sum();
                table[index] == f64::NEG_INFINITY
            }
        };
    }
    let is_prime = |&cube: &usize| {
        let grown = |k: usize| cube + (2 - cube / powers[k] % 3) * powers[k];
        is_zero[cube] && (0..variables).all(|k| grown(k) == cube || !is_zero[grown(k)])
    };
    (0..powers[variables]).filter(is_prime).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_cubes_of_a_gate_are_its_clauses() {
        // x_2 = x_0 and x_1.
        let zero = f64::NEG_INFINITY;
        let table = [0.0, 0.0, 0.0, zero, zero, zero, zero, 0.0];
        // (1, 1, 0), (0, *, 1) and (*, 0, 1), x_0 the lowest digit.
        assert_eq!(prime_cubes(&table, 3), [4, 9 + 2, 9 + 6]);
    }
}
