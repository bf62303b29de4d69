//! What more features gain: figures of the hierarchy and of its greedy order.

use super::{ALL, HIGH, Statement, below, says};
use crate::paper::checks::{COMPETITIVE, Check};

pub(super) fn logp() -> Vec<Statement> {
    vec![
        says(
            "the greedy procedure [...] allows to reduce the gap with less features than adding features in arbitrary order, in particular for independent variable or MRF on a tree",
            "mean error of greedy <= mean error by degree at every n, independent and tree",
            vec![below(0, "greedy", "quantum", 1e-6, ALL), below(1, "greedy", "quantum", 1e-6, ALL)],
        ),
        says(
            "while the gains for the complete graph are less pronounced",
            "complete graph: greedy is nowhere more than 0.05 above the order by degree",
            vec![below(2, "greedy", "quantum", COMPETITIVE, ALL)],
        ),
        says(
            "up to all possible features [the relaxation is exact with all 2^d features]",
            "mean error at n = 32 at most 1e-4, three graphs",
            (0..3).map(|panel| Check::EndsAtZero { panel, row: 0, a: "quantum", limit: 1e-4 }).collect(),
        ),
    ]
}

pub(super) fn kl() -> Vec<Statement> {
    vec![
        says(
            "the greedy procedure [...] allows to reduce the gap with less features than adding features in arbitrary order",
            "mean lower bound by degree <= mean lower bound of greedy at every n, three graphs",
            (0..3).map(|panel| below(panel, "quantum", "greedy", 1e-9, ALL)).collect(),
        ),
        says(
            "For the feature vector [of all 2^d monomials], the relaxation is tight",
            "mean error at n = 32 at most 1e-8 in size, three graphs",
            (0..3).map(|panel| Check::EndsAtZero { panel, row: 0, a: "quantum", limit: 1e-8 }).collect(),
        ),
    ]
}

/// Each number of features gains over the one before, on the panel.
fn more_is_better(panel: usize) -> Vec<Check> {
    let mut checks =
        vec![Check::AtMost { panel, row: 0, a: "greedy_3", limit: 0.0, from: f64::MIN, to: f64::MAX }];
    let pairs = [("greedy_6", "greedy_3"), ("greedy_8", "greedy_6"), ("greedy_10", "greedy_8")];
    checks.extend(pairs.map(|(a, b)| below(panel, a, b, 0.0, ALL)));
    checks
}

pub(super) fn hierarchies_1() -> Vec<Statement> {
    vec![
        says(
            "additional features increase the normalized relative gain in bound over the whole range of temperature",
            "greedy_10 <= greedy_8 <= greedy_6 <= greedy_3 <= 0 in the mean at every eps",
            more_is_better(0),
        ),
        says(
            "Adding 10 extras features makes the relaxation better than the two competing algorithms",
            "greedy_10 <= TRW and log-det at every eps",
            ["TRW", "log-det"].map(|b| below(1, "greedy_10", b, 0.0, ALL)).to_vec(),
        ),
    ]
}

pub(super) fn hierarchies_2a() -> Vec<Statement> {
    vec![
        says(
            "additional features increase the normalized relative gain in bound over the whole range of coupling strength, and type of couplings",
            "greedy_10 <= greedy_8 <= greedy_6 <= greedy_3 <= 0 in the mean at every w, three panels",
            (0..3).flat_map(more_is_better).collect(),
        ),
        says(
            "with a larger gain at high coupling strength",
            "the gain of greedy_10 is larger (more negative) at w = 0.5 than at w = 0, three panels",
            (0..3).map(|panel| Check::Falls { panel, row: 0, a: "greedy_10" }).collect(),
        ),
    ]
}

pub(super) fn hierarchies_2b() -> Vec<Statement> {
    vec![
        says(
            "This gains allow to beat the log-determinant relaxation at high coupling strength for both mixed coupling and repulsive coupling",
            "greedy_10 <= log-det for w >= 1/3, mixed and repulsive",
            [1, 2].map(|p| below(p, "greedy_10", "log-det", 0.0, (HIGH, 1.0))).to_vec(),
        ),
        says(
            "and mitigate the gap between our relaxations and competing algorithm for attractive coupling",
            "greedy_10 <= quantum for w >= 1/3, attractive",
            vec![below(0, "greedy_10", "quantum", 0.0, (HIGH, 1.0))],
        ),
    ]
}
