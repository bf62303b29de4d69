//! Scans over inverse temperature: every bracket holds the value, those that follow from other points too.

mod proofs;

use proofs::{Random, cases, random_ising};
use zbound::record::Status;
use zbound::run::{Betas, BoundRequest, MethodChoice, SCAN_SCHEMA, bound, scan};
use zbound::{FactorModel, Flow, Ising, Method, Model, Progress, Settings, Silent, Source};

/// log sum exp(beta f), by listing the states.
fn by_hand(model: &Model, beta: f64) -> f64 {
    let f = model.factors().unwrap();
    let spins =
        |bits: usize| (0..f.d()).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect::<Vec<i8>>();
    let weight = |bits: usize| {
        let value = f.value(&spins(bits));
        if value == f64::NEG_INFINITY { 0.0 } else { (beta * value).exp() }
    };
    (0..1 << f.d()).map(weight).sum::<f64>().ln()
}

fn request(methods: &[Method]) -> BoundRequest {
    let mut request = BoundRequest::default();
    request.methods = MethodChoice::List(methods.to_vec());
    request
}

#[test]
fn brackets_hold_the_value_at_every_temperature() {
    let mut random = Random(41);
    let methods =
        [&[Method::Quantum, Method::MeanField][..], &[Method::Trw], &[Method::MeanField], &[Method::Wmb]];
    let betas: Betas = "0:2.3:7".parse().unwrap();
    for case in 0..cases(60, 2000) {
        let d = 2 + case % 5;
        let model = Model::from(random_ising(&mut random, d, 1.0));
        let request = request(methods[case % methods.len()]);
        let record = scan(&model, &betas, &request, &mut Silent, &mut |_| {}).unwrap();
        for point in &record.points {
            let truth = by_hand(&model, point.beta);
            let slack = 1e-12 * truth.abs().max(1.0);
            assert!(point.log_z.lower.is_none_or(|v| v <= truth + slack), "{truth} {point:?}");
            assert!(point.log_z.upper.is_none_or(|v| v >= truth - slack), "{truth} {point:?}");
            let proved =
                |from_others, method: Option<Method>| from_others || method.is_some() || point.beta == 0.0;
            assert!(point.log_z.lower.is_none() || proved(point.lower_from_others, point.lower_method));
            assert!(point.log_z.upper.is_none() || proved(point.upper_from_others, point.upper_method));
        }
    }
}

/// Room for rounding between two certificates of the same bound.
const SAME: f64 = 1e-9;

#[test]
fn warm_starts_are_sound_and_never_worse_than_cold_ones() {
    let mut random = Random(42);
    let sides = [
        &[Method::Quantum][..],
        &[Method::Trw],
        &[Method::Wmb],
        &[Method::MeanField],
        &[Method::Combined],
        &[Method::LogDet],
    ];
    let betas: Betas = "0.4:1.6:5".parse().unwrap();
    let (mut better, mut points, mut worse) = (0, 0, Vec::new());
    for case in 0..cases(240, 3000) {
        let model = Model::from(random_ising(&mut random, 3 + case % 6, 1.0));
        let mut request = request(sides[case % sides.len()]);
        let cap = [Some(1), Some(3), None][(case / sides.len()) % 3];
        request.settings = Settings::default().with_max_iterations(cap);
        let warm = scan(&model, &betas, &request, &mut Silent, &mut |_| {}).unwrap();
        for point in &warm.points {
            let truth = by_hand(&model, point.beta);
            let slack = SAME * truth.abs().max(1.0);
            let (lower, upper) = (point.log_z.lower, point.log_z.upper);
            assert!(lower.is_none_or(|v| v <= truth + 1e-3 * slack), "case {case}: {truth} {point:?}");
            assert!(upper.is_none_or(|v| v >= truth - 1e-3 * slack), "case {case}: {truth} {point:?}");
            request.eps = 1.0 / point.beta;
            let cold = bound(&model, &request, &mut Silent).unwrap().record.best.log_z;
            if let Some(cold) = cold.upper.map(|v| v * point.beta) {
                // Two solves that end by themselves agree up to their tolerance.
                let room = if cap.is_none() { 2e-8 * cold.abs().max(1.0) } else { slack };
                if upper.unwrap() > cold + room {
                    worse.push(format!("case {case}: upper {cold} {point:?}"));
                }
                better += usize::from(!point.upper_from_others && upper.unwrap() < cold - 1e-6);
            }
            if let Some(cold) = cold.lower.map(|v| v * point.beta) {
                if lower.unwrap() < cold - slack {
                    worse.push(format!("case {case}: lower {cold} {point:?}"));
                }
                better += usize::from(!point.lower_from_others && lower.unwrap() > cold + 1e-6);
            }
            points += 1;
        }
    }
    assert!(worse.is_empty(), "{worse:#?}");
    // Not more: what a cold solve of one or three iterations leaves is little.
    assert!(better > points / 40, "{better} of {points} sides are better than cold ones");
}

