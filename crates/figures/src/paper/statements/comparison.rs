//! The relaxations beside TRW and log-det, over coupling strengths and temperatures.

use super::{ALL, HIGH, LOW, QUANTUM, Statement, above, below, both, says};
use crate::paper::checks::{COMPETITIVE, Check};

/// The quantum marginals are worse than those of `TRW` and `log-det`.
fn marginals(panels: &[usize]) -> Statement {
    let check = |panel, b| QUANTUM.map(|a| Check::LargerOnAverage { panel, row: 1, a, b });
    let checks = panels.iter().flat_map(|&p| ["TRW", "log-det"].into_iter().flat_map(move |b| check(p, b)));
    says(
        "For the l1_error, our relaxations exhibit higher error than both the TRW and log-determinant relaxations",
        "error in marginals of quantum and greedy, averaged over w, above both others on every panel",
        checks.collect(),
    )
}

pub(super) fn comp_2() -> Vec<Statement> {
    vec![
        says(
            "Our relaxations give better bound on the log-partition function than the log-determinant relaxation for all coupling strengths and interaction types",
            "mean error of quantum and greedy <= mean error of log-det at every w, three panels",
            both(&[0, 1, 2], |p, a| below(p, a, "log-det", 0.0, ALL)),
        ),
        says(
            "They are competitive with the TRW relaxation for low coupling strength",
            "at most 0.05 above TRW for w <= 1/6",
            both(&[0, 1, 2], |p, a| below(p, a, "TRW", COMPETITIVE, (0.0, LOW))),
        ),
        says(
            "For attractive coupling and high coupling strength, TRW is better",
            "TRW <= quantum and greedy for w >= 1/3, attractive",
            QUANTUM.map(|b| below(0, "TRW", b, 0.0, (HIGH, 1.0))).to_vec(),
        ),
        says(
            "for mixed couplings, the greedy relaxation stays competitive with TRW even at higher coupling strength",
            "greedy at most 0.05 above TRW for w >= 1/3, mixed",
            vec![below(1, "greedy", "TRW", COMPETITIVE, (HIGH, 1.0))],
        ),
        says(
            "for repulsive coupling, both relaxations become better than the TRW relaxation at high coupling strength",
            "quantum and greedy <= TRW at w = 0.5, repulsive",
            both(&[2], |p, a| below(p, a, "TRW", 0.0, (0.5, 0.5))),
        ),
        marginals(&[0, 1, 2]),
    ]
}

pub(super) fn comp_1() -> Vec<Statement> {
    vec![
        says(
            "Our relaxations on the log-partition function are competitive with the TRW relaxation for low coupling strength",
            "at most 0.05 above TRW for w <= 1/6",
            both(&[0, 1], |p, a| below(p, a, "TRW", COMPETITIVE, (0.0, LOW))),
        ),
        says(
            "For mixed couplings, the greedy relaxation stays competitive with TRW even at higher coupling strength",
            "greedy at most 0.05 above TRW for w >= 1/3, mixed",
            vec![below(1, "greedy", "TRW", COMPETITIVE, (HIGH, 1.0))],
        ),
        says(
            "The log-determinant relaxation exhibits a much higher error on the log-partition function",
            "quantum, greedy and TRW at least 0.05 below log-det at every w",
            ["quantum", "greedy", "TRW"]
                .into_iter()
                .flat_map(|a| [0, 1].map(|p| below(p, a, "log-det", -0.05, ALL)))
                .collect(),
        ),
        marginals(&[0, 1]),
    ]
}

fn loses_when_attractive() -> Statement {
    says(
        "For attractive coupling, our relaxations are not as good as competing algorithms as soon as the coupling strength increases",
        "TRW and log-det <= quantum and greedy for w >= 1/3, attractive",
        ["TRW", "log-det"]
            .into_iter()
            .flat_map(|a| QUANTUM.map(|b| below(0, a, b, 0.0, (HIGH, 1.0))))
            .collect(),
    )
}

pub(super) fn comp_rho_fixed_2() -> Vec<Statement> {
    vec![
        loses_when_attractive(),
        says(
            "but stay competitive with the log-determinant relaxation for mixed coupling and repulsive coupling",
            "at most 0.05 above log-det at every w, mixed and repulsive",
            both(&[1, 2], |p, a| below(p, a, "log-det", COMPETITIVE, ALL)),
        ),
        says(
            "while the performance of the TRW relaxation deteriorates",
            "TRW more than 0.05 above both others somewhere with w >= 1/3, mixed and repulsive",
            [1, 2]
                .into_iter()
                .flat_map(|p| ["quantum", "log-det"].map(|b| above(p, "TRW", b, COMPETITIVE, (HIGH, 1.0))))
                .collect(),
        ),
    ]
}

