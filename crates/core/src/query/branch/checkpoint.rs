//! The tree on disk, so that a run that was killed goes on where it was.

use super::tree::{Row, Tree};
use crate::error::{Error, Result};
use crate::io::{remove_stale, write_atomic};
use crate::model::{Model, Source};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two writes, and the share of the time that writing may take.
const EVERY: Duration = Duration::from_secs(1);
const SHARE: f64 = 0.02;

/// Name of the format.
const SCHEMA: &str = "zbound.branch/1";

/// Where and of what a tree is kept.
pub(super) struct Checkpoint {
    path: PathBuf,
    /// Number that tells models apart.
    model: u64,
    eps: f64,
    written: Instant,
    /// Time from one write to the next.
    pause: Duration,
}

/// The content of the file. Bounds are stored as their bits: -inf is no number in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    model: u64,
    eps: u64,
    /// Tells a damaged file from a whole one.
    sum: u64,
    /// Parent, variable, state, lower and upper bound.
    nodes: Vec<(u32, u32, u32, u64, u64)>,
}

impl Document {
    fn checksum(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        (&self.schema, self.model, self.eps, &self.nodes).hash(&mut hash);
        hash.finish()
    }
}

impl Checkpoint {
    pub(super) fn new(path: &Path, model: &Model, eps: f64) -> Self {
        Checkpoint {
            path: path.to_owned(),
            model: fingerprint(model),
            eps,
            written: Instant::now(),
            pause: EVERY,
        }
    }

    /// The tree of an earlier run, if there is a file.
    pub(super) fn read(&self, cardinalities: &[u32]) -> Result<Option<Tree>> {
        // A run that was killed may have been about to write.
        remove_stale(self.path.parent().filter(|folder| folder != &Path::new("")).unwrap_or(Path::new(".")));
        let text = match std::fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&self.path, error)),
        };
        let path = self.path.display();
        let bad = |why: &str| Error::Setting(format!("checkpoint {path}: {why}; remove it to start anew"));
        let document: Document = serde_json::from_slice(&text).map_err(|e| bad(&e.to_string()))?;
        if document.schema != SCHEMA {
            return Err(bad("not a checkpoint of this version"));
        }
        if document.model != self.model || document.eps != self.eps.to_bits() {
            return Err(bad("it is of another model, evidence or temperature"));
        }
        if document.sum != document.checksum() {
            return Err(bad("it is damaged"));
        }
        let row = |&(parent, variable, state, low, high): &(u32, u32, u32, u64, u64)| -> Row {
            (parent, variable, state, f64::from_bits(low), f64::from_bits(high))
        };
        let rows: Vec<Row> = document.nodes.iter().map(row).collect();
        // NaN fails as well.
        if !rows.iter().all(|r| r.3 <= r.4) {
            return Err(bad("its bounds contradict each other"));
        }
        Tree::from_rows(self.eps, &rows, cardinalities).map(Some).ok_or_else(|| bad("its nodes are no tree"))
    }

    pub(super) fn write_if_due(&mut self, tree: &Tree) -> Result<()> {
        if self.written.elapsed() < self.pause {
            return Ok(());
        }
        self.write(tree)
    }

    pub(super) fn write(&mut self, tree: &Tree) -> Result<()> {
        let begun = Instant::now();
        let row = |(parent, variable, state, low, high): Row| {
            (parent, variable, state, low.to_bits(), high.to_bits())
        };
        let nodes = tree.rows().into_iter().map(row).collect();
        let mut document =
            Document { schema: SCHEMA.into(), model: self.model, eps: self.eps.to_bits(), sum: 0, nodes };
        document.sum = document.checksum();
        let json = |e: serde_json::Error| Error::io(&self.path, e.into());
        let text = serde_json::to_vec(&document).map_err(json)?;
        write_atomic(&self.path, |out| out.write_all(&text))?;
        self.written = Instant::now();
        self.pause = EVERY.max(begun.elapsed().div_f64(SHARE));
        Ok(())
    }
}

/// A number that tells models and their evidence apart.
fn fingerprint(model: &Model) -> u64 {
    let mut hash = DefaultHasher::new();
    model.fixed().hash(&mut hash);
    match model.source() {
        Source::Polynomial(f) => f.visit(|members, v| (members, v.to_bits()).hash(&mut hash)),
        Source::Factors(f) => {
            f.cardinalities().hash(&mut hash);
            f.constant().to_bits().hash(&mut hash);
            for factor in f.factors() {
                factor.scope.hash(&mut hash);
                factor.table.iter().for_each(|v| v.to_bits().hash(&mut hash));
            }
        }
    }
    hash.finish()
}
