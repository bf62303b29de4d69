//! One method with everything that decides its result.

use super::hash::hash;
use super::record::Instance;
use crate::features::FeatureSpec;
use crate::run::{BoundRequest, MethodChoice};
use crate::settings::{Greedy, Method, Pairwise, Rho, Settings, Solver};
use serde::{Deserialize, Serialize};

/// Version of the program: part of every key, so that records of another version are computed anew.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A method and its settings, as words and numbers that a record can hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodSettings {
    /// A method of `zbound bound`, or `kl` / `kl-greedy`.
    pub method: String,
    /// Features as on the command line; null for (1, x).
    pub features: Option<String>,
    /// Features added by greedy selection.
    pub k: Option<usize>,
    /// Relative gap asked for.
    pub tol: f64,
    /// Absolute gap asked for; replaces `tol`.
    pub gap: Option<f64>,
    /// Iteration cap.
    pub max_iterations: Option<usize>,
    /// Seconds.
    pub time_limit: Option<f64>,
    /// Algorithm.
    pub solver: Option<Solver>,
    /// Edge probabilities of trw.
    pub rho: Option<Rho>,
    /// Pairs with constraints in logdet.
    pub pairwise: Option<Pairwise>,
    /// The primal step of Chambolle-Pock.
    pub tau: Option<f64>,
    /// The dual one.
    pub sigma: Option<f64>,
    /// Whether the gap after every iteration is kept.
    pub trace: bool,
}

impl MethodSettings {
    /// The defaults of `method`.
    pub(super) fn new(method: &str, time_limit: Option<f64>, trace: bool) -> Result<Self, String> {
        let settings = MethodSettings {
            method: method.into(),
            features: None,
            k: None,
            tol: Settings::default().tol,
            gap: None,
            max_iterations: None,
            time_limit,
            solver: None,
            rho: None,
            pairwise: None,
            tau: None,
            sigma: None,
            trace,
        };
        if !settings.is_divergence() {
            method.parse::<Method>().map_err(|e| e.to_string())?;
        }
        settings.checked()
    }

    /// Whether this bounds the divergence of p from the uniform law rather than log Z.
    pub(super) fn is_divergence(&self) -> bool {
        ["kl", "kl-greedy"].contains(&self.method.as_str())
    }

    /// The key of the record this gives on `instance`: equal keys, equal numbers.
    pub(super) fn key(&self, instance: &Instance) -> String {
        // Struct fields serialise in order, and floats with all their digits.
        let text = serde_json::to_string(&(instance, self, VERSION)).expect("plain data");
        hash(&text)
    }

    /// Fills the name of a curve in.
    pub(super) fn curve(&self, template: &str) -> String {
        let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
        let n = self.features.as_deref().unwrap_or("").trim_start_matches("first:");
        template
            .replace("{k}", &self.k.map_or_else(String::new, |k| k.to_string()))
            .replace("{n}", n)
            .replace("{tau}", &number(self.tau))
            .replace("{sigma}", &number(self.sigma))
            .replace("{tol}", &format!("{:e}", self.tol))
            .replace("{rho}", self.rho.unwrap_or_default().name())
    }

    /// The same request but for the number of greedy features: what one greedy path can answer.
    pub(super) fn path(&self) -> Self {
        MethodSettings { k: None, ..self.clone() }
    }

    /// The request to the driver on a problem at temperature `eps`.
    ///
    /// # Errors
    /// Settings out of range, in the words of the library.
    pub(super) fn request(&self, eps: f64) -> Result<BoundRequest, String> {
        let text = |e: crate::Error| e.to_string();
        let mut settings = Settings::default()
            // An absolute gap is watched by the observer: the solver's own test must not come first.
            .with_tol(if self.gap.is_some() { 1e-15 } else { self.tol })
            .with_max_iterations(self.max_iterations)
            .with_time_limit(self.time_limit)
            .with_solver(self.solver.unwrap_or_default())
            .with_greedy(Greedy::Count(self.k.unwrap_or(3)))
            .with_rho(self.rho.unwrap_or_default())
            .with_pairwise(self.pairwise.unwrap_or_default());
        settings.cp_tau = self.tau.unwrap_or(settings.cp_tau);
        settings.cp_sigma = self.sigma.unwrap_or(settings.cp_sigma);
        settings.trace = self.trace;
        let features = self.features.as_deref().map_or(Ok(FeatureSpec::Default), str::parse).map_err(text)?;
        let mut request = BoundRequest { eps, settings, features, ..BoundRequest::default() };
        if let Ok(method) = self.method.parse() {
            request.methods = MethodChoice::List(vec![method]);
        }
        request.validate().map_err(text)?;
        Ok(request)
    }

    fn checked(self) -> Result<Self, String> {
        self.request(1.0)?;
        Ok(self)
    }

    fn change(&mut self, change: impl FnOnce(&mut Self)) -> Result<(), String> {
        change(self);
        self.request(1.0).map(|_| ())
    }

    pub(super) fn set_features(&mut self, spec: &str) -> Result<(), String> {
        self.change(|s| s.features = Some(spec.into()))
    }

    pub(super) fn set_greedy(&mut self, k: usize) -> Result<(), String> {
        self.change(|s| s.k = Some(k))
    }

    pub(super) fn set_tol(&mut self, tol: f64) -> Result<(), String> {
        self.change(|s| s.tol = tol)
    }

    pub(super) fn set_gap(&mut self, gap: f64) -> Result<(), String> {
        if !(gap > 0.0 && gap.is_finite()) {
            return Err(format!("gap = {gap}: expected a positive number"));
        }
        self.change(|s| s.gap = Some(gap))
    }

    pub(super) fn set_max_iterations(&mut self, count: usize) -> Result<(), String> {
        self.change(|s| s.max_iterations = Some(count))
    }

    pub(super) fn set_solver(&mut self, name: &str) -> Result<(), String> {
        let value = name.parse().map_err(|e: crate::Error| e.to_string())?;
        self.change(|s| s.solver = Some(value))
    }

    pub(super) fn set_rho(&mut self, name: &str) -> Result<(), String> {
        let value = name.parse().map_err(|e: crate::Error| e.to_string())?;
        self.change(|s| s.rho = Some(value))
    }

    pub(super) fn set_pairwise(&mut self, name: &str) -> Result<(), String> {
        let value = name.parse().map_err(|e: crate::Error| e.to_string())?;
        self.change(|s| s.pairwise = Some(value))
    }

    pub(super) fn set_steps(&mut self, tau: f64, sigma: f64) -> Result<(), String> {
        self.change(|s| (s.tau, s.sigma) = (Some(tau), Some(sigma)))
    }
}
