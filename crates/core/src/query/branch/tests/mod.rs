//! Brackets of trees hold the truth at every size, whatever interrupts them.

mod endings;

use super::grow::{BATCH, Growth};
use super::leaf::Rule;
use super::tree::Tree;
use super::{Goal, branch};
use crate::certify::Certificate;
use crate::exact::exact;
use crate::model::{FactorModel, Ising, Model, Polynomial, Source, VarSet};
use crate::observer::{Monitor, Silent};
use crate::settings::{Method, Settings};
use crate::solution::StopReason;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

struct Random(ChaCha8Rng);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0.next_u32() % n
    }

    /// Uniform in [-1, 1].
    fn unit(&mut self) -> f64 {
        f64::from(self.below(2_000_001)) / 1e6 - 1.0
    }
}

/// Spins with couplings and now and then a term of three; or tables of 1 to 4 states, some with zeros.
fn model(random: &mut Random) -> Model {
    let scale = 0.1 * f64::from(1 + random.below(30));
    if random.below(2) == 0 {
        let d = 2 + random.below(6) as usize;
        let fields: Vec<f64> = (0..d).map(|_| scale * random.unit()).collect();
        let pairs = (0..d).flat_map(|j| (0..j).map(move |i| (i, j)));
        let couplings: Vec<_> = pairs.map(|(i, j)| (i, j, scale * random.unit())).collect();
        let ising = Ising::new(d, &fields, &couplings).unwrap();
        let terms = if d > 2 && random.below(3) == 0 {
            vec![([0usize, 1, 2].into_iter().collect::<VarSet>(), scale * random.unit())]
        } else {
            Vec::new()
        };
        return Model::from(Polynomial::new(ising, terms).unwrap());
    }
    let d = 1 + random.below(6) as usize;
    let states: Vec<usize> = (0..d).map(|_| 1 + random.below(4) as usize).collect();
    let mut tables = FactorModel::with_cardinalities(&states).unwrap();
    let has_zeros = random.below(3) == 0;
    for _ in 0..=random.below(9) {
        let mut scope = Vec::new();
        for _ in 0..=random.below(3) {
            let v = random.below(d as u32) as usize;
            if !scope.contains(&v) {
                scope.push(v);
            }
        }
        let size: usize = scope.iter().map(|&v| states[v]).product();
        let is_zero = |random: &mut Random| has_zeros && random.below(5) == 0;
        let entry =
            |random: &mut Random| if is_zero(random) { f64::NEG_INFINITY } else { scale * random.unit() };
        let table: Vec<f64> = (0..size).map(|_| entry(random)).collect();
        tables.push(&scope, &table).unwrap();
    }
    Model::new(Source::Factors(tables))
}

/// Mini-buckets of two variables: wider ones are exact on models this small.
fn weak() -> Settings {
    Settings::default().with_ibound(Some(1))
}

/// A search without the shortcut of exact sums: small models are trees of bounds down to single states.
fn grown<'a>(
    model: &'a Model,
    eps: f64,
    goal: &Goal,
    settings: &Settings,
    steps: usize,
) -> Option<(Growth<'a>, Vec<(f64, f64)>)> {
    let mut silent = Silent;
    let mut monitor = Monitor::new(settings, usize::MAX, &mut silent);
    let mut growth = Growth::new(model, eps, goal, settings, &mut monitor).ok()?;
    growth.bounder.exact_secs = f64::INFINITY;
    let mut brackets = vec![growth.tree.bracket()];
    for _ in 0..steps {
        let one = settings.clone().with_max_iterations(Some(2));
        let mut silent = Silent;
        let mut monitor = Monitor::new(&one, usize::MAX, &mut silent);
        let stop = growth.run(goal, &mut monitor).unwrap();
        brackets.push(growth.tree.bracket());
        if stop != StopReason::MaxIterations {
            break;
        }
    }
    Some((growth, brackets))
}

/// Rounding of the reference next to which a bracket may lie.
fn is_between(truth: (f64, f64), (low, high): (f64, f64)) -> bool {
    let slack = 1e-11 * (1.0 + truth.0.abs());
    low <= truth.1 + slack && high >= truth.0 - slack
}

