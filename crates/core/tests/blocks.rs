//! Mean field over factor tables: blocks of bounded width against enumeration.

mod proofs;

use proofs::{Random, cases};
use zbound::certify::Witness;
use zbound::relax::{MeanField, TableBound};
use zbound::{FactorModel, Flow, Progress, Settings, Silent, Solution, StopReason};

/// Tables over one to four variables of one to three states, a share of the entries zero.
fn random_tables(random: &mut Random, d: usize, scale: f64, zeros: f64) -> FactorModel {
    let cardinalities: Vec<usize> = (0..d).map(|_| 1 + random.below(3)).collect();
    let mut model = FactorModel::with_cardinalities(&cardinalities).unwrap();
    for _ in 0..1 + random.below(3 * d) {
        let mut scope: Vec<usize> = (0..1 + random.below(4)).map(|_| random.below(d)).collect();
        scope.sort_unstable();
        scope.dedup();
        let size = model.table_size(&scope).unwrap();
        let entry =
            |_| if random.unit() < zeros { f64::NEG_INFINITY } else { scale * random.between(-1.0, 1.0) };
        let table: Vec<f64> = (0..size).map(entry).collect();
        model.push(&scope, &table).unwrap();
    }
    model.add_constant(scale * random.between(-1.0, 1.0));
    model
}

/// A wrapped grid of spins, which no table of 2^11 entries holds when the side is 8 or more.
fn torus(random: &mut Random, side: usize) -> FactorModel {
    let mut model = FactorModel::new(side * side);
    for i in 0..side * side {
        let (row, column) = (i / side, i % side);
        model.push(&[i], &[0.0, random.between(-1.0, 1.0)]).unwrap();
        for j in [row * side + (column + 1) % side, (row + 1) % side * side + column] {
            let v = random.between(-1.0, 1.0);
            model.push(&[i, j], &[v, -v, -v, v]).unwrap();
        }
    }
    model
}

/// `eps log sum_x exp(f(x)/eps)` less `eps log` of the number of states.
fn phi(model: &FactorModel, eps: f64) -> f64 {
    let size: usize = model.cardinalities().iter().map(|&q| q as usize).product();
    let value = |mut index: usize| {
        let digit = |&q: &u32| {
            let state = index % q as usize;
            index /= q as usize;
            state as u32
        };
        model.value_of(&model.cardinalities().iter().map(digit).collect::<Vec<_>>())
    };
    let values: Vec<f64> = (0..size).map(value).collect();
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    let sum: f64 = values.iter().map(|v| ((v - top) / eps).exp()).sum();
    top + eps * (sum / size as f64).ln()
}

fn solve(model: &FactorModel, eps: f64, settings: &Settings) -> Solution {
    MeanField.solve_tables(model, eps, settings, &mut Silent).unwrap()
}

#[test]
fn blocks_are_below_brute_force_at_every_stop_and_exact_when_one_block_fits() {
    let mut random = Random(51);
    for case in 0..cases(400, 5000) {
        let d = 1 + random.below(6);
        let (scale, eps) = (random.magnitude(0.01, 10.0), random.magnitude(1e-2, 1e2));
        let zeros = [0.0, 0.1, 0.4][case % 3];
        let model = random_tables(&mut random, d, scale, zeros);
        let exact = phi(&model, eps);
        if exact == f64::NEG_INFINITY {
            continue;
        }
        let iterations = [Some(1), Some(30), None][random.below(3)];
        let solution = solve(&model, eps, &Settings::default().with_max_iterations(iterations));
        let Some(bound) = solution.lower else {
            panic!("case {case}: {:?}", solution.reason);
        };
        let rounding = 1e-9 * (scale * d as f64 + eps * d as f64);
        assert!(bound.phi() <= exact + rounding, "case {case}: {} > {exact}", bound.phi());
        if iterations.is_none() {
            assert!(exact - bound.phi() <= 2.0 * rounding, "case {case}: {} < {exact}", bound.phi());
        }
        let certificate = solution.certificate.as_ref().unwrap();
        if certificate.witness.as_ref().unwrap().is_about_tables() {
            assert_eq!(certificate.verify_lower_tables(&model).unwrap(), bound, "case {case}");
        }
    }
}

/// Pairwise and some cubic tables over a few variables, dense enough that small blocks leave much between them.
fn dense_tables(random: &mut Random, d: usize, scale: f64) -> FactorModel {
    let cardinalities: Vec<usize> = (0..d).map(|_| 2 + random.below(8) / 7).collect();
    let mut model = FactorModel::with_cardinalities(&cardinalities).unwrap();
    for i in 0..d {
        for j in i + 1..d {
            let third = if random.below(10) == 0 { Some(random.below(d)) } else { None };
            let mut scope = vec![i, j];
            scope.extend(third.filter(|k| *k != i && *k != j));
            let size = model.table_size(&scope).unwrap();
            let table: Vec<f64> = (0..size).map(|_| scale * random.between(-1.0, 1.0)).collect();
            model.push(&scope, &table).unwrap();
        }
    }
    model
}

