//! The configuration of a sweep.

use super::axis::Axis;
use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A sweep: every grid of instances with every method, and how to draw the result, of which only `F` knows.
///
/// ```
/// use zbound::sweep::{Config, Overrides, Plan};
/// let text = r#"{"draws": 2, "grid": [{"family": "gaussian", "d": [4, 5]}], "method": [{"method": "quantum"}]}"#;
/// let config: Config = serde_json::from_str(text)?;
/// assert_eq!(Plan::new(&config, &Overrides::default())?.jobs.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config<F = IgnoredAny> {
    /// Seed from which the seed of every instance is derived.
    #[serde(default)]
    pub seed: u64,
    /// Draws per point of a grid.
    #[serde(default = "one_draw")]
    pub draws: usize,
    /// Compute exact values where that takes at most this many operations; 0 for never.
    #[serde(default = "exact_operations")]
    pub exact_operations: f64,
    /// Grids of instances.
    #[serde(rename = "grid")]
    pub grids: Vec<GridSpec>,
    /// Methods, each run on every instance.
    #[serde(rename = "method")]
    pub methods: Vec<MethodSpec>,
    /// How to draw the records.
    pub figure: Option<F>,
}

fn one_draw() -> usize {
    1
}

fn exact_operations() -> f64 {
    1e9
}

/// A product of families, graphs, sizes, strengths and temperatures, or of model files and temperatures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridSpec {
    /// Name, for panels.
    #[serde(default)]
    pub name: String,
    /// Family of `zbound generate`.
    pub family: Option<Axis<String>>,
    /// Graph of `zbound generate`.
    #[serde(default = "complete")]
    pub graph: Axis<String>,
    /// Number of spins.
    pub d: Option<Axis<usize>>,
    /// Coupling strength; the parameters are drawn anew for each.
    #[serde(default = "zero")]
    pub w: Axis<f64>,
    /// Temperature; the same draws serve all of them.
    #[serde(default = "unit")]
    pub eps: Axis<f64>,
    /// Seeds of `zbound generate`, in place of the draws whose seeds are derived from the base seed.
    pub seed: Option<Axis<usize>>,
    /// Model files, in place of `family`, `graph`, `d`, `w` and `seed`.
    pub model: Option<Axis<String>>,
}

fn complete() -> Axis<String> {
    Axis::One("complete".into())
}

fn zero() -> Axis<f64> {
    Axis::One(0.0)
}

fn unit() -> Axis<f64> {
    Axis::One(1.0)
}

/// One method and its settings; every key may be a list, and all combinations are run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodSpec {
    /// A method of `zbound bound`, or `kl` / `kl-greedy`.
    pub method: String,
    /// Name of the curve; `{k}`, `{n}`, `{tau}`, `{sigma}`, `{tol}`, `{rho}` stand for the settings.
    pub curve: Option<String>,
    /// Left out unless this flag is given (`--combined`, `--greedy-large`, or `--with FLAG`).
    pub when: Option<String>,
    /// Only on these grids.
    pub grids: Option<Vec<String>>,
    /// Features as on the command line.
    pub features: Option<Axis<String>>,
    /// The first n monomials by degree: short for `features = "first:n"`.
    pub n: Option<Axis<usize>>,
    /// Features that greedy selection adds; a list gives the bound at each of them along one path.
    pub greedy: Option<Axis<usize>>,
    /// Relative gap.
    pub tol: Option<Axis<f64>>,
    /// Stop at this absolute gap instead.
    pub gap: Option<Axis<f64>>,
    /// Iteration cap.
    pub max_iterations: Option<Axis<usize>>,
    /// Seconds.
    pub time_limit: Option<f64>,
    /// Algorithm.
    pub solver: Option<Axis<String>>,
    /// Edge probabilities of trw.
    pub rho: Option<Axis<String>>,
    /// Pairs with constraints in logdet.
    pub pairwise: Option<Axis<String>>,
    /// Chambolle-Pock steps, as pairs.
    pub steps: Option<Vec<[f64; 2]>>,
    /// Keep the gap after every iteration.
    #[serde(default)]
    pub trace: bool,
}

impl<F> Config<F> {
    /// What no type can say.
    pub(super) fn check(&self) -> Result<()> {
        if self.draws == 0 {
            return Err(Error::Setting("draws = 0: expected at least 1".into()));
        }
        if self.grids.is_empty() || self.methods.is_empty() {
            return Err(Error::Setting("expected at least one [[grid]] and one [[method]]".into()));
        }
        Ok(())
    }
}
