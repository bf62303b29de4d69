//! Weighted mini-buckets bracket log Z on random models of every kind, whatever the width, the limits or the interruption.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use zbound::relax::{TableBound, Wmb};
use zbound::{FactorModel, Flow, Progress, Settings, Silent, Solution};

/// Rounding of the reference, relative to the values that were added up.
const REFERENCE: f64 = 1e-12;

struct Random(ChaCha8Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    fn below(&mut self, n: u32) -> u32 {
        self.0.next_u32() % n
    }

    /// Uniform in [-1, 1].
    fn unit(&mut self) -> f64 {
        f64::from(self.below(2_000_001)) / 1e6 - 1.0
    }
}

/// A model of up to 8 variables with 1 to 4 states and factors of arity up to 5, a third of them with zeros.
fn model(random: &mut Random) -> FactorModel {
    let d = 1 + random.below(8) as usize;
    let states: Vec<usize> = (0..d).map(|_| 1 + random.below(4) as usize).collect();
    let mut model = FactorModel::with_cardinalities(&states).unwrap();
    model.add_constant(random.unit());
    let has_zeros = random.below(3) == 0;
    let scale = f64::from(1 + random.below(30)) / 10.0;
    for _ in 0..random.below(15) {
        let mut scope = Vec::new();
        for _ in 0..=random.below(5) {
            let v = random.below(d as u32) as usize;
            if !scope.contains(&v) {
                scope.push(v);
            }
        }
        let size = scope.iter().map(|&v| states[v]).product();
        let entry = |random: &mut Random| {
            if has_zeros && random.below(4) == 0 { f64::NEG_INFINITY } else { scale * random.unit() }
        };
        let table: Vec<f64> = (0..size).map(|_| entry(random)).collect();
        model.push(&scope, &table).unwrap();
    }
    model
}

/// `eps log Z` by enumeration, with its rounding.
fn enumerate(model: &FactorModel, eps: f64) -> (f64, f64) {
    let states = model.cardinalities();
    let mut x = vec![0; states.len()];
    let mut values = Vec::new();
    loop {
        values.push(model.value_of(&x));
        let Some(v) = (0..x.len()).find(|&v| x[v] + 1 < states[v]) else { break };
        x[..v].fill(0);
        x[v] += 1;
    }
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return (top, 0.0);
    }
    let sum: f64 = values.iter().map(|v| ((v - top) / eps).exp()).sum();
    (top + eps * sum.ln(), REFERENCE * (1.0 + top.abs() + eps))
}

/// Both sides of `solution` hold, and its certificate proves them again.
fn check(model: &FactorModel, eps: f64, solution: &Solution, what: &str) {
    let (exact, rounding) = enumerate(model, eps);
    if let Some(upper) = solution.upper {
        assert!(upper.log_z() >= exact - rounding, "{what}: upper {} below {exact}", upper.log_z());
        let again = solution.certificate.as_ref().unwrap().verify_tables(model).unwrap();
        assert_eq!(again, upper, "{what}");
    }
    if let Some(lower) = solution.lower {
        assert!(lower.log_z() <= exact + rounding, "{what}: lower {} above {exact}", lower.log_z());
        let again = solution.certificate.as_ref().unwrap().verify_lower_tables(model).unwrap();
        assert_eq!(again, lower, "{what}");
    }
}

/// Random models in the fast and in the full run of the tests.
fn count(fast: u64, full: u64) -> u64 {
    if std::env::var_os("ZBOUND_FULL").is_some() { full } else { fast }
}

#[test]
fn both_sides_hold_on_random_models_of_every_kind() {
    for seed in 0..count(300, 20_000) {
        let mut random = Random::new(seed);
        let model = model(&mut random);
        let eps = 10f64.powf(2.0 * random.unit());
        let settings = Settings::default().with_ibound(Some(random.below(4) as usize)).with_seed(seed);
        let solution = Wmb.solve_tables(&model, eps, &settings, &mut Silent).unwrap();
        check(&model, eps, &solution, &format!("seed {seed}"));
        let (exact, _) = enumerate(&model, eps);
        if exact.is_finite() {
            assert!(
                solution.upper.is_some() && solution.lower.is_some(),
                "seed {seed}: {:?}",
                solution.reason
            );
        }
    }
}

#[test]
fn without_a_width_small_models_are_summed_exactly() {
    for seed in 0..count(200, 5_000) {
        let mut random = Random::new(1_000_000 + seed);
        let model = model(&mut random);
        let eps = 10f64.powf(2.0 * random.unit());
        let solution = Wmb.solve_tables(&model, eps, &Settings::default(), &mut Silent).unwrap();
        check(&model, eps, &solution, &format!("seed {seed}"));
        if let (Some(upper), Some(lower)) = (solution.upper, solution.lower) {
            let width = upper.log_z() - lower.log_z();
            assert!(width <= 1e-8 * (1.0 + upper.log_z().abs() + eps), "seed {seed}: width {width}");
        }
    }
}

#[test]
fn an_interruption_at_any_pass_leaves_bounds_that_hold_and_never_widen() {
    for seed in 0..count(60, 2_000) {
        let mut random = Random::new(2_000_000 + seed);
        let model = model(&mut random);
        let settings = Settings::default().with_ibound(Some(random.below(3) as usize));
        let after = 1 + random.below(12) as usize;
        let (mut best, mut looks) = ((f64::NEG_INFINITY, f64::INFINITY), 0);
        let mut watch = |progress: &Progress| {
            if !progress.upper.is_nan() {
                assert!(progress.upper <= best.1, "seed {seed}");
                best.1 = progress.upper;
            }
            if !progress.lower.is_nan() {
                assert!(progress.lower >= best.0, "seed {seed}");
                best.0 = progress.lower;
            }
            looks += 1;
            if looks > after { Flow::Stop } else { Flow::Continue }
        };
        let solution = Wmb.solve_tables(&model, 1.0, &settings, &mut watch).unwrap();
        check(&model, 1.0, &solution, &format!("seed {seed}"));
    }
}

