//! Laws of variables and pairs against enumeration: intervals hold the truth, by one pass and by brackets.

mod proofs;

use proofs::{Random, cases, joint_states, random_ising, random_tables, tally};
use zbound::query::marginals::{MarginalsRecord, MarginalsRequest, marginals};
use zbound::record::Status;
use zbound::run::{MethodChoice, Outcome};
use zbound::{FactorModel, Flow, Method, Model, Progress, Settings, Silent, Source};

/// Probabilities of all joint states of the free variables of a file, by enumeration; `None` when there are none.
struct Truth {
    states: Vec<Vec<u32>>,
    weights: Vec<f64>,
}

impl Truth {
    fn of(model: &Model, eps: f64) -> Option<Self> {
        let tables = model.factors().unwrap();
        let states = joint_states(tables.cardinalities());
        let values: Vec<f64> = states.iter().map(|x| tables.value_of(x)).collect();
        let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = values.iter().map(|v| ((v - top) / eps).exp()).collect();
        let total: f64 = weights.iter().sum();
        let states = states.iter().map(|x| model.expand(x, |s| s)).collect();
        (top > f64::NEG_INFINITY)
            .then(|| Truth { states, weights: weights.iter().map(|w| w / total).collect() })
    }

    fn probability(&self, event: &[(usize, u32)]) -> f64 {
        let holds = |x: &Vec<u32>| event.iter().all(|&(i, s)| x[i] == s);
        self.states.iter().zip(&self.weights).filter(|(x, _)| holds(x)).map(|(_, w)| w).sum()
    }
}

/// Rounding of the enumeration itself.
const SLACK: f64 = 1e-12;

/// Checks every interval and returns the widest and their number.
fn check(record: &MarginalsRecord, truth: &Truth, what: &str) -> (f64, usize) {
    let (mut widest, mut count) = (0.0f64, 0);
    let mut one = |interval: [f64; 2], event: &[(usize, u32)]| {
        let p = truth.probability(event);
        let [low, high] = interval;
        assert!(0.0 <= low && low <= high && high <= 1.0, "{what}: {event:?} {interval:?}");
        assert!(low <= p + SLACK && p <= high + SLACK, "{what}: {event:?} {low} {p} {high}");
        widest = widest.max(high - low);
        count += 1;
    };
    for m in &record.marginals {
        m.law().into_iter().enumerate().for_each(|(s, law)| one(law, &[(m.variable, s as u32)]));
    }
    for pair in &record.pairs {
        let (i, j) = pair.variables;
        for (s, row) in pair.table.iter().enumerate() {
            row.iter().enumerate().for_each(|(t, law)| one(*law, &[(i, s as u32), (j, t as u32)]));
        }
    }
    (widest, count)
}

fn with_random_evidence(random: &mut Random, model: Model) -> Model {
    let count = model.variables();
    let evidence: Vec<(usize, u32)> = (0..count)
        .filter(|_| random.below(4) == 0)
        .collect::<Vec<_>>()
        .into_iter()
        .map(|i| (i, random.below(model.cardinality(i) as usize) as u32))
        .collect();
    model.with_states(&evidence).unwrap()
}

fn random_pairs(random: &mut Random, variables: usize) -> Vec<(usize, usize)> {
    let pairs = (0..random.below(3)).map(|_| (random.below(variables), random.below(variables)));
    pairs.filter(|(i, j)| i != j).collect()
}

