//! The TRW bound against enumeration, stored references and published values.

mod proofs;
#[path = "trw/published.rs"]
mod published;

use proofs::{Random, brute_force, cases, golden_instances, random_grid, random_ising, reference_model};
use zbound::record::Status;
use zbound::relax::{Relaxation, Trw};
use zbound::run::{self, BoundRequest, MethodChoice};
use zbound::{
    Error, Features, Flow, Ising, Method, Model, Polynomial, Problem, Progress, Rho, Settings, Silent,
    Solution, Solver, StopReason, VarSet,
};

/// Agreement with stored values, from their schema.
const REFERENCE_TOL: f64 = 1e-6;

const RHOS: [Rho; 3] = [Rho::Uniform, Rho::Resistance, Rho::Optimized];

fn problem_of(instance: &serde_json::Value) -> Problem {
    problem(reference_model(instance), instance["eps"].as_f64().unwrap())
}

fn problem(model: Ising, eps: f64) -> Problem {
    let features = Features::new(model.d(), vec![VarSet::EMPTY]).unwrap();
    Problem::new(model, features).unwrap().with_temperature(eps).unwrap()
}

fn solve(problem: &Problem, rho: Rho) -> Solution {
    Trw.solve(problem, &Settings::default().with_rho(rho)).unwrap()
}

fn upper(solution: &Solution) -> f64 {
    solution.upper.unwrap_or_else(|| panic!("no bound: {:?}", solution.reason)).phi()
}

#[test]
fn trw_bound_is_above_brute_force_at_every_stop() {
    let mut random = Random(1);
    for case in 0..cases(1500, 10_000) {
        let d = random.size().min(9);
        let scale = random.model_scale();
        let model = random_ising(&mut random, d, scale);
        let eps = random.magnitude(1e-3, 1e3);
        let problem = problem(model, eps);
        let exact = brute_force(problem.polynomial(), eps);
        let rho = RHOS[random.below(3)];
        let iterations = [Some(1), Some(3), None][random.below(3)];
        let settings = Settings::default().with_rho(rho).with_max_iterations(iterations);
        let solution = Trw.solve(&problem, &settings).unwrap();
        assert!(upper(&solution) >= exact.lo, "case {case}: {} < {}", upper(&solution), exact.lo);
        let certificate = solution.certificate.as_ref().unwrap();
        assert_eq!(certificate.verify(problem.polynomial()).unwrap(), solution.upper.unwrap());
        assert!(solution.means.as_ref().unwrap().iter().all(|m| m.abs() <= 1.0));
        assert!(solution.relaxation_gap.unwrap() >= 0.0);
    }
}

#[test]
fn ordinary_models_converge_whatever_the_graph() {
    let mut random = Random(2);
    for case in 0..cases(300, 3000) {
        let d = 2 + random.below(9);
        let scale = random.magnitude(0.05, 3.0);
        let problem = problem(random_ising(&mut random, d, scale), 1.0);
        for rho in RHOS {
            let solution = solve(&problem, rho);
            assert_eq!(solution.stop, StopReason::Converged, "case {case} {rho:?} d {d} scale {scale}");
            let relative = solution.relaxation_gap.unwrap() / upper(&solution).abs().max(1.0);
            assert!(relative < 2e-8, "case {case} {rho:?}: {relative:e}");
        }
        let (fixed, best) =
            (upper(&solve(&problem, Rho::Resistance)), upper(&solve(&problem, Rho::Optimized)));
        assert!(best <= fixed + 1e-7 * fixed.abs().max(1.0), "case {case}: {best} > {fixed}");
    }
}

#[test]
fn fixed_probabilities_match_the_reference() {
    for instance in golden_instances() {
        let stored = &instance["ref"]["trw_fixed"];
        let Some(value) = stored["value"].as_f64() else { continue };
        let solution = solve(&problem_of(&instance), Rho::Uniform);
        let difference = (upper(&solution) - value).abs();
        assert!(difference < REFERENCE_TOL, "{}: off by {difference:e}", instance["id"]);
        let exact = instance["ref"]["exact"]["phi"].as_f64().unwrap();
        assert!(upper(&solution) >= exact - 1e-12 * exact.abs().max(1.0), "{}", instance["id"]);
    }
}

#[test]
fn optimised_probabilities_match_the_reference() {
    for instance in golden_instances() {
        let stored = &instance["ref"]["trw_opt"];
        let (Some(value), Some(lower)) = (stored["value"].as_f64(), stored["lower"].as_f64()) else {
            continue;
        };
        let solution = solve(&problem_of(&instance), Rho::Optimized);
        assert!(
            upper(&solution) <= value + REFERENCE_TOL,
            "{}: {}",
            instance["id"],
            upper(&solution) - value
        );
        assert!(upper(&solution) >= lower - 1e-12, "{}", instance["id"]);
    }
}

#[test]
fn low_temperature_references_converge() {
    for instance in golden_instances().iter().filter(|i| ["S13", "S24"].contains(&i["id"].as_str().unwrap()))
    {
        for rho in RHOS {
            let solution = solve(&problem_of(instance), rho);
            assert_eq!(solution.stop, StopReason::Converged, "{} {rho:?}", instance["id"]);
        }
    }
}

