//! Exact inference against a naive sum over states, against itself, and against stored values.

mod proofs;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use zbound::exact::{Algorithm, Exact, Wanted, exact, exact_with, sample};
use zbound::{
    Error, FactorModel, Flow, Ising, Model, Polynomial, Progress, Settings, Silent, Source, StopReason,
    VarSet,
};

/// Agreement asked of two double-precision computations, relative to the scale of the model.
const TOLERANCE: f64 = 1e-11;

/// The whole distribution, state by state, with compensated sums.
struct Naive {
    log_z: f64,
    means: Vec<f64>,
    pairs: Vec<f64>,
    entropy: f64,
    max_f: f64,
}

fn spins(state: usize, d: usize) -> Vec<i8> {
    (0..d).map(|i| if state >> i & 1 == 1 { 1 } else { -1 }).collect()
}

/// Neumaier's sum: the error of a few roundings, whatever the number of terms.
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut correction) = (0.0f64, 0.0);
    for x in terms {
        let next = total + x;
        correction += if total.abs() >= x.abs() { (total - next) + x } else { (x - next) + total };
        total = next;
    }
    // A hard zero makes the correction NaN and the sum -inf.
    if total.is_finite() { total + correction } else { total }
}

fn polynomial_value(f: &Polynomial, x: &[i8]) -> f64 {
    sum(f.coefficients().map(|(set, v)| v * f64::from(set.monomial(x))))
}

fn factors_value(f: &FactorModel, x: &[i8]) -> f64 {
    sum(std::iter::once(f.constant()).chain(f.factors().map(|t| t.table[t.index(x)])))
}

