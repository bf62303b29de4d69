//! Exact inference at its edges: threads, limits, degenerate models, values out of range.

mod oracle;

use oracle::*;
use zbound::exact::{Algorithm, Exact, Wanted, exact, exact_with};
use zbound::{Error, FactorModel, Flow, Ising, Model, Progress, Settings, Silent, Source, StopReason};

#[test]
fn threads_do_not_change_a_bit() {
    let complete = zbound::generate::GenerateSpec {
        family: zbound::generate::Family::Gaussian,
        graph: zbound::generate::Graph::Complete,
        d: 23,
        w: 0.0,
        seed: 5,
    };
    let models = [
        Model::from(zbound::generate::generate(&complete).unwrap()),
        Model::from(random_grid(3, 15, 15, 1.0)),
    ];
    for (model, eps) in models.iter().flat_map(|m| [(m, 1.0), (m, 0.02)]) {
        let run = |threads| {
            let found = exact(model, eps, &Settings::default().with_threads(threads), &mut Silent).unwrap();
            let Exact { log_z, log_z_bounds, means, pairwise, entropy, argmax, .. } = found;
            format!("{log_z:?} {log_z_bounds:?} {means:?} {pairwise:?} {entropy:?} {argmax:?}")
        };
        let alone = run(1);
        assert!([2, 3].into_iter().all(|threads| run(threads) == alone));
    }
}

#[test]
fn values_beyond_floating_point_are_refused() {
    let huge = Model::from(Ising::new(2, &[1e308, 1e308], &[(0, 1, 1e308)]).unwrap());
    assert!(exact(&huge, 1.0, &Settings::default(), &mut Silent).is_err());
    let large = Model::from(Ising::new(2, &[1e280, -1e280], &[(0, 1, 1e280)]).unwrap());
    let found = exact(&large, 1.0, &Settings::default(), &mut Silent).unwrap();
    assert!(found.log_z_bounds.0 <= 1e280 && 1e280 <= found.log_z_bounds.1 && found.max_f == 1e280);
}

#[test]
fn degenerate_models_have_answers() {
    let none = exact(&Model::from(Ising::new(0, &[], &[]).unwrap()), 1.0, &Settings::default(), &mut Silent);
    let none = none.unwrap();
    assert!(none.log_z == 0.0 && none.argmax.is_empty() && none.max_f == 0.0);
    let free = Model::from(Ising::new(200, &[0.0; 200], &[]).unwrap());
    let free = exact(&free, 2.0, &Settings::default(), &mut Silent).unwrap();
    assert!(free.phi.abs() < 1e-9 && free.phi_bounds.0 <= 0.0 && 0.0 <= free.phi_bounds.1);
    assert!((free.entropy - 200.0 * 2f64.ln()).abs() < 1e-10 && free.means.iter().all(|m| m.abs() < 1e-12));
    let mut impossible = FactorModel::new(30);
    impossible.push(&[3, 4], &[f64::NEG_INFINITY; 4]).unwrap();
    let impossible = Model::new(Source::Factors(impossible));
    let found = exact(&impossible, 1.0, &Settings::default(), &mut Silent).unwrap();
    assert!(found.log_z == f64::NEG_INFINITY && found.means[0].is_nan());
}

#[test]
fn a_network_without_evidence_below_sums_to_nothing() {
    // Rows of thirds sum to one only up to rounding.
    let third = (1f64 / 3.0).ln();
    let mut network = FactorModel::new(30);
    for i in 0..30usize {
        // Each has up to five parents before it.
        let parents: Vec<usize> = (0..5).map(|k| (i * 7 + k * 3) % i.max(1)).filter(|&p| p < i).collect();
        let mut scope = vec![i];
        parents.into_iter().for_each(|p| {
            if !scope.contains(&p) {
                scope.push(p)
            }
        });
        let row = |k: usize| if k.is_multiple_of(2) { third } else { (2f64 / 3.0).ln() };
        let table: Vec<f64> = (0..1 << scope.len()).map(row).collect();
        network.push(&scope, &table).unwrap();
    }
    let network = Model::new(Source::Factors(network));
    let found = exact_with(&network, 1.0, Wanted::LOG_Z, &Settings::default(), &mut Silent).unwrap();
    assert!(found.log_z_bounds.0 <= 0.0 && 0.0 <= found.log_z_bounds.1, "{:?}", found.log_z_bounds);
    assert!(found.states_or_width == 0 || found.algorithm == Algorithm::Enumeration);
}

