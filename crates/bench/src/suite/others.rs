//! Other programs on the same files, where they are installed: one Python process a model, ended at the limit.

use super::{Entry, Instance, Moment};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use zbound::Model;
use zbound::io::{Format, write_to};

const SCRIPT: &str = concat!(include_str!("relaxations.py"), "\n", include_str!("others.py"));

/// Programs that are looked for, by their modules.
const PROGRAMS: [(&str, &str, Reads); 4] = [
    ("pyGMs", "pygms", Reads::Files),
    ("pyAgrum", "pyagrum", Reads::Files),
    ("QICS", "qics", Reads::Spins),
    ("CVXPY", "cvxpy", Reads::Spins),
];

/// What a program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    /// UAI files, of which it computes or bounds log Z.
    Files,
    /// Pairwise models of spins, of which it solves one relaxation.
    Spins,
}

/// Spins up to which relaxations are handed to general solvers: beyond, their matrices outgrow memory before the time is up.
const MOST_SPINS: usize = 200;

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
    reads: Reads,
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
        for (name, module, reads) in PROGRAMS {
            let Some(python) = python else {
                skipped.push((name.to_owned(), "no --python was given".to_owned()));
                continue;
            };
            match ask(python, &[module], &[], IMPORT_SECS) {
                Ok(said) => match said.into_iter().next() {
                    Some(Said { version: Some(version), .. }) => {
                        let name = format!("{name} {version}");
                        found.push(Other { name, module, reads, python: python.to_path_buf() });
                    }
                    Some(Said { missing: Some(why), .. }) => skipped.push((name.to_owned(), why)),
                    _ => skipped.push((name.to_owned(), "it said nothing".to_owned())),
                },
                Err(error) => skipped.push((name.to_owned(), format!("{error:#}"))),
            }
        }
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
    /// Whether it computes log Z itself: a relaxation says nothing where that is known.
    pub(super) fn knows_log_z(&self) -> bool {
        self.reads == Reads::Files
    }

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
        if self.reads == Reads::Spins {
            let model = spins(&instance.model()?)?;
            return ask(&self.python, &[self.module, "-", "", &limit.to_string()], &model, limit);
        }
        let path = instance.path().filter(|path| path.extension().is_some_and(|e| e == "uai"));
        let path = path.context("it reads UAI files")?.display().to_string();
        let evidence = instance.evidence().map(|path| path.display().to_string()).unwrap_or_default();
        ask(&self.python, &[self.module, &path, &evidence, &limit.to_string()], &[], limit)
    }
}

/// A pairwise model of few spins, as native JSON.
fn spins(model: &Model) -> Result<Vec<u8>> {
    let f = model.polynomial()?;
    let f = f.as_ising().context("it solves relaxations of pairwise models")?;
    ensure!(f.d() <= MOST_SPINS, "it is given no more than {MOST_SPINS} spins");
    let mut text = Vec::new();
    write_to(&Model::from(f.clone()), Format::Json, &mut text)?;
    Ok(text)
}

/// The lines that the script prints within so many seconds, given some input.
fn ask(python: &Path, arguments: &[&str], input: &[u8], seconds: f64) -> Result<Vec<Said>> {
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .args(arguments)
        .envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, "1")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("--python {}", python.display()))?;
    let output = child.stdout.take();
    if let Some(mut pipe) = child.stdin.take() {
        // A script that ends without reading says why.
        let _ = pipe.write_all(input);
    }
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
