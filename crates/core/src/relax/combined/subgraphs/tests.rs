//! Brute force on small graphs, with tables too small for them.

use super::*;
use crate::exact::exact;
use crate::features::Features;
use crate::model::Model;
use crate::observer::Silent;
use crate::relax::{Relaxation, Trw};
use crate::tables::order::Noise;

/// A grid with some edges missing, or a random sparse graph.
fn random_model(noise: &mut Noise) -> Ising {
    let mut unit = || noise.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0;
    let scale = 3.0 * unit().abs();
    let (rows, columns) = (2 + (4.0 * unit().abs()) as usize, 2 + (3.0 * unit().abs()) as usize);
    let d = rows * columns;
    let is_grid = unit() > -0.3;
    let mut couplings = Vec::new();
    for i in 0..d {
        for j in i + 1..d {
            let joined = (j == i + 1 && j % columns != 0) || j == i + columns;
            if (is_grid && joined && unit() > -0.8) || (!is_grid && unit() > 0.7) {
                couplings.push((i, j, scale * unit()));
            }
        }
    }
    let fields: Vec<f64> = (0..d).map(|_| unit()).collect();
    Ising::new(d, &fields, &couplings).unwrap().with_constant(unit()).unwrap()
}

#[test]
fn bounds_of_subgraphs_hold_and_are_exact_when_tables_are_large_enough() {
    let mut noise = Noise::new(7);
    let (mut found, mut whole) = (0, 0);
    for case in 0..80 {
        let model = random_model(&mut noise);
        let eps = [1.0, 0.3, 4.0][noise.below(3)];
        let width = 1 + noise.below(5);
        let features = Features::degree(model.d(), 1);
        let problem = Problem::new(model.clone(), features).unwrap().with_temperature(eps).unwrap();
        // With a limit that is far away, parts join when the first ones gain no more.
        let time_limit_secs = [None, Some(1000.0)][case % 2];
        let settings = Settings {
            ibound: Some(width),
            threads: 1 + noise.below(2),
            time_limit_secs,
            ..Settings::default()
        };
        let mut silent = Silent;
        let mut monitor = Monitor::new(&settings, usize::MAX, &mut silent);
        let Some(solution) = solve(&problem, &model, &settings, &mut monitor).unwrap() else { continue };
        found += 1;
        let upper = solution.upper.expect("a bound").phi();
        let truth = exact(&Model::from(model.clone()), eps, &Settings::default(), &mut Silent).unwrap();
        let slack = 1e-9 * truth.phi.abs().max(1.0);
        assert!(upper >= truth.phi_bounds.0, "case {case}: {upper} below {}", truth.phi);
        if solution.stop == StopReason::Converged {
            whole += 1;
            assert!(upper <= truth.phi + slack, "case {case}: {upper} above {}", truth.phi);
        }
        let all = Trw.solve(&problem, &Settings::default()).unwrap().upper.unwrap();
        let loose = 1e-3 * truth.phi.abs().max(1.0);
        assert!(width < 3 || upper <= all.phi() + loose, "case {case}: {upper} above trees {}", all.phi());
    }
    assert!(found > 50 && whole > 10, "{found} {whole}");
}

#[test]
fn bounds_of_subgraphs_do_not_depend_on_threads() {
    let model = random_model(&mut Noise::new(3));
    let problem = Problem::new(model.clone(), Features::degree(model.d(), 1)).unwrap();
    let bound = |threads: usize| {
        let settings = Settings { ibound: Some(2), threads, ..Settings::default() };
        let mut silent = Silent;
        let mut monitor = Monitor::new(&settings, usize::MAX, &mut silent);
        solve(&problem, &model, &settings, &mut monitor).unwrap().unwrap().upper.unwrap().phi()
    };
    assert_eq!(bound(1), bound(3));
}
