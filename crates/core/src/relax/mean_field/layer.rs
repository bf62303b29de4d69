//! One layer of a bipartite model summed out: independent spins for the other layer alone.
//!
//! Spins without couplings among themselves see fields `u_j = (h_j + sum_i J_ij x_i)/eps` and sum to `log cosh u_j`, whose
//! expectation has a minorant in the first four moments of `u_j` (docs/theory.md, section 8). Restricted Boltzmann
//! machines are like that, and correlations between the layers, which independent spins miss, are kept.

use crate::certify::Witness;
use crate::deadline::Deadline;
use crate::exact::layers::smaller_side;
use crate::linalg::lbfgs::{LbfgsOptions, minimise};
use crate::model::Ising;
use crate::run::cost::constants::DENSE_EDGES_PER_SPIN;

/// Largest `atanh` of a mean.
const SATURATED: f64 = 17.0;

/// Steps of the ascent.
const STEPS: usize = 200;

/// The best law of one layer.
pub(super) struct Layer {
    /// On phi.
    pub(super) value: f64,
    pub(super) witness: Witness,
}

/// Sums out either layer of a dense bipartite model, from the means given; `None` for other models.
pub(super) fn best(ising: &Ising, eps: f64, means: &[f64], deadline: &Deadline) -> Option<Layer> {
    // On sparser graphs blocks of bounded width keep more.
    if ising.edges().len() < DENSE_EDGES_PER_SPIN * ising.d() {
        return None;
    }
    let in_small = smaller_side(ising)?;
    let layers = [true, false].map(|side| {
        let summed: Vec<bool> = in_small.iter().map(|small| *small == side).collect();
        Problem::new(ising, eps, &summed).solve(means, deadline)
    });
    layers.into_iter().reduce(|a, b| if b.value > a.value { b } else { a })
}

/// The bound as a function of the means of the layer that is kept.
struct Problem {
    eps: f64,
    constant: f64,
    /// File numbers of the spins of each layer.
    kept: Vec<usize>,
    summed: Vec<usize>,
    /// Fields of both, divided by eps.
    fields: Vec<f64>,
    offsets: Vec<f64>,
    /// Couplings divided by eps, one row per spin that is summed out: `(kept spin, coupling)`.
    rows: Vec<Vec<(usize, f64)>>,
}

impl Problem {
    fn new(ising: &Ising, eps: f64, is_summed: &[bool]) -> Self {
        let side = |which: bool| (0..ising.d()).filter(|&i| is_summed[i] == which).collect::<Vec<_>>();
        let (kept, summed) = (side(false), side(true));
        let mut place = vec![0; ising.d()];
        kept.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        summed.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let mut rows = vec![Vec::new(); summed.len()];
        for (i, j, v) in ising.triples().filter(|t| t.2 != 0.0) {
            let (a, b) = if is_summed[i] { (j, i) } else { (i, j) };
            rows[place[b]].push((place[a], v / eps));
        }
        let of = |list: &[usize]| list.iter().map(|&i| ising.fields()[i] / eps).collect();
        let (fields, offsets) = (of(&kept), of(&summed));
        Problem { eps, constant: ising.constant(), kept, summed, fields, offsets, rows }
    }

    fn solve(&self, means: &[f64], deadline: &Deadline) -> Layer {
        let start = |scale: f64| -> Vec<f64> {
            let odds = |&i: &usize| (scale * means[i].clamp(-1.0, 1.0)).atanh().clamp(-SATURATED, SATURATED);
            self.kept.iter().map(odds).collect()
        };
        let mut best: Option<(f64, Vec<f64>)> = None;
        for scale in [0.999, 0.1] {
            let mut odds = start(scale);
            let mut objective = |odds: &[f64], gradient: &mut [f64]| -self.value(odds, gradient);
            let options =
                LbfgsOptions { max_iterations: STEPS, gradient_tol: 1e-9, ..LbfgsOptions::default() };
            minimise(&mut objective, &mut odds, None, options, &mut |_, _| deadline.stop().is_some());
            let value = self.value(&odds, &mut vec![0.0; odds.len()]);
            if best.as_ref().is_none_or(|(top, _)| value > *top) {
                best = Some((value, odds));
            }
        }
        let (value, odds) = best.unwrap_or_else(|| (f64::NEG_INFINITY, start(0.0)));
        let means = odds.iter().map(|u| mean(*u)).collect();
        let summed = self.summed.iter().map(|&i| i as u32).collect();
        Layer { value: self.constant + self.eps * value, witness: Witness::Layer { means, summed } }
    }

    /// The bound on phi less the constant, in units of eps, and its gradient in `atanh` of the means.
    fn value(&self, odds: &[f64], gradient: &mut [f64]) -> f64 {
        let m: Vec<f64> = odds.iter().map(|u| mean(*u)).collect();
        let part = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
        let mut value = 0.0;
        for (i, &m) in m.iter().enumerate() {
            value += self.fields[i] * m - 0.5 * (part(1.0 + m) + part(1.0 - m));
            gradient[i] = self.fields[i] - m.atanh().clamp(-SATURATED, SATURATED);
        }
        for (row, &offset) in self.rows.iter().zip(&self.offsets) {
            let (mut mu, mut second, mut third, mut fourth) = (offset, 0.0, 0.0, 0.0);
            for &(i, w) in row {
                let (m, v, w2) = (m[i], 1.0 - m[i] * m[i], w * w);
                mu += w * m;
                second += w2 * v;
                third -= 2.0 * w2 * w * m * v;
                fourth += w2 * w2 * v * (6.0 * m * m - 2.0);
            }
            fourth += 3.0 * second * second;
            let t = mu.tanh();
            let s = 1.0 - t * t;
            let more = 0.5 * s * second - t * s * third / 3.0 - fourth / 12.0;
            value += mu.abs() + (0.5 * (1.0 + (-2.0 * mu.abs()).exp())).ln() + more.max(0.0);
            let is_kept = more > 0.0;
            let along =
                if is_kept { t - t * s * second - (s * s - 2.0 * t * t * s) * third / 3.0 } else { t };
            for &(i, w) in row {
                let (m, w2) = (m[i], w * w);
                gradient[i] += along * w;
                if is_kept {
                    gradient[i] += w2 * m * (second - s)
                        - t * s * w2 * w * (2.0 * m * m - 2.0 / 3.0)
                        - w2 * w2 * m * (16.0 - 24.0 * m * m) / 12.0;
                }
            }
        }
        gradient.iter_mut().zip(&m).for_each(|(g, m)| *g *= -(1.0 - m * m));
        value
    }
}

