//! The quantum relaxation: sound at every stop, equal to the reference values, one optimum for all solvers.

mod proofs;

use proofs::*;
use zbound::relax::{Quantum, Relaxation};
use zbound::{
    Error, FeatureSpec, Features, Flow, Polynomial, Problem, Progress, Settings, Solution, Solver, StopReason,
};

/// Recommended by the reference data: values to 1e-7, means to 1e-5.
const VALUE: f64 = 1e-7;
const MEAN: f64 = 1e-5;
/// Largest f/eps at which convergence to the default tolerance is asserted.
const COLDEST: f64 = 1e6;

fn solve(problem: &Problem, settings: &Settings) -> Solution {
    Quantum::default().solve(problem, settings).unwrap()
}

fn upper(solution: &Solution) -> f64 {
    solution.upper.unwrap_or_else(|| panic!("not certified: {:?}", solution.reason)).phi()
}

fn assert_converged(solution: &Solution, problem: &Problem, what: &str) {
    let (bound, gap) = (upper(solution), solution.relaxation_gap.unwrap_or(f64::NAN));
    assert_eq!(solution.stop, StopReason::Converged, "{what}: gap {gap:e} at {bound}");
    assert!(gap <= 1.2e-8 * bound.abs().max(problem.eps()), "{what}: gap {gap:e} at {bound}");
}

#[test]
fn quantum_bound_is_above_brute_force_at_every_stop() {
    let mut random = Random(20);
    let count = cases(1500, 100_000);
    let (mut converged, mut asked, mut early) = (0, 0, 0);
    for case in 0..count {
        let (d, scale) = (random.size().min(if case % 10 == 0 { 12 } else { 8 }), random.model_scale());
        let f = random_polynomial(&mut random, d, scale);
        let eps = random.magnitude(1e-3, 1e3);
        let features = random_features(&mut random, &f);
        let problem = Problem::new(f.clone(), features).unwrap().with_temperature(eps).unwrap();
        let iterations = [Some(1), Some(2), Some(1 + random.below(12)), None][random.below(4)];
        let solver = [Solver::Auto, Solver::Auto, Solver::ChambollePock][random.below(3)];
        let capped = if solver == Solver::ChambollePock { iterations.or(Some(20)) } else { iterations };
        let solution = solve(&problem, &Settings::default().with_max_iterations(capped).with_solver(solver));
        let (bound, exact) = (upper(&solution), brute_force(&f, eps));
        assert!(bound.is_finite() && bound >= exact.lo, "case {case}: {bound} < {exact:?}, eps {eps}, {f:?}");
        // Beyond, a stop may come early; the bound is valid all the same.
        if capped.is_none() && scale <= COLDEST * eps {
            asked += 1;
            early += usize::from(solution.stop != StopReason::Converged);
        }
        converged += usize::from(solution.stop == StopReason::Converged);
    }
    tally(1, "quantum solves", count);
    println!("{converged} converged, {early} of {asked} stopped early");
    assert!(early * 10_000 <= asked, "{early} of {asked} did not converge");
}

fn compare(
    instance: &serde_json::Value,
    stored: &serde_json::Value,
    features: FeatureSpec,
    count: &mut usize,
) {
    let Some(value) = stored["value"].as_f64() else { return };
    let problem = reference_problem(instance, &features);
    let solution = solve(&problem, &Settings::default());
    let what = format!("{} {features:?}", instance["id"]);
    let (bound, exact) = (upper(&solution), instance["ref"]["exact"]["phi"].as_f64().unwrap());
    let difference = bound - value;
    let allowed = VALUE * value.abs().max(1.0);
    assert!(difference.abs() <= allowed, "{what}: {bound} against {value}, {:?}", solution.stop);
    assert!(bound >= exact - 1e-9, "{what}: below the truth");
    assert_converged(&solution, &problem, &what);
    if let (Some(means), Some(found)) = (stored["mu"].as_array(), &solution.means) {
        for (expected, found) in means.iter().zip(found) {
            assert!((expected.as_f64().unwrap() - found).abs() < MEAN, "{what}: mean {found} {expected}");
        }
    }
    *count += 1;
}