fn naive(d: usize, eps: f64, f: impl Fn(&[i8]) -> f64) -> Naive {
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

fn agree(truth: &Naive, found: &Exact, eps: f64, scale: f64, what: &str) {
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

struct Draw(ChaCha8Rng);

impl Draw {
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }
    fn real(&mut self, scale: f64) -> f64 {
        scale * (2.0 * self.unit() - 1.0)
    }
}

/// A random polynomial of arity up to four, dense or sparse.
fn polynomial(draw: &mut Draw, d: usize) -> Polynomial {
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

fn temperature(draw: &mut Draw) -> f64 {
    10f64.powf(draw.real(3.0))
}

#[test]
fn enumeration_agrees_with_a_naive_sum() {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(1));
    for trial in 0..1000 {
        let d = draw.below(11);
        let f = polynomial(&mut draw, d);
        let eps = temperature(&mut draw);
        let found = exact(&Model::from(f.clone()), eps, &Settings::default(), &mut Silent).unwrap();
        assert_eq!(found.algorithm, Algorithm::Enumeration);
        assert_eq!(found.pairwise.len(), d * d.saturating_sub(1) / 2);
        let scale = f.l1_norm() + f.pairwise_part().constant().abs();
        agree(
            &naive(d, eps, |x| polynomial_value(&f, x)),
            &found,
            eps,
            scale,
            &format!("trial {trial} d {d} eps {eps}"),
        );
        assert_eq!(found.max_f, f.value(&found.argmax));
    }
}

/// A random factor model, often with hard zeros, factors of arity 0 and repeated scopes.
fn factor_model(draw: &mut Draw, d: usize) -> FactorModel {
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
fn mixed_model(draw: &mut Draw, d: usize) -> FactorModel {
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
fn all_states(cardinalities: &[u32]) -> Vec<Vec<u32>> {
    let mut out = vec![Vec::new()];
    for &q in cardinalities {
        let longer =
            |x: &Vec<u32>| -> Vec<Vec<u32>> { (0..q).map(|s| [x.as_slice(), &[s]].concat()).collect() };
        out = out.iter().flat_map(longer).collect();
    }
    out
}

#[test]
fn any_number_of_states_agrees_with_a_naive_sum() {
    let seed = 4;
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    let trials = if std::env::var("ZBOUND_FULL").is_ok_and(|v| v == "1") { 20_000 } else { 2000 };
    let mut impossible = 0;
    for trial in 0..trials {
        let what = format!("seed {seed} trial {trial}");
        let d = draw.below(7);
        let whole = mixed_model(&mut draw, d);
        let eps = temperature(&mut draw);
        let mut evidence = Vec::new();
        for (i, &q) in whole.cardinalities().iter().enumerate() {
            if draw.below(6) == 0 {
                evidence.push((i, draw.below(q as usize) as u32));
            }
        }
        let model = Model::new(Source::Factors(whole)).with_states(&evidence).unwrap();
        let f = model.factors().unwrap();
        let values: Vec<(Vec<u32>, f64)> = all_states(f.cardinalities())
            .into_iter()
            .map(|x| {
                let entries = f.factors().map(|t| t.table[t.index_of(&x, f.cardinalities())]);
                let value = sum(std::iter::once(f.constant()).chain(entries));
                (x, value)
            })
            .collect();
        let found = exact(&model, eps, &Settings::default(), &mut Silent).unwrap();
        let top = values.iter().map(|v| v.1).fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            impossible += 1;
            assert_eq!((found.log_z, found.log_z_bounds), (top, (top, top)), "{what}");
            continue;
        }
        let weights: Vec<f64> = values.iter().map(|v| ((v.1 - top) / eps).exp()).collect();
        let total = sum(weights.iter().copied());
        let truth = top + eps * total.ln();
        let finite = f.factors().flat_map(|t| t.table).filter(|v| v.is_finite()).map(|v| v.abs());
        let scale = eps + f.constant().abs() + finite.sum::<f64>();
        let (low, high) = found.log_z_bounds;
        let slack = 4.0 * f64::EPSILON * scale;
        assert!(low - slack <= truth && truth <= high + slack, "{what}: {low} {truth} {high}");
        assert!(low <= found.log_z && found.log_z <= high && high - low <= TOLERANCE * scale, "{what}");
        assert!((f.value_of(&found.best) - top).abs() <= TOLERANCE * scale, "{what}: maximum");
        let moments = TOLERANCE * (1.0 + scale / eps);
        let mut entropy = total.ln();
        let mut marginals: Vec<Vec<f64>> = f.cardinalities().iter().map(|&q| vec![0.0; q as usize]).collect();
        for ((x, value), w) in values.iter().zip(&weights).filter(|(_, w)| **w > 0.0) {
            entropy -= w / total * (value - top) / eps;
            x.iter().zip(&mut marginals).for_each(|(&s, p)| p[s as usize] += w / total);
        }
        // Enumeration of spins gives no list of states beyond the means.
        for (p, q) in marginals.iter().flatten().zip(found.state_marginals.iter().flatten()) {
            assert!((p - q).abs() <= moments, "{what}: {p} {q}");
        }
        assert_eq!(found.state_marginals.len(), f.d(), "{what}");
        assert!((entropy - found.entropy).abs() <= 10.0 * moments, "{what}: {entropy} {}", found.entropy);
        let alone = exact_with(&model, eps, Wanted::LOG_Z, &Settings::default(), &mut Silent).unwrap();
        assert!(alone.log_z_bounds.0 - slack <= truth && truth <= alone.log_z_bounds.1 + slack, "{what}");
    }
    assert!(impossible > 10, "{impossible}");
}

#[test]
fn samples_follow_the_law_and_respect_hard_zeros() {
    let mut model = FactorModel::with_cardinalities(&[3, 2, 4, 1]).unwrap();
    let none = f64::NEG_INFINITY;
    model.push(&[0, 1], &[0.0, 1.0, none, 0.5, none, -1.0]).unwrap();
    model.push(&[2, 1], &[0.3, none, 1.0, 0.0, 2.0, -1.0, 0.0, none]).unwrap();
    model.push(&[0, 2], &[0.5; 12]).unwrap();
    let model = Model::new(Source::Factors(model));
    let count = 20_000;
    let samples = sample(&model, 0.7, count, 11, &Settings::default(), &mut Silent).unwrap();
    let law = exact(&model, 0.7, &Settings::default(), &mut Silent).unwrap().state_marginals;
    for (i, p) in law.iter().enumerate() {
        for (s, &p) in p.iter().enumerate() {
            let share = samples.iter().filter(|x| x[i] as usize == s).count() as f64 / count as f64;
            // Five standard deviations.
            assert!((share - p).abs() <= 5.0 * (p * (1.0 - p) / count as f64).sqrt(), "{i} {s}: {share} {p}");
        }
    }
    let f = model.factors().unwrap();
    assert!(samples.iter().all(|x| f.value_of(x) > none));
    let again = sample(&model, 0.7, 3, 11, &Settings::default(), &mut Silent).unwrap();
    assert_eq!(again, samples[..3]);
}

#[test]
fn tables_with_hard_zeros_agree_with_a_naive_sum() {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(2));
    let (mut eliminated, mut impossible) = (0, 0);
    for trial in 0..1000 {
        let d = draw.below(11);
        let f = factor_model(&mut draw, d);
        let eps = temperature(&mut draw);
        let model = Model::new(Source::Factors(f.clone()));
        let found = exact(&model, eps, &Settings::default(), &mut Silent).unwrap();
        let truth = naive(d, eps, |x| factors_value(&f, x));
        eliminated += usize::from(found.algorithm == Algorithm::Elimination);
        if truth.max_f == f64::NEG_INFINITY {
            impossible += 1;
            assert_eq!((found.log_z, found.phi, found.max_f), (truth.max_f, truth.max_f, truth.max_f));
            assert_eq!(found.log_z_bounds, (f64::NEG_INFINITY, f64::NEG_INFINITY));
            continue;
        }
        let finite = |v: &&f64| v.is_finite();
        let scale: f64 = f.factors().flat_map(|t| t.table).filter(finite).map(|v| v.abs()).sum();
        agree(&truth, &found, eps, scale + f.constant().abs(), &format!("trial {trial} d {d} eps {eps}"));
        assert!((found.max_f - f.value(&found.argmax)).abs() <= TOLERANCE * (1.0 + scale));
    }
    assert!(eliminated > 200 && impossible > 10, "{eliminated} {impossible}");
}

fn random_grid(seed: u64, rows: usize, cols: usize, scale: f64) -> Ising {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    let d = rows * cols;
    let fields: Vec<f64> = (0..d).map(|_| draw.real(scale)).collect();
    let right = (0..d).filter(|i| (i + 1) % cols != 0).map(|i| (i, i + 1));
    let edges: Vec<_> = right.chain((cols..d).map(|i| (i - cols, i))).collect();
    let couplings: Vec<_> = edges.into_iter().map(|(i, j)| (i, j, draw.real(scale))).collect();
    Ising::new(d, &fields, &couplings).unwrap()
}

#[test]
fn elimination_agrees_with_enumeration() {
    for (seed, scale, eps) in [(1, 1.0, 1.0), (2, 4.0, 0.1), (3, 0.2, 10.0), (4, 3.0, 1e-3)] {
        // 21 spins: large enough that the polynomial is eliminated; a dense copy is enumerated.
        let grid = random_grid(seed, 3, 7, scale);
        let slim = exact(&Model::from(grid.clone()), eps, &Settings::default(), &mut Silent).unwrap();
        assert_eq!(slim.algorithm, Algorithm::Elimination);
        let mut couplings: Vec<_> = grid.triples().collect();
        for i in 0..21 {
            for j in i + 1..21 {
                if !grid.edges().contains(&[i as u32, j as u32]) {
                    couplings.push((i, j, 1e-300));
                }
            }
        }
        let dense = Ising::new(21, grid.fields(), &couplings).unwrap();
        let full = exact(&Model::from(dense), eps, &Settings::default(), &mut Silent).unwrap();
        assert_eq!(full.algorithm, Algorithm::Enumeration);
        let overlap =
            slim.log_z_bounds.0 <= full.log_z_bounds.1 && full.log_z_bounds.0 <= slim.log_z_bounds.1;
        assert!(overlap, "{:?} {:?}", slim.log_z_bounds, full.log_z_bounds);
        for (a, b) in slim.means.iter().zip(&full.means) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
        for (i, j, v) in &slim.pairwise {
            let other = full.pairwise.iter().find(|p| (p.0, p.1) == (*i, *j)).unwrap();
            assert!((v - other.2).abs() < 1e-9);
        }
        assert!((slim.entropy - full.entropy).abs() < 1e-8 && (slim.max_f - full.max_f).abs() < 1e-10);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let complete = zbound::generate::GenerateSpec {
        family: zbound::generate::Family::Gaussian,
        graph: zbound::generate::Graph::Complete,
        d: 23,
        w: 0.0,
        seed: 5,
    };
    let models = [
        Model::from(zbound::generate::generate(&complete).unwrap()),
        Model::from(random_grid(3, 15, 15, 1.0)),
    ];
    for (model, eps) in models.iter().flat_map(|m| [(m, 1.0), (m, 0.02)]) {
        let run = |threads| {
            let found = exact(model, eps, &Settings::default().with_threads(threads), &mut Silent).unwrap();
            let Exact { log_z, log_z_bounds, means, pairwise, entropy, argmax, .. } = found;
            format!("{log_z:?} {log_z_bounds:?} {means:?} {pairwise:?} {entropy:?} {argmax:?}")
        };
        let alone = run(1);
        assert!([2, 3].into_iter().all(|threads| run(threads) == alone));
    }
}

#[test]
fn values_beyond_floating_point_are_refused() {
    let huge = Model::from(Ising::new(2, &[1e308, 1e308], &[(0, 1, 1e308)]).unwrap());
    assert!(exact(&huge, 1.0, &Settings::default(), &mut Silent).is_err());
    let large = Model::from(Ising::new(2, &[1e280, -1e280], &[(0, 1, 1e280)]).unwrap());
    let found = exact(&large, 1.0, &Settings::default(), &mut Silent).unwrap();
    assert!(found.log_z_bounds.0 <= 1e280 && 1e280 <= found.log_z_bounds.1 && found.max_f == 1e280);
}

#[test]
fn degenerate_models_have_answers() {
    let none = exact(&Model::from(Ising::new(0, &[], &[]).unwrap()), 1.0, &Settings::default(), &mut Silent);
    let none = none.unwrap();
    assert!(none.log_z == 0.0 && none.argmax.is_empty() && none.max_f == 0.0);
    let free = Model::from(Ising::new(200, &[0.0; 200], &[]).unwrap());
    let free = exact(&free, 2.0, &Settings::default(), &mut Silent).unwrap();
    assert!(free.phi.abs() < 1e-9 && free.phi_bounds.0 <= 0.0 && 0.0 <= free.phi_bounds.1);
    assert!((free.entropy - 200.0 * 2f64.ln()).abs() < 1e-10 && free.means.iter().all(|m| m.abs() < 1e-12));
    let mut impossible = FactorModel::new(30);
    impossible.push(&[3, 4], &[f64::NEG_INFINITY; 4]).unwrap();
    let impossible = Model::new(Source::Factors(impossible));
    let found = exact(&impossible, 1.0, &Settings::default(), &mut Silent).unwrap();
    assert!(found.log_z == f64::NEG_INFINITY && found.means[0].is_nan());
}

#[test]
fn slices_add_up_to_the_whole() {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(6));
    let states = [2, 3, 2, 4, 2, 3, 2, 2, 3, 2, 2, 2];
    let mut mixed = FactorModel::with_cardinalities(&states).unwrap();
    for i in 0..states.len() {
        for j in (i + 1..states.len()).filter(|j| (i + j) % 3 != 0) {
            let table: Vec<f64> = (0..states[i] * states[j]).map(|_| draw.real(2.0)).collect();
            mixed.push(&[i, j], &table).unwrap();
        }
    }
    let zero = [0.0, 1.0, f64::NEG_INFINITY, 0.5, 0.0, f64::NEG_INFINITY];
    mixed.push(&[0, 1], &zero).unwrap();
    for (model, eps, limit) in [
        (Model::new(Source::Factors(mixed)), 0.6, 2000),
        (Model::from(random_grid(8, 12, 12, 1.0)), 1.0, 40_000),
        (Model::from(random_grid(9, 10, 10, 3.0)), 0.01, 10_000),
    ] {
        let run = |bytes: u64, threads: usize| {
            let settings = Settings::default().with_memory_limit(bytes).with_threads(threads);
            exact_with(&model, eps, Wanted::LOG_Z, &settings, &mut Silent).unwrap()
        };
        let whole = run(1 << 30, 1);
        let sliced = run(limit, 1);
        let (a, b) = (whole.log_z_bounds, sliced.log_z_bounds);
        assert!(a.0 <= b.1 && b.0 <= a.1 && a != b, "{a:?} {b:?}");
        assert!(b.1 - b.0 < 1e-10 * b.1.abs().max(1.0) && sliced.order == whole.order);
        assert_eq!(run(limit, 3).log_z_bounds, b);
    }
}

#[test]
fn a_network_without_evidence_below_sums_to_nothing() {
    // Rows of thirds sum to one only up to rounding.
    let third = (1f64 / 3.0).ln();
    let mut network = FactorModel::new(30);
    for i in 0..30usize {
        // Each has up to five parents before it.
        let parents: Vec<usize> = (0..5).map(|k| (i * 7 + k * 3) % i.max(1)).filter(|&p| p < i).collect();
        let mut scope = vec![i];
        parents.into_iter().for_each(|p| {
            if !scope.contains(&p) {
                scope.push(p)
            }
        });
        let row = |k: usize| if k.is_multiple_of(2) { third } else { (2f64 / 3.0).ln() };
        let table: Vec<f64> = (0..1 << scope.len()).map(row).collect();
        network.push(&scope, &table).unwrap();
    }
    let network = Model::new(Source::Factors(network));
    let found = exact_with(&network, 1.0, Wanted::LOG_Z, &Settings::default(), &mut Silent).unwrap();
    assert!(found.log_z_bounds.0 <= 0.0 && 0.0 <= found.log_z_bounds.1, "{:?}", found.log_z_bounds);
    assert!(found.states_or_width == 0 || found.algorithm == Algorithm::Enumeration);
}

#[test]
fn limits_and_cancellation_are_obeyed() {
    let grid = Model::from(random_grid(1, 12, 12, 1.0));
    let small = Settings::default().with_memory_limit(100);
    let refused = exact(&grid, 1.0, &small, &mut Silent).unwrap_err();
    assert!(matches!(refused, Error::Memory { .. }) && refused.to_string().contains("width 12"), "{refused}");
    let mut stop = |_: &Progress| Flow::Stop;
    let stopped = exact(&grid, 1.0, &Settings::default(), &mut stop).unwrap_err();
    assert!(matches!(stopped, Error::Interrupted(StopReason::Cancelled)));
    let hurry = Settings::default().with_time_limit(Some(0.0));
    let late = exact(&grid, 1.0, &hurry, &mut Silent).unwrap_err();
    assert!(matches!(late, Error::Interrupted(StopReason::TimeLimit)));
    for eps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(exact(&grid, eps, &Settings::default(), &mut Silent).is_err());
    }
}

