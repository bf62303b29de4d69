//! Metric learning: sound at every stop, never above the plain quantum bound, equal to stored values.

mod proofs;

use proofs::*;
use zbound::relax::{Quantum, QuantumDiag, Relaxation};
use zbound::{FeatureSpec, Features, Flow, Problem, Progress, Settings, Solution, Solver, StopReason};

/// Newton steps of a solve with (1, x); each is some thirty eigendecompositions of 11 x 11 matrices.
const STEPS: usize = 200;

fn solve(problem: &Problem, settings: &Settings) -> Solution {
    QuantumDiag.solve(problem, settings).unwrap()
}

fn upper(solution: &Solution) -> f64 {
    solution.upper.unwrap_or_else(|| panic!("not certified: {:?}", solution.reason)).phi()
}

#[test]
fn metric_bound_is_above_brute_force_at_every_stop() {
    let mut random = Random(70);
    for case in 0..cases(150, 1000) {
        let (d, scale) = (1 + random.below(7), random.magnitude(1e-2, 1e1));
        let f = random_polynomial(&mut random, d, scale);
        let eps = random.magnitude(1e-2, 1e2);
        let features = random_features(&mut random, &f);
        let problem = Problem::new(f.clone(), features).unwrap().with_temperature(eps).unwrap();
        let iterations = [Some(1), Some(1 + random.below(30)), None][random.below(3)];
        let solution = solve(&problem, &Settings::default().with_max_iterations(iterations));
        let (bound, exact) = (upper(&solution), brute_force(&f, eps));
        assert!(bound >= exact.lo, "case {case}: {bound} < {exact:?}, eps {eps}, {f:?}");
        if iterations.is_none() {
            let plain = Quantum::default().solve(&problem, &Settings::default()).unwrap();
            let scale = bound.abs().max(eps);
            assert!(bound <= upper(&plain) + 1e-6 * scale, "case {case}: {bound} above {}", upper(&plain));
            let gap = solution.relaxation_gap.unwrap();
            assert!(
                gap <= 1e-6 * scale,
                "case {case}: gap {gap:e} at {bound}, eps {eps}, {:?}",
                solution.stop
            );
        }
    }
}

#[test]
fn stored_values_are_reproduced() {
    let mut count = 0;
    for instance in &golden_instances() {
        let Some(value) = instance["ref"]["metric_learning"]["value"].as_f64() else { continue };
        let problem = reference_problem(instance, &FeatureSpec::Degree(1));
        let bound = upper(&solve(&problem, &Settings::default()));
        assert!((bound - value).abs() < 1e-6, "{}: {bound} against {value}", instance["id"]);
        assert!(bound >= instance["ref"]["exact"]["phi"].as_f64().unwrap() - 1e-12);
        count += 1;
    }
    tally(11, "quantum-diag values of other solvers", count);
    assert!(count >= 7);
}

#[test]
fn learned_metrics_are_monotone_in_the_features() {
    let mut random = Random(71);
    let f: zbound::Polynomial = random_ising(&mut random, 4, 1.0).into();
    let value = |n: usize| {
        let problem = Problem::new(f.clone(), Features::first(4, n).unwrap()).unwrap();
        upper(&solve(&problem, &Settings::default()))
    };
    let values: Vec<f64> = (5..=16).map(value).collect();
    assert!(values.windows(2).all(|w| w[1] <= w[0] + 1e-6), "{values:?}");
    assert!((values[11] - brute_force(&f, 1.0).hi).abs() < 1e-6, "tight with all features");
}

#[test]
fn ten_spins_take_few_steps() {
    let mut random = Random(72);
    for d in [5, 10] {
        let f = random_ising(&mut random, d, 0.5);
        let problem = Problem::new(f, Features::degree(d, 1)).unwrap();
        let solution = solve(&problem, &Settings::default());
        println!("d = {d}: {} steps, gap {:?}", solution.iterations, solution.relaxation_gap);
        assert_eq!(solution.stop, StopReason::Converged);
        assert!(solution.iterations <= STEPS, "d = {d}: {} steps", solution.iterations);
    }
}

#[test]
fn solvers_that_do_not_apply_are_refused() {
    let problem = Problem::new(random_ising(&mut Random(73), 3, 1.0), Features::degree(3, 1)).unwrap();
    let settings = Settings::default().with_solver(Solver::ChambollePock);
    assert!(QuantumDiag.solve(&problem, &settings).unwrap_err().to_string().contains("quantum-diag"));
}

#[test]
fn a_step_can_be_stopped_halfway_and_the_bound_without_a_metric_is_kept() {
    let model = random_ising(&mut Random(77), 24, 0.5);
    let problem = Problem::new(model, Features::degree(24, 1)).unwrap();
    let plain = upper(&Quantum::default().solve(&problem, &Settings::default()).unwrap());
    let mut calls = 0;
    // One Newton step asks more often than there are pairs of spins.
    let mut stop = |_: &Progress| {
        calls += 1;
        if calls > 400 { Flow::Stop } else { Flow::Continue }
    };
    let solution = QuantumDiag.solve_with(&problem, &Settings::default(), &mut stop).unwrap();
    assert_eq!(solution.stop, StopReason::Cancelled);
    assert!(solution.iterations <= 2, "{}", solution.iterations);
    assert!(upper(&solution) <= plain, "{} above {plain}", upper(&solution));
    assert!(solution.reason.unwrap().contains("did not end"));
}