#[test]
fn mixtures_of_small_blocks_are_below_brute_force_and_above_single_products() {
    let mut random = Random(55);
    let (mut mixed, mut closed, mut open) = (0, 0.0, 0.0);
    let count = cases(60, 3000);
    for case in 0..count {
        let d = 5 + random.below(6);
        let (scale, eps) = (random.magnitude(0.05, 5.0), random.magnitude(0.1, 10.0));
        let model = dense_tables(&mut random, d, scale);
        let exact = phi(&model, eps);
        let narrow = Settings::default().with_ibound(Some(1 + random.below(2)));
        let solution = solve(&model, eps, &narrow);
        let bound = solution.lower.unwrap_or_else(|| panic!("case {case}: {:?}", solution.reason));
        let rounding = 1e-9 * (scale * (d * d) as f64 + eps * d as f64);
        assert!(bound.phi() <= exact + rounding, "case {case}: {} > {exact}", bound.phi());
        let certificate = solution.certificate.as_ref().unwrap();
        let Some(Witness::Tree(tree)) = &certificate.witness else { continue };
        assert_eq!(certificate.verify_lower_tables(&model).unwrap(), bound, "case {case}");
        mixed += 1;
        // The first part alone is what a single product of blocks would be on it at most.
        assert!(tree.leaves.len() > 1, "case {case}");
        let single = solve(&model, eps, &narrow.clone().with_max_iterations(Some(40)));
        let single = single.lower.map_or(f64::NEG_INFINITY, |b| b.phi());
        assert!(bound.phi() >= single - rounding, "case {case}: {} below {single}", bound.phi());
        closed += bound.phi() - single;
        open += exact - single;
    }
    assert!(2 * mixed > count, "{mixed} of {count} are mixtures");
    assert!(closed > 0.5 * open, "mixtures close {closed} of {open}");
}

#[test]
fn a_mixture_holds_both_modes_of_a_magnet() {
    let mut model = FactorModel::new(24);
    for i in 0..24 {
        for j in i + 1..24 {
            model.push(&[i, j], &[0.2, -0.2, -0.2, 0.2]).unwrap();
        }
    }
    let bound = solve(&model, 1.0, &Settings::default().with_ibound(Some(3))).lower.unwrap();
    let loaded = zbound::Model::new(zbound::Source::Factors(model));
    let exact = zbound::exact::exact(&loaded, 1.0, &Settings::default(), &mut Silent).unwrap();
    let gap = exact.phi - bound.phi();
    assert!((0.0..0.2).contains(&gap), "gap {gap}: less than log 2 = 0.69, which one mode leaves");
}

#[test]
fn blocks_of_a_grid_beat_single_spins_and_stay_below_the_truth() {
    let mut random = Random(52);
    let model = torus(&mut random, 9);
    let solution = solve(&model, 1.0, &Settings::default());
    let bound = solution.lower.unwrap();
    let Some(Witness::Tree(tree)) = &solution.certificate.as_ref().unwrap().witness else {
        panic!("no mixture");
    };
    let Some(Some(Witness::Blocks { blocks, .. })) = tree.leaves.first() else { panic!("no blocks") };
    assert!(blocks.len() > 1 && blocks.len() < 20, "{}", blocks.len());
    let wide = Settings::default().with_memory_limit(4 << 30);
    let model_for_exact = zbound::Model::new(zbound::Source::Factors(model.clone()));
    let exact = zbound::exact::exact(&model_for_exact, 1.0, &wide, &mut Silent).unwrap();
    let gap = exact.phi - bound.phi();
    assert!((0.0..2.0).contains(&gap), "gap {gap}");
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let model = torus(&mut Random(53), 8);
    let run = |threads| {
        solve(&model, 0.5, &Settings::default().with_threads(threads)).lower.unwrap().phi().to_bits()
    };
    assert_eq!(run(1), run(1));
    assert_eq!(run(1), run(4));
}

#[test]
fn stopping_at_once_still_gives_a_valid_bound() {
    let model = torus(&mut Random(54), 4);
    let exact = phi(&model, 1.0);
    let timed = solve(&model, 1.0, &Settings::default().with_time_limit(Some(0.0)));
    assert!(timed.stop == StopReason::TimeLimit && timed.lower.unwrap().phi() <= exact + 1e-9);
    let mut observer = |_: &Progress| Flow::Stop;
    let cancelled = MeanField.solve_tables(&model, 1.0, &Settings::default(), &mut observer).unwrap();
    assert!(cancelled.stop == StopReason::Cancelled && cancelled.lower.unwrap().phi() <= exact + 1e-9);
}
