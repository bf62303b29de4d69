//! Whatever ends a search, and what is done in the last of its time, leaves a bracket that holds the truth.

use super::{Random, grown, is_between, model, weak};
use crate::exact::exact;
use crate::observer::{Flow, Monitor, Observer, Progress, Silent};
use crate::query::branch::Goal;
use crate::query::branch::grow::Growth;
use crate::query::branch::tree::Tree;
use crate::settings::Settings;
use crate::solution::StopReason;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Looks that are left before the user presses Ctrl-C.
struct Impatient(u32);

impl Observer for Impatient {
    fn observe(&mut self, _: &Progress) -> Flow {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn limits_cancels_and_threads_leave_a_bracket_that_holds_the_truth() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(10));
    let count = if std::env::var_os("ZBOUND_FULL").is_some() { 4000 } else { 150 };
    let folder = std::env::temp_dir().join(format!("zbound-limits-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (mut stopped, mut resumed) = (0, 0);
    for case in 0..count {
        let model = model(&mut random);
        let eps = [1.0, 0.2, 5.0][random.below(3) as usize];
        let truth = exact(&model, eps, &Settings::default(), &mut Silent).unwrap().log_z_bounds;
        let is_impossible = truth.1 == f64::NEG_INFINITY;
        let goal = Goal { checkpoint: Some(folder.join(format!("{case}"))), ..Goal::default() };
        let limit = [None, Some(1e-6 * f64::from(random.below(20_000)))][random.below(2) as usize];
        let settings = weak().with_threads(1 + random.below(4) as usize).with_time_limit(limit);
        let mut impatient = Impatient(random.below(60));
        let mut monitor = Monitor::new(&settings, usize::MAX, &mut impatient);
        let Ok(mut growth) = Growth::new(&model, eps, &goal, &settings, &mut monitor) else { continue };
        growth.bounder.exact_secs = f64::INFINITY;
        let before = growth.tree.bracket();
        let stop = growth.run(&goal, &mut monitor).unwrap();
        let after = growth.tree.bracket();
        stopped += usize::from(matches!(stop, StopReason::TimeLimit | StopReason::Cancelled));
        assert!(after.0 >= before.0 && after.1 <= before.1, "case {case}: {before:?} {after:?}");
        assert!(is_impossible || is_between(truth, after), "case {case}: {truth:?} outside {after:?}");
        // Whoever goes on begins with what was proved.
        let Some((_, brackets)) = grown(&model, eps, &goal, &weak(), 2) else { continue };
        assert_eq!(brackets[0], after, "case {case}");
        for &bracket in &brackets {
            assert!(
                is_impossible || is_between(truth, bracket),
                "case {case}: {truth:?} outside {bracket:?}"
            );
        }
        resumed += 1;
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(stopped > count / 8 && resumed > count / 2, "{stopped} stopped, {resumed} resumed of {count}");
}

#[test]
fn lower_bounds_raised_at_the_end_hold_the_truth_and_verify() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(11));
    let count = if std::env::var_os("ZBOUND_FULL").is_some() { 1000 } else { 60 };
    let (mut raised, mut proved) = (0, 0);
    for case in 0..count {
        let model = model(&mut random);
        let eps = [1.0, 0.2, 5.0][random.below(3) as usize];
        let truth = exact(&model, eps, &Settings::default(), &mut Silent).unwrap().log_z_bounds;
        let goal = Goal { want_certificate: true, ..Goal::default() };
        let steps = random.below(4) as usize;
        let Some((mut growth, _)) = grown(&model, eps, &goal, &weak(), steps) else { continue };
        if truth.1 == f64::NEG_INFINITY {
            continue;
        }
        let before = growth.tree.bracket();
        let settings = weak().with_time_limit(Some(0.11 + 1e-3 * f64::from(random.below(100))));
        let mut silent = Silent;
        growth.polish(&mut Monitor::new(&settings, usize::MAX, &mut silent)).unwrap();
        let after = growth.tree.bracket();
        assert!(after.0 >= before.0 && after.1 == before.1, "case {case}: {before:?} {after:?}");
        assert!(is_between(truth, after), "case {case}: {truth:?} outside {after:?}");
        raised += usize::from(after.0 > before.0);
        let Ok(claim) = growth.tree.certificate(eps).verify_model(&model) else { continue };
        let low = claim.log_z_lower.unwrap_or(f64::NEG_INFINITY);
        let is_same = low == after.0 || (low - after.0).abs() <= 1e-9 * (1.0 + after.0.abs());
        assert!(is_same && is_between(truth, (low, f64::INFINITY)), "case {case}: {low} {after:?} {truth:?}");
        proved += 1;
    }
    assert!(raised > count / 10 && proved > count / 2, "{raised} raised, {proved} proved of {count}");
}

#[test]
fn the_whole_is_summed_once_the_tree_took_as_long() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(12));
    let mut summed = 0;
    for case in 0..100 {
        let model = model(&mut random);
        let eps = [1.0, 0.2, 5.0][random.below(3) as usize];
        let truth = exact(&model, eps, &Settings::default(), &mut Silent).unwrap().log_z_bounds;
        let settings = weak().with_threads(1 + random.below(2) as usize).with_time_limit(Some(30.0));
        let mut silent = Silent;
        let mut monitor = Monitor::new(&settings, usize::MAX, &mut silent);
        let goal = Goal::default();
        let Ok(mut growth) = Growth::new(&model, eps, &goal, &settings, &mut monitor) else { continue };
        growth.bounder.exact_secs = f64::INFINITY;
        assert!(!growth.is_time_for_the_whole(&monitor));
        growth.bounder.exact_secs = 0.0;
        assert!(growth.is_time_for_the_whole(&monitor));
        if growth.sum_whole(&mut monitor).unwrap() {
            // Other roundings, the same number.
            let (low, high) = growth.tree.bracket();
            assert!(low <= truth.1 && truth.0 <= high, "case {case}: {truth:?} {low} {high}");
            assert!(high - low <= 1e-9 * high.abs().max(1.0), "case {case}: {low} {high}");
            assert_eq!(growth.run(&goal, &mut monitor).unwrap(), StopReason::Converged);
            let kept = Tree::from_rows(eps, &growth.tree.rows(), &model.free_cardinalities()).unwrap();
            assert_eq!(kept.bracket(), (low, high), "case {case}: what a checkpoint would keep");
            summed += 1;
        }
        assert!(!growth.is_time_for_the_whole(&monitor), "only once");
    }
    assert!(summed > 50, "{summed}");
}
