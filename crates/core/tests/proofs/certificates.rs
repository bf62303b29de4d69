//! Random certificates of every kind, made without any solver.

use super::{Random, decompose, random_features, random_matrix, random_weighted_elimination};
use zbound::certify::{Certificate, Component, Cut, Form, Noise, Slack, SumOfSquares, Witness};
use zbound::linalg::{Eigen, Square};
use zbound::{FactorModel, Features, Ising, Polynomial, VarSet};

pub fn single(eps: f64, form: Form) -> Certificate {
    let components = vec![Component { weight: 1.0, form }];
    Certificate { eps, slack: Slack::default(), components, witness: None }
}

pub fn random_spectral(random: &mut Random, f: &Polynomial, eps: f64) -> Certificate {
    let features = random_features(random, f);
    let defect = if random.below(3) == 0 { random.magnitude(1e-12, 1.0) } else { 0.0 };
    let matrix = random_matrix(random, f, &features, defect);
    let eigen = decompose(&matrix);
    single(eps, Form::Spectral { features, matrix, eigen })
}

/// `f = sum w_k g_k` up to rounding: random forests, and one polynomial that makes up the difference.
pub fn random_mixture(random: &mut Random, f: &Polynomial, eps: f64) -> Certificate {
    let d = f.d();
    let (trees, scale) = (random.below(4), f.l1_norm());
    let weights: Vec<f64> = (0..=trees).map(|_| random.between(0.1, 1.0)).collect();
    let total: f64 = weights.iter().sum();
    let mut rest: Vec<(VarSet, f64)> = f.coefficients().collect();
    let mut components = Vec::new();
    for &weight in &weights[..trees] {
        let tree: Polynomial = random_forest(random, d, scale).into();
        rest.extend(tree.coefficients().map(|(set, v)| (set, -v * weight / total)));
        components.push(Component { weight, form: eliminated(random, tree) });
    }
    let last = total / weights[trees];
    let polynomial = Polynomial::from_coefficients(d, rest.into_iter().map(|(s, v)| (s, v * last))).unwrap();
    components.push(Component { weight: weights[trees], form: eliminated(random, polynomial) });
    Certificate { eps, slack: Slack::default(), components, witness: None }
}

/// Summed along a random order, exactly or with split buckets, weights and shifts.
fn eliminated(random: &mut Random, polynomial: Polynomial) -> Form {
    if random.below(2) == 0 {
        let order = random_order(random, polynomial.d());
        return Form::Elimination { polynomial, order };
    }
    let left = vec![vec![0, 1]; polynomial.d()];
    let tables = FactorModel::from(&polynomial);
    let elimination = random_weighted_elimination(random, &tables, true, Vec::new(), &left);
    Form::WeightedElimination { polynomial, elimination }
}

/// f itself, by elimination or as a hollow matrix, for models at the edge of overflow.
pub fn random_mixture_of_itself(random: &mut Random, f: &Polynomial) -> Certificate {
    if random.below(2) == 0 {
        let order = random_order(random, f.d());
        return single(1.0, Form::Elimination { polynomial: f.clone(), order });
    }
    let matrix = hollow(f);
    let (mut eigen, mut work) = (Eigen::default(), zbound::linalg::EigenWork::default());
    let _ = zbound::linalg::eigh(&matrix, &mut eigen, &mut work);
    single(1.0, Form::Spectral { features: Features::degree(f.d(), 1), matrix, eigen })
}

pub fn random_order(random: &mut Random, d: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..d as u32).collect();
    for k in (1..d).rev() {
        order.swap(k, random.below(k + 1));
    }
    order
}

pub fn random_forest(random: &mut Random, d: usize, scale: f64) -> Ising {
    let fields: Vec<f64> = (0..d).map(|_| scale * random.between(-1.0, 1.0)).collect();
    let names = random_order(random, d);
    let mut couplings = Vec::new();
    for k in 1..d {
        if random.below(5) > 0 {
            let up = random.below(k);
            couplings.push((names[k] as usize, names[up] as usize, scale * random.between(-1.0, 1.0)));
        }
    }
    Ising::new(d, &fields, &couplings).unwrap()
}

/// The matrix of f over (1, x), hollow except for the constant.
pub fn hollow(f: &Polynomial) -> Square {
    let (d, ising) = (f.d(), f.as_ising().unwrap());
    let n = d + 1;
    let mut matrix = Square::zeros(n);
    let fields = ising.fields().iter().enumerate().map(|(i, &h)| (0, i + 1, h));
    for (a, b, v) in fields.chain(ising.triples().map(|(i, j, v)| (i + 1, j + 1, v))) {
        matrix.data_mut()[a + n * b] = 0.5 * v;
        matrix.data_mut()[b + n * a] = 0.5 * v;
    }
    matrix.data_mut()[0] = ising.constant();
    matrix
}