#[test]
fn reference_values_are_reproduced() {
    let mut count = 0;
    for instance in &golden_instances() {
        let stored = &instance["ref"];
        compare(instance, &stored["quantum_1x"], FeatureSpec::Degree(1), &mut count);
        compare(instance, &stored["quantum_deg2"], FeatureSpec::Degree(2), &mut count);
        compare(instance, &stored["quantum_full"], FeatureSpec::All, &mut count);
        for prefix in stored["quantum_prefix"].as_array().into_iter().flatten() {
            let n = prefix["n"].as_u64().unwrap() as usize;
            compare(instance, prefix, FeatureSpec::First(n), &mut count);
        }
    }
    tally(11, "quantum values of other solvers", count);
    assert!(count > 100);
}

#[test]
fn chambolle_pock_reaches_the_same_optimum() {
    let mut random = Random(5);
    for d in [2, 5, 9] {
        let model = random_ising(&mut random, d, 0.7);
        let problem = Problem::new(model, Features::degree(d, 1)).unwrap();
        let newton = solve(&problem, &Settings::default());
        let first_order =
            solve(&problem, &Settings::default().with_tol(1e-7).with_solver(Solver::ChambollePock));
        assert_eq!(first_order.stop, StopReason::Converged);
        assert!((upper(&newton) - upper(&first_order)).abs() < 1e-6);
        assert_eq!(first_order.trace.len(), first_order.iterations);
        let gaps: Vec<f64> = first_order.trace.iter().map(|p| p.upper - p.lower).collect();
        assert!(gaps.windows(2).all(|w| w[1] <= w[0] + 1e-12), "best gap so far never grows");
    }
}

#[test]
fn any_temperature_and_coupling_gives_a_finite_valid_bound() {
    let mut random = Random(77);
    let (mut converged, mut asked) = (0, 0);
    for case in 0..cases(60, 600) {
        let d = 2 + random.below(7);
        let scale = [1.0, 1e2, 1e4][case % 3];
        let f = Polynomial::from(random_ising(&mut random, d, scale));
        for eps in [1e-6, 1e-3, 1.0, 1e3, 1e6] {
            let features = if case % 2 == 0 { Features::degree(d, 1) } else { Features::degree(d, 2) };
            let problem = Problem::new(f.clone(), features).unwrap().with_temperature(eps).unwrap();
            let solution = solve(&problem, &Settings::default());
            let (bound, exact) = (upper(&solution), brute_force(&f, eps));
            assert!(bound.is_finite() && bound >= exact.lo);
            if eps >= 1.0 {
                let gap = solution.relaxation_gap.unwrap() / bound.abs().max(eps);
                let is_done = solution.stop == StopReason::Converged && gap <= 1.2e-8;
                assert!(
                    gap <= 1e-7,
                    "case {case} d {d} scale {scale:e} eps {eps:e}: {gap:e}, {:?}",
                    solution.stop
                );
                (asked, converged) = (asked + 1, converged + usize::from(is_done));
            }
        }
    }
    // Rounding ends a few of the coldest just above the tolerance, other ones on other processors.
    assert!(converged >= asked - asked / 200, "{converged} of {asked}");
}

#[test]
fn warm_start_converges_at_once() {
    let model = random_ising(&mut Random(3), 30, 0.4);
    let problem = Problem::new(model, Features::degree(30, 1)).unwrap();
    let cold = solve(&problem, &Settings::default());
    let warm = Quantum::from_solution(&cold).solve(&problem, &Settings::default()).unwrap();
    assert!(warm.eigendecompositions <= 2 && cold.eigendecompositions > 3);
    assert!((upper(&warm) - upper(&cold)).abs() < 1e-8 * upper(&cold).abs());
}