#[test]
fn points_help_each_other_by_convexity() {
    // The upper bound of a method that is loose in the middle only: trees are exact, so use a frustrated triangle.
    let triangle = Ising::new(3, &[0.0; 3], &[(0, 1, -1.0), (1, 2, -1.0), (0, 2, -1.0)]).unwrap();
    let mut lower = request(&[Method::Quantum]);
    let record =
        scan(&Model::from(triangle), &"0,0.3,0.6,0.9".parse().unwrap(), &lower, &mut Silent, &mut |_| {})
            .unwrap();
    assert_eq!(record.points[0].log_z.lower.map(|v| (v - 8f64.ln()).abs() < 1e-12), Some(true));
    // quantum has no lower bound: those past the second point can only come from others.
    assert!(record.points[1..].iter().all(|p| p.lower_method.is_none()));
    // Where exact values are known at both ends, a chord bounds the middle whatever its own method gave.
    lower.settings = Settings::default().with_max_iterations(Some(1));
    let chain = Model::from(Ising::new(3, &[0.5; 3], &[(0, 1, 1.0), (1, 2, -1.0)]).unwrap());
    let record = scan(&chain, &"0.1:1:4".parse().unwrap(), &lower, &mut Silent, &mut |_| {}).unwrap();
    for pair in record.points.windows(3) {
        let chord = 0.5 * (pair[0].log_z.upper.unwrap() + pair[2].log_z.upper.unwrap());
        assert!(pair[1].log_z.upper.unwrap() <= chord + 1e-9);
    }
}

#[test]
fn beta_zero_counts_the_states_that_hard_zeros_leave() {
    let mut tables = FactorModel::new(3);
    tables.push(&[0, 1], &[f64::NEG_INFINITY, 1.0, 2.0, 0.5]).unwrap();
    tables.push(&[2], &[0.3, -0.3]).unwrap();
    let model = Model::new(Source::Factors(tables));
    let record =
        scan(&model, &"0,0.5".parse().unwrap(), &BoundRequest::default(), &mut Silent, &mut |_| {}).unwrap();
    assert_eq!(record.schema, SCAN_SCHEMA);
    for point in &record.points {
        let truth = by_hand(&model, point.beta);
        assert!(
            (point.log_z.lower.unwrap() - truth).abs() < 1e-9 && point.log_z.upper.unwrap() >= truth - 1e-12
        );
    }
    assert!((record.points[0].log_z.upper.unwrap() - 6f64.ln()).abs() < 1e-9);
}

#[test]
fn a_stopped_scan_keeps_what_it_has() {
    let model = Model::from(random_ising(&mut Random(5), 8, 1.0));
    let mut calls = 0;
    let mut stop = |_: &Progress| {
        calls += 1;
        if calls > 3 { Flow::Stop } else { Flow::Continue }
    };
    let mut posted = 0;
    let betas: Betas = "0.5:2:9".parse().unwrap();
    let record = scan(&model, &betas, &request(&[Method::Quantum]), &mut stop, &mut |_| posted += 1).unwrap();
    assert_eq!((record.points.len(), posted), (9, 11));
    assert_eq!(record.points[8].status, Status::Cancelled);
    for point in &record.points {
        assert!(point.log_z.upper.is_none_or(|v| v >= by_hand(&model, point.beta) - 1e-9));
    }
}

#[test]
fn bad_lists_are_refused_by_name() {
    for text in ["", "1:2", "0:1:0", "-1:1:3", "a:b:3", "0:1:1000000", "1,x", "1e13", "nan"] {
        assert!(text.parse::<Betas>().is_err(), "{text}");
    }
    assert_eq!("1:2:1".parse::<Betas>().unwrap().values(), [1.0]);
}
