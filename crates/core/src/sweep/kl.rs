//! Lower bounds on the Kullback-Leibler divergence of p from the uniform law, as records.

use super::plan::Job;
use super::record::SweepRecord;
use crate::features::Features;
use crate::model::Model;
use crate::observer::{Monitor, Observer};
use crate::query::kl::{Distribution, divergence, greedy_with};
use crate::record::Status;
use crate::settings::Settings;
use std::time::Instant;

/// Records of jobs that share a model and, for `kl-greedy`, a path of features.
pub(super) fn records(
    model: &Model,
    group: &[&Job],
    observer: &mut dyn Observer,
) -> Result<Vec<SweepRecord>, String> {
    let start = Instant::now();
    let text = |e: crate::Error| e.to_string();
    let eps = group[0].instance.eps;
    let p = Distribution::gibbs(model, eps).map_err(text)?;
    let q = Distribution::uniform(p.d()).map_err(text)?;
    let f = model.polynomial().map_err(text)?;
    let base = group[0].settings.request(eps)?.features.resolve(&f).map_err(text)?;
    let longest = group.iter().filter_map(|job| job.settings.k).max().unwrap_or(0);
    let settings = Settings::default().with_time_limit(group[0].settings.time_limit);
    let mut monitor = Monitor::new(&settings, usize::MAX, observer);
    let steps = greedy_with(&p, &q, &base, longest, &mut monitor).map_err(text)?.0;
    let mut out = Vec::with_capacity(group.len());
    for job in group {
        let k = job.settings.k.unwrap_or(0);
        if steps.len() < k {
            let why = format!("the selection ended after {} features", steps.len());
            out.push(SweepRecord::empty(job, Status::NotApplicable.name(), Some(why)));
            continue;
        }
        let mut sets = base.sets().to_vec();
        sets.extend(steps[..k].iter().map(|step| step.feature.clone()));
        let features = Features::new(p.d(), sets).map_err(text)?;
        let (bound, exact) = (divergence(&p, &q, &features).map_err(text)?.kl_lower, p.kl(&q));
        out.push(SweepRecord {
            bound: Some(bound),
            exact: Some(exact),
            error: Some(bound - exact),
            n: Some(features.len()),
            seconds: (k == longest).then(|| start.elapsed().as_secs_f64()),
            ..SweepRecord::empty(job, Status::Converged.name(), None)
        });
    }
    Ok(out)
}
