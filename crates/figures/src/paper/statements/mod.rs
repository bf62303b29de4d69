//! What the paper says about each figure, and the test each sentence was turned into, grouped by what a figure is about.

mod comparison;
mod convergence;
mod features;

use super::checks::{Check, Finding, Verdict};
use super::data::FigureData;

/// A sentence of the paper: true when every check holds.
struct Statement {
    claim: &'static str,
    test: &'static str,
    checks: Vec<Check>,
}

/// Coupling strengths up to here are "low", from `HIGH` on "high": thirds of the grid.
const LOW: f64 = 1.0 / 6.0;
const HIGH: f64 = 1.0 / 3.0;
const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const QUANTUM: [&str; 2] = ["quantum", "greedy"];

/// Every claim about the figure `id`, beside what `data` show.
#[must_use]
pub fn findings(id: &str, data: &FigureData) -> Vec<Finding> {
    statements(id).into_iter().map(|statement| statement.evaluate(data)).collect()
}

impl Statement {
    fn evaluate(self, data: &FigureData) -> Finding {
        let checks = self.checks.len();
        let evidence: Vec<_> = self.checks.iter().filter_map(|check| check.evaluate(data)).collect();
        // One counterexample is enough, whatever is missing.
        let verdict = if evidence.iter().any(|e| !e.holds) {
            Verdict::DoesNotHold
        } else if evidence.len() < checks || checks == 0 {
            Verdict::NoData
        } else {
            Verdict::Holds
        };
        Finding { claim: self.claim.into(), test: self.test.into(), verdict, evidence }
    }
}

fn statements(id: &str) -> Vec<Statement> {
    match id {
        "logp_1" => features::logp(),
        "KL_1" => features::kl(),
        "comp_2" => comparison::comp_2(),
        "comp_1" => comparison::comp_1(),
        "comp_rho_fixed_2" => comparison::comp_rho_fixed_2(),
        "comp_rho_fixed_1" => comparison::comp_rho_fixed_1(),
        "comp_3" => comparison::comp_3(),
        "hierarchies_greedy_1" => features::hierarchies_1(),
        "hierarchies_greedy_2a" => features::hierarchies_2a(),
        "hierarchies_greedy_2b" => features::hierarchies_2b(),
        "comp_large_d" => comparison::comp_large_d(),
        _ => convergence::chambolle_pock(id),
    }
}

fn says(claim: &'static str, test: &'static str, checks: Vec<Check>) -> Statement {
    Statement { claim, test, checks }
}

/// `a <= b + slack` on the first row.
fn below(panel: usize, a: &'static str, b: &'static str, slack: f64, (from, to): (f64, f64)) -> Check {
    Check::Below { panel, row: 0, a, b, slack, from, to }
}

/// `a > b + slack` somewhere on the first row.
fn above(panel: usize, a: &'static str, b: &'static str, slack: f64, (from, to): (f64, f64)) -> Check {
    Check::SomewhereAbove { panel, row: 0, a, b, slack, from, to }
}

/// Both quantum bounds against `b` on the panels.
fn both(panels: &[usize], check: impl Fn(usize, &'static str) -> Check) -> Vec<Check> {
    panels.iter().flat_map(|&p| QUANTUM.map(|a| (p, a))).map(|(p, a)| check(p, a)).collect()
}
