//! Mean-field lower bounds against enumeration.

mod proofs;

use proofs::{Random, brute_force, cases, random_grid, random_ising, random_polynomial};
use zbound::certify::Witness;
use zbound::relax::{MeanField, Relaxation};
use zbound::{Features, Flow, Ising, Polynomial, Problem, Progress, Settings, Solution, StopReason, VarSet};

fn problem(f: impl Into<Polynomial>, eps: f64) -> Problem {
    let f = f.into();
    let features = Features::new(f.d(), vec![VarSet::EMPTY]).unwrap();
    Problem::new(f, features).unwrap().with_temperature(eps).unwrap()
}

fn lower(solution: &Solution) -> f64 {
    solution.lower.unwrap_or_else(|| panic!("no bound: {:?}", solution.reason)).phi()
}

#[test]
fn mean_field_bound_is_below_brute_force_at_every_stop() {
    let mut random = Random(11);
    for case in 0..cases(1500, 10_000) {
        let d = random.size().min(9);
        let scale = random.model_scale();
        let eps = random.magnitude(1e-3, 1e3);
        let problem = problem(random_polynomial(&mut random, d, scale), eps);
        let exact = brute_force(problem.polynomial(), eps);
        let iterations = [Some(1), Some(3), None][random.below(3)];
        let settings = Settings::default().with_max_iterations(iterations).with_seed(case as u64);
        let solution = MeanField.solve(&problem, &settings).unwrap();
        assert!(lower(&solution) <= exact.hi, "case {case}: {} > {}", lower(&solution), exact.hi);
        let certificate = solution.certificate.as_ref().unwrap();
        assert_eq!(certificate.verify_lower(problem.polynomial()).unwrap(), solution.lower.unwrap());
    }
}

#[test]
fn independent_spins_and_forests_are_exact() {
    let mut random = Random(12);
    for case in 0..100 {
        let d = 1 + random.below(9);
        let fields: Vec<f64> = (0..d).map(|_| random.between(-2.0, 2.0)).collect();
        let mut couplings = Vec::new();
        for i in 1..d {
            if case % 2 == 0 && random.below(5) > 0 {
                couplings.push((random.below(i), i, random.between(-2.0, 2.0)));
            }
        }
        let problem = problem(Ising::new(d, &fields, &couplings).unwrap(), 1.0);
        let exact = brute_force(problem.polynomial(), 1.0);
        let solution = MeanField.solve(&problem, &Settings::default()).unwrap();
        assert!((lower(&solution) - exact.lo).abs() < 1e-10, "case {case}");
        assert!(lower(&solution) <= exact.hi && solution.stop == StopReason::Converged, "case {case}");
    }
}

#[test]
fn low_temperature_bounds_approach_the_maximum() {
    let mut random = Random(13);
    for case in 0..50 {
        let model = random_ising(&mut random, 8, 1.0);
        let problem = problem(model, 1e-3);
        let exact = brute_force(problem.polynomial(), 1e-3);
        let solution = MeanField.solve(&problem, &Settings::default()).unwrap();
        assert!(exact.hi - lower(&solution) < 1e-2, "case {case}: {}", exact.hi - lower(&solution));
    }
}

#[test]
fn stopping_at_once_still_gives_a_valid_bound() {
    let mut random = Random(14);
    let problem = problem(random_polynomial(&mut random, 7, 1.0), 0.5);
    let exact = brute_force(problem.polynomial(), 0.5);
    let timed = MeanField.solve(&problem, &Settings::default().with_time_limit(Some(0.0))).unwrap();
    assert!(timed.stop == StopReason::TimeLimit && lower(&timed) <= exact.hi);
    let mut observer = |_: &Progress| Flow::Stop;
    let cancelled = MeanField.solve_with(&problem, &Settings::default(), &mut observer).unwrap();
    assert!(cancelled.stop == StopReason::Cancelled && lower(&cancelled) <= exact.hi);
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let mut random = Random(15);
    let problem = problem(random_ising(&mut random, 10, 1.0), 0.3);
    let run = || MeanField.solve(&problem, &Settings::default().with_seed(5)).unwrap();
    assert_eq!(lower(&run()).to_bits(), lower(&run()).to_bits());
}

#[test]
fn a_large_grid_takes_seconds() {
    let side = cases(30, 100);
    let solution = MeanField.solve(&problem(random_grid(&mut Random(16), side), 1.0), &Settings::default());
    let solution = solution.unwrap();
    eprintln!("{side} x {side}: {:.2} s, {} sweeps", solution.seconds, solution.iterations);
    assert!(matches!(solution.certificate.as_ref().unwrap().witness, Some(Witness::Forest { .. })));
}
