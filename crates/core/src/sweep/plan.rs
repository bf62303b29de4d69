//! From a configuration to jobs: every instance with its seed, every method with its key.

use super::config::{Config, GridSpec, MethodSpec};
use super::instances::instances;
use super::record::Instance;
use super::settings::MethodSettings;
use crate::error::{Error, Result};
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// What the command line changes in a configuration.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Draws per point.
    pub draws: Option<usize>,
    /// Base seed.
    pub seed: Option<u64>,
    /// Optional methods to include.
    pub with: Vec<String>,
}

/// One instance with one method: one record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Name of the grid it belongs to.
    pub grid: String,
    /// Name of the curve it belongs to.
    pub curve: String,
    /// What is solved.
    pub instance: Instance,
    /// How.
    pub settings: MethodSettings,
    /// Operations up to which the exact value is computed.
    pub exact_operations: f64,
    /// Hash of (instance, method, settings, version).
    pub key: String,
}

/// All jobs of a sweep, in the order of the configuration.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Jobs.
    pub jobs: Vec<Job>,
}

impl Plan {
    /// Expands a configuration.
    ///
    /// # Errors
    /// Unknown families, graphs, methods and settings, each named; model files that cannot be read.
    pub fn new<F>(config: &Config<F>, overrides: &Overrides) -> Result<Self> {
        Plan::with_models(config, overrides, &HashMap::new())
    }

    /// As [`Plan::new`], where `model` may also name models in memory.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_models<F>(
        config: &Config<F>,
        overrides: &Overrides,
        models: &HashMap<String, Model>,
    ) -> Result<Self> {
        config.check()?;
        let draws = overrides.draws.unwrap_or(config.draws);
        let seed = overrides.seed.unwrap_or(config.seed);
        let mut jobs = Vec::new();
        for grid in &config.grids {
            let named = |why: String| Error::Setting(format!("grid `{}`: {why}", grid.name));
            let instances = instances(grid, seed, draws, models).map_err(named)?;
            let mut methods = Vec::new();
            for spec in config.methods.iter().filter(|m| wanted(m, grid, &overrides.with)) {
                let named = |why: String| Error::Setting(format!("method `{}`: {why}", spec.method));
                methods.extend(method_settings(spec).map_err(named)?);
            }
            for instance in &instances {
                jobs.extend(methods.iter().map(|(curve, settings)| Job {
                    grid: grid.name.clone(),
                    curve: curve.clone(),
                    key: settings.key(instance),
                    instance: instance.clone(),
                    settings: settings.clone(),
                    exact_operations: config.exact_operations,
                }));
            }
        }
        Ok(Plan { jobs })
    }
}

/// Jobs to do, by instance and each key once, and how many are `done`.
pub fn tasks<'a>(
    jobs: impl Iterator<Item = &'a Job>,
    done: impl Fn(&str) -> bool,
) -> (Vec<Vec<&'a Job>>, usize) {
    let mut position: HashMap<String, usize> = HashMap::new();
    let mut seen = HashSet::new();
    let mut reused = 0;
    let mut tasks: Vec<Vec<&Job>> = Vec::new();
    for job in jobs.filter(|job| seen.insert(&job.key)) {
        if done(&job.key) {
            reused += 1;
            continue;
        }
        let name = format!("{:?}", job.instance);
        let k = *position.entry(name).or_insert(tasks.len());
        match tasks.get_mut(k) {
            Some(task) => task.push(job),
            None => tasks.push(vec![job]),
        }
    }
    // The first draw of everything comes first: it shows early what the rest will cost.
    tasks.sort_by_key(|task| task[0].instance.draw);
    (tasks, reused)
}

fn wanted(spec: &MethodSpec, grid: &GridSpec, with: &[String]) -> bool {
    spec.when.as_ref().is_none_or(|flag| with.contains(flag))
        && spec.grids.as_ref().is_none_or(|names| names.contains(&grid.name))
}

/// Every combination of the settings of one `[[method]]`, with the name of its curve.
fn method_settings(spec: &MethodSpec) -> Result<Vec<(String, MethodSettings)>, String> {
    let mut all = vec![MethodSettings::new(&spec.method, spec.time_limit, spec.trace)?];
    macro_rules! axis {
        ($key:ident, $set:expr) => {
            if let Some(axis) = &spec.$key {
                let values = axis.values(stringify!($key))?;
                all = product(all, &values, $set)?;
            }
        };
    }
    axis!(features, |s, v: &String| s.set_features(v));
    axis!(n, |s, n: &usize| s.set_features(&format!("first:{n}")));
    axis!(tol, |s, &v| s.set_tol(v));
    axis!(gap, |s, &v| s.set_gap(v));
    axis!(max_iterations, |s, &v| s.set_max_iterations(v));
    axis!(solver, |s, v: &String| s.set_solver(v));
    axis!(rho, |s, v: &String| s.set_rho(v));
    axis!(pairwise, |s, v: &String| s.set_pairwise(v));
    if let Some(steps) = &spec.steps {
        all = product(all, steps, |s, &[tau, sigma]| s.set_steps(tau, sigma))?;
    }
    if let Some(axis) = &spec.greedy {
        all = product(all, &axis.values("greedy")?, |s, &k| s.set_greedy(k))?;
    }
    let template = spec.curve.as_deref().unwrap_or(&spec.method);
    Ok(all.into_iter().map(|s| (s.curve(template), s)).collect())
}

