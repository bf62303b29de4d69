//! `zbound bench quantum`: the quantum relaxation against one eigendecomposition of its size and
//! against Chambolle-Pock, in one run.

use crate::output;
use crate::table::duration;
use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::time::Instant;
use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::relax::{Quantum, Relaxation};
use zbound::spectral::{Eigen, EigenWork, Square, eigh};
use zbound::{Features, Problem, Settings, Solution, Solver};

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

/// One model.
#[derive(Debug, Serialize)]
struct Row {
    family: &'static str,
    w: f64,
    d: usize,
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
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct QuantumBench {
    schema: &'static str,
    version: &'static str,
    tol: f64,
    rows: Vec<Row>,
    /// Exponent p of `newton ~ d^p`, least squares over all rows with d >= 50.
    growth_exponent: Option<f64>,
}

/// Runs the benchmark for the given sizes; Chambolle-Pock up to `first_order` spins.
pub(crate) fn run(sizes: &[usize], tol: f64, seed: u64, first_order: usize, json: bool) -> Result<u8> {
    let mut rows = Vec::new();
    for &d in sizes {
        for (family, w) in CASES {
            rows.push(measure(family, w, d, tol, seed, first_order)?);
        }
    }
    let growth_exponent = growth(&rows);
    match json {
        true => output::print_json(&QuantumBench {
            schema: "zbound.bench-quantum/1",
            version: env!("CARGO_PKG_VERSION"),
            tol,
            rows,
            growth_exponent,
        })?,
        false => output::print(&render(&rows, growth_exponent))?,
    }
    Ok(0)
}

fn measure(family: Family, w: f64, d: usize, tol: f64, seed: u64, first_order: usize) -> Result<Row> {
    let model = generate(&GenerateSpec { family, graph: Graph::Complete, d, w, seed })?;
    let mut matrix = Square::zeros(d + 1);
    for (i, j, v) in model.triples() {
        matrix.data_mut()[i + 1 + (d + 1) * (j + 1)] = v;
        matrix.data_mut()[j + 1 + (d + 1) * (i + 1)] = v;
    }
    let problem = Problem::new(model, Features::degree(d, 1))?;
    let settings = Settings::default().with_tol(tol);
    let (mut eigen, mut work) = (Eigen::default(), EigenWork::default());
    let (eigendecomposition, _) = fastest(|| eigh(&matrix, &mut eigen, &mut work));
    let (newton, solution) = fastest(|| Quantum::default().solve(&problem, &settings));
    let solution = solution?;
    let first = (d <= first_order).then(|| {
        let slow = settings.clone().with_solver(Solver::ChambollePock).with_time_limit(Some(60.0));
        let start = Instant::now();
        let solved = Quantum::default().solve(&problem, &slow);
        (start.elapsed().as_secs_f64(), solved.map_or(0, |s| s.iterations))
    });
    Ok(Row {
        family: family.name(),
        w,
        d,
        n: d + 1,
        eigendecomposition,
        newton,
        ratio: newton / eigendecomposition,
        decompositions: solution.eigendecompositions,
        relative_gap: relative_gap(&solution),
        status: solution.stop.name(),
        chambolle_pock: first.map(|f| f.0),
        chambolle_pock_iterations: first.map(|f| f.1),
    })
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
    let points: Vec<(f64, f64)> =
        rows.iter().filter(|r| r.d >= 50).map(|r| ((r.d as f64).ln(), r.newton.ln())).collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / count, s.1 + p.1 / count));
    let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let shared: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    (spread > 0.0).then(|| shared / spread)
}

fn render(rows: &[Row], growth_exponent: Option<f64>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_BORDERS_ONLY_CONDENSED);
    table.set_header([
        "family",
        "w",
        "d",
        "one eig",
        "solve",
        "ratio",
        "eigs",
        "rel. gap",
        "status",
        "Chambolle-Pock",
    ]);
    for row in rows {
        let first = match (row.chambolle_pock, row.chambolle_pock_iterations) {
            (Some(seconds), Some(iterations)) => {
                format!("{} ({iterations} it., {:.0}x)", duration(seconds), seconds / row.newton)
            }
            _ => "-".to_owned(),
        };
        table.add_row([
            row.family.to_owned(),
            row.w.to_string(),
            row.d.to_string(),
            duration(row.eigendecomposition),
            duration(row.newton),
            format!("{:.1}", row.ratio),
            row.decompositions.to_string(),
            format!("{:.1e}", row.relative_gap),
            row.status.to_owned(),
            first,
        ]);
    }
    (1..7)
        .filter_map(|k| table.column_mut(k).map(|c| c.set_cell_alignment(CellAlignment::Right)))
        .for_each(drop);
    let growth =
        growth_exponent.map_or(String::new(), |p| format!("\nsolve time grows like d^{p:.2} (d >= 50)"));
    format!("{table}{growth}")
}
