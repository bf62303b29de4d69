//! The log-determinant relaxation: sound at every stop, equal to the reference values, invariant.

mod proofs;

use proofs::*;
use zbound::relax::{LogDet, Relaxation};
use zbound::{
    Error, Features, Flow, Ising, Pairwise, Polynomial, Problem, Progress, Settings, Solution, Solver,
    StopReason, VarSet,
};

/// Bound of one spin without parameters, `(1/2) log(pi e / 6)`.
const PER_SPIN: f64 = 0.176_485_208_310_672_7;

/// Tolerance on values where both sides are solved to 1e-8.
const AGREEMENT: f64 = 1e-7;

fn problem(model: Ising, eps: f64) -> Problem {
    let features = Features::degree(model.d(), 1);
    Problem::new(model, features).unwrap().with_temperature(eps).unwrap()
}

fn solve(model: &Ising, eps: f64, settings: &Settings) -> Solution {
    LogDet.solve(&problem(model.clone(), eps), settings).unwrap()
}

fn upper(solution: &Solution) -> f64 {
    solution.upper.unwrap_or_else(|| panic!("not certified: {:?}", solution.reason)).phi()
}

#[test]
fn logdet_bound_is_above_brute_force_at_every_stop() {
    let mut random = Random(61);
    let count = cases(1000, 10_000);
    let mut converged = 0;
    for case in 0..count {
        let (d, scale) = (random.size().min(9), random.model_scale());
        let model = random_ising(&mut random, d, scale);
        let eps = random.magnitude(1e-3, 1e3);
        let which = [Pairwise::All, Pairwise::Edges, Pairwise::None][random.below(3)];
        let iterations = [Some(1), Some(2), Some(1 + random.below(12)), None][random.below(4)];
        let settings = Settings::default().with_pairwise(which).with_max_iterations(iterations);
        let solution = solve(&model, eps, &settings);
        let exact = brute_force(&Polynomial::from(model.clone()), eps);
        let bound = upper(&solution);
        assert!(
            bound.is_finite() && bound >= exact.lo,
            "case {case}: {bound} < {exact:?}, eps {eps}, {model:?}"
        );
        if solution.stop == StopReason::Converged {
            let gap = solution.relaxation_gap.unwrap();
            assert!(gap <= 1e-8 * bound.abs().max(eps), "case {case}: gap {gap:e} at {bound}");
            converged += 1;
        } else {
            assert!(iterations.is_some(), "case {case}: {:?} eps {eps} {model:?}", solution.stop);
        }
    }
    tally(1, "log-det solves", count);
    assert!(3 * converged > count, "{converged} of {count} converged");
}

#[test]
fn reference_values_are_reproduced() {
    let mut compared = 0;
    for instance in &golden_instances() {
        let model = reference_model(instance);
        let eps = instance["eps"].as_f64().unwrap();
        for (name, which) in [("pairwise", Pairwise::All), ("no_pairwise", Pairwise::None)] {
            let Some(value) = instance["ref"]["logdet"][name]["value"].as_f64() else { continue };
            let tolerance = 2.0 * instance["ref"]["logdet"][name]["gap"].as_f64().unwrap();
            let solution = solve(&model, eps, &Settings::default().with_pairwise(which));
            let difference = (upper(&solution) - value).abs();
            assert!(difference <= tolerance.max(1e-6), "{} {name}: off by {difference:e}", instance["id"]);
            assert_eq!(solution.stop, StopReason::Converged);
            compared += 1;
        }
    }
    tally(11, "log-det values of other solvers", compared);
    assert!(compared >= 60);
}

#[test]
fn zero_parameters_give_the_entropy_excess_of_a_gaussian() {
    for d in [0, 1, 2, 7, 30] {
        for eps in [1e-3, 1.0, 50.0] {
            let model = Ising::new(d, &vec![0.0; d], &[]).unwrap();
            let bound = upper(&solve(&model, eps, &Settings::default()));
            let expected = PER_SPIN * eps * d as f64;
            assert!((bound - expected).abs() <= 1e-8 * expected.max(eps), "d {d}, eps {eps}: {bound}");
        }
    }
}

#[test]
fn one_spin_agrees_with_a_scalar_search() {
    for field in [0.0, 0.3, 2.0, 40.0] {
        let value = |mu: f64| field * mu + 0.5 * (4.0 / 3.0 - mu * mu).ln();
        let grid = (0..=2_000_000).map(|k| value(k as f64 / 1e6 - 1.0));
        let best = grid.fold(f64::NEG_INFINITY, f64::max);
        let constant = 0.5 * (std::f64::consts::PI * std::f64::consts::E / 2.0).ln() - std::f64::consts::LN_2;
        let bound = upper(&solve(&Ising::new(1, &[field], &[]).unwrap(), 1.0, &Settings::default()));
        assert!((bound - best - constant).abs() < 1e-6, "field {field}: {bound}");
    }
}

#[test]
fn flips_relabelling_and_constants_move_the_bound_as_they_move_phi() {
    let mut random = Random(62);
    for _ in 0..30 {
        let d = 2 + random.below(7);
        let model = random_ising(&mut random, d, 2.0);
        let bound = upper(&solve(&model, 1.0, &Settings::default()));
        let signs: Vec<i8> = (0..d).map(|_| if random.below(2) == 0 { 1 } else { -1 }).collect();
        let rotation: Vec<usize> = (0..d).map(|i| (i + 1) % d).collect();
        let shifted = model.clone().with_constant(model.constant() + 1.5).unwrap();
        for (other, shift) in
            [(model.flip(&signs).unwrap(), 0.0), (model.relabel(&rotation).unwrap(), 0.0), (shifted, 1.5)]
        {
            let moved = upper(&solve(&other, 1.0, &Settings::default())) - shift;
            assert!((moved - bound).abs() <= AGREEMENT * bound.abs().max(1.0), "{moved} against {bound}");
        }
    }
}