pub(super) fn comp_rho_fixed_1() -> Vec<Statement> {
    vec![
        loses_when_attractive(),
        says(
            "they stay competitive with the log-determinant relaxation for mixed coupling",
            "at most 0.05 above log-det at every w, mixed",
            both(&[1], |p, a| below(p, a, "log-det", COMPETITIVE, ALL)),
        ),
        says(
            "while the TRW relaxation becomes significantly worse at high coupling strength",
            "TRW more than 0.05 above log-det and quantum somewhere with w >= 1/3, mixed",
            ["quantum", "log-det"].map(|b| above(1, "TRW", b, COMPETITIVE, (HIGH, 1.0))).to_vec(),
        ),
        marginals(&[0, 1]),
    ]
}

pub(super) fn comp_3() -> Vec<Statement> {
    let low = (0.0, 0.5);
    vec![
        says(
            "our relaxations are competitive with the log-determinant relaxation at low-temperature",
            "at most 0.05 above log-det at eps = 0.1",
            both(&[0], |p, a| below(p, a, "log-det", COMPETITIVE, low)),
        ),
        says(
            "as the temperature increases it reaches a plateau",
            "quantum at eps = 10 at most 1.1 times its value at the middle of the grid",
            vec![Check::Flattens { panel: 0, row: 0, a: "quantum", factor: 1.1 }],
        ),
        says(
            "whereas the error on the log-determinant relaxation grows linearly",
            "a straight line explains at least 98 % of the variance of log-det over eps",
            vec![Check::Straight { panel: 0, row: 0, a: "log-det", share: 0.98 }],
        ),
        says(
            "They are also better than the TRW relaxation at low temperature and stay competitive as the temperature increase",
            "quantum and greedy <= TRW at eps = 0.1, at most 0.05 above it everywhere",
            both(&[0], |p, a| below(p, a, "TRW", 0.0, low))
                .into_iter()
                .chain(both(&[0], |p, a| below(p, a, "TRW", COMPETITIVE, ALL)))
                .collect(),
        ),
        says(
            "For the l1_error, our relaxation are better than the log-determinant and TRW relaxation at low temperature",
            "mean error in marginals of quantum and greedy <= both others at eps = 0.1",
            ["TRW", "log-det"]
                .into_iter()
                .flat_map(|b| {
                    QUANTUM.map(|a| Check::Below { panel: 0, row: 1, a, b, slack: 0.0, from: 0.0, to: 0.5 })
                })
                .collect(),
        ),
        says(
            "but worse at high temperature",
            "mean error in marginals of TRW and log-det <= quantum and greedy at eps = 10",
            ["TRW", "log-det"]
                .into_iter()
                .flat_map(|a| {
                    QUANTUM.map(|b| Check::Below { panel: 0, row: 1, a, b, slack: 0.0, from: 9.9, to: 10.1 })
                })
                .collect(),
        ),
    ]
}

pub(super) fn comp_large_d() -> Vec<Statement> {
    // Every curve is relative to log-det here.
    let at_most = |panel, a, limit, from| Check::AtMost { panel, row: 0, a, limit, from, to: 1.0 };
    vec![
        says(
            "For attractive coupling, our relaxations are not as good as competing algorithms as soon as the coupling strength increase",
            "TRW <= quantum and TRW <= log-det for w >= 1/3, attractive",
            vec![below(0, "TRW", "quantum", 0.0, (HIGH, 1.0)), at_most(0, "TRW", 0.0, HIGH)],
        ),
        says(
            "but stay competitive with the log-determinant relaxation for mixed coupling and repulsive coupling",
            "quantum at most 0.05 above log-det at every w, mixed and repulsive",
            [1, 2].map(|p| at_most(p, "quantum", COMPETITIVE, 0.0)).to_vec(),
        ),
        says(
            "while the performance of the TRW relaxation deteriorates",
            "TRW more than 0.05 above quantum somewhere with w >= 1/3, mixed and repulsive",
            [1, 2].map(|p| above(p, "TRW", "quantum", COMPETITIVE, (HIGH, 1.0))).to_vec(),
        ),
    ]
}
