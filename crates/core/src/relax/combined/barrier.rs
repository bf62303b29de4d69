//! Newton's method for the barrier problem in the moments.
//!
//! `max <theta, m> + sum_s H_s - sum_e rho_e I_e + tau (log det Sigma(m) + sum log g(m))`: tree
//! entropy as objective, positivity and triangle inequalities as barrier. At the centre of
//! parameter tau the multipliers `S = tau Sigma^{-1}`, `nu = tau / g` prove a bound within
//! `tau (n + number of inequalities)` of the optimum.

use super::pairs::{SIGNS, all_pairs, pair, sides, slacks};
use crate::spectral::{Cholesky, Eigen, EigenWork, Square, eigh, multiply};
use faer::Par;

/// The problem: parameters in units of eps, edge probabilities, inequalities.
pub(super) struct Barrier {
    /// Vertices, d + 1.
    pub(super) n: usize,
    /// `theta` by pair.
    pub(super) theta: Vec<f64>,
    /// Probability of every pair in the tree mixture (0 for pairs through vertex 0).
    pub(super) rho: Vec<f64>,
    /// Triples whose four inequalities are kept.
    pub(super) triples: Vec<[u32; 3]>,
    pairs: Vec<[u32; 2]>,
    cholesky: Cholesky,
    work: EigenWork,
    par: Par,
}

/// A strictly feasible point with what depends on it.
#[derive(Clone)]
pub(super) struct Centre {
    pub(super) moments: Vec<f64>,
    /// Eigenpairs of Sigma.
    pub(super) eigen: Eigen,
    /// `<theta, m> +` tree entropy: the primal value of the relaxation, relative to the uniform law.
    pub(super) objective: f64,
    /// `log det Sigma + sum log g`.
    barrier: f64,
}

impl Centre {
    /// The uniform law on `count` pairs, decomposed trivially.
    pub(super) fn at_origin(count: usize) -> Self {
        Centre { moments: vec![0.0; count], eigen: Eigen::default(), objective: 0.0, barrier: 0.0 }
    }
}

/// Points closer to the boundary than this count as outside: beyond, derivatives are rounding.
const INSIDE: f64 = 1e-14;
/// Fraction of the way to the boundary one step may take.
///
/// Small enough that no left side falls far below its central value, from where Newton's method
/// climbs back only slowly.
const TO_BOUNDARY: f64 = 0.6;

impl Barrier {
    pub(super) fn new(n: usize, theta: Vec<f64>, rho: Vec<f64>, triples: Vec<[u32; 3]>, par: Par) -> Self {
        let pairs = all_pairs(n);
        Barrier {
            n,
            theta,
            rho,
            triples,
            pairs,
            cholesky: Cholesky::default(),
            work: EigenWork::default(),
            par,
        }
    }

    /// Barrier parameter: the gap at a centre is tau times this.
    pub(super) fn complexity(&self) -> f64 {
        (self.n + 4 * self.triples.len()) as f64
    }

    /// The point with these moments, `None` when it is not strictly feasible.
    pub(super) fn centre(&mut self, moments: Vec<f64>) -> Option<Centre> {
        let mut barrier = 0.0;
        for &triple in &self.triples {
            let g = slacks(&moments, triple);
            if !g.iter().all(|g| *g > INSIDE) {
                return None;
            }
            barrier += (g[0] * g[1] * g[2] * g[3]).ln();
        }
        let mut sigma = Square::identity(self.n);
        for (&[k, l], m) in self.pairs.iter().zip(&moments) {
            let (k, l) = (k as usize, l as usize);
            sigma.data_mut()[k + self.n * l] = *m;
            sigma.data_mut()[l + self.n * k] = *m;
        }
        let mut eigen = Eigen::default();
        if !eigh(&sigma, &mut eigen, &mut self.work) || !(eigen.values[0] > INSIDE) {
            return None;
        }
        barrier += eigen.values.iter().map(|v| v.ln()).sum::<f64>();
        let linear: f64 = self.theta.iter().zip(&moments).map(|(t, m)| t * m).sum();
        let objective = linear + self.entropy(&moments);
        (objective.is_finite() && barrier.is_finite()).then_some(Centre {
            moments,
            eigen,
            objective,
            barrier,
        })
    }