/// Couplings so strong that most pairs of spins are locked, fields too weak to say which way.
#[test]
fn locked_spins_converge_in_a_few_steps() {
    let mut random = Random(63);
    for case in 0..cases(24, 500) {
        let side = 4 + random.below(3);
        let d = side * side;
        let sign = if case % 2 == 0 { 1.0 } else { -1.0 };
        let mut couplings = Vec::new();
        for i in 0..d {
            let right = (i % side + 1 < side).then_some(i + 1);
            let below = (i + side < d).then_some(i + side);
            let all = (case % 4 == 0).then(|| i + 1..d).into_iter().flatten();
            let grid = right.into_iter().chain(below).filter(|_| case % 4 != 0);
            couplings.extend(grid.chain(all).map(|j| (i, j, sign * random.between(0.0, 20.0))));
        }
        let fields: Vec<f64> = (0..d).map(|_| random.between(-0.25, 0.25)).collect();
        let model = problem(Ising::new(d, &fields, &couplings).unwrap(), 1.0);
        for rho in [Rho::Resistance, Rho::Optimized] {
            let solution = solve(&model, rho);
            assert_eq!(solution.stop, StopReason::Converged, "case {case}, {rho:?}");
            assert!(solution.iterations <= 40, "case {case}, {rho:?}: {} steps", solution.iterations);
        }
    }
}

#[test]
fn forests_are_exact() {
    let mut random = Random(3);
    for case in 0..200 {
        let d = 1 + random.below(10);
        let scale = random.magnitude(0.01, 5.0);
        let fields: Vec<f64> = (0..d).map(|_| scale * random.between(-1.0, 1.0)).collect();
        let mut couplings = Vec::new();
        for i in 1..d {
            // Roughly one spin in six starts a new component.
            if random.below(6) > 0 {
                couplings.push((random.below(i), i, scale * random.between(-1.0, 1.0)));
            }
        }
        let problem = problem(Ising::new(d, &fields, &couplings).unwrap(), random.magnitude(0.1, 10.0));
        let exact = brute_force(problem.polynomial(), problem.eps());
        for rho in RHOS {
            let solution = solve(&problem, rho);
            let error = upper(&solution) - exact.lo;
            assert!((0.0..1e-10).contains(&error), "case {case} {rho:?}: {error:e}");
            assert_eq!(solution.stop, StopReason::Converged);
        }
    }
}

#[test]
fn every_temperature_gives_a_finite_bound() {
    let mut random = Random(4);
    for _ in 0..40 {
        let model = random_ising(&mut random, 6, 1.0);
        for eps in [1e-12, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e6, 1e12] {
            let problem = problem(model.clone(), eps);
            let exact = brute_force(problem.polynomial(), eps);
            for rho in [Rho::Uniform, Rho::Optimized] {
                let solution = solve(&problem, rho);
                assert!(upper(&solution) >= exact.lo && upper(&solution).is_finite());
                let size = problem.polynomial().l1_norm() + model.constant().abs();
                assert!(upper(&solution) <= size * (1.0 + 1e-6), "eps {eps} {rho:?}");
            }
        }
    }
}

#[test]
fn empty_and_zero_models_have_exact_bounds() {
    let zero = Ising::new(4, &[0.0; 4], &[(0, 1, 0.0), (1, 2, 0.0), (0, 3, 0.0)]).unwrap();
    let single = Ising::new(1, &[0.7], &[]).unwrap();
    let none = Ising::new(0, &[], &[]).unwrap().with_constant(2.5).unwrap();
    for rho in RHOS {
        assert!(upper(&solve(&problem(zero.clone(), 1.0), rho)).abs() < 1e-12);
        assert!((upper(&solve(&problem(single.clone(), 1.0), rho)) - 0.7f64.cosh().ln()).abs() < 1e-12);
        assert!((upper(&solve(&problem(none.clone(), 1.0), rho)) - 2.5).abs() < 1e-12);
    }
}

#[test]
fn stopping_at_once_still_gives_a_valid_bound() {
    let mut random = Random(5);
    let problem = problem(random_ising(&mut random, 8, 1.0), 0.5);
    let exact = brute_force(problem.polynomial(), 0.5);
    for rho in RHOS {
        let settings = Settings::default().with_rho(rho);
        let timed = Trw.solve(&problem, &settings.clone().with_time_limit(Some(0.0))).unwrap();
        assert_eq!(timed.stop, StopReason::TimeLimit);
        assert!(upper(&timed) >= exact.lo);
        let cancelled = Trw.solve_with(&problem, &settings, &mut |_: &Progress| Flow::Stop).unwrap();
        assert_eq!(cancelled.stop, StopReason::Cancelled);
        assert!(upper(&cancelled) >= exact.lo);
    }
}