#[test]
fn brackets_hold_the_truth_and_never_widen() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(5));
    let count = if std::env::var_os("ZBOUND_FULL").is_some() { 4000 } else { 150 };
    let mut closed = 0;
    for case in 0..count {
        let model = model(&mut random);
        let eps = [1.0, 0.2, 5.0][random.below(3) as usize];
        let truth = exact(&model, eps, &Settings::default(), &mut Silent).unwrap().log_z_bounds;
        let steps = 1 + random.below(12) as usize;
        let goal = Goal::default();
        let settings = weak();
        let Some((growth, brackets)) = grown(&model, eps, &goal, &settings, steps) else { continue };
        if truth.1 == f64::NEG_INFINITY {
            assert_eq!(growth.tree.bracket().0, f64::NEG_INFINITY, "case {case}");
            continue;
        }
        for pair in brackets.windows(2) {
            assert!(pair[1].0 >= pair[0].0 && pair[1].1 <= pair[0].1, "case {case}: {brackets:?}");
        }
        for &bracket in &brackets {
            assert!(is_between(truth, bracket), "case {case}: {truth:?} outside {bracket:?}");
        }
        let (low, high) = growth.tree.bracket();
        closed += usize::from(high - low <= 1e-6 * high.abs().max(1.0));
        let other = settings.clone().with_threads(3);
        let (same, _) = grown(&model, eps, &goal, &other, steps).unwrap();
        if growth.bounder.rule == same.bounder.rule {
            assert_eq!(growth.tree.bracket(), same.tree.bracket(), "case {case}: threads");
        }
    }
    assert!(closed > count / 8, "only {closed} of {count} closed");
}

#[test]
fn a_tree_without_room_goes_to_the_end_of_one_leaf_after_the_other() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(8));
    let count = if std::env::var_os("ZBOUND_FULL").is_some() { 3000 } else { 120 };
    let (mut closed, mut deep) = (0, 0);
    for case in 0..count {
        let model = model(&mut random);
        let eps = [1.0, 0.2, 5.0][random.below(3) as usize];
        let truth = exact(&model, eps, &Settings::default(), &mut Silent).unwrap().log_z_bounds;
        let goal = Goal { target_gap: Some([0.0, 0.1, 1.0][random.below(3) as usize]), ..Goal::default() };
        let Some((mut growth, _)) = grown(&model, eps, &goal, &weak(), 0) else { continue };
        let most = random.below(12) as usize;
        growth.tree.room = 400 * most as u64;
        let before = growth.tree.bracket();
        let mut last = before;
        let mut silent = Silent;
        for _ in 0..5000 {
            let one = weak().with_max_iterations(Some(2));
            let stop = growth.run(&goal, &mut Monitor::new(&one, usize::MAX, &mut silent)).unwrap();
            let now = growth.tree.bracket();
            assert!(now.0 >= last.0 && now.1 <= last.1, "case {case}: {last:?} {now:?}");
            let is_impossible = truth.1 == f64::NEG_INFINITY;
            assert!(is_impossible || is_between(truth, now), "case {case}: {truth:?} outside {now:?}");
            last = now;
            if stop != StopReason::MaxIterations {
                break;
            }
        }
        // What is there when it is full, and a path of families below each leaf of a batch.
        let families = 4 * (model.d() + 1) * (BATCH + 1);
        assert!(growth.tree.len() <= most + families, "case {case}: {} nodes", growth.tree.len());
        deep += usize::from(growth.tree.splits() > most);
        let wanted = goal.target_gap.unwrap().max(1e-6 * last.1.abs().max(1.0));
        closed += usize::from(last.1 - last.0 <= wanted || last.1 == f64::NEG_INFINITY);
    }
    assert!(closed > count * 9 / 10 && deep > count / 10, "{closed} closed, {deep} deep of {count}");
}

#[test]
fn certificates_of_trees_prove_the_bracket() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(6));
    let count = if std::env::var_os("ZBOUND_FULL").is_some() { 1000 } else { 60 };
    let (mut proved, mut split) = (0, 0);
    for case in 0..count {
        let model = model(&mut random);
        let truth = exact(&model, 1.0, &Settings::default(), &mut Silent).unwrap().log_z_bounds;
        let goal = Goal { want_certificate: true, ..Goal::default() };
        let Some((growth, _)) = grown(&model, 1.0, &goal, &weak(), 6) else { continue };
        let certificate = growth.tree.certificate(1.0);
        let Ok(claim) = certificate.verify_model(&model) else { continue };
        let low = claim.log_z_lower.unwrap_or(f64::NEG_INFINITY);
        let high = claim.log_z_upper.unwrap();
        assert!(is_between(truth, (low, high)), "case {case}: {truth:?} outside [{low}, {high}]");
        let (tree_low, tree_high) = growth.tree.bracket();
        let close = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * (1.0 + b.abs());
        assert!(close(low, tree_low) && close(high, tree_high), "case {case}");
        let (read, said) = Certificate::from_bytes(&certificate.to_bytes(&claim)).unwrap();
        assert_eq!((&read, &said), (&certificate, &claim), "case {case}");
        said.confirm_model(&read, &model, &crate::certify::Limits::default()).unwrap();
        proved += 1;
        split += usize::from(growth.tree.splits() > 0);
    }
    assert!(proved > count / 2 && split > count / 3, "{proved} proved, {split} split of {count}");
}

