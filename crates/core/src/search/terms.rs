//! The landscape of a polynomial of any arity: one gain a spin, kept up to date.

use super::landscape::{Draw, Landscape};
use crate::model::Polynomial;
use std::sync::Arc;

/// Coefficients with their members, and the terms of every spin.
struct Terms {
    constant: f64,
    start: Vec<usize>,
    of_spin: Vec<u32>,
    members: Vec<u32>,
    member_start: Vec<usize>,
    coefficient: Vec<f64>,
}

/// One assignment of spins with the gain of every flip.
#[derive(Clone)]
pub(super) struct Monomials {
    terms: Arc<Terms>,
    spins: Vec<i8>,
    /// `theta_A x^A` per term.
    value: Vec<f64>,
    /// `f(x with spin i flipped) - f(x)`.
    gain: Vec<f64>,
}

impl Monomials {
    /// **Cost** O(sum of arities).
    pub(super) fn new(f: &Polynomial) -> Self {
        let d = f.d();
        let (mut members, mut member_start, mut coefficient) = (Vec::new(), vec![0], Vec::new());
        f.visit(|set, v| {
            if v != 0.0 && !set.is_empty() {
                members.extend(set.iter().map(|&i| i as u32));
                member_start.push(members.len());
                coefficient.push(v);
            }
        });
        let mut start = vec![0usize; d + 1];
        members.iter().for_each(|&i| start[i as usize + 1] += 1);
        for i in 0..d {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut of_spin = vec![0; members.len()];
        for t in 0..coefficient.len() {
            for &i in &members[member_start[t]..member_start[t + 1]] {
                of_spin[next[i as usize]] = t as u32;
                next[i as usize] += 1;
            }
        }
        let (constant, value) = (f.pairwise_part().constant(), vec![0.0; coefficient.len()]);
        let terms = Arc::new(Terms { constant, start, of_spin, members, member_start, coefficient });
        let mut out = Monomials { terms, spins: vec![1; d], value, gain: vec![0.0; d] };
        out.refresh();
        out
    }

    fn refresh(&mut self) {
        let terms = &*self.terms;
        self.gain.fill(0.0);
        for t in 0..self.value.len() {
            let members = &terms.members[terms.member_start[t]..terms.member_start[t + 1]];
            let sign: i8 = members.iter().map(|&i| self.spins[i as usize]).product();
            self.value[t] = f64::from(sign) * terms.coefficient[t];
            members.iter().for_each(|&i| self.gain[i as usize] -= 2.0 * self.value[t]);
        }
    }

    fn flip(&mut self, i: usize) {
        let terms = &*self.terms;
        self.spins[i] = -self.spins[i];
        for k in terms.start[i]..terms.start[i + 1] {
            let t = terms.of_spin[k] as usize;
            let change = 4.0 * self.value[t];
            self.value[t] = -self.value[t];
            for &j in &terms.members[terms.member_start[t]..terms.member_start[t + 1]] {
                self.gain[j as usize] += change;
            }
        }
    }
}

impl Landscape for Monomials {
    fn d(&self) -> usize {
        self.spins.len()
    }

    fn set(&mut self, states: &[u32]) {
        self.spins.iter_mut().zip(states).for_each(|(x, &s)| *x = if s == 1 { 1 } else { -1 });
        self.refresh();
    }

    fn states(&self) -> Vec<u32> {
        self.spins.iter().map(|&x| u32::from(x > 0)).collect()
    }

    fn visit(&mut self, i: usize, temperature: f64, draw: &mut Draw<'_>) -> f64 {
        let gain = self.gain[i];
        if draw.accepts(gain, temperature) {
            self.flip(i);
            return gain;
        }
        0.0
    }

    fn improve(&mut self, i: usize, least: f64) -> f64 {
        let gain = self.gain[i];
        if gain > least {
            self.flip(i);
            return gain;
        }
        0.0
    }

    fn pulls(&self) -> Vec<f64> {
        let terms = &*self.terms;
        let square = |i: usize| {
            let list = &terms.of_spin[terms.start[i]..terms.start[i + 1]];
            list.iter().map(|&t| terms.coefficient[t as usize].powi(2)).sum::<f64>()
        };
        (0..self.d()).map(|i| square(i).sqrt()).collect()
    }

    fn merit(&self, states: &[u32]) -> f64 {
        let terms = &*self.terms;
        let value = |t: usize| {
            let members = &terms.members[terms.member_start[t]..terms.member_start[t + 1]];
            let down = members.iter().filter(|&&i| states[i as usize] == 0).count();
            if down.is_multiple_of(2) { terms.coefficient[t] } else { -terms.coefficient[t] }
        };
        terms.constant + (0..terms.coefficient.len()).map(value).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Ising, VarSet};

    #[test]
    fn gains_stay_equal_to_differences_of_values() {
        let pairs = Ising::new(5, &[0.3, -0.1, 0.0, 0.7, 0.2], &[(0, 1, 1.0), (2, 4, -0.5)]).unwrap();
        let f = Polynomial::new(pairs, vec![(VarSet::from_iter([0, 2, 3]), 0.9)]).unwrap();
        let mut landscape = Monomials::new(&f);
        landscape.set(&[1, 0, 1, 1, 0]);
        for i in [0, 3, 2, 4, 0, 1] {
            landscape.flip(i);
            assert!((landscape.merit(&landscape.states()) - f.value(&landscape.spins)).abs() < 1e-12);
            for j in 0..5 {
                let mut other = landscape.spins.clone();
                other[j] = -other[j];
                let expected = f.value(&other) - f.value(&landscape.spins);
                assert!((landscape.gain[j] - expected).abs() < 1e-12);
            }
        }
    }
}
