//! Random models and naive sums over states, for the tests of exact inference.
#![allow(dead_code, unreachable_pub)]

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use zbound::exact::Exact;
use zbound::{FactorModel, Ising, Polynomial, VarSet};

/// Agreement asked of two double-precision computations, relative to the scale of the model.
pub const TOLERANCE: f64 = 1e-11;

/// The whole distribution, state by state, with compensated sums.
pub struct Naive {
    pub log_z: f64,
    pub means: Vec<f64>,
    pub pairs: Vec<f64>,
    pub entropy: f64,
    pub max_f: f64,
}

pub fn spins(state: usize, d: usize) -> Vec<i8> {
    (0..d).map(|i| if state >> i & 1 == 1 { 1 } else { -1 }).collect()
}

/// Neumaier's sum: the error of a few roundings, whatever the number of terms.
pub fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut correction) = (0.0f64, 0.0);
    for x in terms {
        let next = total + x;
        correction += if total.abs() >= x.abs() { (total - next) + x } else { (x - next) + total };
        total = next;
    }
    // A hard zero makes the correction NaN and the sum -inf.
    if total.is_finite() { total + correction } else { total }
}

pub fn polynomial_value(f: &Polynomial, x: &[i8]) -> f64 {
    sum(f.coefficients().map(|(set, v)| v * f64::from(set.monomial(x))))
}

pub fn factors_value(f: &FactorModel, x: &[i8]) -> f64 {
    sum(std::iter::once(f.constant()).chain(f.factors().map(|t| t.table[t.index(x)])))
}

pub fn naive(d: usize, eps: f64, f: impl Fn(&[i8]) -> f64) -> Naive {
    let values: Vec<f64> = (0..1 << d).map(|s| f(&spins(s, d))).collect();
    let max_f = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = values.iter().map(|v| ((v - max_f) / eps).exp()).collect();
    let total = sum(weights.iter().copied());
    let (mut means, mut pairs, mut energy) = (vec![0.0; d], vec![0.0; d * d], 0.0);
    for (s, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        let x = spins(s, d);
        energy += w / total * (values[s] - max_f);
        for i in 0..d {
            means[i] += w / total * f64::from(x[i]);
            for j in i + 1..d {
                pairs[i * d + j] += w / total * f64::from(x[i] * x[j]);
            }
        }
    }
    Naive { log_z: max_f + eps * total.ln(), means, pairs, entropy: total.ln() - energy / eps, max_f }
}

pub fn agree(truth: &Naive, found: &Exact, eps: f64, scale: f64, what: &str) {
    let d = truth.means.len();
    let tolerance = TOLERANCE * (eps + scale);
    assert!((truth.log_z - found.log_z).abs() <= tolerance, "{what}: {} {}", truth.log_z, found.log_z);
    let (low, high) = found.log_z_bounds;
    assert!(low <= found.log_z && found.log_z <= high, "{what}");
    // The naive value itself is within a few roundings.
    let slack = 4.0 * f64::EPSILON * (scale + eps);
    assert!(low - slack <= truth.log_z && truth.log_z <= high + slack, "{what}");
    assert!(high - low <= tolerance, "{what}: width {}", high - low);
    let (low, high) = found.phi_bounds;
    assert!(low <= found.phi && found.phi <= high, "{what}: phi");
    // Moments are conditioned like the exponents, f/eps.
    let moments = TOLERANCE * (1.0 + scale / eps);
    for i in 0..d {
        assert!((truth.means[i] - found.means[i]).abs() <= moments, "{what}: mean {i}");
    }
    for &(i, j, v) in &found.pairwise {
        assert!((truth.pairs[i as usize * d + j as usize] - v).abs() <= moments, "{what}: pair {i} {j}");
    }
    assert!(
        (truth.entropy - found.entropy).abs() <= moments * 10.0,
        "{what}: {} {}",
        truth.entropy,
        found.entropy
    );
    assert!((truth.max_f - found.max_f).abs() <= TOLERANCE * scale.max(1e-3), "{what}: max");
}

pub struct Draw(pub ChaCha8Rng);

impl Draw {
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }
    pub fn real(&mut self, scale: f64) -> f64 {
        scale * (2.0 * self.unit() - 1.0)
    }
}