#[test]
fn message_passing_agrees_where_it_converges() {
    let mut random = Random(6);
    let mut converged = 0;
    for case in 0..200 {
        let d = 2 + random.below(7);
        let scale = random.magnitude(0.05, 1.5);
        let problem = problem(random_ising(&mut random, d, scale), 1.0);
        let exact = brute_force(problem.polynomial(), 1.0);
        let settings = Settings::default().with_rho(Rho::Uniform).with_solver(Solver::MessagePassing);
        let passed = Trw.solve(&problem, &settings).unwrap();
        assert_eq!(passed.upper.is_some(), passed.stop == StopReason::Converged, "case {case}");
        if passed.stop == StopReason::Converged {
            converged += 1;
            assert!(upper(&passed) >= exact.lo, "case {case}");
            let difference = upper(&passed) - upper(&solve(&problem, Rho::Uniform));
            assert!(difference.abs() < 1e-6, "case {case}: {difference:e}");
        }
    }
    assert!(converged > 100, "{converged} of 200 converged");
}

#[test]
fn message_passing_that_does_not_converge_is_only_an_estimate() {
    let model = Model::from(random_ising(&mut Random(5), 8, 1.0));
    let mut request = BoundRequest::default();
    request.methods = MethodChoice::List(vec![Method::Trw]);
    let passing = Settings::default().with_solver(Solver::MessagePassing);
    for (settings, status) in [
        (passing.clone().with_max_iterations(Some(2)), Status::Uncertified),
        (passing.clone(), Status::Converged),
    ] {
        request.settings = settings;
        let report = run::bound(&model, &request, &mut Silent).unwrap();
        let result = &report.record.results[0];
        let settled = status == Status::Converged;
        assert_eq!((result.status, result.certified), (status, settled));
        assert_eq!((result.phi.upper.is_some(), result.log_z.upper.is_some()), (settled, settled));
        assert!(result.phi.estimate.is_some() && result.reason.is_some() != settled);
        assert_eq!(report.outcome.exit_code(), u8::from(!settled));
        assert_eq!(report.best_certificate().is_some(), settled);
    }
    request.settings = passing;
    let report = run::bound(&model, &request, &mut |p: &Progress| match p.iteration {
        0 => Flow::Continue,
        _ => Flow::Stop,
    });
    let report = report.unwrap();
    // What was stopped gives what the coefficients alone prove.
    let result = &report.record.results[0];
    assert_eq!(report.outcome.exit_code(), 130);
    assert!(result.reason.as_ref().unwrap().contains("coefficients"), "{:?}", result.reason);
    assert!(result.phi.upper.unwrap() >= brute_force(&model.polynomial().unwrap(), 1.0).lo);
}

#[test]
fn moments_are_exact_on_a_forest_and_consistent_elsewhere() {
    let model = Ising::new(3, &[0.3, -0.4, 0.8], &[(0, 1, 0.9), (1, 2, -0.7)]).unwrap();
    let solution = solve(&problem(model.clone(), 1.0), Rho::Optimized);
    let (mut total, mut means, mut pair) = (0.0, [0.0; 3], 0.0);
    for bits in 0..8 {
        let x = proofs::spins(3, bits);
        let p = model.value(&x).exp();
        total += p;
        (0..3).for_each(|i| means[i] += p * f64::from(x[i]));
        pair += p * f64::from(x[0] * x[1]);
    }
    for (i, m) in solution.means.unwrap().iter().enumerate() {
        assert!((m - means[i] / total).abs() < 1e-9);
    }
    let (i, j, c) = solution.pairwise.unwrap()[0];
    assert!((i, j) == (0, 1) && (c - pair / total).abs() < 1e-9);
}

#[test]
fn unsuitable_models_and_solvers_are_refused() {
    let pairs = Ising::new(3, &[0.0; 3], &[]).unwrap();
    let cubic = Polynomial::new(pairs.clone(), vec![(VarSet::from_iter([0, 1, 2]), 1.0)]).unwrap();
    let cubic = Problem::new(cubic, Features::degree(3, 1)).unwrap();
    assert!(matches!(Trw.solve(&cubic, &Settings::default()), Err(Error::NotApplicable(_))));
    let settings = Settings::default().with_solver(Solver::Newton);
    assert!(matches!(Trw.solve(&problem(pairs, 1.0), &settings), Err(Error::Setting(_))));
}

#[test]
fn a_large_grid_is_solved_with_effective_resistances() {
    let side = cases(40, 100);
    let problem = problem(random_grid(&mut Random(7), side), 1.0);
    let settings = Settings::default().with_rho(Rho::Resistance).with_tol(1e-6);
    let solution = Trw.solve(&problem, &settings).unwrap();
    eprintln!(
        "{side} x {side}: {:.2} s, {} steps, gap {:?}",
        solution.seconds, solution.iterations, solution.relaxation_gap
    );
    assert_eq!(solution.stop, StopReason::Converged);
    assert!(solution.relaxation_gap.unwrap() < 2e-6 * upper(&solution).abs());
    assert!(solution.reason.as_ref().unwrap().contains("effective resistances"), "{:?}", solution.reason);
    let timed = Trw.solve(&problem, &settings.with_time_limit(Some(0.0))).unwrap();
    assert_eq!(timed.stop, StopReason::TimeLimit);
    assert!(timed.upper.is_some() && timed.iterations <= 1, "{} steps", timed.iterations);
}
