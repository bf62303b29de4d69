//! The driver: choice of methods, hard zeros, evidence, cancellation.

mod proofs;

use proofs::{Random, random_ising};
use zbound::record::Status;
use zbound::run::{BoundRequest, MethodChoice, Outcome, bound};
use zbound::{Error, FactorModel, FeatureSpec, Flow, Ising, Method, Model, Progress, Silent, Source, VarSet};

fn request(methods: MethodChoice) -> BoundRequest {
    let mut request = BoundRequest::default();
    request.methods = methods;
    request
}

/// Independent spins would be a forest; a frustrated triangle is the smallest model that is not.
fn triangle() -> Model {
    Model::from(Ising::new(3, &[0.1, 0.2, 0.3], &[(0, 1, -1.0), (1, 2, -1.0), (0, 2, -1.0)]).unwrap())
}

fn log_z_by_hand(model: &Model, eps: f64) -> f64 {
    let f = model.factors().unwrap();
    let spins =
        |bits: usize| (0..f.d()).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect::<Vec<i8>>();
    eps * (0..1 << f.d()).map(|bits| (f.value(&spins(bits)) / eps).exp()).sum::<f64>().ln()
}

#[test]
fn auto_is_exact_on_small_models() {
    let report = bound(&triangle(), &BoundRequest::default(), &mut Silent).unwrap();
    assert_eq!(report.record.best.upper_method, Some(Method::Exact));
    assert_eq!(report.outcome, Outcome::Complete);
    let truth = log_z_by_hand(&triangle(), 1.0);
    assert!((report.record.results[0].log_z.estimate.unwrap() - truth).abs() < 1e-12);
}

#[test]
fn every_method_encloses_the_value_at_every_temperature() {
    for eps in [0.1, 1.0, 10.0] {
        let mut request = request(MethodChoice::All);
        request.eps = eps;
        let report = bound(&triangle(), &request, &mut Silent).unwrap();
        let truth = log_z_by_hand(&triangle(), eps);
        assert_eq!(report.record.results.len(), Method::ALL.len());
        let proved = report.record.results.iter().filter(|r| r.log_z.upper.is_some()).count();
        assert!(proved >= 7, "{proved} upper bounds at eps = {eps}");
        for result in &report.record.results {
            let slack = 1e-12 * truth.abs().max(eps);
            let sides = [result.log_z.upper, result.log_z.lower];
            let applies = !matches!(result.status, Status::NotApplicable | Status::Estimate);
            assert_eq!(sides.iter().any(Option::is_some), applies, "{result:?}");
            assert!(result.log_z.upper.is_none_or(|v| v >= truth - slack), "{result:?}");
            assert!(result.log_z.lower.is_none_or(|v| v <= truth + slack), "{result:?}");
        }
    }
}

#[test]
fn hard_zeros_leave_every_bound_valid() {
    let zero = f64::NEG_INFINITY;
    let mut tables = FactorModel::new(3);
    tables.push(&[0, 1], &[0.0, zero, 0.5, 1.0]).unwrap();
    tables.push(&[1, 2], &[zero, 0.25, 0.0, -1.0]).unwrap();
    let model = Model::new(Source::Factors(tables));
    let truth = log_z_by_hand(&model, 1.0);
    let report = bound(&model, &request(MethodChoice::All), &mut Silent).unwrap();
    for result in &report.record.results {
        if let Some(upper) = result.log_z.upper {
            assert!(upper >= truth - 1e-12, "{result:?}");
        }
        if let Some(lower) = result.log_z.lower {
            assert!(lower <= truth + 1e-12, "{result:?}");
        }
    }
    let lower = report.record.results.iter().filter(|r| r.log_z.lower.is_some());
    assert!(lower.count() >= 3, "exact, mean field and mini-buckets handle zeros");
    assert_eq!(report.outcome, Outcome::Complete);
}

#[test]
fn formulas_beyond_elimination_are_counted() {
    // At most one of sixty: every pair shares a table, and 61 states are left of 2^60.
    let d = 60;
    let mut tables = FactorModel::new(d);
    for i in 0..d {
        for j in 0..i {
            tables.push(&[i, j], &[0.0, 0.0, 0.0, f64::NEG_INFINITY]).unwrap();
        }
    }
    let model = Model::new(Source::Factors(tables));
    for methods in [MethodChoice::List(vec![Method::Exact]), MethodChoice::Auto] {
        let report = bound(&model, &request(methods), &mut Silent).unwrap();
        let sides = report.record.best.log_z;
        let (lower, upper) = (sides.lower.unwrap(), sides.upper.unwrap());
        let truth = 61f64.ln();
        assert!(lower <= truth && truth <= upper && upper - lower < 1e-9, "{lower} {upper}");
        assert_eq!(report.record.best.upper_method, Some(Method::Exact));
    }
}

/// A square grid with couplings in [-w, w].
fn grid(side: usize, w: f64, seed: u64) -> Model {
    let mut random = Random(seed);
    let mut edges = Vec::new();
    for i in 0..side * side {
        let right = (i % side + 1 < side).then_some(i + 1);
        let below = (i + side < side * side).then_some(i + side);
        edges.extend(right.into_iter().chain(below).map(|j| (i, j, w * (2.0 * random.unit() - 1.0))));
    }
    Model::from(Ising::new(side * side, &vec![0.1; side * side], &edges).unwrap())
}