    /// `sum_s (H_s - log 2) - sum_e rho_e I_e`, minus the mixture's divergence from the uniform law.
    fn entropy(&self, moments: &[f64]) -> f64 {
        let mut total = 0.0;
        for s in 1..self.n {
            total += spin_entropy(moments[pair(0, s)]);
        }
        for (e, &[k, l]) in self.pairs.iter().enumerate().filter(|(e, _)| self.rho[*e] > 0.0) {
            total -= self.rho[e] * self.information(moments, e, k, l);
        }
        total
    }

    /// Mutual information of the spins of pair `e`.
    pub(super) fn information(&self, moments: &[f64], e: usize, k: u32, l: u32) -> f64 {
        let (a, b) = (moments[pair(0, k as usize)], moments[pair(0, l as usize)]);
        let joint: f64 = slacks4(a, b, moments[e]).iter().map(|q| x_log_x(q / 4.0)).sum();
        joint + spin_entropy(a) + spin_entropy(b) + 2.0 * std::f64::consts::LN_2
    }

    /// Gradient of the barrier problem at `tau`.
    pub(super) fn gradient(&self, centre: &Centre, tau: f64, inverse: &Square) -> Vec<f64> {
        let moments = &centre.moments;
        let mut gradient = self.theta.clone();
        for (g, &[k, l]) in gradient.iter_mut().zip(&self.pairs) {
            *g += 2.0 * tau * inverse.at(k as usize, l as usize);
        }
        for s in 1..self.n {
            gradient[pair(0, s)] -= moments[pair(0, s)].atanh();
        }
        for (e, &[k, l]) in self.pairs.iter().enumerate().filter(|(e, _)| self.rho[*e] > 0.0) {
            let at = [pair(0, k as usize), pair(0, l as usize), e];
            let pull = information_gradient(moments[at[0]], moments[at[1]], moments[e]);
            (0..3).for_each(|p| gradient[at[p]] -= self.rho[e] * pull[p]);
        }
        for &triple in &self.triples {
            let at = sides(triple);
            for (g, signs) in slacks(moments, triple).iter().zip(&SIGNS) {
                (0..3).for_each(|p| gradient[at[p]] += tau * signs[p] / g);
            }
        }
        gradient
    }

    /// Minus the Hessian, lower triangle by columns.
    fn curvature(&self, centre: &Centre, tau: f64, inverse: &Square) -> Vec<f64> {
        let (count, moments) = (self.pairs.len(), &centre.moments);
        let mut matrix = vec![0.0; count * count];
        for (b, &[p, q]) in self.pairs.iter().enumerate() {
            let (rp, rq) = (inverse.column(p as usize), inverse.column(q as usize));
            let column = &mut matrix[count * b..count * (b + 1)];
            for (entry, &[k, l]) in column[b..].iter_mut().zip(&self.pairs[b..]) {
                let (k, l) = (k as usize, l as usize);
                *entry = 2.0 * tau * (rp[k] * rq[l] + rp[l] * rq[k]);
            }
        }
        let mut add = |a: usize, b: usize, v: f64| matrix[a.max(b) + count * a.min(b)] += v;
        for s in 1..self.n {
            let m = moments[pair(0, s)];
            add(pair(0, s), pair(0, s), 1.0 / (1.0 - m * m));
        }
        for (e, &[k, l]) in self.pairs.iter().enumerate().filter(|(e, _)| self.rho[*e] > 0.0) {
            let at = [pair(0, k as usize), pair(0, l as usize), e];
            let block = information_curvature(moments[at[0]], moments[at[1]], moments[e]);
            for p in 0..3 {
                (0..=p).for_each(|q| add(at[p], at[q], self.rho[e] * block[p][q]));
            }
        }
        for &triple in &self.triples {
            let at = sides(triple);
            let weight = slacks(moments, triple).map(|g| tau / (g * g));
            for p in 0..3 {
                for q in 0..=p {
                    let v: f64 = weight.iter().zip(&SIGNS).map(|(w, s)| w * s[p] * s[q]).sum();
                    add(at[p], at[q], v);
                }
            }
        }
        matrix
    }

