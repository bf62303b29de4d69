//! Results in the UAI competition's format: PR (log10 of Z) and MAR.

use crate::decimal::round_up_display;
use anyhow::{Context as _, Result};
use std::fmt::Write as _;
use zbound::Method;
use zbound::record::{BoundRecord, MethodRecord, Status};

/// Digits of PR after the point.
const DECIMALS: usize = 9;

/// `PR` and `MAR` of the exact result if there is one, otherwise `BOUND`, the best upper bound rounded up, and `MAR`
/// by estimates.
///
/// State 0 is x = -1. The weights are those of exp(f/eps), so PR is (eps log Z)/(eps log 10).
pub(crate) fn render(record: &BoundRecord) -> Result<String> {
    let exact = |r: &&MethodRecord| r.method == Method::Exact && r.certified && r.status == Status::Converged;
    let exact = record.results.iter().find(exact);
    let scale = record.eps * std::f64::consts::LN_10;
    let pr = match exact {
        Some(MethodRecord { log_z, .. }) => {
            log_z.estimate.map_or_else(|| "-inf".to_owned(), |v| format!("{:.DECIMALS$}", v / scale))
        }
        None => {
            let upper = record.best.log_z.upper.context("no upper bound was proved, so there is no PR")?;
            // Three roundings to nearest; one part in 2^50 covers them.
            let value = upper / scale;
            round_up_display(value + value.abs() * f64::EPSILON * 4.0, DECIMALS)
        }
    };
    let has_marginals = |r: &MethodRecord| r.marginals.is_some() || r.state_marginals.is_some();
    let method = exact.map(|r| r.method).or(record.best.upper_method);
    let source = record.results.iter().find(|r| Some(r.method) == method && has_marginals(r));
    let source = source.or_else(|| record.results.iter().find(|r| has_marginals(r)));
    let head = if exact.is_some() { "PR" } else { "BOUND" };
    let mut text = format!("{head}\n{pr}\n");
    let states = source.and_then(|r| r.state_marginals.as_ref());
    if let Some(states) = states {
        write!(text, "MAR\n{}", states.len())?;
        for law in states {
            write!(text, " {}", law.len())?;
            law.iter().try_for_each(|p| write!(text, " {p}"))?;
        }
        text.push('\n');
    } else if let Some(marginals) = source.and_then(|r| r.marginals.as_ref()) {
        write!(text, "MAR\n{}", marginals.len())?;
        for p in marginals {
            write!(text, " 2 {} {}", 1.0 - p, p)?;
        }
        text.push('\n');
    }
    Ok(text)
}
