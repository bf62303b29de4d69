//! The quantum relaxation against one eigendecomposition of its size and
//! against Chambolle-Pock and QICS, in one run.

use crate::duration;
use crate::memory::PeakMemory;
use crate::qics::{Answer, Qics};
use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;
use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::linalg::{Eigen, EigenWork, Square, eigh};
use zbound::relax::{Quantum, Relaxation};
use zbound::{Features, Problem, Settings, Solution, Solver};

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Numbers of spins.
    pub sizes: &'a [usize],
    /// Relative gap at which a solver has converged.
    pub tol: f64,
    /// Of the models.
    pub seed: u64,
    /// Spins up to which Chambolle-Pock runs.
    pub first_order: usize,
    /// Python with QICS.
    pub python: Option<&'a Path>,
    /// Spins up to which QICS runs.
    pub conic: usize,
}

/// Families and strengths of the comparison.
const CASES: [(Family, f64); 7] = [
    (Family::Gaussian, 1.0),
    (Family::LogdetAttractive, 0.25),
    (Family::LogdetAttractive, 0.5),
    (Family::LogdetMixed, 0.25),
    (Family::LogdetMixed, 0.5),
    (Family::LogdetRepulsive, 0.25),
    (Family::LogdetRepulsive, 0.5),
];

/// Repeats of every short measurement; the fastest counts, since the machine may be shared.
const REPEATS: usize = 5;
/// Measurements longer than this are made once.
const LONG_SECONDS: f64 = 1.0;
/// Spins at which degree-2 features are measured too: n = 56.
const DEGREE_TWO: usize = 10;
/// From this size on the solve's memory stands out of the process's.
const MEMORY_FROM: usize = 500;

/// One model.
#[derive(Debug, Serialize)]
struct Row {
    family: &'static str,
    w: f64,
    d: usize,
    degree: usize,
    n: usize,
    /// Seconds of one decomposition of an n x n matrix with vectors, one thread.
    eigendecomposition: f64,
    /// Seconds of solve, gap and certificate, one thread.
    newton: f64,
    /// `newton / eigendecomposition`.
    ratio: f64,
    decompositions: usize,
    relative_gap: f64,
    status: &'static str,
    /// Seconds and iterations of Chambolle-Pock to the same gap, where it was run.
    chambolle_pock: Option<f64>,
    chambolle_pock_iterations: Option<usize>,
    /// QICS on one thread, where it was run.
    qics: Option<Answer>,
    /// `qics.seconds / newton`.
    speedup: Option<f64>,
    /// Upper bound minus QICS's value, relative.
    qics_difference: Option<f64>,
    /// Most memory in use during the solve, in units of n x n doubles, from d = 500 on and when the
    /// C library returns freed memory (see `memory`).
    peak_matrices: Option<f64>,
}

/// Spins of a solve before the first that counts, where memory is measured.
const WARM_UP: usize = 300;
/// Sizes from which every row is announced when it is done: the table takes minutes.
const SLOW: usize = 500;

/// Times of the quantum relaxation and of what it is compared with.
#[derive(Debug, Serialize)]
pub struct Comparison {
    schema: &'static str,
    version: &'static str,
    tol: f64,
    /// Version of QICS; null when it was not run.
    qics_version: Option<String>,
    rows: Vec<Row>,
    /// Exponent p of `newton ~ d^p`, least squares over all rows with d >= 50.
    growth_exponent: Option<f64>,
}

/// Runs the comparison; `say` hears of large models that are done and of what could not be run.
///
/// # Errors
/// A model that cannot be drawn, an answer of QICS that cannot be read.
pub fn run(plan: &Plan<'_>, say: &mut dyn FnMut(&str)) -> Result<Comparison> {
    let mut qics = plan.python.and_then(|python| match Qics::start(python) {
        Ok(qics) => Some(qics),
        Err(error) => {
            say(&format!("QICS NOT RUN: {error:#}"));
            None
        }
    });
    if plan.sizes.iter().any(|d| *d >= MEMORY_FROM) {
        // Loads the code, which would count as memory of the first solve.
        measure(
            &Plan { sizes: &[], first_order: 0, conic: 0, ..*plan },
            &mut None,
            CASES[0].0,
            CASES[0].1,
            WARM_UP,
            1,
        )?;
    }
    let mut rows = Vec::new();
    for &d in plan.sizes {
        for (family, w) in CASES {
            rows.push(measure(plan, &mut qics, family, w, d, 1)?);
            if d >= SLOW {
                say(&format!("{} w={w} d={d}: ratio {:.1}", family.name(), rows[rows.len() - 1].ratio));
            }
        }
        if d == DEGREE_TWO {
            rows.push(measure(plan, &mut qics, CASES[0].0, CASES[0].1, d, 2)?);
        }
    }
    let growth_exponent = growth(&rows);
    Ok(Comparison {
        schema: "zbound.bench-quantum/1",
        version: crate::VERSION,
        tol: plan.tol,
        qics_version: qics.map(|q| q.version.clone()),
        rows,
        growth_exponent,
    })
}

