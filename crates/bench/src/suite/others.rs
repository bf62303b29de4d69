//! Other programs on the same files, where they are installed: one Python process a model, ended at the limit.

use super::{Entry, Instance, Moment};
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("others.py");

/// Programs that are looked for, by their modules.
const PROGRAMS: [(&str, &str); 2] = [("pyGMs", "pygms"), ("pyAgrum", "pyagrum")];

/// Time between two looks at the process.
const LOOK: Duration = Duration::from_millis(20);

/// Seconds for importing a module.
const IMPORT_SECS: f64 = 60.0;

/// Those that are there.
pub(super) struct Others(Vec<Other>);

/// One of them.
pub(super) struct Other {
    /// With its version.
    name: String,
    module: &'static str,
    python: PathBuf,
}

/// What the script says, one line at a time.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    seconds: f64,
    version: Option<String>,
    missing: Option<String>,
    failed: Option<String>,
    value: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
}

impl Others {
    /// Looks for programs; those that are not there come with the reason.
    pub(super) fn find(python: Option<&Path>) -> (Self, Vec<(String, String)>) {
        let (mut found, mut skipped) = (Vec::new(), Vec::new());
        for (name, module) in PROGRAMS {
            let Some(python) = python else {
                skipped.push((name.to_owned(), "no --python was given".to_owned()));
                continue;
            };
            match ask(python, &[module], IMPORT_SECS) {
                Ok(said) => match said.into_iter().next() {
                    Some(Said { version: Some(version), .. }) => {
                        let name = format!("{name} {version}");
                        found.push(Other { name, module, python: python.to_path_buf() });
                    }
                    Some(Said { missing: Some(why), .. }) => skipped.push((name.to_owned(), why)),
                    _ => skipped.push((name.to_owned(), "it said nothing".to_owned())),
                },
                Err(error) => skipped.push((name.to_owned(), format!("{error:#}"))),
            }
        }
        let elsewhere = "solves one relaxation and no model: see `zbound bench quantum --python` and scripts/compare_logdet_cvxpy.py";
        skipped.extend(["QICS", "CVXPY"].map(|name| (name.to_owned(), elsewhere.to_owned())));
        (Others(found), skipped)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.0.iter().map(|other| other.name.clone())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Other> {
        self.0.iter().find(|other| other.name == name)
    }
}

impl Other {
    /// What it says of a model.
    pub(super) fn ask(&self, instance: &Instance, limit: f64) -> Entry {
        let model = instance.name.clone();
        let mut entry = Entry { model, tool: self.name.clone(), limit, ..Entry::default() };
        let start = Instant::now();
        match self.said(instance, limit) {
            Ok(said) => {
                for line in said {
                    entry.refused = line.failed;
                    entry.value = line.value;
                    (entry.lower, entry.upper) = (line.lower, line.upper);
                    if line.lower.is_some() || line.upper.is_some() {
                        let (seconds, lower, upper) = (line.seconds, line.lower, line.upper);
                        entry.trace.push(Moment { seconds, lower, upper });
                    }
                }
                if entry.value.is_none() && entry.upper.is_none() && entry.refused.is_none() {
                    entry.refused = Some("no answer in time".into());
                }
            }
            Err(error) => entry.refused = Some(format!("{error:#}")),
        }
        entry.seconds = start.elapsed().as_secs_f64();
        entry
    }

    fn said(&self, instance: &Instance, limit: f64) -> Result<Vec<Said>> {
        let path = instance.path().filter(|path| path.extension().is_some_and(|e| e == "uai"));
        let path = path.context("it reads UAI files")?.display().to_string();
        let evidence = instance.evidence().map(|path| path.display().to_string()).unwrap_or_default();
        ask(&self.python, &[self.module, &path, &evidence, &limit.to_string()], limit)
    }
}

/// The lines that the script prints within so many seconds.
fn ask(python: &Path, arguments: &[&str], seconds: f64) -> Result<Vec<Said>> {
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .args(arguments)
        .envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, "1")))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("--python {}", python.display()))?;
    let output = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        // What was said before the end counts, however it came.
        let _ = output.map(|mut output| output.read_to_string(&mut text));
        text
    });
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed().as_secs_f64() > seconds {
            child.kill()?;
            child.wait()?;
            break;
        }
        std::thread::sleep(LOOK);
    }
    let text = reader.join().unwrap_or_default();
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