fn mean(odds: f64) -> f64 {
    odds.clamp(-SATURATED, SATURATED).tanh()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::{Certificate, Slack};
    use crate::exact::exact;
    use crate::model::{Model, Polynomial};
    use crate::observer::Silent;
    use crate::settings::Settings;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{RngCore, SeedableRng};

    /// Bipartite, with `a` spins in one layer and `b` in the other.
    fn machine(a: usize, b: usize, scale: f64, draw: &mut dyn FnMut() -> f64) -> Ising {
        let fields: Vec<f64> = (0..a + b).map(|_| scale * draw()).collect();
        let pairs = (0..a).flat_map(|i| (0..b).map(move |j| (i, a + j)));
        let couplings: Vec<_> = pairs.map(|(i, j)| (i, j, scale * draw())).collect();
        Ising::new(a + b, &fields, &couplings).unwrap()
    }

    #[test]
    fn layers_prove_lower_bounds_whatever_the_means() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut draw = move || (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let count = if std::env::var_os("ZBOUND_FULL").is_some() { 20_000 } else { 2000 };
        let mut better = 0;
        for case in 0..count {
            let (a, b) = (1 + case % 5, 1 + case % 4);
            let scale = [0.1, 0.5, 2.0, 8.0][case % 4];
            let eps = [1.0, 0.3, 4.0][case % 3];
            let ising = machine(a, b, scale, &mut draw);
            let f = Polynomial::from(ising.clone());
            let model = Model::from(f.clone());
            let truth = exact(&model, eps, &Settings::default(), &mut Silent).unwrap().phi_bounds.1;
            let is_summed: Vec<bool> = (0..a + b).map(|i| i >= a).collect();
            let problem = Problem::new(&ising, eps, &is_summed);
            let found = problem.solve(&vec![0.1; a + b], &Deadline::default());
            let summed: Vec<u32> = (a as u32..(a + b) as u32).collect();
            let random = Witness::Layer { means: (0..a).map(|_| draw()).collect(), summed };
            for (witness, value) in [(random, None), (found.witness, Some(found.value))] {
                let witness = Some(witness);
                let proof = Certificate { eps, slack: Slack::default(), components: Vec::new(), witness };
                let bound = proof.verify_lower(&f).unwrap().phi();
                assert!(bound <= truth, "case {case}: {bound} above {truth}");
                if let Some(value) = value {
                    assert!(
                        (bound - value).abs() <= 1e-9 * (1.0 + value.abs()),
                        "case {case}: {bound} {value}"
                    );
                    better += usize::from(truth - bound <= 0.02 * eps);
                }
            }
        }
        assert!(better > count / 6, "{better} of {count} are close");
    }

    #[test]
    fn couplings_inside_the_layer_are_refused() {
        let f = Polynomial::from(Ising::new(3, &[0.0; 3], &[(0, 1, 1.0), (1, 2, 1.0)]).unwrap());
        let witness = |summed: Vec<u32>, means: Vec<f64>| Certificate {
            eps: 1.0,
            slack: Slack::default(),
            components: Vec::new(),
            witness: Some(Witness::Layer { means, summed }),
        };
        assert!(witness(vec![0, 2], vec![0.0]).verify_lower(&f).is_ok());
        assert!(witness(vec![0, 1], vec![0.0]).verify_lower(&f).is_err());
        assert!(witness(vec![2, 0], vec![0.0]).verify_lower(&f).is_err());
        assert!(witness(vec![0, 2], vec![1.5]).verify_lower(&f).is_err());
        assert!(witness(vec![0, 3], vec![0.0]).verify_lower(&f).is_err());
    }

    #[test]
    fn the_gradient_is_that_of_the_value() {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let mut draw = move || (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let ising = machine(4, 5, 0.4, &mut draw);
        let is_summed: Vec<bool> = (0..9).map(|i| i >= 4).collect();
        let problem = Problem::new(&ising, 0.7, &is_summed);
        let odds: Vec<f64> = (0..4).map(|_| draw()).collect();
        let (mut gradient, mut unused) = (vec![0.0; 4], vec![0.0; 4]);
        problem.value(&odds, &mut gradient);
        for k in 0..4 {
            let at = |step: f64, unused: &mut [f64]| {
                let mut moved = odds.clone();
                moved[k] += step;
                problem.value(&moved, unused)
            };
            let slope = (at(1e-5, &mut unused) - at(-1e-5, &mut unused)) / 2e-5;
            assert!((slope + gradient[k]).abs() < 1e-7, "{slope} {}", gradient[k]);
        }
    }
}