/// Row sums of absolute values, the diagonal with its sign: diag of them minus the matrix is dominant.
fn dominant_diagonal(matrix: &Square) -> Vec<f64> {
    let n = matrix.n();
    let off = |i: usize| (0..n).filter(|&j| j != i).map(|j| matrix.at(i, j).abs()).sum::<f64>();
    (0..n).map(|i| matrix.at(i, i) + off(i)).collect()
}

pub fn random_logdet(random: &mut Random, f: &Polynomial, eps: f64) -> Certificate {
    let matrix = hollow(f);
    let lift = eps * random.magnitude(0.05, 5.0) + 1e-9 * f.l1_norm();
    let lambda: Vec<f64> = dominant_diagonal(&matrix).iter().map(|v| v * 1.0000001 + lift).collect();
    let n = matrix.n();
    let mut shifted = matrix.clone();
    shifted.data_mut().iter_mut().for_each(|v| *v = -*v);
    for (i, l) in lambda.iter().enumerate() {
        shifted.data_mut()[i * (n + 1)] += l;
    }
    let eigen = decompose(&shifted);
    // Every other one with a noise of its own.
    let bins = if random.magnitude(0.5, 2.0) < 1.0 { 1 } else { 2 + random.magnitude(1.0, 40.0) as usize };
    let weights = (0..bins).map(|_| random.magnitude(1e-3, 1.0)).collect();
    let noise = if bins == 1 { Noise::default() } else { Noise { weights } };
    single(eps, Form::LogDet { noise, lambda, matrix, eigen })
}

fn random_weights(random: &mut Random, n: usize) -> Vec<f64> {
    let mut eta: Vec<f64> = (0..n).map(|_| random.magnitude(0.01, 1.0)).collect();
    let total: f64 = eta.iter().sum();
    eta.iter_mut().for_each(|v| *v /= total);
    eta
}

pub fn random_weighted(random: &mut Random, f: &Polynomial, eps: f64) -> Certificate {
    let features = random_features(random, f);
    let matrix = random_matrix(random, f, &features, 0.0);
    let n = features.len();
    let eta = random_weights(random, n);
    let mut b = matrix.clone();
    for j in 0..n {
        for i in 0..n {
            b.data_mut()[i + n * j] /= (eta[i] * eta[j]).sqrt();
        }
        b.data_mut()[j * (n + 1)] += eps * eta[j].ln();
    }
    b.symmetrize();
    let eigen = decompose(&b);
    single(eps, Form::WeightedSpectral { features, eta, matrix, eigen })
}

fn product(a: &Square, b: &Square) -> Square {
    let n = a.n();
    let entry = |k: usize| (0..n).map(|l| a.at(k % n, l) * b.at(l, k / n)).sum();
    Square::from_column_major(n, (0..n * n).map(entry).collect())
}

fn transposed(a: &Square) -> Square {
    let n = a.n();
    Square::from_column_major(n, (0..n * n).map(|k| a.at(k / n, k % n)).collect())
}

/// The gradient of `tr W h(Sigma)` in plain floating point.
fn metric_gradient(eta: &[f64], point: &Eigen) -> Square {
    let n = eta.len();
    let scaled = (0..n * n).map(|k| eta[k % n] * point.vectors.data()[k]).collect();
    let turned = transposed(&point.vectors);
    let mut inner = product(&turned, &Square::from_column_major(n, scaled));
    for j in 0..n {
        for i in 0..n {
            let (a, b) = (point.values[i], point.values[j]);
            let close = (a - b).abs() < 1e-6 * a;
            let slope = if close { (0.5 * (a + b)).ln() } else { (a * a.ln() - b * b.ln()) / (a - b) - 1.0 };
            inner.data_mut()[i + n * j] *= slope;
        }
    }
    product(&product(&point.vectors, &inner), &turned)
}

