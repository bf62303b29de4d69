//! What is asked, and the choice of methods.

use super::cost;
use super::cost::constants::PATIENCE_SECS;
use super::shape::Shape;
use crate::choice::Choice;
use crate::error::{Error, Result};
use crate::exact::Wanted;
use crate::features::FeatureSpec;
use crate::model::Model;
use crate::problem::EPS_RANGE;
use crate::settings::{Method, Settings};
use std::path::PathBuf;

/// Which methods to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MethodChoice {
    /// Exact when that is cheap, otherwise the bounds that suit the model's size.
    #[default]
    Auto,
    /// Every method that fits.
    All,
    /// These, in this order.
    List(Vec<Method>),
}

impl MethodChoice {
    /// The choices that are not one method, with what they mean.
    pub const WORDS: [(&str, &str); 2] = [
        ("auto", "exact when that is cheap, otherwise the bounds that suit the model's size"),
        ("all", "every method that fits, each for at most a minute unless a time limit is given"),
    ];

    /// Names of methods, or `auto` or `all` alone; none is `auto`.
    ///
    /// # Errors
    /// An unknown name, or `auto` or `all` beside others.
    pub fn from_names<S: AsRef<str>>(names: &[S]) -> Result<Self> {
        match names.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..] {
            [] | ["auto"] => Ok(MethodChoice::Auto),
            ["all"] => Ok(MethodChoice::All),
            ref several if several.contains(&"auto") || several.contains(&"all") => {
                Err(Error::Setting("methods auto and all stand alone".into()))
            }
            ref several => {
                let known = || format!("auto, all, {}", Method::names());
                let unknown = |name| Error::Setting(format!("unknown method `{name}`; known: {}", known()));
                let methods = several.iter().map(|name| name.parse().map_err(|_| unknown(name)));
                Ok(MethodChoice::List(methods.collect::<Result<_>>()?))
            }
        }
    }
}

/// One question: bounds on the log-partition function of a model at a temperature.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BoundRequest {
    /// Which methods. Default `Auto`.
    pub methods: MethodChoice,
    /// Temperature in [`EPS_RANGE`]. Default 1.
    pub eps: f64,
    /// Features of the quantum bounds, in the file's variable numbers.
    pub features: FeatureSpec,
    /// Settings of every method. The time limit covers them all together: each method may spend an
    /// equal share of what is left when it starts. Without one, `All` stops each bound after a minute.
    pub settings: Settings,
    /// Width of the bracket of log Z at which `auto` stops. Default: when it is closed.
    pub target_gap: Option<f64>,
    /// Whether to report `E x_i x_j`.
    pub want_pairwise: bool,
    /// Whether `exact` is to write a certificate as well, which can cost more than the answer.
    pub want_certificate: bool,
    /// Where `branch` keeps its tree, so that a run that was killed goes on from there.
    pub checkpoint: Option<PathBuf>,
    /// Name of the model for the record.
    pub path: Option<String>,
}

impl Default for BoundRequest {
    fn default() -> Self {
        BoundRequest {
            methods: MethodChoice::Auto,
            eps: 1.0,
            features: FeatureSpec::Default,
            settings: Settings::default(),
            target_gap: None,
            want_pairwise: false,
            want_certificate: false,
            checkpoint: None,
            path: None,
        }
    }
}

impl BoundRequest {
    /// Checks everything that does not need the model.
    ///
    /// # Errors
    /// A temperature or setting outside its range, an empty or repeating list of methods.
    pub fn validate(&self) -> Result<()> {
        self.settings.validate()?;
        if !EPS_RANGE.contains(&self.eps) {
            let (low, high) = (EPS_RANGE.start(), EPS_RANGE.end());
            return Err(Error::Setting(format!(
                "eps = {:?}: expected a temperature between {low:e} and {high:e} (for the limit eps = 0 use `map`)",
                self.eps
            )));
        }
        if let Some(gap) = self.target_gap.filter(|gap| !(*gap >= 0.0)) {
            return Err(Error::Setting(format!("target gap = {gap:?}: expected a width of at least 0")));
        }
        if let MethodChoice::List(methods) = &self.methods {
            if methods.is_empty() {
                return Err(Error::Setting("no method given".into()));
            }
            if let Some(k) = (1..methods.len()).find(|&k| methods[..k].contains(&methods[k])) {
                return Err(Error::Setting(format!("method {} is given twice", methods[k].name())));
            }
        }
        Ok(())
    }

    /// Whether the user named the methods, so that one that cannot run is the user's business.
    pub(crate) fn is_explicit(&self) -> bool {
        matches!(self.methods, MethodChoice::List(_))
    }
}

/// Why `all` does not start exact inference within `seconds`, if it does not.
pub(crate) fn exact_refusal(model: &Model, settings: &Settings) -> Option<String> {
    let seconds = settings.time_limit_secs.unwrap_or(PATIENCE_SECS);
    let Some(cost) = cost::exact(model, Wanted::ALL, settings) else {
        return Some("exact inference has no plan that could be carried out here".into());
    };
    (cost.seconds > seconds).then(|| {
        format!(
            "exact inference needs about {}, above the {seconds:.2} s given to it; ask for --method exact to insist",
            cost.time()
        )
    })
}

/// Why `all` does not start a selection or a metric on a model of this shape, if it does not: their cost
/// grows like d^5 and d^6, and nothing they hold halfway is better than what `quantum` proves.
pub(crate) fn dense_refusal(method: Method, shape: &Shape, settings: &Settings) -> Option<String> {
    if !matches!(method, Method::QuantumGreedy | Method::QuantumDiag) {
        return None;
    }
    let needed = cost::estimate(method, shape, settings)?;
    let seconds = settings.time_limit_secs.unwrap_or(PATIENCE_SECS).max(PATIENCE_SECS);
    let name = method.name();
    (needed.seconds > seconds).then(|| {
        let needed = needed.time();
        format!("{name} needs about {needed}, above the {seconds:.0} s given to it; ask for --method {name} to insist")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::shape::Kind;

    #[test]
    fn all_starts_nothing_that_takes_hours() {
        let shape = |d: usize| Shape {
            kind: Kind::Dense,
            d,
            edges: d * (d - 1) / 2,
            has_fields: true,
            is_balanced: false,
            coupling: 1.0,
            entries: 2.0 * (d * d) as f64,
            features: Some(d + 1),
        };
        let refusal = |method, d, settings: &Settings| dense_refusal(method, &shape(d), settings);
        let refuses = |method, d| refusal(method, d, &Settings::default()).is_some();
        for method in [Method::QuantumGreedy, Method::QuantumDiag] {
            assert!(!refuses(method, 5) && !refuses(method, 40), "{}", method.name());
            assert!(refuses(method, 100) && refuses(method, 1000), "{}", method.name());
            let patient = Settings::default().with_time_limit(Some(1e5));
            assert!(refusal(method, 100, &patient).is_none());
            let hasty = Settings::default().with_time_limit(Some(0.0));
            assert!(refusal(method, 40, &hasty).is_none(), "a limit is met by stopping, not by refusing");
        }
        assert!(!refuses(Method::Quantum, 1000));
    }
}
