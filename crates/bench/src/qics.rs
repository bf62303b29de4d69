//! QICS, a conic solver for quantum entropies, as a yardstick: a Python process that solves the
//! relaxations it is sent, one JSON line each.

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use zbound::Problem;

const SCRIPT: &str = include_str!("qics_bench.py");

/// A running process with QICS imported and compiled.
pub(crate) struct Qics {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Its version.
    pub(crate) version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Greeting {
    Qics(String),
    Missing(String),
}

#[derive(Serialize)]
struct Question {
    n: usize,
    eps: f64,
    tol: f64,
    classes: Option<Vec<u32>>,
    f: Vec<f64>,
}

/// What one solve gave.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Answer {
    /// Seconds of the solver, building the model not included.
    pub(crate) seconds: f64,
    pub(crate) iterations: usize,
    /// Objective, without the constant of f.
    pub(crate) value: f64,
    pub(crate) status: String,
}

impl Qics {
    /// Starts `python` on one thread; an error when QICS is not installed there.
    pub(crate) fn start(python: &Path) -> Result<Self> {
        let mut child = Command::new(python)
            .args(["-c", SCRIPT])
            .envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, "1")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("--python {}", python.display()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("--python {}: no pipes", python.display());
        };
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        match serde_json::from_str(&line) {
            Ok(Greeting::Qics(version)) => Ok(Qics { child, input, output, version }),
            Ok(Greeting::Missing(reason)) => {
                child.wait()?;
                bail!("QICS is not installed for {} ({reason}); try `pip install qics`", python.display())
            }
            Err(_) => {
                child.wait()?;
                bail!("{} did not start the QICS script", python.display())
            }
        }
    }

    /// Solves the relaxation of `problem` with its features.
    pub(crate) fn solve(&mut self, problem: &Problem, tol: f64) -> Result<Answer> {
        let n = problem.features().len();
        let classes = problem.features().classes();
        let mut values = classes.represent(problem.polynomial())?;
        values[0] = 0.0;
        let mut f = vec![0.0; n * n];
        classes.fill(&values, &mut f);
        let tied = (!problem.features().is_linear()).then(|| classes.of().to_vec());
        let question = Question { n, eps: problem.eps(), tol, classes: tied, f };
        serde_json::to_writer(&mut self.input, &question)?;
        writeln!(self.input)?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("QICS answered {line:?} at n = {n}"))
    }
}

impl Drop for Qics {
    fn drop(&mut self) {
        // It may be in the middle of a solve that nobody waits for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