#[test]
fn a_killed_run_goes_on_from_its_checkpoint() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(7));
    let folder = std::env::temp_dir().join(format!("zbound-branch-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("tree.json");
    let couplings: Vec<_> = (0..9).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
    let couplings: Vec<_> = couplings.into_iter().map(|(i, j)| (i, j, random.unit())).collect();
    let model = Model::from(Ising::new(9, &[0.1; 9], &couplings).unwrap());
    let goal = Goal { checkpoint: Some(path.clone()), ..Goal::default() };
    let (first, _) = grown(&model, 1.0, &goal, &weak(), 3).unwrap();
    let (second, brackets) = grown(&model, 1.0, &goal, &weak(), 3).unwrap();
    assert_eq!(brackets[0], first.tree.bracket());
    assert!(second.tree.splits() > first.tree.splits());
    let other = Model::from(Ising::new(9, &[0.2; 9], &couplings).unwrap());
    let refusal = branch(&other, 1.0, &goal, &Settings::default(), &mut Silent).unwrap_err();
    assert!(refusal.to_string().contains("another model"), "{refusal}");
    let text = std::fs::read_to_string(&path).unwrap();
    let digit = text.rfind(|c: char| c.is_ascii_digit()).unwrap();
    let other = if text.as_bytes()[digit] == b'1' { "2" } else { "1" };
    std::fs::write(&path, format!("{}{other}{}", &text[..digit], &text[digit + 1..])).unwrap();
    let refusal = branch(&model, 1.0, &goal, &Settings::default(), &mut Silent).unwrap_err();
    assert!(refusal.to_string().contains("damaged"), "{refusal}");
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    let refusal = branch(&model, 1.0, &goal, &Settings::default(), &mut Silent).unwrap_err();
    assert!(refusal.to_string().contains("checkpoint"), "{refusal}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn parts_bounded_from_their_parents_point_hold_the_truth_and_verify() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(9));
    let count = if std::env::var_os("ZBOUND_FULL").is_some() { 1500 } else { 60 };
    let (mut warm, mut narrowed) = (0, 0);
    for case in 0..count {
        let d = 4 + random.below(6) as usize;
        let scale = 0.1 * f64::from(1 + random.below(30));
        let fields: Vec<f64> = (0..d).map(|_| scale * random.unit()).collect();
        let pairs = (0..d).flat_map(|j| (0..j).map(move |i| (i, j)));
        let couplings: Vec<_> = pairs.map(|(i, j)| (i, j, scale * random.unit())).collect();
        let model = Model::from(Ising::new(d, &fields, &couplings).unwrap());
        let eps = [1.0, 0.2, 5.0][random.below(3) as usize];
        let truth = exact(&model, eps, &Settings::default(), &mut Silent).unwrap().log_z_bounds;
        let goal = Goal { want_certificate: true, ..Goal::default() };
        let Some((mut growth, _)) = grown(&model, eps, &goal, &weak(), 0) else { continue };
        growth.bounder.rule = Rule::Relaxation(Method::Combined);
        let root = growth.bounder.relaxed(&model, growth.bounder.rule, None, None).unwrap();
        warm += usize::from(root.start.is_some());
        growth.tree = Tree::new(eps, root, true);
        let before = growth.tree.bracket();
        let some = weak().with_max_iterations(Some(1 + random.below(6) as usize));
        let mut silent = Silent;
        growth.run(&goal, &mut Monitor::new(&some, usize::MAX, &mut silent)).unwrap();
        let after = growth.tree.bracket();
        assert!(
            is_between(truth, before) && is_between(truth, after),
            "case {case}: {truth:?} {before:?} {after:?}"
        );
        narrowed += usize::from(after.1 < before.1);
        let bound = growth.tree.certificate(eps).verify_model(&model);
        let claim = bound.unwrap_or_else(|error| panic!("case {case}: {error}"));
        let proved = claim.log_z_upper.expect("an upper side");
        assert!(proved >= truth.0 - 1e-9 * (1.0 + truth.0.abs()), "case {case}: {proved} below {truth:?}");
        assert!((proved - after.1).abs() <= 1e-6 * (1.0 + proved.abs()), "case {case}: {proved} {after:?}");
    }
    assert!(warm == count && narrowed > count / 2, "{warm} warm starts, {narrowed} of {count} narrowed");
}
