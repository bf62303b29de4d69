//! From a configuration to jobs: every instance with its seed, every method with its key.

use super::config::{Config, GridSpec, MethodSpec};
use super::record::Instance;
use super::settings::MethodSettings;
use anyhow::{Context as _, Result, anyhow};
use zbound::generate::{Family, Graph};

/// What the command line changes in a configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides {
    /// Draws per point.
    pub(crate) draws: Option<usize>,
    /// Base seed.
    pub(crate) seed: Option<u64>,
    /// Optional methods to include.
    pub(crate) with: Vec<String>,
}

/// One instance with one method: one record.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// Name of the grid it belongs to.
    pub(crate) grid: String,
    /// Name of the curve it belongs to.
    pub(crate) curve: String,
    pub(crate) instance: Instance,
    pub(crate) settings: MethodSettings,
    /// Operations up to which the exact value is computed.
    pub(crate) exact_operations: f64,
    /// Hash of (instance, method, settings, version).
    pub(crate) key: String,
}

/// All jobs of a sweep, in the order of the configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) jobs: Vec<Job>,
}

impl Plan {
    /// Expands a configuration.
    pub(crate) fn new(config: &Config, overrides: &Overrides) -> Result<Self> {
        let draws = overrides.draws.unwrap_or(config.draws);
        let seed = overrides.seed.unwrap_or(config.seed);
        let mut jobs = Vec::new();
        for grid in &config.grids {
            let instances =
                instances(grid, seed, draws).map_err(|why| anyhow!("grid `{}`: {why}", grid.name))?;
            let mut methods = Vec::new();
            for spec in config.methods.iter().filter(|m| wanted(m, grid, &overrides.with)) {
                let context = || format!("method `{}`", spec.method);
                methods.extend(method_settings(spec).map_err(|why| anyhow!(why)).with_context(context)?);
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

fn wanted(spec: &MethodSpec, grid: &GridSpec, with: &[String]) -> bool {
    spec.when.as_ref().is_none_or(|flag| with.contains(flag))
        && spec.grids.as_ref().is_none_or(|names| names.contains(&grid.name))
}

/// Draw by draw, so that early records sample the whole grid.
fn instances(grid: &GridSpec, seed: u64, draws: usize) -> Result<Vec<Instance>, String> {
    let (families, graphs) = (grid.family.values("family")?, grid.graph.values("graph")?);
    let (sizes, strengths) = (grid.d.values("d")?, grid.w.values("w")?);
    let temperatures = grid.eps.values("eps")?;
    for family in &families {
        family.parse::<Family>().map_err(|e| e.to_string())?;
    }
    for graph in &graphs {
        graph.parse::<Graph>().map_err(|e| e.to_string())?;
    }
    let mut out = Vec::new();
    for draw in 0..draws {
        for (family, graph) in families.iter().flat_map(|f| graphs.iter().map(move |g| (f, g))) {
            for (&d, &w) in sizes.iter().flat_map(|d| strengths.iter().map(move |w| (d, w))) {
                let seed = instance_seed(seed, family, graph, d, w, draw);
                out.extend(temperatures.iter().map(|&eps| Instance {
                    family: family.clone(),
                    graph: graph.clone(),
                    d,
                    w,
                    eps,
                    draw,
                    seed,
                }));
            }
        }
    }
    Ok(out)
}

/// The seed of a draw: FNV-1a over `base|family|graph|d|w|draw`, mixed and cut to 53 bits. Neither the
/// temperature nor anything about the method takes part, so the same draws serve all of them.
fn instance_seed(base: u64, family: &str, graph: &str, d: usize, w: f64, draw: usize) -> u64 {
    let hash = fnv1a(&format!("{base}|{family}|{graph}|{d}|{w:?}|{draw}"));
    // FNV leaves its last letters in the low bits: the finaliser of SplitMix64 spreads them. 53 bits
    // survive programs that read JSON numbers as doubles.
    let mut seed = hash as u64 ^ (hash >> 64) as u64;
    seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (seed ^ (seed >> 31)) >> 11
}

/// A hash of `text` as 32 hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    format!("{:032x}", fnv1a(text))
}

/// FNV-1a, 128 bits.
fn fnv1a(text: &str) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
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

    const CONFIG: &str = r#"
        draws = 2
        [[grid]]
        family = ["gaussian", "logdet-mixed"]
        d = [3, 4]
        w = [0.1, 0.2]
        eps = [0.5, 1.0]
        [[method]]
        method = "quantum"
        tol = [1e-4, 1e-8]
        [[method]]
        method = "combined"
        when = "combined"
        [[method]]
        method = "quantum-greedy"
        greedy = [1, 3]
        curve = "greedy_{k}"
    "#;

    fn plan(overrides: &Overrides) -> Plan {
        Plan::new(&Config::parse(CONFIG).unwrap(), overrides).unwrap()
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
            ("draws = 2", "draws = 0", "draws"),
            ("[1e-4, 1e-8]", "[1e-4, -1.0]", "tol"),
        ] {
            let text = CONFIG.replacen(from, to, 1);
            let result = Config::parse(&text).and_then(|c| Plan::new(&c, &Overrides::default()));
            let message = format!("{:#}", result.unwrap_err());
            assert!(message.contains(named), "{message}");
        }
    }
}