#[test]
fn one_exact_pass_encloses_every_law() {
    let mut random = Random(31);
    let mut count = 0;
    for case in 0..cases(800, 20_000) {
        let scale = random.magnitude(0.01, 300.0);
        let model = match random.below(3) {
            0 => {
                let d = 1 + random.below(9);
                Model::from(random_ising(&mut random, d, scale))
            }
            _ => Model::new(Source::Factors(random_tables(&mut random, scale))),
        };
        let model = with_random_evidence(&mut random, model);
        let mut request = MarginalsRequest::default();
        request.bound.eps = random.magnitude(0.1, 10.0);
        request.pairs = random_pairs(&mut random, model.variables());
        request.variables = Some((0..model.variables()).collect());
        if random.below(2) == 0 {
            request.bound.methods = MethodChoice::List(vec![Method::Exact]);
        }
        let answer = marginals(&model, &request, &mut Silent, &mut |_| {});
        let Some(truth) = Truth::of(&model, request.bound.eps) else {
            assert!(answer.is_err(), "case {case}: no state has positive weight");
            continue;
        };
        let (record, outcome) = answer.unwrap();
        let (widest, laws) = check(&record, &truth, &format!("case {case}"));
        // Enumeration is off by roundings of the exponents.
        assert!(widest <= 1e-9 * (1.0 + scale / request.bound.eps), "case {case}: {widest:e}");
        assert_eq!((record.status, outcome), (Status::Converged, Outcome::Complete));
        assert_eq!(record.methods, [Method::Exact]);
        count += laws;
    }
    tally(1, "exact laws of variables and pairs against enumeration", count);
}

#[test]
fn elimination_of_spins_encloses_every_law_too() {
    // Beyond the size that is always enumerated, on sparse graphs.
    let mut random = Random(32);
    for case in 0..cases(12, 60) {
        let d = 17 + random.below(2);
        let scale = random.magnitude(0.1, 30.0);
        let couplings: Vec<_> = (1..d).map(|i| (random.below(i), i, random.between(-scale, scale))).collect();
        let fields: Vec<f64> = (0..d).map(|_| random.between(-scale, scale)).collect();
        let model = Model::from(zbound::Ising::new(d, &fields, &couplings).unwrap());
        let request = MarginalsRequest {
            pairs: vec![(0, d - 1)],
            variables: Some((0..d).collect()),
            ..MarginalsRequest::default()
        };
        let (record, _) = marginals(&model, &request, &mut Silent, &mut |_| {}).unwrap();
        let (widest, _) = check(&record, &Truth::of(&model, 1.0).unwrap(), &format!("case {case}"));
        assert!(widest < 1e-9, "case {case}: {widest:e}");
    }
}

#[test]
fn laws_far_beyond_the_range_of_numbers_are_enclosed() {
    let mut random = Random(33);
    for case in 0..cases(100, 2000) {
        let scale = random.magnitude(300.0, 1e5);
        let model = Model::new(Source::Factors(random_tables(&mut random, scale)));
        let mut request = MarginalsRequest::default();
        request.bound.methods = MethodChoice::List(vec![Method::Exact]);
        let Some(truth) = Truth::of(&model, 1.0) else { continue };
        let (record, _) = marginals(&model, &request, &mut Silent, &mut |_| {}).unwrap();
        check(&record, &truth, &format!("case {case}, scale {scale:e}"));
    }
}

#[test]
fn brackets_hold_the_truth_by_every_method() {
    let mut random = Random(34);
    let mut count = 0;
    for case in 0..cases(60, 1000) {
        let scale = random.magnitude(0.1, 5.0);
        let spins = random.below(2) == 0;
        let model = if spins {
            let d = 2 + random.below(5);
            Model::from(random_ising(&mut random, d, scale))
        } else {
            Model::new(Source::Factors(random_tables(&mut random, scale)))
        };
        let model = with_random_evidence(&mut random, model);
        let Some(truth) = Truth::of(&model, 0.7) else { continue };
        let lists: &[&[Method]] = if spins {
            &[
                &[Method::MeanField, Method::Trw],
                &[Method::Quantum, Method::MeanField],
                &[Method::Trw],
                &[Method::Exact, Method::Trw],
            ]
        } else {
            &[&[Method::Wmb], &[Method::MeanField, Method::Wmb], &[Method::MeanField]]
        };
        let mut request = MarginalsRequest::default();
        request.bound.eps = 0.7;
        request.bound.methods = MethodChoice::List(lists[random.below(lists.len())].to_vec());
        request.pairs = random_pairs(&mut random, model.variables());
        request.variables = Some((0..model.variables()).collect());
        let mut posted = 0;
        let post = &mut |record: &MarginalsRecord| {
            check(record, &truth, &format!("case {case}, on the way"));
            posted += 1;
        };
        let (record, _) = marginals(&model, &request, &mut Silent, post).unwrap();
        count += check(&record, &truth, &format!("case {case}")).1;
        assert!(posted > 0 || record.widest() < 1e-6, "case {case}: nothing was posted");
    }
    tally(1, "laws by brackets against enumeration", count);
}

