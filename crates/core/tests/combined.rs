//! The combined bound: sound at every stop, never worse than its parts, as tight as measured before.

mod proofs;

use proofs::*;
use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::io::ReadOptions;
use zbound::relax::{Combined, LogDet, Quantum, QuantumGreedy, Relaxation, Trw};
use zbound::{
    Error, Features, Flow, Ising, Model, Polynomial, Problem, Progress, Settings, Silent, Solution,
    StopReason,
};

fn problem(model: &Ising, eps: f64) -> Problem {
    Problem::new(model.clone(), Features::degree(model.d(), 1)).unwrap().with_temperature(eps).unwrap()
}

fn upper(solution: &Solution) -> f64 {
    solution.upper.unwrap_or_else(|| panic!("not certified: {:?}", solution.reason)).phi()
}

#[test]
fn combined_bound_is_above_brute_force_and_never_worse_than_its_parts() {
    let mut random = Random(40);
    let count = cases(120, 1000);
    let (mut uncapped, mut stalled) = (0, 0);
    for case in 0..count {
        let (d, scale) = (1 + random.below(8), random.model_scale());
        let model = random_ising(&mut random, d, scale);
        let eps = random.magnitude(1e-3, 1e3);
        let problem = problem(&model, eps);
        let iterations = [Some(1), Some(1 + random.below(20)), None, None][random.below(4)];
        let settings = Settings::default().with_max_iterations(iterations);
        let solution = Combined.solve(&problem, &settings).unwrap();
        let bound = upper(&solution);
        if iterations.is_none() {
            uncapped += 1;
            let gap = solution.relaxation_gap.unwrap_or(f64::INFINITY) / bound.abs().max(eps);
            if solution.stop != StopReason::Converged {
                stalled += 1;
                println!(
                    "case {case}: d {d}, scale {scale:.1e}, eps {eps:.1e}: {:?}, gap {gap:.1e}",
                    solution.stop
                );
            }
        }
        let exact = brute_force(&Polynomial::from(model.clone()), eps);
        assert!(
            bound.is_finite() && bound >= exact.lo,
            "case {case}: {bound} < {exact:?}, eps {eps}, {model:?}"
        );
        let parts: [&dyn Relaxation; 4] = [&Quantum::default(), &LogDet, &Trw, &QuantumGreedy];
        for part in parts {
            let single = upper(&part.solve(&problem, &Settings::default()).unwrap());
            assert!(bound <= single + 1e-6 * single.abs().max(eps), "case {case}: {bound} {single}");
        }
    }
    println!(
        "combined: {count} random models, 0 violations; {stalled} of {uncapped} uncapped solves above the tolerance"
    );
}

#[test]
fn stored_draws_are_met_or_beaten() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/combined_draws.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("SKIPPED: no reference data at {path}");
        return;
    };
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    for instance in file["instances"].as_array().unwrap() {
        let model = reference_model(instance);
        let start = std::time::Instant::now();
        let solution = Combined.solve(&problem(&model, 1.0), &Settings::default()).unwrap();
        let exact = instance["ref"]["phi_exact"].as_f64().unwrap();
        let error = (upper(&solution) - exact) / model.d() as f64;
        let anchor = instance["ref"]["error_per_d"]["trw_psd_triangles"].as_f64().unwrap();
        let ms = start.elapsed().as_secs_f64() * 1e3;
        println!(
            "{}: {error:.4} against {anchor}, {:?}, gap {:.1e}, {} steps, {ms:.0} ms",
            instance["id"],
            solution.stop,
            solution.relaxation_gap.unwrap(),
            solution.iterations
        );
        assert!(error >= 0.0 && error <= anchor + 5.1e-5);
    }
}

