//! Every method on models of growing size.

use anyhow::{Context as _, Result};
use serde::Serialize;
use zbound::generate::{GenerateSpec, generate};
use zbound::record::BoundRecord;
use zbound::run::{BoundRequest, MethodChoice, Outcome, bound};
use zbound::{Model, Observer, Settings};

/// What is compared.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Numbers of spins.
    pub sizes: Vec<usize>,
    /// Family, graph, strength and seed; its size is replaced by those above.
    pub draw: GenerateSpec,
    /// Relative gap at which a method has converged.
    pub tol: f64,
    /// Seconds for all methods on one model together.
    pub time_limit: f64,
}

/// One record a model.
#[derive(Debug, Serialize)]
pub struct Comparison {
    schema: &'static str,
    version: &'static str,
    /// The models that were reached.
    pub models: Vec<BoundRecord>,
    /// Exit code of the worst outcome.
    #[serde(skip)]
    pub exit_code: u8,
}

/// Runs every method on every size, until the observer stops it.
///
/// # Errors
/// A model that cannot be drawn, bad settings.
pub fn run(plan: &Plan, observer: &mut dyn Observer) -> Result<Comparison> {
    let mut models = Vec::new();
    let mut exit_code = 0;
    for &d in &plan.sizes {
        let draw = GenerateSpec { d, ..plan.draw };
        let model = Model::from(generate(&draw).with_context(|| format!("--d {d}"))?);
        let mut request = BoundRequest::default();
        request.methods = MethodChoice::All;
        request.settings = Settings::default().with_tol(plan.tol).with_time_limit(Some(plan.time_limit));
        request.path = Some(format!("{}-{}-{d}-{}", draw.family.name(), draw.graph.name(), draw.seed));
        let report = bound(&model, &request, observer)?;
        exit_code = exit_code.max(report.outcome.exit_code());
        models.push(report.record);
        if report.outcome == Outcome::Cancelled {
            break;
        }
    }
    Ok(Comparison { schema: "zbound.bench/1", version: crate::VERSION, models, exit_code })
}
