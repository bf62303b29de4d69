//! How much the combined bound gains over the best of its parts.

use crate::duration;
use anyhow::{Context as _, Result, bail};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::time::Instant;
use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::relax::{Combined, LogDet, Quantum, QuantumGreedy, Relaxation, Trw};
use zbound::run::{BoundRequest, MethodChoice, bound};
use zbound::{Features, Ising, Method, Model, Problem, Settings, Silent, Solution};

/// Strengths of the families that have one.
const STRENGTHS: [f64; 3] = [0.1, 0.25, 0.5];

/// Means over the draws of one family and strength.
#[derive(Debug, Serialize)]
struct Row {
    family: &'static str,
    w: f64,
    d: usize,
    draws: u64,
    /// Mean of `(bound - exact) / d`.
    quantum: f64,
    greedy: f64,
    trw: f64,
    logdet: f64,
    /// Mean of the best of the four, model by model.
    best: f64,
    combined: f64,
    /// `combined / best`.
    ratio: f64,
    /// Largest amount, relative to `max(1, |bound|)`, by which the combined bound was above the best part.
    worst_excess: f64,
    /// How many solves met the tolerance.
    converged: u64,
    /// Mean seconds of the combined bound, its parts included.
    seconds: f64,
}

/// Errors of the combined bound and of its parts, family by family.
#[derive(Debug, Serialize)]
pub struct Comparison {
    schema: &'static str,
    version: &'static str,
    tol: f64,
    rows: Vec<Row>,
}

/// Spins above which the exact value would take longer than the bounds.
const MOST_SPINS: usize = 24;

/// Runs the comparison on complete graphs; `say` hears of every family that is done.
///
/// # Errors
/// Sizes whose exact value is out of reach, no draws, a model that cannot be drawn.
pub fn run(
    sizes: &[usize],
    tol: f64,
    seed: u64,
    draws: u64,
    say: &mut dyn FnMut(&str),
) -> Result<Comparison> {
    if let Some(d) = sizes.iter().find(|d| **d > MOST_SPINS) {
        bail!("--d {d}: `bench combined` needs the exact value; use at most {MOST_SPINS} spins, say --d 10");
    }
    if draws == 0 {
        bail!("--draws 0: expected at least one draw");
    }
    let mut rows = Vec::new();
    for &d in sizes {
        for family in Family::ALL {
            let strengths: &[f64] = if family.needs_strength() { &STRENGTHS } else { &[1.0] };
            for &w in strengths {
                rows.push(compare(family, w, d, seed, draws, tol)?);
                say(&format!("{} w={w} d={d} done", family.name()));
            }
        }
    }
    Ok(Comparison { schema: "zbound.bench-combined/1", version: crate::VERSION, tol, rows })
}

fn compare(family: Family, w: f64, d: usize, seed: u64, draws: u64, tol: f64) -> Result<Row> {
    let mut row = Row {
        family: family.name(),
        w,
        d,
        draws,
        quantum: 0.0,
        greedy: 0.0,
        trw: 0.0,
        logdet: 0.0,
        best: 0.0,
        combined: 0.0,
        ratio: 0.0,
        worst_excess: f64::NEG_INFINITY,
        converged: 0,
        seconds: 0.0,
    };
    let settings = Settings::default().with_tol(tol);
    let share = 1.0 / (draws as f64 * d as f64);
    for draw in seed..seed + draws {
        let model = generate(&GenerateSpec { family, graph: Graph::Complete, d, w, seed: draw })?;
        let exact = exact_phi(&model)?;
        let problem = Problem::new(model, Features::degree(d, 1))?;
        let upper = |relaxation: &dyn Relaxation| -> Result<f64> {
            Ok(value(&relaxation.solve(&problem, &settings)?))
        };
        let parts = [upper(&Quantum::default())?, upper(&QuantumGreedy)?, upper(&Trw)?, upper(&LogDet)?];
        let start = Instant::now();
        let solution = Combined.solve(&problem, &settings)?;
        row.seconds += start.elapsed().as_secs_f64() / draws as f64;
        let best = parts.iter().copied().fold(f64::INFINITY, f64::min);
        let [quantum, greedy, trw, logdet] = parts.map(|v| share * (v - exact));
        row.quantum += quantum;
        row.greedy += greedy;
        row.trw += trw;
        row.logdet += logdet;
        row.best += share * (best - exact);
        row.combined += share * (value(&solution) - exact);
        row.worst_excess = row.worst_excess.max((value(&solution) - best) / best.abs().max(1.0));
        row.converged += u64::from(solution.stop.name() == "converged");
    }
    row.ratio = row.combined / row.best;
    Ok(row)
}

fn value(solution: &Solution) -> f64 {
    solution.upper.map_or(f64::INFINITY, |bound| bound.phi())
}

fn exact_phi(model: &Ising) -> Result<f64> {
    let mut request = BoundRequest::default();
    request.methods = MethodChoice::List(vec![Method::Exact]);
    let report = bound(&Model::from(model.clone()), &request, &mut Silent)?;
    report.record.results.first().and_then(|r| r.phi.estimate).context("exact inference gave no value")
}

impl Comparison {
    /// As a table.
    #[must_use]
    pub fn render(&self) -> String {
        render(&self.rows)
    }
}

fn render(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_BORDERS_ONLY_CONDENSED);
    table.set_header([
        "family",
        "w",
        "d",
        "quantum",
        "greedy",
        "trw",
        "logdet",
        "best",
        "combined",
        "ratio",
        "excess",
        "converged",
        "time",
    ]);
    for row in rows {
        let number = |v: f64| format!("{v:.4}");
        table.add_row([
            row.family.to_owned(),
            row.w.to_string(),
            row.d.to_string(),
            number(row.quantum),
            number(row.greedy),
            number(row.trw),
            number(row.logdet),
            number(row.best),
            number(row.combined),
            format!("{:.3}", row.ratio),
            format!("{:.0e}", row.worst_excess),
            format!("{}/{}", row.converged, row.draws),
            duration(row.seconds),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("mean error (bound - exact) / d over the draws, complete graphs, log Z in nats\n{table}")
}