    /// One damped Newton step at `tau`; the squared decrement before it, `None` when it fails.
    pub(super) fn step(&mut self, centre: &mut Centre, tau: f64) -> Option<f64> {
        let inverse = inverse(&centre.eigen);
        let gradient = self.gradient(centre, tau, &inverse);
        let curvature = self.curvature(centre, tau, &inverse);
        if !self.cholesky.factor(curvature, self.pairs.len(), 0.0, self.par) {
            return None;
        }
        let mut step = gradient.clone();
        self.cholesky.solve(&mut step);
        let decrement: f64 = gradient.iter().zip(&step).map(|(g, s)| g * s).sum();
        if !(decrement >= 0.0) {
            return None;
        }
        let room = self.longest(&centre.moments, &step).min(self.positive_room(&centre.eigen, &step));
        let mut length = (TO_BOUNDARY * room).min(1.0);
        let before = centre.objective + tau * centre.barrier;
        let rounding = 1e-13 * (centre.objective.abs() + tau * centre.barrier.abs()).max(1.0);
        for _ in 0..40 {
            let moved = centre.moments.iter().zip(&step).map(|(m, s)| m + length * s).collect();
            if let Some(next) = self.centre(moved) {
                let gain = next.objective + tau * next.barrier - before;
                if gain >= 0.1 * length * decrement - rounding {
                    *centre = next;
                    return Some(decrement);
                }
            }
            length *= 0.6;
        }
        None
    }

    /// How far along `step` Sigma stays positive: `-1 / lambda_min(Sigma^{-1/2} D Sigma^{-1/2})`.
    fn positive_room(&mut self, eigen: &Eigen, step: &[f64]) -> f64 {
        let n = self.n;
        let mut direction = Square::zeros(n);
        for (&[k, l], s) in self.pairs.iter().zip(step) {
            direction.data_mut()[k as usize + n * l as usize] = *s;
            direction.data_mut()[l as usize + n * k as usize] = *s;
        }
        let mut root = eigen.vectors.clone();
        for (column, v) in root.data_mut().chunks_exact_mut(n).zip(&eigen.values) {
            column.iter_mut().for_each(|u| *u /= v.sqrt());
        }
        let (mut image, mut scaled) = (Square::zeros(n), Square::zeros(n));
        multiply::squares(&direction, &root, &mut image);
        multiply::square_transposed_times(&root, image.data(), n, scaled.data_mut());
        scaled.symmetrize();
        let mut spectrum = Eigen::default();
        match eigh(&scaled, &mut spectrum, &mut self.work) {
            true if spectrum.values[0] < 0.0 => -1.0 / spectrum.values[0],
            _ => f64::INFINITY,
        }
    }

    /// How far along `step` every inequality holds.
    fn longest(&self, moments: &[f64], step: &[f64]) -> f64 {
        let mut longest = f64::INFINITY;
        for &triple in &self.triples {
            let at = sides(triple);
            for (g, s) in slacks(moments, triple).iter().zip(&SIGNS) {
                let rate = s[0] * step[at[0]] + s[1] * step[at[1]] + s[2] * step[at[2]];
                if rate < 0.0 {
                    longest = longest.min(-g / rate);
                }
            }
        }
        longest
    }
}

/// `Sigma^{-1}`.
pub(super) fn inverse(eigen: &Eigen) -> Square {
    let n = eigen.values.len();
    let mut scaled = eigen.vectors.clone();
    for (column, v) in scaled.data_mut().chunks_exact_mut(n).zip(&eigen.values) {
        column.iter_mut().for_each(|u| *u /= v);
    }
    let mut out = Square::zeros(n);
    multiply::square_by_transpose(&scaled, &eigen.vectors, &mut out);
    out.symmetrize();
    out
}

