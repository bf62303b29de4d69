//! Bethe lower bounds of balanced models against enumeration.

mod proofs;

use proofs::{Random, brute_force, cases, random_grid, random_ising};
use zbound::certify::Witness;
use zbound::relax::{Bethe, Relaxation};
use zbound::{
    Error, Features, Flow, Ising, Polynomial, Problem, Progress, Settings, Solution, StopReason, VarSet,
};

fn problem(f: impl Into<Polynomial>, eps: f64) -> Problem {
    let f = f.into();
    let features = Features::new(f.d(), vec![VarSet::EMPTY]).unwrap();
    Problem::new(f, features).unwrap().with_temperature(eps).unwrap()
}

fn lower(solution: &Solution) -> f64 {
    solution.lower.unwrap_or_else(|| panic!("no bound: {:?}", solution.reason)).phi()
}

/// A random model whose couplings a random change of signs makes nonnegative.
fn balanced(random: &mut Random, d: usize, scale: f64) -> Ising {
    let model = random_ising(random, d, scale);
    let signs: Vec<f64> = (0..d).map(|_| if random.below(2) == 0 { 1.0 } else { -1.0 }).collect();
    let couplings: Vec<_> = model.triples().map(|(i, j, v)| (i, j, v.abs() * signs[i] * signs[j])).collect();
    Ising::new(d, model.fields(), &couplings).unwrap().with_constant(model.constant()).unwrap()
}

#[test]
fn bethe_bound_is_below_brute_force_at_every_stop() {
    let mut random = Random(41);
    for case in 0..cases(1500, 20_000) {
        let d = random.size();
        let scale = if case % 10 == 0 { random.model_scale() } else { random.magnitude(0.01, 10.0) };
        let eps = random.magnitude(1e-2, 1e2);
        let problem = problem(balanced(&mut random, d, scale), eps);
        let exact = brute_force(problem.polynomial(), eps);
        let iterations = [Some(1), Some(4), None][random.below(3)];
        let settings = Settings::default().with_max_iterations(iterations).with_seed(case as u64);
        let solution = Bethe.solve(&problem, &settings).unwrap();
        assert!(lower(&solution) <= exact.hi, "case {case}: {} > {}", lower(&solution), exact.hi);
        let certificate = solution.certificate.as_ref().unwrap();
        assert_eq!(certificate.verify_lower(problem.polynomial()).unwrap(), solution.lower.unwrap());
    }
}

#[test]
fn forests_are_exact() {
    let mut random = Random(42);
    for case in 0..cases(200, 2000) {
        let d = 1 + random.below(9);
        let fields: Vec<f64> = (0..d).map(|_| random.between(-2.0, 2.0)).collect();
        let mut couplings = Vec::new();
        for i in 1..d {
            if random.below(5) > 0 {
                couplings.push((random.below(i), i, random.between(-2.0, 2.0)));
            }
        }
        let eps = random.magnitude(0.1, 10.0);
        let problem = problem(Ising::new(d, &fields, &couplings).unwrap(), eps);
        let exact = brute_force(problem.polynomial(), eps);
        let solution = Bethe.solve(&problem, &Settings::default()).unwrap();
        assert!(
            exact.hi - lower(&solution) < 1e-8 * (1.0 + eps),
            "case {case}: {}",
            exact.hi - lower(&solution)
        );
        assert_eq!(solution.stop, StopReason::Converged, "case {case}");
    }
}

#[test]
fn frustrated_and_larger_terms_are_refused_with_a_reason() {
    let triangle = Ising::new(3, &[0.0; 3], &[(0, 1, 1.0), (0, 2, 1.0), (1, 2, -1.0)]).unwrap();
    let refused = |f: Polynomial| match Bethe.solve(&problem(f, 1.0), &Settings::default()) {
        Err(Error::NotApplicable(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(triangle.into()).contains("frustrated"));
    let pairs = Ising::new(3, &[0.0; 3], &[]).unwrap();
    let cubic = Polynomial::new(pairs, vec![(VarSet::from_iter([0, 1, 2]), 1.0)]).unwrap();
    assert!(refused(cubic).contains("pairwise"));
}

#[test]
fn a_finished_solve_is_at_least_as_good_as_one_that_was_cut_short() {
    let mut random = Random(43);
    for case in 0..40 {
        let problem = problem(balanced(&mut random, 9, 1.0), 0.7);
        let after = |n| lower(&Bethe.solve(&problem, &Settings::default().with_max_iterations(n)).unwrap());
        let finished = after(None);
        for n in [1, 2, 8, 40] {
            let short = after(Some(n));
            // Other spins may be fixed when an ascent is cut short: only what is lost for good counts.
            assert!(
                short <= finished + 1e-2,
                "case {case}: {short} after {n} iterations, {finished} in the end"
            );
        }
    }
}

#[test]
fn both_modes_of_a_strong_magnet_count() {
    let mut random = Random(45);
    for case in 0..20 {
        let d = 12;
        let fields: Vec<f64> = (0..d).map(|_| random.between(-0.05, 0.05)).collect();
        let mut couplings = Vec::new();
        for i in 0..d {
            (i + 1..d).for_each(|j| couplings.push((i, j, random.between(0.0, 0.5))));
        }
        let problem = problem(Ising::new(d, &fields, &couplings).unwrap(), 1.0);
        let exact = brute_force(problem.polynomial(), 1.0);
        let solution = Bethe.solve(&problem, &Settings::default()).unwrap();
        assert!(matches!(solution.certificate.as_ref().unwrap().witness, Some(Witness::Tree(_))));
        let gap = exact.hi - lower(&solution);
        assert!((0.0..0.05).contains(&gap), "case {case}: gap {gap}");
    }
}

#[test]
fn a_large_attractive_grid_is_bounded_and_can_be_stopped() {
    let side = cases(60, 1000);
    let grid = random_grid(&mut Random(44), side);
    let couplings: Vec<_> = grid.triples().map(|(i, j, v)| (i, j, v.abs())).collect();
    let attractive = problem(Ising::new(side * side, grid.fields(), &couplings).unwrap(), 1.0);
    let solution = Bethe.solve(&attractive, &Settings::default()).unwrap();
    eprintln!("{side} x {side}: {:.2} s, {} sweeps", solution.seconds, solution.iterations);
    assert_eq!(solution.stop, StopReason::Converged);
    let stopped =
        Bethe.solve_with(&attractive, &Settings::default(), &mut |_: &Progress| Flow::Stop).unwrap();
    assert!(stopped.stop == StopReason::Cancelled && lower(&stopped) <= lower(&solution));
}
