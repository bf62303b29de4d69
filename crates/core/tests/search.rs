//! The search for good assignments against enumeration.

mod proofs;

use proofs::{Random, cases, random_ising, random_polynomial, spins};
use zbound::{FactorModel, Flow, Polynomial, Progress, Settings, Silent, search};

fn maximum(f: &Polynomial) -> f64 {
    (0..1 << f.d()).map(|bits| f.value(&spins(f.d(), bits))).fold(f64::NEG_INFINITY, f64::max)
}

/// Every assignment of the model.
fn assignments(model: &FactorModel) -> Vec<Vec<u32>> {
    let size: usize = model.cardinalities().iter().map(|&q| q as usize).product();
    let states = |mut index: usize| {
        let digit = |&q: &u32| {
            let state = index % q as usize;
            index /= q as usize;
            state as u32
        };
        model.cardinalities().iter().map(digit).collect()
    };
    (0..size).map(states).collect()
}

/// Tables over one to three variables of one to four states, a share of the entries zero.
fn random_tables(random: &mut Random, d: usize, zeros: f64) -> FactorModel {
    let cardinalities: Vec<usize> = (0..d).map(|_| 1 + random.below(4)).collect();
    let mut model = FactorModel::with_cardinalities(&cardinalities).unwrap();
    for _ in 0..1 + random.below(3 * d) {
        let mut scope: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(d)).collect();
        scope.sort_unstable();
        scope.dedup();
        let size = model.table_size(&scope).unwrap();
        let entry = |_| if random.unit() < zeros { f64::NEG_INFINITY } else { random.between(-2.0, 2.0) };
        let table: Vec<f64> = (0..size).map(entry).collect();
        model.push(&scope, &table).unwrap();
    }
    model
}

#[test]
fn small_polynomials_are_maximised() {
    let mut random = Random(31);
    for case in 0..cases(300, 3000) {
        let d = random.size();
        let scale = random.model_scale();
        let f = match case % 2 {
            0 => random_polynomial(&mut random, d, scale),
            _ => random_ising(&mut random, d, scale).into(),
        };
        let found = f.value(&search::spins(&f, &[], &Settings::default(), &mut Silent));
        let best = maximum(&f);
        assert!(best - found <= 1e-12 * f.l1_norm(), "case {case}: {found} < {best}");
    }
}

#[test]
fn small_tables_are_maximised_and_hard_zeros_avoided() {
    let mut random = Random(32);
    for case in 0..cases(300, 3000) {
        let d = 1 + random.below(6);
        let zeros = [0.0, 0.1, 0.5][case % 3];
        let model = random_tables(&mut random, d, zeros);
        let best = assignments(&model).iter().map(|x| model.value_of(x)).fold(f64::NEG_INFINITY, f64::max);
        let found = search::search(&model, &[], &Settings::default(), &mut Silent).unwrap();
        assert_eq!(found.value, model.value_of(&found.states), "case {case}");
        assert!(found.value >= best - 1e-12, "case {case}: {} < {best}", found.value);
    }
}

#[test]
fn the_result_depends_on_the_seed_and_not_on_the_number_of_threads() {
    let mut random = Random(33);
    let f = Polynomial::from(random_ising(&mut random, 60, 1.0));
    let model = random_tables(&mut random, 40, 0.1);
    let run = |threads| {
        let settings = Settings::default().with_threads(threads).with_seed(4);
        let found = search::search(&model, &[], &settings, &mut Silent).unwrap();
        (search::spins(&f, &[], &settings, &mut Silent), found)
    };
    let one = run(1);
    assert_eq!(one, run(1));
    assert_eq!(one, run(3));
    assert_eq!(one, run(8));
}

#[test]
fn a_search_that_is_stopped_at_once_returns_the_best_start() {
    let mut random = Random(34);
    let f = Polynomial::from(random_ising(&mut random, 12, 1.0));
    let starts = [spins(12, 77), spins(12, 2000)];
    let found = search::spins(&f, &starts, &Settings::default(), &mut |_: &Progress| Flow::Stop);
    assert!(f.value(&found) >= f.value(&starts[0]).max(f.value(&starts[1])));
    let model = random_tables(&mut random, 5, 0.0);
    assert!(search::search(&model, &[vec![9; 5]], &Settings::default(), &mut Silent).is_err());
    assert!(search::search(&model, &[vec![0; 4]], &Settings::default(), &mut Silent).is_err());
}

#[test]
fn a_planted_assignment_is_found() {
    // Couplings of a ring that agree with hidden spins, some weaker than others: the maximum is known.
    let mut random = Random(35);
    let d = 400;
    let hidden: Vec<f64> = (0..d).map(|_| if random.below(2) == 0 { 1.0 } else { -1.0 }).collect();
    let mut couplings = Vec::new();
    for i in 0..d {
        for step in [1, 7, 100] {
            let j = (i + step) % d;
            couplings.push((i, j, hidden[i] * hidden[j] * random.between(0.5, 1.5)));
        }
    }
    let f = Polynomial::from(zbound::Ising::new(d, &vec![0.0; d], &couplings).unwrap());
    let best: f64 = couplings.iter().map(|c| c.2.abs()).sum();
    let found = f.value(&search::spins(&f, &[], &Settings::default(), &mut Silent));
    assert!(found >= best - 1e-9, "{found} of {best}");
}

#[test]
fn a_large_search_that_is_stopped_early_has_a_good_assignment() {
    let (d, mut random) = (140_000, Random(35));
    let sign = |random: &mut Random| if random.below(2) == 0 { 1.0 } else { -1.0 };
    let near = (0..d - 1).map(|i| (i, i + 1, sign(&mut random))).collect::<Vec<_>>();
    let far = (0..d - 97).map(|i| (i, i + 97, sign(&mut random))).collect::<Vec<_>>();
    let m = (near.len() + far.len()) as f64;
    let couplings: Vec<_> = near.into_iter().chain(far).collect();
    let f = Polynomial::from(zbound::Ising::new(d, &vec![0.0; d], &couplings).unwrap());
    let mut polls = 0;
    let mut observer = |_: &Progress| {
        polls += 1;
        if polls > 30 { Flow::Stop } else { Flow::Continue }
    };
    let found = f.value(&search::spins(&f, &[], &Settings::default(), &mut observer));
    // A random assignment is worth 0, the best about 0.7 a coupling.
    assert!(found > 0.4 * m, "{found} of {m}");
}
