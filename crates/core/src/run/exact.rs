//! Exact inference as one of the methods: how much of the answer is affordable, and its proof where one can be checked.

use super::cost;
use super::cost::constants::{COUNTING_SHARE, DEFAULT_SECS, PLANNING_SHARE};
use super::job::{Job, Outcome};
use super::plan::{MethodChoice, exact_refusal};
use crate::certify::{Certificate, CertifiedBound, Component, Form, Slack, Witness};
use crate::error::{Error, Result};
use crate::exact::counting::Counting;
use crate::exact::layers::Layers;
use crate::exact::{self, Exact, Wanted};
use crate::model::{FactorModel, Model, Polynomial, Source};
use crate::observer::Observer;
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};
use std::time::Instant;

impl Job<'_> {
    /// Exact inference of what is wanted, which the caller knows to be affordable.
    pub(super) fn run_exact(
        &self,
        wanted: Wanted,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let start = Instant::now();
        match self.exact(wanted, settings, observer) {
            Err(Error::Interrupted(stop)) => self.given_up(Method::Exact, stop, start),
            other => other,
        }
    }

    /// log Z by summing over the small layer of a model that has two.
    pub(super) fn run_layers(
        &self,
        layers: &Layers,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        self.unproved(|| layers.solve(self.request.eps, settings, observer))
    }

    /// log Z by search, for models with many hard zeros.
    pub(super) fn run_counting(
        &self,
        counting: &Counting,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        self.unproved(|| counting.solve(self.request.eps, settings, observer))
    }

    /// An enclosure of log Z for which there is no form of certificate.
    fn unproved(&self, find: impl FnOnce() -> Result<Exact>) -> Result<Outcome> {
        let start = Instant::now();
        match find() {
            Ok(exact) => Ok((self.recorder.exact(&exact), None)),
            Err(Error::Interrupted(stop)) => self.given_up(Method::Exact, stop, start),
            Err(error) => Err(error),
        }
    }

    /// All of the answer; log Z alone where a time limit is too short for the rest and long enough for that.
    pub(super) fn affordable(&self, settings: &Settings) -> Wanted {
        let ends = settings.ends();
        if !ends.is_limited() {
            return Wanted::ALL;
        }
        let left = ends.seconds_left();
        let planning = settings.for_part(&ends, Some(PLANNING_SHARE * left));
        let (all, log_z) = cost::exact_both(self.model, &planning, |e| e.seconds > left);
        let is_long = all.is_none_or(|e| e.seconds > left);
        let is_short = log_z.is_some_and(|e| e.seconds <= left);
        if is_long && is_short { Wanted::LOG_Z } else { Wanted::ALL }
    }

    pub(super) fn exact(
        &self,
        wanted: Wanted,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        if self.request.methods == MethodChoice::All
            && let Some(why) = exact_refusal(self.model, settings)
        {
            return Err(Error::NotApplicable(why));
        }
        if !self.request.want_certificate
            && let Some((counting, limited)) = counting_first(self.model, settings)
        {
            observer.note(
                "elimination may not end here: counting by search, and no one knows how long that takes",
            );
            match counting.solve(self.request.eps, &limited, observer) {
                Err(Error::NotApplicable(_)) => {}
                Err(Error::Interrupted(StopReason::TimeLimit)) if settings.ends().stop().is_none() => {}
                found => return Ok((self.recorder.exact(&found?), None)),
            }
        }
        let exact = match exact::exact_with(self.model, self.request.eps, wanted, settings, observer) {
            // What elimination cannot hold may be a sum over a few spins, which no certificate format knows.
            Err(error @ Error::Memory { .. }) => {
                let layers = Layers::of(self.model).ok_or(error)?;
                observer.forecast(layers.seconds(settings));
                return self.run_layers(&layers, settings, observer);
            }
            other => other?,
        };
        let wanted = self.request.want_certificate;
        let solution = if wanted { certified_exact(self.model, self.request.eps, &exact)? } else { None };
        Ok((self.recorder.exact(&exact), solution))
    }
}

/// A search that goes before elimination where that may not end, and with how much of the time: all of it where
/// elimination is out of reach.
pub(super) fn counting_first(model: &Model, settings: &Settings) -> Option<(Counting, Settings)> {
    let counting = Counting::of(model)?;
    let ends = settings.ends();
    let left = if ends.is_limited() { ends.seconds_left() } else { DEFAULT_SECS };
    let planning = settings.for_part(&ends, Some(PLANNING_SHARE * left));
    let elimination = cost::exact(model, Wanted::LOG_Z, &planning).filter(|e| e.fits(settings));
    match elimination {
        Some(e) if e.is_affordable(settings) => None,
        Some(e) if e.seconds <= left => {
            Some((counting, settings.clone().with_time_limit(Some(COUNTING_SHARE * left))))
        }
        _ => Some((counting, settings.clone())),
    }
}

/// The exact answer with a certificate, where one can be checked.
pub(crate) fn certified_exact(model: &Model, eps: f64, exact: &Exact) -> Result<Option<Solution>> {
    Ok(match model.source() {
        Source::Polynomial(_) => certified(&model.polynomial()?, eps, exact),
        Source::Factors(_) => certified_tables(&model.factors()?, eps, exact),
    })
}

/// The exact answer with a certificate: the model itself, summed along an order. `None` when the order
/// is too wide to be checked.
fn certified(f: &Polynomial, eps: f64, exact: &Exact) -> Option<Solution> {
    let order = exact.order.clone().unwrap_or_else(|| (0..f.d() as u32).collect());
    let certificate = Certificate {
        eps,
        slack: Slack::default(),
        components: vec![Component {
            weight: 1.0,
            form: Form::Elimination { polynomial: f.clone(), order: order.clone() },
        }],
        witness: Some(Witness::Elimination { order }),
    };
    let bounds = (certificate.verify(f).ok()?, certificate.verify_lower(f).ok()?);
    Some(proved(exact, certificate, bounds))
}

/// The same over tables: elimination with one mini-bucket per variable proves both sides.
fn certified_tables(tables: &FactorModel, eps: f64, exact: &Exact) -> Option<Solution> {
    let order = match &exact.order {
        Some(order) => order.clone(),
        None if exact.algorithm == exact::Algorithm::Enumeration => (0..tables.d() as u32).collect(),
        None => return None,
    };
    let elimination = exact::proof(tables, &order);
    let certificate = Certificate {
        eps,
        slack: Slack::default(),
        components: vec![Component { weight: 1.0, form: Form::Tables(elimination.clone()) }],
        witness: Some(Witness::Tables { elimination, allowed: None }),
    };
    let bounds = (certificate.verify_tables(tables).ok()?, certificate.verify_lower_tables(tables).ok()?);
    Some(proved(exact, certificate, bounds))
}

fn proved(exact: &Exact, certificate: Certificate, bounds: (CertifiedBound, CertifiedBound)) -> Solution {
    Solution {
        upper: Some(bounds.0),
        lower: Some(bounds.1),
        estimate: exact.phi,
        seconds: exact.seconds,
        means: Some(exact.means.clone()).filter(|means| !means.is_empty()),
        certificate: Some(certificate),
        ..Solution::new(Method::Exact, exact.stop)
    }
}
