//! The maximum itself, by elimination, branching and mini-buckets, against enumeration.

mod proofs;

use proofs::{Random, cases, enumerate, random_ising, random_polynomial, random_tables, tally};
use zbound::query::map::{MapRequest, Proof, map};
use zbound::record::Status;
use zbound::{FactorModel, Ising, Model, Settings, Silent, Source};

fn closing(settings: Settings) -> MapRequest {
    MapRequest { close: true, settings: settings.with_tol(1e-6), ..MapRequest::default() }
}

/// No memory for elimination: whatever else there is has to do.
fn without_elimination() -> Settings {
    Settings::default().with_memory_limit(1 << 20).with_time_limit(Some(20.0))
}

#[test]
fn elimination_gives_the_maximum_of_any_model() {
    let mut random = Random(41);
    let mut count = 0;
    for case in 0..cases(600, 10_000) {
        let scale = random.magnitude(0.01, 100.0);
        let model = match random.below(3) {
            0 => {
                let d = 1 + random.below(8);
                Model::from(random_polynomial(&mut random, d, scale))
            }
            _ => Model::new(Source::Factors(random_tables(&mut random, scale))),
        };
        let tables = model.factors().unwrap();
        let answer = map(&model, &closing(Settings::default()), &mut Silent);
        let Some(truth) = enumerate(&tables, 0.0) else {
            assert!(answer.is_err(), "case {case}");
            continue;
        };
        let record = answer.unwrap().record;
        let (upper, value) = (record.upper.unwrap(), record.value.unwrap());
        let slack = 1e-12 * (1.0 + scale * tables.len() as f64);
        assert!(upper >= truth.lo && upper <= truth.hi + slack, "case {case}: {upper} {truth:?}");
        assert!((value - truth.lo).abs() <= slack, "case {case}: {value} {truth:?}");
        assert!(record.status == Status::Converged && record.certified, "case {case}: {record:?}");
        count += 1;
    }
    tally(1, "maxima by elimination against enumeration", count);
}

/// Max-cut with small integer weights on d vertices: f takes integer values.
fn integers(random: &mut Random, d: usize) -> Ising {
    let mut couplings = Vec::new();
    for i in 0..d {
        for j in i + 1..d {
            couplings.push((i, j, random.below(7) as f64 - 3.0));
        }
    }
    let fields: Vec<f64> = (0..d).map(|_| if random.below(2) == 0 { 0.0 } else { 1.0 }).collect();
    Ising::new(d, &fields, &couplings).unwrap()
}

#[test]
fn branching_closes_dense_integer_models() {
    let mut random = Random(42);
    for case in 0..cases(4, 30) {
        // Tables of so many spins take more than the memory that is left.
        let ising = integers(&mut random, 23);
        let exact = zbound::exact::exact(&Model::from(ising.clone()), 1.0, &Settings::default(), &mut Silent);
        let truth = exact.unwrap().max_f;
        let model = Model::from(ising);
        let report = map(&model, &closing(without_elimination()), &mut Silent).unwrap();
        let record = report.record;
        assert_eq!(record.proof, Some(Proof::Branching), "case {case}");
        assert_eq!((record.upper, record.value), (Some(truth), Some(truth)), "case {case}: {record:?}");
        assert_eq!((record.status, record.relative_gap), (Status::Converged, Some(0.0)), "case {case}");
    }
}

#[test]
fn branching_is_above_the_maximum_at_every_stop() {
    let mut random = Random(43);
    for case in 0..cases(6, 60) {
        let model = Model::from(random_ising(&mut random, 23, 1.0));
        let truth = zbound::exact::exact(&model, 1.0, &Settings::default(), &mut Silent).unwrap().max_f;
        let limit = [0.0, 0.05, 0.5][case % 3];
        let settings = without_elimination().with_time_limit(Some(limit));
        let threads = 1 + case % 2;
        let record = map(&model, &closing(settings.with_threads(threads)), &mut Silent).unwrap().record;
        let slack = 1e-9 * (1.0 + truth.abs());
        assert!(record.upper.unwrap() >= truth - slack, "case {case}: {record:?} {truth}");
        assert!(record.value.unwrap() <= truth + slack, "case {case}: {record:?} {truth}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_tree() {
    let model = Model::from(integers(&mut Random(44), 30));
    let run = |threads: usize| {
        let settings = Settings::default().with_memory_limit(1 << 20).with_threads(threads);
        map(&model, &closing(settings), &mut Silent).unwrap().record
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(
        (one.upper, one.value, one.nodes, &one.assignment),
        (two.upper, two.value, two.nodes, &two.assignment)
    );
}

#[test]
fn a_bound_worse_than_the_trivial_one_is_never_reported() {
    // Clauses: every table is 0 or forbidden, so that max f <= 0 needs no proof.
    let mut random = Random(45);
    let (d, none) = (60, f64::NEG_INFINITY);
    let mut tables = FactorModel::new(d);
    for _ in 0..200 {
        let scope: Vec<usize> =
            proofs::random_order(&mut random, d).iter().take(3).map(|&v| v as usize).collect();
        let mut table = vec![0.0; 8];
        table[random.below(8)] = none;
        tables.push(&scope, &table).unwrap();
    }
    let model = Model::new(Source::Factors(tables));
    for close in [true, false] {
        let settings = Settings::default().with_time_limit(Some(1.0));
        let request = MapRequest { close, settings, ..MapRequest::default() };
        let record = map(&model, &request, &mut Silent).unwrap().record;
        assert!(record.upper.unwrap() <= 0.0, "{record:?}");
    }
}
