//! What the paper says about each figure, and the test each sentence was turned into.

use super::checks::{COMPETITIVE, Check, Finding, Verdict};
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
        let verdict = match () {
            // One counterexample is enough, whatever is missing.
            () if evidence.iter().any(|e| !e.holds) => Verdict::DoesNotHold,
            () if evidence.len() < checks || checks == 0 => Verdict::NoData,
            () => Verdict::Holds,
        };
        Finding { claim: self.claim.into(), test: self.test.into(), verdict, evidence }
    }
}

fn statements(id: &str) -> Vec<Statement> {
    match id {
        "logp_1" => logp(),
        "KL_1" => kl(),
        "comp_2" => comp_2(),
        "comp_1" => comp_1(),
        "comp_rho_fixed_2" => comp_rho_fixed_2(),
        "comp_rho_fixed_1" => comp_rho_fixed_1(),
        "comp_3" => comp_3(),
        "hierarchies_greedy_1" => hierarchies_1(),
        "hierarchies_greedy_2a" => hierarchies_2a(),
        "hierarchies_greedy_2b" => hierarchies_2b(),
        "comp_large_d" => comp_large_d(),
        _ => chambolle_pock(id),
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

fn logp() -> Vec<Statement> {
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

fn kl() -> Vec<Statement> {
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

fn comp_2() -> Vec<Statement> {
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

fn comp_1() -> Vec<Statement> {
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

fn comp_rho_fixed_2() -> Vec<Statement> {
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

fn comp_rho_fixed_1() -> Vec<Statement> {
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

fn comp_3() -> Vec<Statement> {
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

/// Each number of features gains over the one before, on the panel.
fn more_is_better(panel: usize) -> Vec<Check> {
    let mut checks =
        vec![Check::AtMost { panel, row: 0, a: "greedy_3", limit: 0.0, from: f64::MIN, to: f64::MAX }];
    let pairs = [("greedy_6", "greedy_3"), ("greedy_8", "greedy_6"), ("greedy_10", "greedy_8")];
    checks.extend(pairs.map(|(a, b)| below(panel, a, b, 0.0, ALL)));
    checks
}

fn hierarchies_1() -> Vec<Statement> {
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

fn hierarchies_2a() -> Vec<Statement> {
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

fn hierarchies_2b() -> Vec<Statement> {
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

fn comp_large_d() -> Vec<Statement> {
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

const LONG_STEP: &str = "\u{3c4} = 3, \u{3c3} = 0.3";
const EVEN_STEP: &str = "\u{3c4} = 0.9, \u{3c3} = 0.9";

fn chambolle_pock(id: &str) -> Vec<Statement> {
    let traces = |negate| {
        [LONG_STEP, EVEN_STEP].map(|a| Check::Exponential { panel: 0, a, share: 0.95, negate }).to_vec()
    };
    match id {
        "CP_gap_iter" => vec![says(
            "the duality gap decrease exponentially fast with the number of iterations",
            "a straight line explains at least 95 % of the variance of log gap over iterations, median over draws",
            traces(false),
        )],
        "CP_iter_d" => vec![says(
            "the number of iterations to reached a fixed tolerance of 10^-8 grows linearly with d",
            "a straight line explains at least 90 % of the variance of the means, and the exponent is 0.75 to 1.25",
            vec![
                Check::Straight { panel: 0, row: 0, a: LONG_STEP, share: 0.9 },
                Check::Power { panel: 0, row: 0, a: LONG_STEP, low: 0.75, high: 1.25 },
            ],
        )],
        "CP_gap_iter_ho" => vec![says(
            "For this more general feature vector, we do not observe this linear convergence",
            "a straight line explains less than 95 % of the variance of log gap over iterations, median over draws",
            traces(true),
        )],
        "CP_iter_n" => vec![says(
            "We observed a general growth in O(n^2)",
            "exponent of the mean number of iterations in n between 1.5 and 2.5",
            vec![Check::Power { panel: 0, row: 0, a: LONG_STEP, low: 1.5, high: 2.5 }],
        )],
        _ => Vec::new(),
    }
}
