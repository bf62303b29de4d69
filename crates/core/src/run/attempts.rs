//! One attempt of the portfolio at a bound: with how much time, and what becomes of the answer.

use super::announce::Announcer;
use super::cost::Estimate;
use super::cost::constants::COUNTING_SHARE;
use super::exact_plan::exact_limit;
use super::job::{Job, Outcome};
use super::portfolio::Portfolio;
use super::steps::Step;
use crate::error::{Error, Result};
use crate::exact::Wanted;
use crate::exact::counting::Counting;
use crate::exact::layers::Layers;
use crate::observer::Observer;
use crate::record::Status;
use crate::settings::{Method, Settings};

impl Portfolio {
    pub(super) fn try_method(
        &mut self,
        job: &Job<'_>,
        (method, share): Step,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let left = settings.deadline.seconds_left();
        self.try_for(job, method, (share < 1.0).then_some(share * left), settings, observer)
    }

    pub(super) fn try_exact(
        &mut self,
        job: &Job<'_>,
        (wanted, cost): (Wanted, Estimate),
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        observer.begin(Method::Exact);
        observer.forecast(cost.seconds);
        let settings = settings.clone().with_time_limit(cost.limit(settings));
        let outcome = job.run_exact(wanted, &settings, observer)?;
        self.absorb(outcome);
        job.announce(&self.summary, &self.results, &[], observer)
    }

    pub(super) fn try_layers(
        &mut self,
        job: &Job<'_>,
        layers: &Layers,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        observer.begin(Method::Exact);
        observer.forecast(layers.seconds(settings));
        let limited = settings.clone().with_time_limit(exact_limit(settings));
        let outcome = job.run_layers(layers, &limited, observer);
        self.absorb_if_applicable(job, outcome, observer)
    }

    pub(super) fn try_counting(
        &mut self,
        job: &Job<'_>,
        counting: &Counting,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        observer.begin(Method::Exact);
        let limit = COUNTING_SHARE * settings.ends().seconds_left();
        let outcome = job.run_counting(counting, &settings.clone().with_time_limit(Some(limit)), observer);
        self.absorb_if_applicable(job, outcome, observer)
    }

    fn absorb_if_applicable(
        &mut self,
        job: &Job<'_>,
        outcome: Result<Outcome>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        match outcome {
            Err(Error::NotApplicable(_)) => return Ok(()),
            outcome => self.absorb(outcome?),
        }
        job.announce(&self.summary, &self.results, &[], observer)
    }

    pub(super) fn try_for(
        &mut self,
        job: &Job<'_>,
        method: Method,
        seconds: Option<f64>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        // What was refused once is refused again.
        let refused = |o: &Outcome| o.0.method == method && o.0.status == Status::NotApplicable;
        if self.results.iter().any(refused) {
            return Ok(());
        }
        observer.begin(method);
        let mut settings = settings.clone();
        settings.time_limit_secs = seconds;
        let (summary, results) = (&self.summary, &self.results);
        let mut announcer = Announcer { job, summary, results, waiting: &[], method, observer };
        let outcome = job.run(method, &settings, &mut announcer)?;
        self.absorb(outcome);
        job.announce(&self.summary, &self.results, &[], observer)
    }
}
