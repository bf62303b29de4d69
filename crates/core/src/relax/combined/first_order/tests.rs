//! Brute force on small models, and agreement with the interior-point method.

use super::*;
use crate::features::Features;
use crate::model::generate::{Family, GenerateSpec, Graph, generate};
use crate::observer::Silent;
use crate::relax::{Combined, LogDet, Relaxation};

/// The bound by this method alone, however small the model.
fn first_order(problem: &Problem, settings: &Settings) -> Solution {
    let mut silent = Silent;
    let mut monitor = Monitor::new(settings, 100_000, &mut silent);
    solve(problem, problem.polynomial().as_ising().unwrap(), settings, 1.0, &mut monitor).unwrap().0
}

fn exact(ising: &Ising, eps: f64) -> f64 {
    let d = ising.d();
    let values: Vec<f64> = (0..1u32 << d)
        .map(|bits| {
            let x: Vec<i8> = (0..d).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect();
            ising.value(&x) / eps
        })
        .collect();
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = values.iter().map(|v| (v - top).exp()).sum();
    eps * (top + (total / values.len() as f64).ln())
}

fn member(case: u64) -> Ising {
    let family = Family::ALL[case as usize % Family::ALL.len()];
    let graph = [Graph::Complete, Graph::Chain, Graph::Star][case as usize / 7 % 3];
    let (d, w) = (2 + case as usize % 7, [0.05, 0.3, 1.0, 4.0][case as usize / 3 % 4]);
    generate(&GenerateSpec { family, graph, d, w, seed: case }).unwrap()
}

#[test]
fn bounds_are_above_brute_force_at_every_stop() {
    for case in 0..300 {
        let (ising, eps) = (member(case), [0.2, 1.0, 5.0][case as usize % 3]);
        let problem = Problem::new(ising.clone(), Features::degree(ising.d(), 1))
            .unwrap()
            .with_temperature(eps)
            .unwrap();
        let rounds = Some(1 + case as usize % 8);
        let solution = first_order(&problem, &Settings::default().with_max_iterations(rounds));
        let upper = solution.upper.unwrap_or_else(|| panic!("case {case}: {:?}", solution.reason)).phi();
        let truth = exact(&ising, eps);
        assert!(upper >= truth, "case {case}: {upper} below {truth}");
        // All forests are in the relaxation, which is exact on a tree: no feasible value is larger.
        let primal = upper - solution.relaxation_gap.unwrap_or_else(|| panic!("case {case}: no gap"));
        let is_tree = ising.edges().len() < ising.d();
        let slack = 1e-9 * truth.abs().max(eps);
        assert!(!is_tree || primal <= truth + slack, "case {case}: {primal} above {truth}");
    }
}

#[test]
fn small_models_agree_with_the_interior_point_method() {
    for seed in 0..4 {
        for family in [Family::Gaussian, Family::LogdetMixed, Family::LogdetRepulsive] {
            let spec = GenerateSpec { family, graph: Graph::Complete, d: 12, w: 0.3, seed };
            let ising = generate(&spec).unwrap();
            let problem = Problem::new(ising, Features::degree(12, 1)).unwrap();
            let settings = Settings::default();
            let here = first_order(&problem, &settings).upper.unwrap().phi();
            let best = Combined.solve(&problem, &settings).unwrap().upper.unwrap().phi();
            let part = LogDet.solve(&problem, &settings).unwrap().upper.unwrap().phi();
            println!("{} {seed}: {here} {best} {part}", family.name());
            // What the combined bound gains on its best part is the scale on which the two may differ.
            assert!(here - best <= 0.08 * (part - best), "{} {seed}: {here} {best} {part}", family.name());
        }
    }
}
