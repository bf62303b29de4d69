//! The models of a comparison, and what is known of them.
//!
//! A table `reference.csv` beside models has a column `file` and may have `exact_lnZ`, the natural logarithm of Z, and a column whose name ends in
//! `PR_log10`, the published value.

use super::Plan;
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::collections::HashMap;
use std::f64::consts::LN_10;
use std::path::{Path, PathBuf};
use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::io::{Format, ReadOptions, read};
use zbound::{Error, Model};

/// One model.
#[derive(Clone, Debug, Serialize)]
pub struct Instance {
    /// Path below the folder, or what it was drawn from.
    pub name: String,
    /// log Z as published.
    pub published: Option<f64>,
    /// log Z as computed by somebody else.
    pub truth: Option<f64>,
    #[serde(skip)]
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    File(PathBuf),
    Drawn(GenerateSpec),
}

/// Family, graph, spins and strength of the generated models: sparse and dense, attractive and frustrated, small and large.
const DRAWN: [(Family, Graph, usize, f64); 14] = [
    (Family::TrwMixed, Graph::Grid, 225, 1.0),
    (Family::TrwMixed, Graph::Grid, 900, 1.0),
    (Family::TrwAttractive, Graph::Grid, 900, 0.5),
    (Family::TrwMixed, Graph::Grid, 10_000, 1.0),
    (Family::TrwAttractive, Graph::Grid, 10_000, 0.5),
    (Family::TrwMixed, Graph::Regular, 200, 1.0),
    (Family::TrwMixed, Graph::Regular, 2000, 1.0),
    (Family::TrwAttractive, Graph::Regular, 10_000, 0.5),
    (Family::Gaussian, Graph::Complete, 25, 1.0),
    (Family::Gaussian, Graph::Complete, 60, 1.0),
    (Family::Gaussian, Graph::Complete, 200, 1.0),
    (Family::LogdetMixed, Graph::Complete, 100, 0.25),
    (Family::LogdetRepulsive, Graph::Complete, 100, 0.25),
    (Family::LogdetAttractive, Graph::Complete, 200, 0.25),
];

/// Seed of the generated models.
const SEED: u64 = 7;

impl Instance {
    /// The model itself, with the evidence beside it.
    ///
    /// # Errors
    /// A file that is refused.
    pub fn model(&self) -> Result<Model, Error> {
        match &self.source {
            Source::File(path) => {
                let options = ReadOptions { evidence: self.evidence(), ..ReadOptions::default() };
                read(path, &options)
            }
            Source::Drawn(spec) => Ok(Model::from(generate(spec)?)),
        }
    }

    /// The file, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            Source::Drawn(_) => None,
        }
    }

    /// The file of evidence beside it.
    pub(super) fn evidence(&self) -> Option<PathBuf> {
        self.path().map(|path| beside(path, "evid")).filter(|path| path.is_file())
    }

    /// What is known of log Z from others.
    #[must_use]
    pub fn known(&self) -> Option<f64> {
        self.truth.or(self.published)
    }

    /// The folder it is in, for sums over folders.
    pub(super) fn group(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    fn drawn((family, graph, d, w): (Family, Graph, usize, f64)) -> Self {
        let name = format!("generated/{} {} d={d} w={w}", family.name(), graph.name());
        let source = Source::Drawn(GenerateSpec { family, graph, d, w, seed: SEED });
        Instance { name, published: None, truth: None, source }
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}.{suffix}", path.display()))
}

/// Every model of a plan, by name.
pub(super) fn collect(plan: &Plan) -> Result<Vec<Instance>> {
    let mut instances = Vec::new();
    for folder in &plan.folders {
        let mut paths = Vec::new();
        walk(folder, &mut paths)?;
        paths.sort();
        // Several folders are told apart by their names.
        let above = if plan.folders.len() > 1 { folder.parent() } else { Some(folder.as_path()) };
        let mut tables = HashMap::new();
        for path in paths {
            let place = path.parent().map(Path::to_path_buf).unwrap_or_default();
            let known = tables.entry(place).or_insert_with_key(|place| reference(place));
            let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let (truth, listed) = known.get(&file).copied().unwrap_or_default();
            let name = above.and_then(|above| path.strip_prefix(above).ok()).unwrap_or(&path);
            let name = name.display().to_string();
            let published = published(&path).or(listed);
            instances.push(Instance { name, published, truth, source: Source::File(path) });
        }
    }
    if plan.generated {
        instances.extend(DRAWN.map(Instance::drawn));
    }
    anyhow::ensure!(!instances.is_empty(), "no model in {}", names(&plan.folders));
    Ok(instances)
}

fn names(folders: &[PathBuf]) -> String {
    folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Every file below `folder` whose extension names a format.
fn walk(folder: &Path, models: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        if path.is_dir() {
            walk(&path, models)?;
        } else if path.extension().is_some() && Format::from_path(&path).is_some() {
            models.push(path);
        }
    }
    Ok(())
}

/// The value in `M.PR`.
fn published(path: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(beside(path, "PR")).ok()?;
    Some(text.split_whitespace().last()?.parse::<f64>().ok()? * LN_10)
}

/// What a table beside models says: file, then the true and the published log Z.
fn reference(folder: &Path) -> HashMap<String, (Option<f64>, Option<f64>)> {
    let Ok(text) = std::fs::read_to_string(folder.join("reference.csv")) else { return HashMap::new() };
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let Some(head) = lines.next() else { return HashMap::new() };
    let column = |test: &dyn Fn(&str) -> bool| head.iter().position(|name| test(name.trim()));
    let Some(file) = column(&|name| name == "file") else { return HashMap::new() };
    let (truth, listed) = (column(&|name| name == "exact_lnZ"), column(&|name| name.ends_with("PR_log10")));
    let number = |row: &[&str], at: Option<usize>| row.get(at?)?.trim().parse::<f64>().ok();
    let known = |row: Vec<&str>| {
        let values = (number(&row, truth), number(&row, listed).map(|v| v * LN_10));
        Some((row.get(file)?.trim().to_owned(), values))
    };
    lines.filter_map(known).collect()
}