#[test]
fn complete_graphs_of_ten_spins_are_nearly_exact() {
    let root = std::env::var("ZBOUND_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into());
    let folder = std::path::Path::new(&root).join("fw_inference/K10");
    if !folder.exists() {
        println!("SKIPPED: no public instances at {}", folder.display());
        return;
    }
    for (first, anchor) in [(101, 1.91), (401, 1.05), (801, 0.46)] {
        let (mut total, mut count) = (0.0, 0);
        for number in (first..first + 100).step_by(if cases(0, 1) == 1 { 4 } else { 20 }) {
            let path = folder.join(format!("{number}.uai"));
            let Ok(model) = zbound::io::read(&path, &ReadOptions::default()) else { continue };
            let f = model.polynomial().unwrap();
            let problem = Problem::new(f.clone(), Features::degree(f.d(), 1)).unwrap();
            let bound = upper(&Combined.solve(&problem, &Settings::default()).unwrap());
            let exact = brute_force(&f, 1.0);
            assert!(bound >= exact.lo - f.uncertainty());
            total += bound - exact.lo;
            count += 1;
        }
        println!("K10 {first}: mean gap {:.3} over {count} files, anchor {anchor}", total / f64::from(count));
        if cases(0, 1) == 1 {
            assert!(total / f64::from(count) <= anchor);
        }
    }
}

#[test]
fn time_limits_and_cancel_return_a_valid_bound() {
    let model = random_ising(&mut Random(2), 12, 1.0);
    let exact = brute_force(&Polynomial::from(model.clone()), 1.0);
    let problem = problem(&model, 1.0);
    for limit in [0.0, 1e-3, 0.02] {
        let solution = Combined.solve(&problem, &Settings::default().with_time_limit(Some(limit))).unwrap();
        assert!(upper(&solution) >= exact.lo);
    }
    let mut stop = |p: &Progress| if p.iteration > 3 { Flow::Stop } else { Flow::Continue };
    let solution = Combined.solve_with(&problem, &Settings::default(), &mut stop).unwrap();
    assert_eq!(solution.stop, StopReason::Cancelled);
    assert!(upper(&solution) >= exact.lo);
    let cubic = random_polynomial(&mut Random(3), 5, 1.0);
    let cubic = Problem::new(cubic, Features::degree(5, 2)).unwrap();
    if cubic.polynomial().as_ising().is_none() {
        assert!(matches!(Combined.solve(&cubic, &Settings::default()), Err(Error::NotApplicable(_))));
    }
}

#[test]
fn more_features_never_give_a_worse_bound() {
    let mut random = Random(77);
    for case in 0..cases(6, 60) {
        let d = 4 + random.below(3);
        let model = random_ising(&mut random, d, 1.0);
        let mut last = f64::INFINITY;
        for n in [d + 1, d + 3, d + 1 + d * (d - 1) / 2] {
            let features = Features::first(d, n).unwrap();
            let problem = Problem::new(model.clone(), features).unwrap();
            let solution = Combined.solve(&problem, &Settings::default()).unwrap();
            let bound = upper(&solution);
            assert!(
                bound <= last + 1e-7 * bound.abs().max(1.0),
                "case {case}, {n} features: {bound} > {last}"
            );
            last = bound;
        }
        let exact = brute_force(&Polynomial::from(model), 1.0);
        assert!(last >= exact.lo);
    }
}

#[test]
fn sparse_graphs_are_solved_on_chordal_cliques() {
    let spec = GenerateSpec { family: Family::TrwMixed, graph: Graph::Grid, d: 49, w: 1.0, seed: 3 };
    let model = generate(&spec).unwrap();
    let problem = problem(&model, 1.0);
    let trw = upper(&Trw.solve(&problem, &Settings::default()).unwrap());
    let solution = Combined.solve(&problem, &Settings::default().with_tol(1e-6)).unwrap();
    let exact = zbound::exact::exact(&Model::from(model), 1.0, &Settings::default(), &mut Silent).unwrap();
    let phi = exact.phi_bounds.0;
    let bound = upper(&solution);
    println!("7 x 7 grid: {} <= {bound} ({:?}), trw {trw}", phi, solution.stop);
    assert_eq!(solution.stop, StopReason::Converged);
    assert!(phi <= bound && bound < trw - 0.1);
    assert!(solution.certificate.unwrap().slack.squares.len() > 1);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let model = random_ising(&mut Random(5), 33, 0.3);
    let problem = problem(&model, 1.0);
    let solve = |threads| {
        let settings = Settings::default().with_tol(1e-4).with_threads(threads).with_max_iterations(Some(12));
        upper(&Combined.solve(&problem, &settings).unwrap())
    };
    assert_eq!(solve(1), solve(2));
}

#[test]
fn a_program_that_does_not_fit_leaves_the_best_part() {
    let model = random_ising(&mut Random(6), 33, 0.3);
    let settings = Settings::default().with_memory_limit(1 << 20);
    let solution = Combined.solve(&problem(&model, 1.0), &settings).unwrap();
    assert!(upper(&solution).is_finite());
    assert!(solution.reason.unwrap().contains("too large"));
}