#[test]
fn cancel_and_time_limits_stop_within_an_iteration_with_a_valid_bound() {
    let f = Polynomial::from(random_ising(&mut Random(9), 10, 2.0));
    let exact = brute_force(&f, 1.0);
    for solver in [Solver::Auto, Solver::ChambollePock] {
        for features in [Features::degree(10, 1), Features::degree(10, 2)] {
            let problem = Problem::new(f.clone(), features).unwrap();
            let settings = Settings::default().with_solver(solver);
            let limited = solve(&problem, &settings.clone().with_time_limit(Some(0.0)));
            assert_eq!((limited.stop, limited.iterations), (StopReason::TimeLimit, 1));
            let mut calls = 0;
            let mut stop_at_three = |_: &Progress| {
                calls += 1;
                if calls >= 3 { Flow::Stop } else { Flow::Continue }
            };
            let cancelled = Quantum::default().solve_with(&problem, &settings, &mut stop_at_three).unwrap();
            assert_eq!(cancelled.stop, StopReason::Cancelled);
            assert!(upper(&limited) >= exact.lo && upper(&cancelled) >= exact.lo);
        }
    }
}

#[test]
fn spin_flips_and_relabelling_leave_the_bound_unchanged() {
    let mut random = Random(12);
    for _ in 0..20 {
        let d = 2 + random.below(8);
        let model = random_ising(&mut random, d, 1.0);
        let signs: Vec<i8> = (0..d).map(|_| if random.unit() < 0.5 { 1 } else { -1 }).collect();
        let rotation: Vec<usize> = (0..d).map(|i| (i + 1) % d).collect();
        let moved = model.flip(&signs).unwrap().relabel(&rotation).unwrap();
        for degree in [1, 2] {
            let bound = |m| {
                upper(&solve(&Problem::new(m, Features::degree(d, degree)).unwrap(), &Settings::default()))
            };
            let (a, b) = (bound(model.clone()), bound(moved.clone()));
            assert!((a - b).abs() < 3e-8 * a.abs().max(1.0), "{a} {b}");
        }
    }
}

#[test]
fn inapplicable_solvers_and_features_are_errors_that_say_what_to_do() {
    let f = random_polynomial(&mut Random(1), 6, 1.0);
    let pairs = Polynomial::from(f.pairwise_part().clone());
    let degree2 = Problem::new(pairs.clone(), Features::degree(6, 2)).unwrap();
    let refused = |p: &Problem, s: Solver| {
        Quantum::default().solve(p, &Settings::default().with_solver(s)).unwrap_err()
    };
    assert!(matches!(refused(&degree2, Solver::Newton), Error::Setting(_)));
    assert!(refused(&degree2, Solver::MessagePassing).to_string().contains("trw"));
    let tiny = Settings::default().with_memory_limit(1000);
    assert!(matches!(Quantum::default().solve(&degree2, &tiny).unwrap_err(), Error::Memory { .. }));
}

/// Mid-size models take paths that small ones never reach: partial decompositions, outliers of the
/// spectrum, conjugate gradients. Every bound is compared with an independent one, mean field.
#[test]
fn models_of_every_family_converge_in_few_decompositions() {
    use zbound::generate::{Family, GenerateSpec, Graph, generate};
    let mut random = Random(303);
    let mut most = 0;
    for case in 0..cases(36, 1500) {
        let family = Family::ALL[case % Family::ALL.len()];
        let graph = [Graph::Complete, Graph::Grid, Graph::Star, Graph::Complete][random.below(4)];
        let side = 8 + random.below(if case % 9 == 0 { 11 } else { 5 });
        let (w, eps) = (random.magnitude(0.02, 5.0), random.magnitude(1e-2, 1e2));
        let spec = GenerateSpec { family, graph, d: side * side, w, seed: case as u64 };
        let model = generate(&spec).unwrap();
        let problem = Problem::new(model, Features::degree(side * side, 1)).unwrap();
        let problem = problem.with_temperature(eps).unwrap();
        let solution = solve(&problem, &Settings::default());
        assert_converged(&solution, &problem, &format!("case {case}: {spec:?}, eps {eps}"));
        let state = zbound::relax::MeanField.solve(&problem, &Settings::default()).unwrap();
        assert!(state.lower.unwrap().phi() <= upper(&solution), "case {case}: {spec:?}, eps {eps}");
        most = most.max(solution.eigendecompositions);
    }
    println!("at most {most} decompositions");
    assert!(most <= 60);
}