#[test]
fn limits_and_cancellation_are_obeyed() {
    let grid = Model::from(random_grid(1, 12, 12, 1.0));
    let small = Settings::default().with_memory_limit(100);
    let refused = exact(&grid, 1.0, &small, &mut Silent).unwrap_err();
    assert!(
        matches!(refused, Error::Memory { .. }) && refused.to_string().contains("tables of width 1"),
        "{refused}"
    );
    let mut stop = |_: &Progress| Flow::Stop;
    let stopped = exact(&grid, 1.0, &Settings::default(), &mut stop).unwrap_err();
    assert!(matches!(stopped, Error::Interrupted(StopReason::Cancelled)));
    let hurry = Settings::default().with_time_limit(Some(0.0));
    let late = exact(&grid, 1.0, &hurry, &mut Silent).unwrap_err();
    assert!(matches!(late, Error::Interrupted(StopReason::TimeLimit)));
    for eps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(exact(&grid, eps, &Settings::default(), &mut Silent).is_err());
    }
}

#[test]
fn info_describes_shape_and_scale() {
    let info = zbound::exact::info(&Model::from(random_grid(1, 4, 5, 2.0))).unwrap();
    assert_eq!((info.d, info.variables, info.edges, info.components, info.max_degree), (20, 20, 31, 1, 4));
    assert_eq!((info.induced_width, info.max_arity, info.terms, info.hard_zeros), (4, 2, 0, 0));
    assert!(!info.is_forest && !info.is_complete && info.is_pairwise && !info.from_tables);
    let (low, high) = info.couplings.unwrap();
    assert!(0.0 < low && low < high && high <= 2.0 && info.sign == zbound::exact::Sign::Mixed);
    let mut hard = FactorModel::new(4);
    hard.push(&[0, 1, 2], &[0.0, f64::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    let hard = Model::new(Source::Factors(hard)).with_evidence(&[(3, 1)]).unwrap();
    let info = zbound::exact::info(&hard).unwrap();
    assert_eq!((info.d, info.variables, info.hard_zeros, info.max_arity, info.terms), (3, 4, 1, 3, 0));
    assert!(info.fields.is_none() && info.is_complete && !info.is_pairwise && info.from_tables);
    assert!(serde_json::to_string(&info).unwrap().contains("\"sign\":\"none\""));
}

#[test]
fn interchangeable_spins_are_counted() {
    let n = 60usize;
    let (h, g, coupling) = (0.03, -0.02, 0.01);
    let fields: Vec<f64> = (0..2 * n).map(|i| if i < n { h } else { g }).collect();
    let couplings: Vec<_> = (0..n * n).map(|k| (k / n, n + k % n, coupling)).collect();
    let model = Model::from(Ising::new(2 * n, &fields, &couplings).unwrap());
    let log_ways = |k: usize| (1..=k).map(|i| ((n + 1 - i) as f64 / i as f64).ln()).sum::<f64>();
    let spin = |k: usize| 2.0 * k as f64 - n as f64;
    let terms: Vec<f64> = (0..(n + 1) * (n + 1))
        .map(|k| (k / (n + 1), k % (n + 1)))
        .map(|(a, b)| log_ways(a) + log_ways(b) + h * spin(a) + g * spin(b) + coupling * spin(a) * spin(b))
        .collect();
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let truth = top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln();
    let found = exact_with(&model, 1.0, Wanted::LOG_Z, &Settings::default(), &mut Silent).unwrap();
    let (low, high) = found.log_z_bounds;
    assert!(low - 1e-10 <= truth && truth <= high + 1e-10 && high - low < 1e-9, "{low} {truth} {high}");
    // With everything wanted, log Z is what can be had.
    let all = exact(&model, 1.0, &Settings::default(), &mut Silent).unwrap();
    assert!(all.log_z_bounds == found.log_z_bounds && !all.has_marginals() && all.order.is_none());
}
