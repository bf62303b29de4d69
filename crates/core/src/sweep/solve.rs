//! One instance, all its methods.

use super::kl;
use super::plan::Job;
use super::record::{ERROR_STATUS, Instance, SweepRecord};
use super::settings::MethodSettings;
use crate::exact::{self, Exact};
use crate::features::FeatureSpec;
use crate::io::{ReadOptions, read};
use crate::model::generate::{GenerateSpec, generate};
use crate::model::{Model, VarSet};
use crate::observer::{Flow, Observer, Progress};
use crate::record::{MethodRecord, Status, StepRecord};
use crate::run::{MethodChoice, bound};
use crate::settings::{Method, Settings};
use crate::solution::{Solution, TracePoint};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Records of `jobs`, which share one instance; `model` is that instance when it is in memory.
///
/// Whatever goes wrong with one job, a panic included, is its record and leaves the others alone. `None`
/// when the observer asked to stop.
pub fn solve(jobs: &[&Job], model: Option<&Model>, observer: &mut dyn Observer) -> Option<Vec<SweepRecord>> {
    let Some(first) = jobs.first() else { return Some(Vec::new()) };
    let mut watch = Watch { observer, stopped: false, gap: None, reached: false };
    let prepared = guarded(|| Prepared::new(&first.instance, model, first.exact_operations, &mut watch));
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(why) => {
            let failed = |job: &&Job| SweepRecord::empty(job, ERROR_STATUS, Some(why.clone()));
            return (!watch.stopped).then(|| jobs.iter().map(failed).collect());
        }
    };
    let mut out = Vec::with_capacity(jobs.len());
    for group in groups(jobs) {
        let records = guarded(|| prepared.group(&group, &mut watch)).unwrap_or_else(|why| {
            group.iter().map(|job| SweepRecord::empty(job, ERROR_STATUS, Some(why.clone()))).collect()
        });
        out.extend(records);
        if watch.stopped {
            return None;
        }
    }
    Some(out)
}

/// Jobs that one greedy path answers stand together; every other job stands alone.
fn groups<'a>(jobs: &[&'a Job]) -> Vec<Vec<&'a Job>> {
    let mut out: Vec<Vec<&Job>> = Vec::new();
    for &job in jobs {
        let same = |group: &&mut Vec<&Job>| {
            job.settings.k.is_some() && group[0].settings.path() == job.settings.path()
        };
        match out.iter_mut().find(same) {
            Some(group) => group.push(job),
            None => out.push(vec![job]),
        }
    }
    out
}

fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Err(format!("panicked: {}", text.unwrap_or_default()))
    })
}

/// An instance with its exact answer.
struct Prepared<'a> {
    instance: &'a Instance,
    model: Model,
    exact: Option<Exact>,
    /// The free variables, of which `exact` speaks.
    free: Vec<usize>,
}

impl<'a> Prepared<'a> {
    fn new(
        instance: &'a Instance,
        given: Option<&Model>,
        operations: f64,
        watch: &mut Watch<'_>,
    ) -> Result<Self, String> {
        let text = |e: crate::Error| e.to_string();
        let model = match (given, &instance.model) {
            (Some(model), _) => model.clone(),
            (None, Some(file)) => read(Path::new(file), &ReadOptions::default()).map_err(text)?,
            (None, None) => drawn(instance).map_err(text)?,
        };
        let settings = Settings::default();
        let affordable = exact::estimate(&model, &settings).is_ok_and(|cost| cost.operations <= operations);
        let exact = if affordable {
            Some(exact::exact(&model, instance.eps, &settings, watch).map_err(text)?)
        } else {
            None
        };
        let free = model.free_variables();
        Ok(Prepared { instance, model, exact, free })
    }

    fn group(&self, group: &[&Job], watch: &mut Watch<'_>) -> Result<Vec<SweepRecord>, String> {
        match group[0].settings.k {
            _ if group[0].settings.is_divergence() => kl::records(&self.model, group, watch),
            Some(_) => self.greedy_path(group, watch),
            None => Ok(vec![self.single(group[0], &group[0].settings, None, watch)?.0]),
        }
    }

    /// One greedy path for several numbers of features: the selection runs once to the largest, and
    /// every number is solved again on the features chosen by then. The method's own answer is the
    /// best along its path; a record is about exactly k features, and has their marginals.
    fn greedy_path(&self, group: &[&Job], watch: &mut Watch<'_>) -> Result<Vec<SweepRecord>, String> {
        let longest = group.iter().copied().max_by_key(|job| job.settings.k).ok_or("an empty group")?;
        let (whole, result) = self.single(longest, &longest.settings, None, watch)?;
        let Some(steps) = result.and_then(|r| r.steps) else {
            let empty = |job: &&Job| SweepRecord::empty(job, &whole.status, whole.reason.clone());
            return Ok(group.iter().map(empty).collect());
        };
        let mut out = Vec::with_capacity(group.len());
        for &job in group {
            let mut record = self.prefix(job, &steps, watch)?;
            if job.key == longest.key {
                record.seconds = whole.seconds;
                record.iterations = whole.iterations;
            }
            out.push(record);
        }
        Ok(out)
    }