#[test]
fn limits_are_said_and_intervals_stay_true() {
    let model = Model::from(random_ising(&mut Random(35), 40, 1.0));
    let mut request = MarginalsRequest::default();
    for methods in [MethodChoice::Auto, MethodChoice::List(vec![Method::Exact])] {
        request.bound.methods = methods;
        request.bound.settings = Settings::default().with_time_limit(Some(0.0));
        let (record, outcome) = marginals(&model, &request, &mut Silent, &mut |_| {}).unwrap();
        assert_eq!((record.status, outcome), (Status::TimeLimit, Outcome::Complete));
        assert!(record.reason.is_some() && record.marginals[0].lower == Some(0.0));
        request.bound.settings = Settings::default();
        let mut stop = |_: &Progress| Flow::Stop;
        let (record, outcome) = marginals(&model, &request, &mut stop, &mut |_| {}).unwrap();
        assert_eq!((record.status, outcome), (Status::Cancelled, Outcome::Cancelled));
    }
    request.bound.settings = Settings::default().with_memory_limit(1 << 10);
    assert!(marginals(&model, &request, &mut Silent, &mut |_| {}).is_err(), "exact does not fit");
}

#[test]
fn brackets_of_larger_models_shrink_around_the_exact_laws() {
    // 36 spins on a grid are exact in no time: the brackets are asked for by name.
    let model = Model::from(proofs::random_grid(&mut Random(36), 6));
    let mut request = MarginalsRequest { variables: Some(vec![0, 7, 35]), ..MarginalsRequest::default() };
    let (exact, _) = marginals(&model, &request, &mut Silent, &mut |_| {}).unwrap();
    request.bound.methods = MethodChoice::List(vec![Method::Wmb, Method::MeanField]);
    request.bound.settings = Settings::default().with_time_limit(Some(3.0));
    let (record, _) = marginals(&model, &request, &mut Silent, &mut |_| {}).unwrap();
    for (inner, outer) in exact.marginals.iter().zip(&record.marginals) {
        assert!(outer.lower <= inner.upper && inner.lower <= outer.upper, "{inner:?} {outer:?}");
        assert!(outer.upper.unwrap() - outer.lower.unwrap() < 1.0);
    }
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let model = Model::new(Source::Factors(FactorModel::new(3)));
    let mut request = MarginalsRequest { variables: Some(vec![3]), ..MarginalsRequest::default() };
    assert!(marginals(&model, &request, &mut Silent, &mut |_| {}).is_err());
    request.variables = None;
    for pair in [(0, 3), (1, 1)] {
        request.pairs = vec![pair];
        assert!(marginals(&model, &request, &mut Silent, &mut |_| {}).is_err(), "{pair:?}");
    }
    request.pairs = vec![(0, 2)];
    let (record, _) = marginals(&model, &request, &mut Silent, &mut |_| {}).unwrap();
    assert!(record.marginals.is_empty() && record.pairs.len() == 1);
}

#[test]
fn impossible_states_have_probability_zero() {
    let none = f64::NEG_INFINITY;
    let mut tables = FactorModel::with_cardinalities(&[2, 3]).unwrap();
    tables.push(&[0, 1], &[0.0, none, none, 1.0, none, none]).unwrap();
    let model = Model::new(Source::Factors(tables));
    let (record, _) = marginals(&model, &MarginalsRequest::default(), &mut Silent, &mut |_| {}).unwrap();
    let law = record.marginals[1].law();
    assert_eq!((law[2], record.marginals[1].lower), ([0.0, 0.0], None));
    let p = 1.0 / (1.0 + (-1.0f64).exp());
    assert!(law[1][0] <= p && p <= law[1][1] && law[1][1] - law[1][0] < 1e-12);
}