#[test]
fn temperature_and_parameters_scale_together() {
    let mut random = Random(63);
    for factor in [1e-3, 0.1, 7.0, 1e3] {
        let model = random_ising(&mut random, 6, 1.0);
        let scaled = Ising::new(
            6,
            &model.fields().iter().map(|h| factor * h).collect::<Vec<_>>(),
            &model.triples().map(|(i, j, v)| (i, j, factor * v)).collect::<Vec<_>>(),
        );
        let scaled = scaled.unwrap().with_constant(factor * model.constant()).unwrap();
        let bound = upper(&solve(&model, 1.0, &Settings::default()));
        let other = upper(&solve(&scaled, factor, &Settings::default())) / factor;
        assert!((other - bound).abs() <= AGREEMENT * bound.abs().max(1.0), "{other} against {bound}");
    }
}

#[test]
fn more_constraints_never_loosen_the_bound_and_moments_obey_them() {
    let mut random = Random(64);
    for _ in 0..20 {
        let model = random_ising(&mut random, 8, 3.0);
        let bound = |which| upper(&solve(&model, 1.0, &Settings::default().with_pairwise(which)));
        let [none, edges, all] = [Pairwise::None, Pairwise::Edges, Pairwise::All].map(bound);
        let tolerance = AGREEMENT * none.abs().max(1.0);
        assert!(all <= edges + tolerance && edges <= none + tolerance, "{all}, {edges}, {none}");
        let solution = solve(&model, 1.0, &Settings::default());
        let means = solution.means.unwrap();
        for (i, j, moment) in solution.pairwise.unwrap() {
            let (u, v) = (means[i as usize], means[j as usize]);
            for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                assert!(1.0 + a * u + b * v + a * b * moment >= 0.0);
            }
        }
    }
}

#[test]
fn cancelling_and_limits_still_give_a_certified_bound() {
    let model = random_ising(&mut Random(65), 12, 2.0);
    let best = upper(&solve(&model, 1.0, &Settings::default()));
    for stop_at in [0, 1, 4] {
        let mut observer = |p: &Progress| if p.iteration >= stop_at { Flow::Stop } else { Flow::Continue };
        let solution =
            LogDet.solve_with(&problem(model.clone(), 1.0), &Settings::default(), &mut observer).unwrap();
        assert_eq!(solution.stop, StopReason::Cancelled);
        assert!(upper(&solution) >= best - 1e-9);
    }
    let solution = solve(&model, 1.0, &Settings::default().with_time_limit(Some(0.0)));
    assert_eq!(solution.stop, StopReason::TimeLimit);
    assert!(upper(&solution) >= best - 1e-9);
}

#[test]
fn large_models_use_the_structured_solver_and_converge() {
    let mut random = Random(66);
    let d = 45;
    for (scale, eps) in [(0.3, 1.0), (1.0, 1.0), (1.0, 0.01)] {
        let fields: Vec<f64> = (0..d).map(|_| random.between(-0.25, 0.25)).collect();
        let mut couplings = Vec::new();
        for j in 0..d {
            couplings.extend((0..j).map(|i| (i, j, random.between(-scale, scale))));
        }
        let model = Ising::new(d, &fields, &couplings).unwrap();
        for which in [Pairwise::All, Pairwise::None] {
            let solution = solve(&model, eps, &Settings::default().with_pairwise(which));
            assert_eq!(solution.stop, StopReason::Converged);
            let gap = solution.relaxation_gap.unwrap() / upper(&solution).max(eps);
            assert!(gap <= 1e-8, "scale {scale}, eps {eps}: {gap:e}");
        }
    }
}

#[test]
fn inapplicable_problems_and_settings_are_refused_by_name() {
    let cubic = Polynomial::new(Ising::new(3, &[0.0; 3], &[]).unwrap(), vec![(VarSet::from_bits(7), 1.0)]);
    let cubic = Problem::new(cubic.unwrap(), Features::degree(3, 2)).unwrap();
    assert!(matches!(LogDet.solve(&cubic, &Settings::default()), Err(Error::NotApplicable(_))));
    let pairwise = problem(Ising::new(3, &[0.0; 3], &[]).unwrap(), 1.0);
    for solver in [Solver::Newton, Solver::ChambollePock, Solver::MessagePassing] {
        let refused = LogDet.solve(&pairwise, &Settings::default().with_solver(solver)).unwrap_err();
        assert!(refused.to_string().contains("inapplicable"), "{refused}");
    }
    let small = Settings::default().with_memory_limit(1000);
    assert!(matches!(LogDet.solve(&pairwise, &small), Err(Error::Memory { .. })));
}

#[test]
fn absurd_magnitudes_still_give_a_valid_bound() {
    for (d, scale, eps) in
        [(1, 1e300, 1.0), (3, 1e300, 1e-12), (3, 1e155, 1e-6), (30, 1e200, 1.0), (4, 5e-324, 1e12)]
    {
        let model = random_ising(&mut Random(67), d, scale);
        let solution = solve(&model, eps, &Settings::default());
        let bound = upper(&solution);
        let aligned: Vec<i8> = model.fields().iter().map(|h| if *h < 0.0 { -1 } else { 1 }).collect();
        let floor = model.value(&aligned) - eps * d as f64;
        assert!(bound.is_finite() && bound >= floor, "{scale:e} {eps:e}: {bound:e}, {:?}", solution.stop);
        println!("scale {scale:e}, eps {eps:e}, d {d}: {:?}", solution.stop);
    }
}