/// A random polynomial of arity up to four, dense or sparse.
pub fn polynomial(draw: &mut Draw, d: usize) -> Polynomial {
    let density = draw.unit();
    let scale = 10f64.powf(draw.real(1.0));
    let mut terms = vec![(VarSet::EMPTY, draw.real(3.0))];
    let highest = if draw.below(2) == 0 { 2 } else { 4 };
    for bits in 1u64..1 << d {
        let arity = bits.count_ones();
        let keep = if arity <= 2 { density } else { density * 0.1 };
        if arity <= highest && draw.unit() < keep {
            terms.push((VarSet::from_bits(bits), draw.real(scale)));
        }
    }
    Polynomial::from_coefficients(d, terms).unwrap()
}

pub fn temperature(draw: &mut Draw) -> f64 {
    10f64.powf(draw.real(3.0))
}

/// A random factor model, often with hard zeros, factors of arity 0 and repeated scopes.
pub fn factor_model(draw: &mut Draw, d: usize) -> FactorModel {
    let mut model = FactorModel::new(d);
    model.add_constant(draw.real(2.0));
    let scale = 10f64.powf(draw.real(1.0));
    let zeros = if draw.below(2) == 0 { 0.0 } else { 0.3 * draw.unit() };
    for _ in 0..draw.below(2 * d + 2) {
        let arity = draw.below(5.min(d + 1));
        let mut scope: Vec<usize> = (0..d).collect();
        for k in 0..arity {
            let other = k + draw.below(d - k);
            scope.swap(k, other);
        }
        scope.truncate(arity);
        let entry = |draw: &mut Draw| {
            if draw.unit() < zeros { f64::NEG_INFINITY } else { draw.real(scale) }
        };
        let table: Vec<f64> = (0..1 << arity).map(|_| entry(draw)).collect();
        model.push(&scope, &table).unwrap();
    }
    model
}

/// Random tables over variables of one to five states, with hard zeros, repeated scopes and wide ranges.
pub fn mixed_model(draw: &mut Draw, d: usize) -> FactorModel {
    let states: Vec<usize> = (0..d).map(|_| 1 + draw.below(5)).collect();
    let mut model = FactorModel::with_cardinalities(&states).unwrap();
    model.add_constant(draw.real(2.0));
    // Up to e^1000 between entries: products then leave the range of numbers.
    let scale = 10f64.powf(draw.real(1.5) + 0.5);
    let zeros = if draw.below(2) == 0 { 0.0 } else { 0.3 * draw.unit() };
    for _ in 0..draw.below(2 * d + 2) {
        let mut scope: Vec<usize> = (0..d).collect();
        let arity = draw.below(4.min(d + 1));
        for k in 0..arity {
            let other = k + draw.below(d - k);
            scope.swap(k, other);
        }
        scope.truncate(arity);
        let size: usize = scope.iter().map(|&i| states[i]).product();
        let mut entry = || if draw.unit() < zeros { f64::NEG_INFINITY } else { draw.real(scale) };
        let table: Vec<f64> = (0..size).map(|_| entry()).collect();
        model.push(&scope, &table).unwrap();
    }
    model
}

/// All joint states of a model.
pub fn all_states(cardinalities: &[u32]) -> Vec<Vec<u32>> {
    let mut out = vec![Vec::new()];
    for &q in cardinalities {
        let longer =
            |x: &Vec<u32>| -> Vec<Vec<u32>> { (0..q).map(|s| [x.as_slice(), &[s]].concat()).collect() };
        out = out.iter().flat_map(longer).collect();
    }
    out
}

pub fn random_grid(seed: u64, rows: usize, cols: usize, scale: f64) -> Ising {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    let d = rows * cols;
    let fields: Vec<f64> = (0..d).map(|_| draw.real(scale)).collect();
    let right = (0..d).filter(|i| (i + 1) % cols != 0).map(|i| (i, i + 1));
    let edges: Vec<_> = right.chain((cols..d).map(|i| (i - cols, i))).collect();
    let couplings: Vec<_> = edges.into_iter().map(|(i, j)| (i, j, draw.real(scale))).collect();
    Ising::new(d, &fields, &couplings).unwrap()
}