fn measure(
    plan: &Plan<'_>,
    qics: &mut Option<Qics>,
    family: Family,
    w: f64,
    d: usize,
    degree: usize,
) -> Result<Row> {
    let model = generate(&GenerateSpec { family, graph: Graph::Complete, d, w, seed: plan.seed })?;
    let problem = Problem::new(model, Features::degree(d, degree))?;
    let n = problem.features().len();
    let settings = Settings::default().with_tol(plan.tol);
    let eigendecomposition = one_decomposition(n);
    let memory = (d >= MEMORY_FROM).then(PeakMemory::start).flatten();
    let (newton, solution) = fastest(|| Quantum::default().solve(&problem, &settings));
    let solution = solution?;
    let peak_matrices = memory.and_then(PeakMemory::bytes).map(|bytes| bytes / (8 * n * n) as f64);
    let first = (d <= plan.first_order).then(|| {
        let slow = settings.clone().with_solver(Solver::ChambollePock).with_time_limit(Some(60.0));
        let start = Instant::now();
        let solved = Quantum::default().solve(&problem, &slow);
        (start.elapsed().as_secs_f64(), solved.map_or(0, |s| s.iterations))
    });
    let conic = match qics {
        Some(qics) if d <= plan.conic => Some(qics.solve(&problem, plan.tol)?),
        _ => None,
    };
    let constant = problem.polynomial().pairwise_part().constant();
    let upper = solution.upper.map_or(f64::NAN, |u| u.phi());
    Ok(Row {
        family: family.name(),
        w,
        d,
        degree,
        n,
        eigendecomposition,
        newton,
        ratio: newton / eigendecomposition,
        decompositions: solution.eigendecompositions,
        relative_gap: relative_gap(&solution),
        status: solution.stop.name(),
        chambolle_pock: first.map(|f| f.0),
        chambolle_pock_iterations: first.map(|f| f.1),
        speedup: conic.as_ref().map(|c| c.seconds / newton),
        qics_difference: conic.as_ref().map(|c| (upper - constant - c.value) / upper.abs().max(1.0)),
        qics: conic,
        peak_matrices,
    })
}

/// Seconds of one decomposition of a fixed dense matrix.
fn one_decomposition(n: usize) -> f64 {
    let entry = |i: usize, j: usize| ((i.max(j) * 7919 + i.min(j) * 104_729) % 1009) as f64 / 1009.0 - 0.5;
    let matrix = Square::from_column_major(n, (0..n * n).map(|k| entry(k % n, k / n)).collect());
    let (mut eigen, mut work) = (Eigen::default(), EigenWork::default());
    fastest(|| eigh(&matrix, &mut eigen, &mut work)).0
}

fn relative_gap(solution: &Solution) -> f64 {
    let upper = solution.upper.map_or(f64::NAN, |u| u.phi());
    solution.relaxation_gap.unwrap_or(f64::NAN) / upper.abs().max(1.0)
}

/// The fastest of a few runs, and the last result.
fn fastest<T>(mut job: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut repeats = 0;
    loop {
        let start = Instant::now();
        let result = job();
        let seconds = start.elapsed().as_secs_f64();
        best = best.min(seconds);
        repeats += 1;
        if repeats >= REPEATS || seconds > LONG_SECONDS {
            return (best, result);
        }
    }
}

/// Least-squares slope of log seconds against log d.
fn growth(rows: &[Row]) -> Option<f64> {
    let points: Vec<(f64, f64)> = rows
        .iter()
        .filter(|r| r.d >= 50 && r.degree == 1)
        .map(|r| ((r.d as f64).ln(), r.newton.ln()))
        .collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / count, s.1 + p.1 / count));
    let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let shared: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    (spread > 1e-9).then(|| shared / spread)
}

impl Comparison {
    /// As a table.
    #[must_use]
    pub fn render(&self) -> String {
        render(&self.rows, self.growth_exponent)
    }
}

fn render(rows: &[Row], growth_exponent: Option<f64>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_BORDERS_ONLY_CONDENSED);
    table.set_header([
        "family",
        "w",
        "d",
        "n",
        "one eig",
        "solve",
        "ratio",
        "eigs",
        "rel. gap",
        "status",
        "Chambolle-Pock",
        "QICS",
    ]);
    for row in rows {
        let first = match (row.chambolle_pock, row.chambolle_pock_iterations) {
            (Some(seconds), Some(iterations)) => {
                format!("{} ({iterations} it., {:.0}x)", duration(seconds), seconds / row.newton)
            }
            _ => "-".to_owned(),
        };
        let conic = match (&row.qics, row.speedup) {
            (Some(answer), Some(speedup)) => {
                format!("{} ({} it., {speedup:.0}x)", duration(answer.seconds), answer.iterations)
            }
            _ => "-".to_owned(),
        };
        table.add_row([
            row.family.to_owned(),
            row.w.to_string(),
            row.d.to_string(),
            row.n.to_string(),
            duration(row.eigendecomposition),
            duration(row.newton),
            format!("{:.1}", row.ratio),
            row.decompositions.to_string(),
            format!("{:.1e}", row.relative_gap),
            row.status.to_owned(),
            first,
            conic,
        ]);
    }
    (1..8)
        .filter_map(|k| table.column_mut(k).map(|c| c.set_cell_alignment(CellAlignment::Right)))
        .for_each(drop);
    let growth =
        growth_exponent.map_or(String::new(), |p| format!("\nsolve time grows like d^{p:.2} (d >= 50)"));
    let peak = rows.iter().filter_map(|r| r.peak_matrices).fold(0.0, f64::max);
    let memory = if peak > 0.0 {
        format!("\nmemory of a solve: at most {peak:.1} n x n matrices of doubles (d >= {MEMORY_FROM})")
    } else {
        String::new()
    };
    format!("{table}{growth}{memory}\n")
}