#[test]
fn stored_reference_values_are_met() {
    let numbers = |v: &serde_json::Value| -> Vec<f64> {
        v.as_array().into_iter().flatten().filter_map(|x| x.as_f64()).collect()
    };
    let triples = |v: &serde_json::Value| -> Vec<(usize, usize, f64)> {
        let rows = v.as_array().into_iter().flatten().map(numbers);
        rows.map(|r| (r[0] as usize, r[1] as usize, r[2])).collect()
    };
    let mut checked = 0;
    for instance in &proofs::golden_instances() {
        let model = Model::from(proofs::reference_model(instance));
        let d = model.d();
        let eps = instance["eps"].as_f64().unwrap();
        let found = exact(&model, eps, &Settings::default(), &mut Silent).unwrap();
        let truth = &instance["ref"]["exact"];
        let phi = truth["phi"].as_f64().unwrap();
        let id = &instance["id"];
        assert!((found.phi - phi).abs() <= 1e-10 * phi.abs().max(1.0), "{id}: {} {phi}", found.phi);
        for (mean, p) in found.means.iter().zip(numbers(&truth["p_plus"])) {
            assert!(((1.0 + mean) / 2.0 - p).abs() < 1e-10, "{id}");
        }
        for (i, j, v) in triples(&truth["pair_moments"]) {
            let ours = found.pairwise.iter().find(|p| (p.0 as usize, p.1 as usize) == (i, j)).unwrap();
            assert!((ours.2 - v).abs() < 1e-10, "{id}: {i} {j}");
        }
        if let Some(max_f) = instance["ref"]["zero_temp"]["max_f"].as_f64() {
            assert!((found.max_f - max_f).abs() < 1e-10 * max_f.abs().max(1.0), "{id}");
        }
        if let Some(kl) = truth["kl_p_uniform"].as_f64() {
            assert!((d as f64 * 2f64.ln() - found.entropy - kl).abs() < 1e-9 * (1.0 + kl), "{id}");
        }
        checked += 1;
    }
    assert_eq!(checked, 34);
}

