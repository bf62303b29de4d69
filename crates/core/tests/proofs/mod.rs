//! Random models and a brute-force oracle shared by the certificate tests.
#![allow(dead_code, unreachable_pub, unused_imports)]

pub mod certificates;
pub mod data;
pub mod extremes;
pub mod reference;
pub mod tables;

pub use certificates::*;
pub use data::public_data;
pub use extremes::*;
pub use reference::*;
use std::io::Write;
pub use tables::*;
use zbound::certify::Interval;
use zbound::linalg::{Eigen, EigenWork, Square, eigh};
use zbound::{Features, Ising, Polynomial, VarSet};

/// SplitMix64: small, seeded, good enough to shuffle test cases.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Log-uniform.
    pub fn magnitude(&mut self, lo: f64, hi: f64) -> f64 {
        self.between(lo.ln(), hi.ln()).exp()
    }

    /// A magnitude of the kinds the promises name: mostly ordinary, sometimes 1e-300 to 1e8.
    pub fn model_scale(&mut self) -> f64 {
        match self.below(4) {
            0 => self.magnitude(1e-300, 1e-3),
            1 => self.magnitude(1e3, 1e8),
            _ => self.magnitude(1e-2, 1e1),
        }
    }

    /// Sizes up to 12, small ones more often.
    pub fn size(&mut self) -> usize {
        [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12][self.below(16).min(self.below(24))]
    }
}

/// Cases to run: `full` when ZBOUND_FULL is set.
pub fn cases(fast: usize, full: usize) -> usize {
    if std::env::var_os("ZBOUND_FULL").is_some() { full } else { fast }
}

/// Says how often a promise of docs/reliability.md was put to the test, and appends it to `$ZBOUND_COUNTS`.
pub fn tally(promise: u32, what: &str, count: usize) {
    println!("promise {promise}: {count} {what}");
    if let Some(path) = std::env::var_os("ZBOUND_COUNTS") {
        let mut log = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        // One write a line, so that lines of tests running side by side stay whole.
        log.write_all(format!("promise\t{promise}\t{what}\t{count}\n").as_bytes()).unwrap();
    }
}

/// A random pairwise model with some couplings missing.
pub fn random_ising(random: &mut Random, d: usize, scale: f64) -> Ising {
    let density = random.unit();
    let fields: Vec<f64> = (0..d).map(|_| scale * random.between(-1.0, 1.0)).collect();
    let mut couplings = Vec::new();
    for i in 0..d {
        for j in i + 1..d {
            if random.unit() < density {
                couplings.push((i, j, scale * random.between(-1.0, 1.0)));
            }
        }
    }
    let model = Ising::new(d, &fields, &couplings).unwrap();
    model.with_constant(scale * random.between(-1.0, 1.0)).unwrap()
}

/// A square grid with fields and couplings in [-1, 1].
pub fn random_grid(random: &mut Random, side: usize) -> Ising {
    let fields: Vec<f64> = (0..side * side).map(|_| random.between(-1.0, 1.0)).collect();
    let mut couplings = Vec::new();
    for i in 0..side * side {
        if (i + 1) % side != 0 {
            couplings.push((i, i + 1, random.between(-1.0, 1.0)));
        }
        if i + side < side * side {
            couplings.push((i, i + side, random.between(-1.0, 1.0)));
        }
    }
    Ising::new(side * side, &fields, &couplings).unwrap()
}

/// A random pairwise model with a few higher terms.
pub fn random_polynomial(random: &mut Random, d: usize, scale: f64) -> Polynomial {
    let ising = random_ising(random, d, scale);
    let mut terms: Vec<(VarSet, f64)> = Vec::new();
    for _ in 0..if d >= 3 { random.below(4) } else { 0 } {
        let set = VarSet::from_bits(random.bits() % (1 << d));
        if set.len() >= 3 && terms.iter().all(|(other, _)| *other != set) {
            terms.push((set, scale * random.between(-1.0, 1.0)));
        }
    }
    Polynomial::new(ising, terms).unwrap()
}

pub fn spins(d: usize, bits: usize) -> Vec<i8> {
    (0..d).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect()
}

/// Encloses `Phi_eps(f)` (`max f` when eps = 0) by enumeration in interval arithmetic.
pub fn brute_force(f: &Polynomial, eps: f64) -> Interval {
    let d = f.d();
    let coefficients: Vec<(VarSet, f64)> = f.coefficients().filter(|(_, v)| *v != 0.0).collect();
    let value = |bits: usize| {
        let x = spins(d, bits);
        coefficients
            .iter()
            .fold(Interval::ZERO, |sum, (set, v)| sum + Interval::point(f64::from(set.monomial(&x)) * v))
    };
    let values: Vec<Interval> = (0..1usize << d).map(value).collect();
    let top = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(v.lo));
    if eps == 0.0 {
        return Interval { lo: top, hi: values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(v.hi)) };
    }
    let sum = values
        .iter()
        .fold(Interval::ZERO, |sum, v| sum + ((*v - Interval::point(top)) / Interval::point(eps)).exp());
    let mean = sum / Interval::point((1usize << d) as f64);
    Interval::point(top) + Interval::point(eps) * mean.log()
}

/// Features able to represent f: (1, x), a random longer list, or what the terms need.
pub fn random_features(random: &mut Random, f: &Polynomial) -> Features {
    let d = f.d();
    let needed = zbound::FeatureSpec::Default.resolve(f).unwrap();
    let mut features = needed;
    for _ in 0..random.below(3) {
        if let Ok(more) = features.with(d, VarSet::from_bits(random.bits() % (1 << d))) {
            features = more;
        }
    }
    features
}

/// The spread representation of f plus a symmetric perturbation: in V_perp (`defect = 0`), or anything.
pub fn random_matrix(random: &mut Random, f: &Polynomial, features: &Features, defect: f64) -> Square {
    let classes = features.classes();
    let n = features.len();
    let scale = f.l1_norm() / n as f64;
    let mut noise = Square::from_column_major(n, (0..n * n).map(|_| random.between(-1.0, 1.0)).collect());
    noise.symmetrize();
    let mut perp = noise.clone();
    classes.project_perp(perp.data_mut());
    let mut matrix = Square::zeros(n);
    classes.fill(&classes.represent(f).unwrap(), matrix.data_mut());
    let strength = scale * random.unit();
    for ((m, y), z) in matrix.data_mut().iter_mut().zip(perp.data()).zip(noise.data()) {
        *m += strength * (y + defect * z);
    }
    matrix.symmetrize();
    matrix
}

pub fn decompose(matrix: &Square) -> Eigen {
    let (mut eigen, mut work) = (Eigen::default(), EigenWork::default());
    assert!(eigh(matrix, &mut eigen, &mut work), "eigensolver failed");
    eigen
}
