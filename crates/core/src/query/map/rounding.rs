//! From vectors to spins: random hyperplanes, then tabu search over single flips.

use super::Factor;
use super::random::Normal;
use crate::deadline::Deadline;
use crate::model::Polynomial;

/// Hyperplanes drawn per factor.
const HYPERPLANES: usize = 32;
/// Assignments that tabu search starts from.
const STARTS: usize = 4;
/// Flips of one tabu search, per spin and in all.
const FLIPS_PER_SPIN: usize = 150;
const MAX_FLIPS: usize = 120_000;
/// Flips, each a look at every spin, between two looks at the clock.
const POLL_EVERY: usize = 64;

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Until little is to be gained.
    Full,
    /// Somebody waits: climbs alone.
    Short,
}

/// The best assignment found for f, starting from the rows of a factor of the moment matrix of (1, x)
/// (row 0 belongs to the constant); an empty factor stands for random starts.
pub(super) fn round(
    f: &Polynomial,
    factor: &Factor,
    seed: u64,
    effort: Effort,
    deadline: &Deadline,
) -> Vec<i8> {
    let d = f.d();
    if d == 0 {
        return Vec::new();
    }
    let mut random = Normal::new(seed);
    let mut landscape = Landscape::new(f);
    let mut starts: Vec<(f64, Vec<i8>)> = Vec::new();
    for _ in 0..HYPERPLANES {
        if !starts.is_empty() && deadline.stop().is_some() {
            break;
        }
        let spins = hyperplane(&factor.rows, factor.rank, d, &mut random);
        landscape.set(&spins);
        landscape.climb(deadline);
        starts.push((f.value(&landscape.spins), landscape.spins.clone()));
    }
    starts.sort_by(|a, b| b.0.total_cmp(&a.0));
    starts.dedup_by(|a, b| a.1 == b.1);
    let mut best = starts[0].clone();
    let searches = if effort == Effort::Full { STARTS } else { 0 };
    for (_, spins) in starts.into_iter().take(searches) {
        landscape.set(&spins);
        let found = landscape.tabu(&mut random, deadline);
        let value = f.value(&found);
        if value > best.0 {
            best = (value, found);
        }
    }
    best.1
}

/// `x_i = sign <v_i, g> sign <v_0, g>`.
fn hyperplane(rows: &[f64], rank: usize, d: usize, random: &mut Normal) -> Vec<i8> {
    let normal = random.vector(rank.max(d + 1));
    let side = |i: usize| {
        let projection = match rows.is_empty() {
            true => normal[i],
            false => crate::linalg::lanczos::dot(&rows[rank * i..rank * (i + 1)], &normal[..rank]),
        };
        if projection < 0.0 { -1 } else { 1 }
    };
    let zero: i8 = side(0);
    (1..=d).map(|i| side(i) * zero).collect()
}

/// f around one assignment: the gain of every single flip, kept up to date.
struct Landscape {
    /// Terms of every spin.
    start: Vec<usize>,
    of_spin: Vec<u32>,
    /// Members of every term.
    members: Vec<u32>,
    member_start: Vec<usize>,
    coefficient: Vec<f64>,
    spins: Vec<i8>,
    /// `theta_A x^A` per term.
    term: Vec<f64>,
    /// `f(x with spin i flipped) - f(x)`.
    gain: Vec<f64>,
}

impl Landscape {
    fn new(f: &Polynomial) -> Self {
        let d = f.d();
        let (mut members, mut member_start, mut coefficient) = (Vec::new(), vec![0], Vec::new());
        for (set, v) in f.coefficients().filter(|(set, v)| *v != 0.0 && !set.is_empty()) {
            members.extend(set.iter().map(|i| i as u32));
            member_start.push(members.len());
            coefficient.push(v);
        }
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
        let term = vec![0.0; coefficient.len()];
        Landscape {
            start,
            of_spin,
            members,
            member_start,
            coefficient,
            spins: vec![1; d],
            term,
            gain: vec![0.0; d],
        }
    }

    fn set(&mut self, spins: &[i8]) {
        self.spins.copy_from_slice(spins);
        self.gain.fill(0.0);
        for t in 0..self.term.len() {
            let members = &self.members[self.member_start[t]..self.member_start[t + 1]];
            let sign: i8 = members.iter().map(|&i| spins[i as usize]).product();
            self.term[t] = f64::from(sign) * self.coefficient[t];
            members.iter().for_each(|&i| self.gain[i as usize] -= 2.0 * self.term[t]);
        }
    }

    fn flip(&mut self, i: usize) {
        self.spins[i] = -self.spins[i];
        for k in self.start[i]..self.start[i + 1] {
            let t = self.of_spin[k] as usize;
            let change = 4.0 * self.term[t];
            self.term[t] = -self.term[t];
            for &j in &self.members[self.member_start[t]..self.member_start[t + 1]] {
                self.gain[j as usize] += change;
            }
        }
    }

    /// Flips the spin that gains most until none gains.
    fn climb(&mut self, deadline: &Deadline) {
        let d = self.spins.len();
        // Gains carry rounding: anything below this is no gain, or the climb might never end.
        let least = 1e-12 * self.gain.iter().fold(0.0f64, |m, g| m.max(g.abs()));
        for flip in 0..20 * d {
            if flip % POLL_EVERY == POLL_EVERY - 1 && deadline.stop().is_some() {
                return;
            }
            let Some(i) = self.best(0, |_| true) else { return };
            if !(self.gain[i] > least) {
                return;
            }
            self.flip(i);
        }
    }

    /// The allowed spin that gains most; among equals the first from `offset` on.
    fn best(&self, offset: usize, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        let open = (offset..self.gain.len()).chain(0..offset).filter(|&i| allowed(i));
        open.reduce(|a, b| if self.gain[b] > self.gain[a] { b } else { a })
    }

    /// Always takes the best flip that was not made lately; returns the best assignment on the way.
    fn tabu(&mut self, random: &mut Normal, deadline: &Deadline) -> Vec<i8> {
        let d = self.spins.len();
        let tenure = (d / 50).clamp(d.min(3), 20);
        let mut free_at = vec![0usize; d];
        let (mut value, mut top) = (0.0, 0.0);
        let mut best = self.spins.clone();
        for step in 1..=(FLIPS_PER_SPIN * d).min(MAX_FLIPS) {
            if step % POLL_EVERY == 0 && deadline.stop().is_some() {
                break;
            }
            let wins = |i: usize| value + self.gain[i] > top;
            // Plateaus are wide when couplings are whole numbers: no spin may be preferred for its name.
            let offset = random.below(d);
            let Some(i) = self.best(offset, |i| free_at[i] <= step || wins(i)) else { continue };
            value += self.gain[i];
            self.flip(i);
            free_at[i] = step + 1 + tenure + random.below(10.min(d));
            if value > top {
                top = value;
                best.copy_from_slice(&self.spins);
            }
        }
        best
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
        let mut landscape = Landscape::new(&f);
        landscape.set(&[1, -1, 1, 1, -1]);
        for i in [0, 3, 2, 4, 0, 1] {
            landscape.flip(i);
            for j in 0..5 {
                let mut other = landscape.spins.clone();
                other[j] = -other[j];
                let expected = f.value(&other) - f.value(&landscape.spins);
                assert!((landscape.gain[j] - expected).abs() < 1e-12);
            }
        }
    }
}
