//! What `auto` does with the time that a round of methods leaves.

use super::portfolio::Portfolio;
use super::steps::Step;
use crate::record::{MethodRecord, Status};
use crate::settings::Method;

/// Share of a round that goes to the method with the better lower bound, where another has the better upper bound: that side is
/// farther from the truth.
const LOWER_SHARE: f64 = 0.3;

/// What a side of another method must be better by than that of one which has both sides, in units of its bracket.
const LEAD: f64 = 0.15;

/// Spins up to which splitting the state space is worth the time that all others leave.
const LAST_RESORT_SPINS: usize = 1000;

impl Portfolio {
    /// Another round, with all that is left, for the methods that only time stopped: of those, the ones with the best sides.
    pub(super) fn next_round(&self, round: &[Step]) -> Vec<Step> {
        let took_part = |method: Method| round.iter().any(|step| step.0 == method);
        let goes_on = |r: &&MethodRecord| took_part(r.method) && r.status == Status::TimeLimit;
        let records = || self.results.iter().map(|outcome| &outcome.0).filter(goes_on);
        let lower = |r: &MethodRecord| r.log_z.lower.unwrap_or(f64::NEG_INFINITY);
        let upper = |r: &MethodRecord| r.log_z.upper.unwrap_or(f64::INFINITY);
        // One that has both sides gains on both, and must be left behind by much to be left out.
        let both = records().find(|r| r.log_z.lower.is_some() && r.log_z.upper.is_some());
        let lead = both.map_or(0.0, |r| LEAD * (upper(r) - lower(r)));
        let ahead = |r: &MethodRecord| if both.is_some_and(|b| b.method == r.method) { lead } else { 0.0 };
        let (low, high) = (|r: &MethodRecord| lower(r) + ahead(r), |r: &MethodRecord| upper(r) - ahead(r));
        let highest = records().max_by(|a, b| low(a).total_cmp(&low(b))).map(|r| r.method);
        let lowest = records().min_by(|a, b| high(a).total_cmp(&high(b))).map(|r| r.method);
        match (highest, lowest) {
            (Some(below), Some(above)) if below != above => vec![(below, LOWER_SHARE), (above, 1.0)],
            (_, above) => above.map(|method| (method, 1.0)).into_iter().collect(),
        }
    }

    /// Splitting the state space, where all upper bounds came to their ends and time was given for more.
    pub(super) fn last_resort(&self, round: &[Step]) -> Vec<Step> {
        // Lower bounds that time alone ends gain little late.
        let goes_on = |&(method, _): &Step| {
            self.is_open(method) && !matches!(method, Method::MeanField | Method::Bethe)
        };
        let is_tried = self.results.iter().any(|outcome| outcome.0.method == Method::Branch);
        let fits = self.summary.d <= LAST_RESORT_SPINS;
        if fits && !is_tried && !round.iter().any(goes_on) { vec![(Method::Branch, 1.0)] } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Ising, Model};
    use crate::record::ModelRecord;
    use crate::run::job::Job;
    use crate::run::plan::BoundRequest;
    use std::time::Instant;

    const ROUND: [Step; 2] = [(Method::MeanField, 0.1), (Method::Combined, 1.0)];

    /// A portfolio whose methods ended like this, with these sides.
    fn after(ends: &[(Method, Status, Option<f64>, f64)]) -> Portfolio {
        let model = Model::from(Ising::new(2, &[0.0; 2], &[(0, 1, 1.0)]).unwrap());
        let request = BoundRequest::default();
        let job = Job::new(&model, &request, &[]).unwrap();
        let record = |&(method, status, lower, upper)| (job.bracket(method, status, lower, upper), None);
        Portfolio {
            results: ends.iter().map(record).collect(),
            advice: None,
            start: Instant::now(),
            summary: ModelRecord::new(None, &model, job.polynomial().unwrap()).unwrap(),
        }
    }

    #[test]
    fn the_state_space_is_split_once_where_no_upper_bound_goes_on() {
        let open = (Method::MeanField, Status::TimeLimit, Some(1.0), f64::INFINITY);
        let stalled = (Method::Combined, Status::Stalled, None, 2.0);
        let split = vec![(Method::Branch, 1.0)];
        assert_eq!(after(&[open, stalled]).last_resort(&ROUND), split);
        let hurried = (Method::Combined, Status::TimeLimit, None, 2.0);
        assert!(after(&[open, hurried]).last_resort(&ROUND).is_empty());
        let tried = (Method::Branch, Status::TimeLimit, Some(1.0), 2.0);
        assert!(after(&[open, stalled, tried]).last_resort(&ROUND).is_empty());
        let mut large = after(&[open, stalled]);
        large.summary.d = LAST_RESORT_SPINS + 1;
        assert!(large.last_resort(&ROUND).is_empty());
    }

    #[test]
    fn what_is_left_goes_to_the_best_sides_and_to_one_method_where_that_is_not_far_behind() {
        let below = |lower| (Method::MeanField, Status::TimeLimit, Some(lower), f64::INFINITY);
        let both = (Method::Combined, Status::TimeLimit, Some(0.0), 1.0);
        assert_eq!(after(&[below(0.1), both]).next_round(&ROUND), [(Method::Combined, 1.0)]);
        let ahead = after(&[below(0.5), both]).next_round(&ROUND);
        assert_eq!(ahead, [(Method::MeanField, LOWER_SHARE), (Method::Combined, 1.0)]);
    }
}
