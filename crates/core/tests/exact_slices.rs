//! Slices against answers in one piece.

mod oracle;

use oracle::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use zbound::exact::{Wanted, exact, exact_with, slice, slices};
use zbound::{Error, FactorModel, Model, Settings, Silent, Source};

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

/// A dense model of mixed domains, with hard zeros where `zeros` says so.
fn dense(draw: &mut Draw, zeros: f64) -> Model {
    let states: Vec<usize> = (0..9).map(|_| 1 + draw.below(5)).collect();
    let mut model = FactorModel::with_cardinalities(&states).unwrap();
    model.add_constant(draw.real(3.0));
    for i in 0..states.len() {
        for j in (i + 1..states.len()).filter(|j| (i * j) % 4 != 1) {
            let mut entry = || if draw.unit() < zeros { f64::NEG_INFINITY } else { draw.real(2.0) };
            let table: Vec<f64> = (0..states[i] * states[j]).map(|_| entry()).collect();
            model.push(&[i, j], &table).unwrap();
        }
    }
    Model::new(Source::Factors(model))
}

#[test]
fn sliced_marginals_entropy_and_maximum_are_those_of_the_whole() {
    let seed = 31;
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    let (mut sliced, mut impossible) = (0, 0);
    for trial in 0..60 {
        let what = format!("seed {seed} trial {trial}");
        let model = match trial % 3 {
            0 => dense(&mut draw, 0.0),
            1 => dense(&mut draw, 0.15),
            _ => Model::from(random_grid(trial, 6, 7, 1.5)),
        };
        let eps = 10f64.powf(draw.real(1.0));
        let whole = exact(&model, eps, &Settings::default(), &mut Silent).unwrap();
        let limit = 200 << draw.below(7);
        let tight = Settings::default().with_memory_limit(limit);
        let found = match exact(&model, eps, &tight, &mut Silent) {
            Err(Error::Memory { .. }) => continue,
            found => found.unwrap(),
        };
        let (a, b) = (whole.log_z_bounds, found.log_z_bounds);
        assert!(a.0 <= b.1 && b.0 <= a.1, "{what}: {a:?} {b:?}");
        if whole.log_z == f64::NEG_INFINITY {
            impossible += 1;
            assert!(found.log_z == f64::NEG_INFINITY && found.entropy.is_nan(), "{what}");
            continue;
        }
        if !found.has_marginals() {
            continue;
        }
        sliced += usize::from(a != b);
        let scale = 1e-9 * (1.0 + 1.0 / eps);
        for (p, q) in whole.state_marginals.iter().flatten().zip(found.state_marginals.iter().flatten()) {
            assert!((p - q).abs() < scale, "{what}: {p} {q}");
        }
        for (p, q) in whole.state_bounds.iter().flatten().zip(found.state_bounds.iter().flatten()) {
            assert!(p[0] <= q[1] && q[0] <= p[1] && q[1] - q[0] < 1e-8, "{what}: {p:?} {q:?}");
        }
        assert_eq!(whole.pairwise.len(), found.pairwise.len(), "{what}");
        for (p, q) in whole.pairwise.iter().zip(&found.pairwise) {
            assert!((p.0, p.1) == (q.0, q.1) && (p.2 - q.2).abs() < scale, "{what}: {p:?} {q:?}");
        }
        assert!((whole.entropy - found.entropy).abs() < 10.0 * scale, "{what}");
        assert!((whole.max_f - found.max_f).abs() < 1e-9, "{what}: {} {}", whole.max_f, found.max_f);
    }
    println!("{sliced} sliced, {impossible} impossible");
    assert!(sliced >= 10, "{sliced}");
}

#[test]
fn tasks_add_up_to_the_whole() {
    let seed = 32;
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    let mut several = 0;
    for trial in 0..40 {
        let what = format!("seed {seed} trial {trial}");
        let mut model =
            if trial % 2 == 0 { dense(&mut draw, 0.1) } else { Model::from(random_grid(trial, 6, 6, 1.0)) };
        // Evidence, so that numbers of variables and of free variables differ.
        let known = draw.below(8);
        let state = draw.below(model.cardinality(known) as usize) as u32;
        model = model.with_states(&[(known, state)]).unwrap();
        let settings = Settings::default().with_memory_limit(100 << draw.below(6));
        let plan = match slices(&model, &settings) {
            Err(Error::Memory { .. }) => continue,
            plan => plan.unwrap(),
        };
        several += usize::from(plan.count() > 1);
        assert!(plan.cost.bytes <= settings.memory_limit);
        let solve = |k| slice(&model, &plan.states(k), &plan.order, 0.8, &settings, &mut Silent).unwrap();
        let parts: Vec<(f64, f64)> = (0..plan.count()).map(|k| solve(k).log_z_bounds).collect();
        let (low, high) = zbound::exact::sum(&model, &parts, 0.8).unwrap().log_z_bounds;
        let whole = exact_with(&model, 0.8, Wanted::LOG_Z, &Settings::default(), &mut Silent).unwrap();
        let (a, b) = whole.log_z_bounds;
        assert!(low <= b && a <= high, "{what}: {low} {high} {a} {b}");
        assert!(high == low || high - low < 1e-9 * (1.0 + high.abs()), "{what}: {low} {high}");
    }
    assert!(several >= 10, "{several}");
    let model = Model::from(random_grid(1, 3, 3, 1.0));
    let refused = |states: &[(usize, u32)], order: &[usize]| {
        slice(&model, states, order, 1.0, &Settings::default(), &mut Silent).unwrap_err().to_string()
    };
    assert!(refused(&[(9, 0)], &[]).contains("variable 9"));
    assert!(refused(&[(0, 2)], &[]).contains("state 2"));
    assert!(refused(&[], &[77]).contains("variable 77"));
    assert!(zbound::exact::sum(&model, &[(1.0, f64::NAN)], 1.0).is_err());
    assert!(zbound::exact::sum(&model, &[(1.0, 0.0)], 1.0).is_err());
    assert!(zbound::exact::sum(&model, &[(1.0, 2.0)], -1.0).is_err());
    assert_eq!(zbound::exact::sum(&model, &[], 1.0).unwrap().log_z, f64::NEG_INFINITY);
}
