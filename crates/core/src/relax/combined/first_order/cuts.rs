//! Triangle inequalities with multipliers: which ones are present, and what they add to the augmented Lagrangian.
//!
//! A cut `g_c(m) = 1 + <c, m> >= 0` enters as `-(max(0, nu - rho g)^2 - nu^2) / (2 rho)`; at the end of a round its
//! multiplier becomes `max(0, nu - rho g)`, which is nonnegative at every point and so always proves something.

use super::pairs::Pairs;
use crate::certify;
use crate::linalg::Square;
use crate::relax::combined::pairs::SIGNS;
use std::collections::HashSet;

/// `1 + s m_kl + t m_km + st m_lm >= 0` for vertices k < l < m of z = (1, x).
#[derive(Clone, Copy)]
pub(super) struct Cut {
    pub(super) vertices: [u32; 3],
    /// Which of the four signs.
    pub(super) kind: u8,
    /// Numbers of the sides in [`Pairs`].
    sides: [u32; 3],
    /// Multiplier.
    pub(super) nu: f64,
}

impl Cut {
    pub(super) fn new(vertices: [u32; 3], kind: u8, nu: f64, pairs: &mut Pairs) -> Self {
        let [k, l, m] = vertices;
        let sides = [[k, l], [k, m], [l, m]].map(|ends| pairs.number(ends));
        Cut { vertices, kind, sides, nu }
    }

    fn signs(&self) -> &[f64; 3] {
        &SIGNS[self.kind as usize]
    }

    /// Its left side at moments by pair.
    pub(super) fn slack(&self, x: &[f64]) -> f64 {
        let sides = self.signs().iter().zip(self.sides);
        1.0 + sides.map(|(s, p)| s * x[p as usize]).sum::<f64>()
    }

    /// `out += value c`.
    pub(super) fn add(&self, value: f64, out: &mut [f64]) {
        self.signs().iter().zip(self.sides).for_each(|(s, p)| out[p as usize] += value * s);
    }

    /// As data of a proof, with the multiplier in the model's units.
    pub(super) fn proof(&self, multiplier: f64) -> certify::Cut {
        // The cycle k, l, m has the sides (k,l), (l,m), (m,k).
        let [kl, km, lm] = self.signs().map(|v| v as i8);
        certify::Cut { multiplier, cycle: self.vertices.to_vec(), signs: vec![kl, lm, km] }
    }
}

/// The cuts that are present.
pub(super) struct Cuts {
    pub(super) list: Vec<Cut>,
    /// rho.
    pub(super) penalty: f64,
}

/// Cuts with less slack than this stay although their multiplier is zero.
const NEARLY_TIGHT: f64 = 0.02;

impl Cuts {
    pub(super) fn new() -> Self {
        Cuts { list: Vec::new(), penalty: 1.0 }
    }

    /// What the cuts add to the objective; their coefficients join `out`.
    pub(super) fn evaluate(&self, x: &[f64], out: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for cut in &self.list {
            let y = self.multiplier(cut, x);
            if y > 0.0 {
                cut.add(y, out);
            }
            total -= (y - cut.nu) * (y + cut.nu);
        }
        0.5 * total / self.penalty
    }

    /// The multiplier that the moments call for.
    pub(super) fn multiplier(&self, cut: &Cut, x: &[f64]) -> f64 {
        (cut.nu - self.penalty * cut.slack(x)).max(0.0)
    }

    /// Takes over the multipliers and forgets cuts that are slack; returns the largest violation.
    pub(super) fn update(&mut self, x: &[f64]) -> f64 {
        let mut violation = 0.0f64;
        let penalty = self.penalty;
        self.list.retain_mut(|cut| {
            let slack = cut.slack(x);
            violation = violation.max(-slack);
            cut.nu = (cut.nu - penalty * slack).max(0.0);
            cut.nu > 0.0 || slack < NEARLY_TIGHT
        });
        violation
    }

    /// Adds the most violated cuts that are not present, at most `count`; returns the largest violation among them.
    pub(super) fn separate(&mut self, moments: &Square, least: f64, count: usize, pairs: &mut Pairs) -> f64 {
        let present: HashSet<([u32; 3], u8)> = self.list.iter().map(|cut| (cut.vertices, cut.kind)).collect();
        let found = violated(moments, least, count + present.len());
        let new = found.into_iter().filter(|(_, key)| !present.contains(key)).take(count);
        let mut worst = 0.0f64;
        for (slack, (vertices, kind)) in new {
            self.list.push(Cut::new(vertices, kind, 0.0, pairs));
            worst = worst.max(-slack);
        }
        worst
    }
}

type Found = (f64, ([u32; 3], u8));

/// Cuts violated by more than `least`, the worst first, at most `count`.
///
/// **Cost** one comparison of two numbers per triple: n^3 / 6 of them.
fn violated(x: &Square, least: f64, count: usize) -> Vec<Found> {
    let n = x.n();
    let mut found: Vec<Found> = Vec::new();
    let mut limit = -1.0 - least;
    for k in 0..n {
        let of_k = x.column(k);
        for (l, &kl) in of_k.iter().enumerate().skip(k + 1) {
            let of_l = x.column(l);
            for m in l + 1..n {
                // The least of the four left sides is 1 + min(kl - |km + lm|, -kl - |km - lm|).
                let (sum, difference) = (of_k[m] + of_l[m], of_k[m] - of_l[m]);
                if kl - sum.abs() < limit {
                    let kind = if sum > 0.0 { 1 } else { 0 };
                    found.push((1.0 + kl - sum.abs(), ([k as u32, l as u32, m as u32], kind)));
                }
                if -kl - difference.abs() < limit {
                    let kind = if difference > 0.0 { 3 } else { 2 };
                    found.push((1.0 - kl - difference.abs(), ([k as u32, l as u32, m as u32], kind)));
                }
            }
        }
        if found.len() > 8 * count.max(1000) {
            keep(&mut found, count);
            limit = found.last().map_or(limit, |worst| worst.0 - 1.0);
        }
    }
    keep(&mut found, count);
    found
}

fn keep(found: &mut Vec<Found>, count: usize) {
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_violated_cut_is_found_with_its_slack() {
        let n = 7;
        let mut x = Square::identity(n);
        for k in 0..n {
            for l in 0..k {
                let v = (1.3 * (k * n + l) as f64).sin();
                x.data_mut()[k + n * l] = v;
                x.data_mut()[l + n * k] = v;
            }
        }
        let (mut cuts, mut pairs) = (Cuts::new(), Pairs::new(n - 1));
        let worst = cuts.separate(&x, 0.0, 10_000, &mut pairs);
        let moments: Vec<f64> = pairs.ends.iter().map(|e| x.at(e[0] as usize, e[1] as usize)).collect();
        let mut expected = 0;
        for k in 0..n {
            for l in k + 1..n {
                for m in l + 1..n {
                    let sides = [x.at(k, l), x.at(k, m), x.at(l, m)];
                    let slacks = crate::relax::combined::pairs::slacks(sides);
                    expected += slacks.iter().filter(|g| **g < 0.0).count();
                }
            }
        }
        assert_eq!(cuts.list.len(), expected);
        assert!(cuts.list.iter().all(|cut| cut.slack(&moments) < 0.0));
        let least = cuts.list.iter().map(|cut| cut.slack(&moments)).fold(0.0, f64::min);
        assert!((least + worst).abs() < 1e-14);
    }
}