/// A model of 9 to 11 variables with two or three states and enough factors that small tables do not hold it.
fn tangled(random: &mut Random) -> FactorModel {
    let d = 9 + random.below(3) as usize;
    let states: Vec<usize> = (0..d).map(|v| if v < 6 { 2 + random.below(2) as usize } else { 2 }).collect();
    let mut model = FactorModel::with_cardinalities(&states).unwrap();
    let has_zeros = random.below(4) == 0;
    for _ in 0..3 * d {
        let mut scope: Vec<usize> =
            (0..2 + random.below(2)).map(|_| random.below(d as u32) as usize).collect();
        scope.sort_unstable();
        scope.dedup();
        let scale = f64::from(1 + random.below(20)) / 10.0;
        let size = scope.iter().map(|&v| states[v]).product();
        let entry = |random: &mut Random| {
            if has_zeros && random.below(12) == 0 { f64::NEG_INFINITY } else { scale * random.unit() }
        };
        let table: Vec<f64> = (0..size).map(|_| entry(random)).collect();
        model.push(&scope, &table).unwrap();
    }
    model
}

#[test]
fn tables_that_grow_where_splits_cost_most_give_bounds_that_hold_at_any_pass() {
    let mut split = 0;
    for seed in 0..count(100, 3_000) {
        let mut random = Random::new(4_000_000 + seed);
        let model = tangled(&mut random);
        // Room for some tens of numbers, so that buckets stay split in every stage.
        let memory = 300 * (4 + u64::from(random.below(12)));
        let settings = Settings::default()
            .with_memory_limit(memory)
            .with_max_iterations(Some(1 + random.below(60) as usize))
            .with_seed(seed);
        let solution = Wmb.solve_tables(&model, 1.0, &settings, &mut Silent).unwrap();
        check(&model, 1.0, &solution, &format!("seed {seed}"));
        split += usize::from(solution.relaxation_gap.is_some_and(|gap| gap > 1e-6));
    }
    assert!(split > 50, "{split} of the models had a bucket that was split");
}

#[test]
fn wider_mini_buckets_close_the_gap_of_a_grid() {
    let side = 8;
    let mut random = Random::new(5);
    let mut model = FactorModel::new(side * side);
    for i in 0..side * side {
        let mut pair = |j: usize, random: &mut Random| {
            let v = random.unit();
            model.push(&[i, j], &[v, -v, -v, v]).unwrap();
        };
        if i % side + 1 < side {
            pair(i + 1, &mut random);
        }
        if i + side < side * side {
            pair(i + side, &mut random);
        }
    }
    let mut last = f64::INFINITY;
    // Twelve is beyond the width of any order that is found: one mini-bucket a bucket.
    for width in [2, 4, 12] {
        let settings = Settings::default().with_ibound(Some(width));
        let solution = Wmb.solve_tables(&model, 1.0, &settings, &mut Silent).unwrap();
        let gap = solution.upper.unwrap().log_z() - solution.lower.unwrap().log_z();
        assert!(gap >= 0.0 && gap < last, "width {width}: gap {gap} after {last}");
        last = gap;
    }
    assert!(last < 1e-8, "elimination is exact: {last}");
}

#[test]
fn threads_do_not_change_the_result() {
    for seed in 0..20 {
        let mut random = Random::new(3_000_000 + seed);
        let model = model(&mut random);
        let solve = |threads: usize| {
            let settings = Settings::default().with_ibound(Some(1)).with_threads(threads);
            let solution = Wmb.solve_tables(&model, 1.0, &settings, &mut Silent).unwrap();
            (solution.upper, solution.lower, solution.state_marginals)
        };
        assert_eq!(solve(1), solve(2), "seed {seed}");
    }
}

#[test]
fn a_model_without_variables_is_its_constant() {
    let mut model = FactorModel::new(0);
    model.add_constant(1.5);
    let solution = Wmb.solve_tables(&model, 1.0, &Settings::default(), &mut Silent).unwrap();
    check(&model, 1.0, &solution, "no variables");
    assert!((solution.upper.unwrap().log_z() - 1.5).abs() < 1e-12);
    assert!((solution.lower.unwrap().log_z() - 1.5).abs() < 1e-12);
}

#[test]
fn contradictory_zeros_are_reported_as_no_state() {
    let mut model = FactorModel::new(2);
    let none = f64::NEG_INFINITY;
    model.push(&[0, 1], &[0.0, none, none, 0.0]).unwrap();
    model.push(&[0, 1], &[none, 0.0, 0.0, none]).unwrap();
    let solution = Wmb.solve_tables(&model, 1.0, &Settings::default(), &mut Silent).unwrap();
    assert!(solution.lower.is_none());
    // No single table rules anything out, so the sum itself finds that nothing is left.
    assert!(solution.reason.is_some(), "{:?}", solution.upper);
}

#[test]
fn single_tables_that_leave_nothing_are_named() {
    let mut model = FactorModel::new(2);
    let none = f64::NEG_INFINITY;
    model.push(&[0], &[none, 0.0]).unwrap();
    model.push(&[0, 1], &[0.0, none, 0.0, none]).unwrap();
    let solution = Wmb.solve_tables(&model, 1.0, &Settings::default(), &mut Silent).unwrap();
    assert!(solution.upper.is_none() && solution.lower.is_none());
    assert!(solution.reason.unwrap().contains("no state"));
}