    /// The bound with the first k features of a path.
    fn prefix(&self, job: &Job, steps: &[StepRecord], watch: &mut Watch<'_>) -> Result<SweepRecord, String> {
        let text = |e: crate::Error| e.to_string();
        let f = self.model.polynomial().map_err(text)?;
        let base = job.settings.request(self.instance.eps)?.features.resolve(&f).map_err(text)?;
        let k = job.settings.k.unwrap_or(0);
        if steps.len() < k {
            let why = format!("the selection ended after {} features", steps.len());
            return Ok(SweepRecord::empty(job, Status::NotApplicable.name(), Some(why)));
        }
        let added = steps.iter().take(k);
        let mut sets = base.sets().to_vec();
        sets.extend(added.map(|step| step.feature.iter().copied().collect::<VarSet>()));
        let settings = MethodSettings { method: Method::Quantum.name().into(), ..job.settings.clone() };
        let mut record = self.single(job, &settings, Some(FeatureSpec::Explicit(sets)), watch)?.0;
        record.seconds = None;
        Ok(record)
    }

    /// Runs one method.
    fn single(
        &self,
        job: &Job,
        settings: &MethodSettings,
        features: Option<FeatureSpec>,
        watch: &mut Watch<'_>,
    ) -> Result<(SweepRecord, Option<MethodRecord>), String> {
        let mut request = settings.request(self.instance.eps)?;
        request.features = features.unwrap_or(request.features);
        debug_assert!(matches!(request.methods, MethodChoice::List(_)));
        (watch.gap, watch.reached) = (settings.gap, false);
        let report = bound(&self.model, &request, watch);
        watch.gap = None;
        let mut report = report.map_err(|e| e.to_string())?;
        let solution = report.solutions.pop().flatten();
        let result = report.record.results.pop().ok_or("the driver gave no result")?;
        let mut record = SweepRecord::new(job, &result);
        if watch.reached && result.status == Status::Cancelled {
            record.status = Status::Converged.name().into();
        }
        self.compare(&mut record, &result);
        record.trace = if settings.trace { gaps(solution.as_ref()) } else { Vec::new() };
        Ok((record, Some(result)))
    }

    fn compare(&self, record: &mut SweepRecord, result: &MethodRecord) {
        let Some(exact) = &self.exact else { return };
        record.exact = Some(exact.phi);
        record.error = record.bound.map(|bound| bound - exact.phi);
        record.marginal_error = result.marginals.as_ref().map(|marginals| {
            let distance = |(p, mean): (&f64, &f64)| (p - 0.5 * (1.0 + mean)).abs();
            let free = self.free.iter().map(|&i| &marginals[i]);
            free.zip(&exact.means).map(distance).sum::<f64>() / exact.means.len() as f64
        });
    }
}

/// The gap after each iteration.
fn gaps(solution: Option<&Solution>) -> Vec<f64> {
    // A gap lost in rounding is zero; JSON knows no NaN.
    let gap = |p: &TracePoint| (p.upper - p.lower).max(0.0);
    solution.map_or_else(Vec::new, |s| s.trace.iter().map(gap).filter(|g| g.is_finite()).collect())
}

/// The model of a random instance.
fn drawn(instance: &Instance) -> crate::Result<Model> {
    let Instance { d, w, seed, .. } = *instance;
    let (family, graph) = (instance.family.parse()?, instance.graph.parse()?);
    Ok(Model::from(generate(&GenerateSpec { family, graph, d, w, seed })?))
}

/// Stops when the observer says so, and at an absolute gap when there is one.
struct Watch<'a> {
    observer: &'a mut dyn Observer,
    stopped: bool,
    gap: Option<f64>,
    reached: bool,
}

impl Observer for Watch<'_> {
    fn observe(&mut self, progress: &Progress) -> Flow {
        if self.stopped || self.observer.observe(progress) == Flow::Stop {
            self.stopped = true;
            return Flow::Stop;
        }
        if self.gap.is_some_and(|gap| progress.upper - progress.lower <= gap) {
            self.reached = true;
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn begin(&mut self, method: Method) {
        self.observer.begin(method);
    }
}