#[test]
fn info_describes_shape_and_scale() {
    let info = zbound::exact::info(&Model::from(random_grid(1, 4, 5, 2.0))).unwrap();
    assert_eq!((info.d, info.variables, info.edges, info.components, info.max_degree), (20, 20, 31, 1, 4));
    assert_eq!((info.induced_width, info.max_arity, info.terms, info.hard_zeros), (4, 2, 0, 0));
    assert!(!info.is_forest && !info.is_complete && info.is_pairwise && !info.from_tables);
    let (low, high) = info.couplings.unwrap();
    assert!(0.0 < low && low < high && high <= 2.0 && info.sign == zbound::exact::Sign::Mixed);
    let mut hard = FactorModel::new(4);
    hard.push(&[0, 1, 2], &[0.0, f64::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    let hard = Model::new(Source::Factors(hard)).with_evidence(&[(3, 1)]).unwrap();
    let info = zbound::exact::info(&hard).unwrap();
    assert_eq!((info.d, info.variables, info.hard_zeros, info.max_arity, info.terms), (3, 4, 1, 3, 0));
    assert!(info.fields.is_none() && info.is_complete && !info.is_pairwise && info.from_tables);
    assert!(serde_json::to_string(&info).unwrap().contains("\"sign\":\"none\""));
}