fn product<T>(
    all: Vec<MethodSettings>,
    values: &[T],
    set: impl Fn(&mut MethodSettings, &T) -> Result<(), String>,
) -> Result<Vec<MethodSettings>, String> {
    let mut out = Vec::with_capacity(all.len() * values.len());
    for settings in &all {
        for value in values {
            let mut settings = settings.clone();
            set(&mut settings, value)?;
            out.push(settings);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{
        "draws": 2,
        "grid": [{"family": ["gaussian", "logdet-mixed"], "d": [3, 4], "w": [0.1, 0.2], "eps": [0.5, 1.0]}],
        "method": [
            {"method": "quantum", "tol": [1e-4, 1e-8]},
            {"method": "combined", "when": "combined"},
            {"method": "quantum-greedy", "greedy": [1, 3], "curve": "greedy_{k}"}
        ]
    }"#;

    fn parse(text: &str) -> Result<Config, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    fn plan(overrides: &Overrides) -> Plan {
        Plan::new(&parse(CONFIG).unwrap(), overrides).unwrap()
    }

    #[test]
    fn a_grid_is_the_product_of_its_axes() {
        assert_eq!(plan(&Overrides::default()).jobs.len(), 2 * 2 * 2 * 2 * 2 * 4);
        let with = Overrides { draws: Some(1), with: vec!["combined".into()], seed: None };
        let jobs = plan(&with).jobs;
        assert_eq!(jobs.len(), 2 * 2 * 2 * 2 * 5);
        assert!(jobs.iter().any(|job| job.curve == "greedy_3"));
        let keys: std::collections::HashSet<_> = jobs.iter().map(|job| &job.key).collect();
        assert_eq!(keys.len(), jobs.len());
    }

    #[test]
    fn draws_are_shared_over_temperatures_and_methods_and_nothing_else() {
        let jobs = plan(&Overrides::default()).jobs;
        let seeds: std::collections::HashSet<_> = jobs.iter().map(|job| job.instance.seed).collect();
        assert_eq!(seeds.len(), 2 * 2 * 2 * 2);
        let other = plan(&Overrides { seed: Some(1), ..Overrides::default() }).jobs;
        assert!(other.iter().all(|job| !seeds.contains(&job.instance.seed)));
    }

    #[test]
    fn mistakes_are_named() {
        for (from, to, named) in [
            ("\"gaussian\"", "\"gausian\"", "gausian"),
            ("\"quantum\"", "\"quantom\"", "quantom"),
            ("tol", "tal", "tal"),
            ("\"draws\": 2", "\"draws\": 0", "draws"),
            ("[1e-4, 1e-8]", "[1e-4, -1.0]", "tol"),
        ] {
            let text = CONFIG.replacen(from, to, 1);
            let plan = |c: Config| Plan::new(&c, &Overrides::default()).map_err(|e| e.to_string());
            let message = parse(&text).and_then(plan).unwrap_err();
            assert!(message.contains(named), "{message}");
        }
    }

    #[test]
    fn seeds_and_model_files_stand_in_for_draws() {
        let text = CONFIG.replace("\"eps\": [0.5, 1.0]", "\"seed\": [7, 8, 9]");
        let jobs = Plan::new(&parse(&text).unwrap(), &Overrides::default()).unwrap().jobs;
        assert_eq!(jobs.len(), 2 * 2 * 2 * 3 * 4);
        assert!(jobs.iter().all(|job| job.instance.seed == 7 + job.instance.draw as u64));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, r#"{"d": 3, "couplings": [[0, 1, 0.5]]}"#).unwrap();
        let grid = format!(r#"{{"grid": [{{"model": {path:?}}}], "method": [{{"method": "trw"}}]}}"#);
        let first = Plan::new(&parse(&grid).unwrap(), &Overrides::default()).unwrap().jobs;
        assert_eq!((first.len(), first[0].instance.d), (1, 3));
        // Another model under the same name is another instance.
        std::fs::write(&path, r#"{"d": 3, "couplings": [[0, 1, 0.25]]}"#).unwrap();
        let second = Plan::new(&parse(&grid).unwrap(), &Overrides::default()).unwrap().jobs;
        assert_ne!(first[0].key, second[0].key);
        let both = parse(&grid.replace("\"model\"", "\"d\": 3, \"model\"")).unwrap();
        assert!(Plan::new(&both, &Overrides::default()).is_err());
    }
}
