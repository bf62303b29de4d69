//! `zbound kl` as a document.

use crate::error::{Error, Result};
use crate::features::{FeatureSpec, Features};
use crate::model::{Model, Polynomial, VarSet};
use crate::observer::{Monitor, Observer, Silent};
use crate::query::kl::{Distribution, divergence, greedy_with};
use crate::run::free_sets;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};

/// Value of [`KlRecord::schema`].
pub const KL_SCHEMA: &str = "zbound.kl/1";

/// The document `zbound.kl/1`. Infinite values are null and `reason` says so; variables are numbered as in
/// the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KlRecord {
    /// Always [`KL_SCHEMA`].
    pub schema: String,
    /// Version of this library.
    pub version: String,
    /// Temperature of p.
    pub eps: f64,
    /// `D(p || q)`.
    pub kl: Option<f64>,
    /// `D^QT(Sigma_p || Sigma_q)`, never above `D(p || q)`: see [`crate::query::kl::Divergence`].
    pub kl_lower: Option<f64>,
    /// The same with the best diagonal metric.
    pub kl_lower_diag: Option<f64>,
    /// Features, those of greedy selection at the end.
    pub features: Vec<Vec<usize>>,
    /// Greedy steps, on request.
    pub steps: Option<Vec<KlStepRecord>>,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
}

/// One greedy step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KlStepRecord {
    /// The feature added.
    pub feature: Vec<usize>,
    /// `D^QT` with it.
    pub kl_lower: Option<f64>,
    /// The diagonal version with it.
    pub kl_lower_diag: Option<f64>,
    /// `E_p f - eps kl_lower`, a proved upper bound on phi; null unless p is a model and q is uniform.
    pub phi_upper: Option<f64>,
}

/// One side of a divergence.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Law {
    /// `exp(f/eps)` of a model.
    Gibbs(Box<Model>),
    /// A table of probabilities.
    Table(Distribution),
}

impl Law {
    /// The distribution at temperature `eps`, which tables ignore.
    ///
    /// # Errors
    /// As [`Distribution::gibbs`].
    pub fn distribution(&self, eps: f64) -> Result<Distribution> {
        match self {
            Law::Gibbs(model) => Distribution::gibbs(model, eps),
            Law::Table(table) => Ok(table.clone()),
        }
    }

    /// Names of the free spins.
    fn names(&self, d: usize) -> Vec<usize> {
        match self {
            Law::Gibbs(model) => model.free_variables(),
            Law::Table(_) => (0..d).collect(),
        }
    }

    /// `features` over the free spins; a table has no edges and no terms of its own.
    fn features(&self, spec: &FeatureSpec, d: usize) -> Result<Features> {
        match (self, spec) {
            (Law::Gibbs(model), FeatureSpec::Explicit(sets)) => Features::new(d, free_sets(model, sets)?),
            (Law::Gibbs(model), FeatureSpec::Edges | FeatureSpec::Default) => {
                spec.resolve(&model.majorant(1.0)?.0)
            }
            _ => spec.resolve(&Polynomial::from_coefficients(d, [])?),
        }
    }
}

/// Bounds `D(p || q)` from moments; q is uniform when absent. `count` asks for greedy features on top.
///
/// # Errors
/// Bad features, distributions of different size, more than 20 free spins.
pub fn kl(
    p: &Law,
    q: Option<&Law>,
    eps: f64,
    features: &FeatureSpec,
    count: Option<usize>,
) -> Result<KlRecord> {
    kl_with(p, q, eps, features, count, &Settings::default(), &mut Silent)
}

/// As [`kl`], watched: a selection that the observer or the time limit ends keeps the features it has, and
/// `reason` says so. The iterations of the settings cap the number of greedy features.
///
/// # Errors
/// As [`kl`]; [`Error::Interrupted`] when it is stopped before any bound is known.
pub fn kl_with(
    p: &Law,
    q: Option<&Law>,
    eps: f64,
    features: &FeatureSpec,
    count: Option<usize>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<KlRecord> {
    settings.validate()?;
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    let mut stopped = monitor.interrupted();
    if let Some(stop) = stopped {
        return Err(Error::Interrupted(stop));
    }
    let p_table = p.distribution(eps)?;
    let d = p_table.d();
    let q_table = match q {
        Some(q) => q.distribution(eps)?,
        None => Distribution::uniform(d)?,
    };
    let features = p.features(features, d)?;
    let names = p.names(d);
    let named = |set: &VarSet| set.iter().map(|i| names[i]).collect::<Vec<usize>>();
    let mut list: Vec<Vec<usize>> = features.sets().iter().map(named).collect();
    let mut bounds = divergence(&p_table, &q_table, &features)?;
    let mut steps: Option<Vec<KlStepRecord>> = None;
    if let Some(count) = count {
        let taken;
        (taken, stopped) = greedy_with(&p_table, &q_table, &features, count, &mut monitor)?;
        list.extend(taken.iter().map(|s| named(&s.feature)));
        bounds = taken.last().map_or(bounds, |s| s.divergence);
        let energy = p_table.mean_energy().filter(|_| q.is_none());
        let record = |s: &crate::query::kl::KlStep| KlStepRecord {
            feature: named(&s.feature),
            kl_lower: finite(s.divergence.kl_lower),
            kl_lower_diag: finite(s.divergence.kl_lower_diag),
            phi_upper: energy.as_ref().and_then(|energy| energy.phi_up(s.divergence.kl_lower)),
        };
        steps = Some(taken.iter().map(record).collect());
    }
    let exact = p_table.kl(&q_table);
    let infinite =
        (!exact.is_finite()).then(|| "the divergence is infinite: q misses a state of p".to_owned());
    let early = stopped.map(|stop| {
        let taken = steps.as_ref().map_or(0, Vec::len);
        format!("the selection was stopped after {taken} features ({})", stop.name())
    });
    let reasons: Vec<String> = infinite.into_iter().chain(early).collect();
    let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    Ok(KlRecord {
        schema: KL_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        eps,
        kl: finite(exact),
        kl_lower: finite(bounds.kl_lower),
        kl_lower_diag: finite(bounds.kl_lower_diag),
        features: list,
        steps,
        reason,
    })
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