pub fn random_tangent(random: &mut Random, f: &Polynomial, eps: f64) -> Certificate {
    let features = random_features(random, f);
    let n = features.len();
    let eta = random_weights(random, n);
    let mut sigma = random_matrix(random, f, &features, 0.0);
    let size = sigma.data().iter().fold(1e-300, |m: f64, v| m.max(v.abs()));
    sigma.data_mut().iter_mut().for_each(|v| *v /= size * n as f64);
    let mut point = decompose(&sigma);
    let sharpness = random.between(0.0, 2.0 * n as f64);
    point.values.iter_mut().for_each(|v| *v = (sharpness * *v).exp());
    let trace: f64 = point.values.iter().sum();
    point.values.iter_mut().for_each(|v| *v *= n as f64 / trace);
    let gradient = metric_gradient(&eta, &point);
    let mut matrix = random_matrix(random, f, &features, 0.0);
    matrix.data_mut().iter_mut().zip(gradient.data()).for_each(|(m, g)| *m -= eps * g);
    matrix.symmetrize();
    let eigen = decompose(&matrix);
    single(eps, Form::Tangent { features, eta, point, matrix, eigen })
}

fn random_cut(random: &mut Random, d: usize, multiplier: f64) -> Cut {
    let k = 3 + random.below((d + 1).min(6) - 2);
    let mut vertices: Vec<u32> = random_order(random, d + 1);
    vertices.truncate(k);
    let mut signs: Vec<i8> = (0..k).map(|_| if random.below(2) == 0 { 1 } else { -1 }).collect();
    let negative = signs.iter().filter(|s| **s < 0).count();
    if (k + negative).is_multiple_of(2) {
        signs[0] = -signs[0];
    }
    Cut { multiplier, cycle: vertices, signs }
}

/// Random cuts and squares, with the spectral component for f plus all of them.
pub fn random_with_slack(random: &mut Random, f: &Polynomial, eps: f64) -> Certificate {
    let (d, n) = (f.d(), f.d() + 1);
    let scale = f.l1_norm();
    let mut matrix = hollow(f);
    let mut cuts = Vec::new();
    for _ in 0..1 + random.below(4) {
        let multiplier = scale * random.unit() * 0.3;
        let cut = random_cut(random, d, multiplier);
        let k = cut.cycle.len();
        matrix.data_mut()[0] += (k - 2) as f64 * multiplier;
        for p in 0..k {
            let (a, b) = (cut.cycle[p] as usize, cut.cycle[(p + 1) % k] as usize);
            let v = 0.5 * multiplier * f64::from(cut.signs[p]);
            matrix.data_mut()[a + n * b] += v;
            matrix.data_mut()[b + n * a] += v;
        }
        cuts.push(cut);
    }
    let mut squares = Vec::new();
    for _ in 0..random.below(3) {
        let rank = 1 + random.below(n);
        let mut root = Square::zeros(n);
        root.data_mut()[..rank * n].iter_mut().for_each(|v| *v = random.between(-1.0, 1.0) * scale.sqrt());
        let mut s = product(&root, &transposed(&root));
        s.symmetrize();
        matrix.data_mut().iter_mut().zip(s.data()).for_each(|(m, v)| *m += v);
        let eigen = decompose(&s);
        squares.push(SumOfSquares { features: Features::degree(d, 1), matrix: s, eigen });
    }
    let constant = random.below(3) == 0;
    let form = if constant {
        Form::Constant { value: scale * random.unit() }
    } else {
        let eigen = decompose(&matrix);
        Form::Spectral { features: Features::degree(d, 1), matrix, eigen }
    };
    Certificate { slack: Slack { cuts, squares }, ..single(eps, form) }
}

pub fn random_sparse_dual(random: &mut Random, f: &Polynomial, eps: f64) -> Certificate {
    let mut matrix = hollow(f);
    matrix.data_mut()[0] = 0.0;
    let shrink = random.between(0.7, 1.3);
    let diagonal: Vec<f64> = dominant_diagonal(&matrix).iter().map(|v| shrink * v).collect();
    single(eps, Form::sparse_dual(f, &diagonal).unwrap())
}

pub fn random_elimination(random: &mut Random, d: usize) -> Witness {
    Witness::Elimination { order: random_order(random, d) }
}

pub fn random_witness(random: &mut Random, f: &Polynomial, eps: f64) -> Witness {
    let d = f.d();
    let spin = |random: &mut Random| if random.below(2) == 0 { 1 } else { -1 };
    match random.below(4) {
        0 => {
            let mut means: Vec<f64> = (0..d).map(|_| random.between(-1.0, 1.0)).collect();
            if random.below(2) == 0 {
                means[random.below(d)] = f64::from(spin(random));
            }
            Witness::Product { means }
        }
        1 if eps > 0.0 => {
            let scale = f.l1_norm() / d as f64;
            Witness::Forest { polynomial: random_forest(random, d, scale).into() }
        }
        2 => random_elimination(random, d),
        _ => Witness::Point { spins: (0..d).map(|_| spin(random) as i8).collect() },
    }
}
