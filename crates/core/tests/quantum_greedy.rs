//! Greedy selection: the features and bounds that full solves would give.

mod proofs;

use proofs::*;
use zbound::relax::{Quantum, QuantumGreedy, Relaxation};
use zbound::{FeatureSpec, Features, Greedy, Polynomial, Problem, Settings, Solution, StopReason, VarSet};

const VALUE: f64 = 1e-7;

fn greedy(problem: &Problem, settings: &Settings) -> Solution {
    QuantumGreedy.solve(problem, settings).unwrap()
}

#[test]
fn reference_steps_are_reproduced() {
    let mut compared = 0;
    for instance in &golden_instances() {
        let Some(expected) = instance["ref"]["greedy"]["steps"].as_array() else { continue };
        let problem = reference_problem(instance, &FeatureSpec::Degree(1));
        let settings = Settings::default().with_greedy(Greedy::Count(expected.len()));
        let solution = greedy(&problem, &settings);
        let steps = solution.steps.as_ref().unwrap();
        for (step, expected) in steps.iter().zip(expected) {
            let value = expected["value"].as_f64().unwrap();
            let what = format!("{} k = {}", instance["id"], expected["k"]);
            assert!(
                (step.phi_upper - value).abs() <= VALUE * value.abs().max(1.0),
                "{what}: {} {value}",
                step.phi_upper
            );
            let index = |v: &serde_json::Value| v.as_u64().unwrap() as usize;
            let set = |v: &serde_json::Value| v.as_array().unwrap().iter().map(index).collect::<VarSet>();
            let ties: Vec<VarSet> = expected["ties"].as_array().unwrap().iter().map(set).collect();
            assert!(ties.contains(&step.feature), "{what}: {} not among {ties:?}", step.feature);
            compared += 1;
            if ties.len() > 1 && step.feature != set(&expected["feature"]) {
                break;
            }
        }
    }
    tally(11, "greedy steps of other programs", compared);
    assert!(compared >= 60);
}

#[test]
fn selection_equals_full_solves_of_every_candidate() {
    let mut random = Random(31);
    for _ in 0..cases(12, 200) {
        let d = 3 + random.below(4);
        let model = random_ising(&mut random, d, 1.0);
        let eps = random.magnitude(0.2, 5.0);
        let problem = Problem::new(model, Features::degree(d, 1)).unwrap().with_temperature(eps).unwrap();
        let step =
            greedy(&problem, &Settings::default().with_greedy(Greedy::Count(1))).steps.unwrap().remove(0);
        let mut best = f64::INFINITY;
        for i in 0..d {
            for j in i + 1..d {
                let features = problem.features().with(d, VarSet::pair(i, j)).unwrap();
                let full =
                    Quantum::default().solve(&problem.with_features(features).unwrap(), &Settings::default());
                best = best.min(full.unwrap().upper.unwrap().phi());
            }
        }
        assert!((step.phi_upper - best).abs() <= 3e-8 * best.abs().max(eps), "{} {best}", step.phi_upper);
    }
}

#[test]
fn the_best_bound_along_the_path_is_reported_and_sound() {
    let mut random = Random(8);
    for case in 0..cases(40, 1000) {
        let (d, scale) = (2 + random.below(6), random.model_scale());
        let f = random_polynomial(&mut random, d, scale);
        let eps = random.magnitude(1e-3, 1e3);
        let features = FeatureSpec::Default.resolve(&f).unwrap();
        let problem = Problem::new(f.clone(), features).unwrap().with_temperature(eps).unwrap();
        let plain = Quantum::default().solve(&problem, &Settings::default()).unwrap().upper.unwrap().phi();
        let solution = greedy(&problem, &Settings::default().with_greedy(Greedy::Count(2)));
        let (bound, exact) = (solution.upper.unwrap().phi(), brute_force(&f, eps));
        let tolerance = 3e-8 * bound.abs().max(eps);
        assert!(bound >= exact.lo && bound <= plain + tolerance, "case {case}: {bound} {plain} {exact:?}");
        for step in solution.steps.unwrap() {
            assert!(step.phi_upper >= exact.lo && bound <= step.phi_upper, "case {case}");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let problem = Problem::new(random_ising(&mut Random(4), 8, 1.0), Features::degree(8, 1)).unwrap();
    let run = |threads| greedy(&problem, &Settings::default().with_threads(threads));
    let (one, two) = (run(1), run(2));
    assert_eq!(one.steps, two.steps);
    assert_eq!(one.upper, two.upper);
}

#[test]
fn auto_stops_by_itself_and_batches_add_several_features() {
    let f = Polynomial::from(random_ising(&mut Random(14), 4, 0.8));
    let problem = Problem::new(f.clone(), Features::degree(4, 1)).unwrap();
    let auto = greedy(&problem, &Settings::default().with_greedy(Greedy::Auto));
    assert_eq!(auto.stop, StopReason::Converged);
    assert!(auto.steps.unwrap().len() > 3);
    let batched = greedy(&problem, &Settings::default().with_greedy(Greedy::Count(6)).with_greedy_batch(3));
    assert_eq!(batched.steps.unwrap().len(), 6);
    assert!(batched.upper.unwrap().phi() >= brute_force(&f, 1.0).lo);
    let limited = greedy(&problem, &Settings::default().with_time_limit(Some(0.0)));
    assert!(limited.upper.unwrap().phi() >= brute_force(&f, 1.0).lo);
}
