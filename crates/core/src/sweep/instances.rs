//! The instances of a grid, each draw with its seed.

use super::config::GridSpec;
use super::hash::short_hash;
use super::record::Instance;
use crate::io::{ReadOptions, read};
use crate::model::Model;
use crate::model::generate::{Family, Graph};
use std::collections::HashMap;
use std::path::Path;

/// Draw by draw, so that early records sample the whole grid.
pub(super) fn instances(
    grid: &GridSpec,
    seed: u64,
    draws: usize,
    models: &HashMap<String, Model>,
) -> Result<Vec<Instance>, String> {
    let temperatures = grid.eps.values("eps")?;
    if let Some(files) = &grid.model {
        if grid.family.is_some() || grid.d.is_some() || grid.seed.is_some() {
            return Err("a grid has either `model` or `family`, `d` and `seed`".into());
        }
        return named_instances(&files.values("model")?, &temperatures, models);
    }
    let missing = |key: &str| format!("`{key}` is missing");
    let families = grid.family.as_ref().ok_or_else(|| missing("family"))?.values("family")?;
    let (graphs, strengths) = (grid.graph.values("graph")?, grid.w.values("w")?);
    let sizes = grid.d.as_ref().ok_or_else(|| missing("d"))?.values("d")?;
    for family in &families {
        family.parse::<Family>().map_err(|e| e.to_string())?;
    }
    for graph in &graphs {
        graph.parse::<Graph>().map_err(|e| e.to_string())?;
    }
    let seeds = grid.seed.as_ref().map(|axis| axis.values("seed")).transpose()?;
    let mut out = Vec::new();
    for draw in 0..seeds.as_ref().map_or(draws, Vec::len) {
        for (family, graph) in families.iter().flat_map(|f| graphs.iter().map(move |g| (f, g))) {
            for (&d, &w) in sizes.iter().flat_map(|d| strengths.iter().map(move |w| (d, w))) {
                let derived = || instance_seed(seed, family, graph, d, w, draw);
                let seed = seeds.as_ref().map_or_else(derived, |seeds| seeds[draw] as u64);
                out.extend(temperatures.iter().map(|&eps| Instance {
                    family: family.clone(),
                    graph: graph.clone(),
                    d,
                    w,
                    eps,
                    draw,
                    seed,
                    model: None,
                }));
            }
        }
    }
    Ok(out)
}

fn named_instances(
    names: &[String],
    temperatures: &[f64],
    models: &HashMap<String, Model>,
) -> Result<Vec<Instance>, String> {
    let mut out = Vec::new();
    for name in names {
        let own = match models.get(name) {
            Some(model) => Instance::of_model(name, model),
            None => {
                let model = read(Path::new(name), &ReadOptions::default()).map_err(|e| e.to_string())?;
                Instance::of_model(name, &model)
            }
        };
        out.extend(temperatures.iter().map(|&eps| Instance { eps, ..own.clone() }));
    }
    Ok(out)
}

/// The seed of a draw: FNV-1a over `base|family|graph|d|w|draw`, mixed and cut to 53 bits. Neither the
/// temperature nor anything about the method takes part, so the same draws serve all of them.
fn instance_seed(base: u64, family: &str, graph: &str, d: usize, w: f64, draw: usize) -> u64 {
    short_hash(&format!("{base}|{family}|{graph}|{d}|{w:?}|{draw}"))
}