/// `4 P(x_s = a, x_t = b)` for (a, b) = ++, +-, -+, --.
fn slacks4(a: f64, b: f64, c: f64) -> [f64; 4] {
    SIGNS.map(|s| 1.0 + s[0] * a + s[1] * b + s[2] * c)
}

fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

/// Entropy of a spin of mean m, minus log 2.
fn spin_entropy(m: f64) -> f64 {
    -x_log_x(0.5 * (1.0 + m)) - x_log_x(0.5 * (1.0 - m)) - std::f64::consts::LN_2
}

/// Derivatives of the mutual information by the two means and the pair moment.
fn information_gradient(a: f64, b: f64, c: f64) -> [f64; 3] {
    let logs = slacks4(a, b, c).map(f64::ln);
    let along = |p: usize| 0.25 * SIGNS.iter().zip(&logs).map(|(s, l)| s[p] * l).sum::<f64>();
    [along(0) - a.atanh(), along(1) - b.atanh(), along(2)]
}

/// `log p_st / (p_s p_t) = const + u x_s + v x_t + w x_s x_t`: the parameters `[u, v, w]`.
pub(super) fn ratio_parameters(a: f64, b: f64, c: f64) -> [f64; 3] {
    information_gradient(a, b, c)
}

/// Second derivatives of the mutual information, lower triangle.
fn information_curvature(a: f64, b: f64, c: f64) -> [[f64; 3]; 3] {
    let weights = slacks4(a, b, c).map(|q| 0.25 / q);
    let mut out = [[0.0; 3]; 3];
    for (s, w) in SIGNS.iter().zip(&weights) {
        for p in 0..3 {
            (0..=p).for_each(|q| out[p][q] += w * s[p] * s[q]);
        }
    }
    out[0][0] -= 1.0 / (1.0 - a * a);
    out[1][1] -= 1.0 / (1.0 - b * b);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let n = 5;
        let count = n * (n - 1) / 2;
        let theta = (0..count).map(|k| (k as f64).sin()).collect();
        let rho = all_pairs(n).iter().map(|&[k, _]| if k == 0 { 0.0 } else { 0.5 }).collect();
        let mut barrier = Barrier::new(n, theta, rho, vec![[0, 1, 2], [1, 2, 4]], Par::Seq);
        let moments: Vec<f64> = (0..count).map(|k| 0.2 * (3.0 * k as f64).cos()).collect();
        let value = |barrier: &mut Barrier, m: &[f64]| {
            let c = barrier.centre(m.to_vec()).unwrap();
            c.objective + 0.1 * c.barrier
        };
        let centre = barrier.centre(moments.clone()).unwrap();
        let gradient = barrier.gradient(&centre, 0.1, &inverse(&centre.eigen));
        let curvature = barrier.curvature(&centre, 0.1, &inverse(&centre.eigen));
        let h = 1e-5;
        for a in 0..count {
            let shifted = |s: f64| {
                let mut m = moments.clone();
                m[a] += s;
                m
            };
            let slope = (value(&mut barrier, &shifted(h)) - value(&mut barrier, &shifted(-h))) / (2.0 * h);
            assert!((slope - gradient[a]).abs() < 1e-8, "{a}: {slope} {}", gradient[a]);
            let side = |s: f64, barrier: &mut Barrier| {
                let c = barrier.centre(shifted(s)).unwrap();
                barrier.gradient(&c, 0.1, &inverse(&c.eigen))
            };
            let (up, down) = (side(h, &mut barrier), side(-h, &mut barrier));
            for b in a..count {
                let expected = -(up[b] - down[b]) / (2.0 * h);
                assert!((curvature[b + count * a] - expected).abs() < 1e-6);
            }
        }
    }
}