#[test]
fn methods_side_by_side_enclose_the_value() {
    for (seed, w) in [(1, 0.5), (2, 1.0), (3, 3.0)] {
        let model = grid(14, w, seed);
        let truth = bound(&model, &BoundRequest::default(), &mut Silent).unwrap().record.best.log_z;
        let mut request = BoundRequest::default();
        // Too little for elimination: bounds have to do it.
        request.settings.memory_limit = 60_000;
        request.settings = request.settings.with_threads(2).with_time_limit(Some(1.0));
        let best = bound(&model, &request, &mut Silent).unwrap().record.best.log_z;
        assert!(best.lower.unwrap() <= truth.upper.unwrap(), "{w}: {best:?} {truth:?}");
        assert!(best.upper.unwrap() >= truth.lower.unwrap(), "{w}: {best:?} {truth:?}");
    }
}

#[test]
fn cancelling_stops_methods_side_by_side() {
    let mut request = BoundRequest::default();
    request.settings.memory_limit = 60_000;
    request.settings = request.settings.with_threads(2).with_time_limit(Some(300.0));
    for looks in [1, 10, 100, 1000] {
        let mut left = looks;
        let mut stop = |_: &Progress| {
            left -= i32::from(left > 0);
            if left == 0 { Flow::Stop } else { Flow::Continue }
        };
        let start = std::time::Instant::now();
        let report = bound(&grid(20, 1.0, 5), &request, &mut stop).unwrap();
        assert_eq!(report.outcome, Outcome::Cancelled);
        // The guard against hanging: the time limit is five minutes.
        assert!(start.elapsed().as_secs_f64() < 100.0);
    }
}

#[test]
fn a_seed_and_a_number_of_iterations_repeat_a_run_of_auto() {
    let model = grid(20, 1.0, 20);
    let mut request = BoundRequest::default();
    request.settings.max_iterations = Some(3);
    // Too little for elimination: bounds have to do it.
    request.settings.memory_limit = 60_000;
    let brackets: Vec<_> = (0..2)
        .map(|_| {
            let report = bound(&model, &request, &mut Silent).unwrap();
            let sides = |r: &zbound::record::MethodRecord| (r.method, r.status, r.log_z.lower, r.log_z.upper);
            report.record.results.iter().map(sides).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(brackets[0], brackets[1]);
    assert!(brackets[0].iter().any(|r| r.0 == Method::Wmb && r.3.is_some()), "{brackets:?}");
    assert!(brackets[0].iter().all(|r| r.1 != Status::TimeLimit), "no clock takes part: {brackets:?}");
}

#[test]
fn cancelling_stops_the_remaining_methods() {
    let mut calls = 0;
    let mut stop = |_: &Progress| {
        calls += 1;
        if calls > 1 { Flow::Stop } else { Flow::Continue }
    };
    let report = bound(&triangle(), &request(MethodChoice::All), &mut stop).unwrap();
    assert_eq!(report.outcome, Outcome::Cancelled);
    assert!(report.record.results.iter().skip(1).all(|r| r.status == Status::Cancelled));
}

#[test]
fn bad_requests_are_refused_before_any_work() {
    let refused = |change: &dyn Fn(&mut BoundRequest)| {
        let mut request = BoundRequest::default();
        change(&mut request);
        bound(&triangle(), &request, &mut Silent).unwrap_err()
    };
    for eps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused(&|r| r.eps = eps), Error::Setting(_)));
    }
    assert!(matches!(refused(&|r| r.methods = MethodChoice::List(vec![])), Error::Setting(_)));
    assert!(matches!(refused(&|r| r.settings.tol = f64::NAN), Error::Setting(_)));
}

#[test]
fn features_out_of_range_are_an_error_in_the_files_numbers() {
    let mut request = request(MethodChoice::List(vec![Method::Quantum]));
    request.features = FeatureSpec::Explicit(vec![VarSet::EMPTY, VarSet::singleton(7)]);
    let error = bound(&triangle(), &request, &mut Silent).unwrap_err();
    assert!(error.to_string().contains("[7]"), "{error}");
}

#[test]
fn the_combined_bound_uses_the_features_asked_for() {
    let mut used = 0;
    for seed in 0..6 {
        let model = Model::from(random_ising(&mut Random(seed), 7, 1.0));
        let mut asked = request(MethodChoice::List(vec![Method::Combined]));
        let plain = bound(&model, &asked, &mut Silent).unwrap().record;
        asked.features = FeatureSpec::Degree(2);
        let larger = bound(&model, &asked, &mut Silent).unwrap().record;
        // Greedy selection may add some of its own; on some models the others say all there is to say.
        let is_used = larger.results[0].features.as_ref().is_some_and(|list| list.len() >= 22);
        let (plain, larger) = (plain.best.phi.upper.unwrap(), larger.best.phi.upper.unwrap());
        assert!(larger <= plain, "{seed}: {larger} {plain}");
        used += u32::from(is_used && larger < plain);
    }
    assert!(used > 1, "{used}");
}
