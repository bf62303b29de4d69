//! `zbound marginals`: proved intervals for the laws of single variables and of pairs.

use crate::choices;
use crate::cli::EXIT_INCOMPLETE;
use crate::decimal::{round_down_display, round_up_display};
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::numbers;
use crate::output;
use crate::supervise::{Ended, Run};
use anyhow::Result;
use std::time::Instant;
use zbound::query::marginals::{MarginalsRecord, MarginalsRequest, marginals};
use zbound::record::Status;
use zbound::run::{BoundRequest, MethodChoice};
use zbound::{Alphabet, Method, Model};
use zbound_bench::duration;

const EXAMPLES: &str = "\
auto takes one exact elimination where that fits the limits. Otherwise every interval comes from what is round its \
variable (neighbourhoods), and from proved bounds on log Z with the variable fixed to each of its states, in rounds: \
intervals shrink as long as the time limit allows.

Examples:
  zbound marginals model.json
  zbound marginals model.json --spin 0 --spin 3 --json
  zbound marginals model.uai --pairs 0,1 --pairs 4,2 --given 7=1
  zbound marginals grid.uai --evidence grid.uai.evid -m combined -m mean-field";

/// Digits of printed probabilities.
const DECIMALS: usize = 9;

/// Options of `zbound marginals`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Method of `zbound bound`; may be repeated, one for each side at least [default: auto]
    #[arg(long, short, value_name = "M", value_parser = choices::methods())]
    method: Vec<String>,
    /// Variables, numbered from 0, with commas between them or one option each [default: all, or none when pairs are asked for]
    #[arg(long, visible_alias = "variables", value_name = "I", value_delimiter = ',', allow_negative_numbers = true, value_parser = numbers::whole)]
    spin: Vec<usize>,
    /// Pairs of variables whose joint laws are wanted
    #[arg(long, value_name = "I,J", num_args = 1.., value_parser = parse_pair)]
    pairs: Vec<(usize, usize)>,
    /// Variables that are given, with their states (-1 and +1 are states 0 and 1 of a spin)
    #[arg(long, value_name = "I=STATE", num_args = 1.., value_parser = parse_given)]
    given: Vec<(usize, u32)>,
    /// Also list intervals by state (JSON), for spins too
    #[arg(long)]
    states: bool,
    /// Temperature: the probabilities are those of exp(f/eps)
    #[arg(
        long,
        alias = "temperature",
        value_name = "E",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    eps: f64,
    /// Relative gap at which a method has converged
    #[arg(long, value_name = "T", default_value = "1e-8", allow_negative_numbers = true, value_parser = numbers::real)]
    tol: f64,
    #[command(flatten)]
    limits: LimitArgs,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// `3,7`.
fn parse_pair(text: &str) -> Result<(usize, usize), String> {
    let pair = text.split_once(',').and_then(|(i, j)| Some((i.trim().parse().ok()?, j.trim().parse().ok()?)));
    pair.ok_or_else(|| format!("`{text}`: expected two variables such as 3,7"))
}

/// `3=1`; `3=+1` and `3=-1` name spins.
pub(crate) fn parse_given(text: &str) -> Result<(usize, u32), String> {
    let expected = || format!("`{text}`: expected a variable and its state such as 3=1");
    let (variable, state) = text.split_once('=').ok_or_else(expected)?;
    let variable = variable.trim().parse().map_err(|_| expected())?;
    let state = match state.trim() {
        "-1" => 0,
        "+1" => 1,
        state => state.parse().map_err(|_| expected())?,
    };
    Ok((variable, state))
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self, start: Instant) -> Result<u8> {
        let run = Run::new(start, &self.limits)?;
        let mut bound = BoundRequest::default();
        bound.methods = MethodChoice::from_names(&self.method)?;
        bound.eps = self.eps;
        bound.path = Some(self.model.name());
        bound.settings = run.settings.clone().with_tol(self.tol);
        bound.validate()?;
        let request = MarginalsRequest {
            variables: (!self.spin.is_empty()).then(|| self.spin.clone()),
            pairs: self.pairs.clone(),
            want_states: self.states,
            bound,
        };
        let (source, given) = (self.model.clone(), self.given.clone());
        let ended = run.supervise(move |mut watch, board| {
            let model = source.read()?.with_states(&given)?;
            board.post((MarginalsRecord::unreached(&model, &request)?, letters(&model)));
            let post = &mut |record: &MarginalsRecord| board.post((record.clone(), letters(&model)));
            let (record, outcome) = marginals(&model, &request, &mut watch, post)?;
            Ok((record, letters(&model), outcome))
        })?;
        let (mut record, letters, code) = match ended {
            Ended::Nothing => return Ok(run.exit_code(EXIT_INCOMPLETE)),
            Ended::Done((record, letters, outcome)) => (record, letters, outcome.exit_code()),
            Ended::Left((record, letters)) => (record, letters, 0),
        };
        if run.is_stopped() {
            record.status = Status::Cancelled;
        }
        if self.json {
            output::print_json(&record)?
        } else {
            output::print(&render(&record, &letters))?
        }
        Ok(run.exit_code(code))
    }
}

/// How the states of every variable are printed.
fn letters(model: &Model) -> Letters {
    let spins = model.alphabet == Alphabet::Spins;
    Letters { spins }
}

/// Spins are -1 and +1 in text, other variables' states are numbers.
struct Letters {
    spins: bool,
}

impl Letters {
    fn name(&self, state: usize) -> String {
        match (self.spins, state) {
            (true, 0) => "-1".to_owned(),
            (true, _) => "+1".to_owned(),
            (false, state) => state.to_string(),
        }
    }
}

fn render(record: &MarginalsRecord, letters: &Letters) -> String {
    let line = |[low, high]: [f64; 2], event: String| {
        let (low, high) = (round_down_display(low, DECIMALS), round_up_display(high, DECIMALS));
        format!("{low} <= P({event}) <= {high}\n")
    };
    let width = record.marginals.iter().map(|m| m.variable.to_string().len()).max().unwrap_or(1);
    let mut text = String::new();
    for m in &record.marginals {
        if let (Some(low), Some(high), None) = (m.lower, m.upper, &m.states) {
            // The second of two states says it all.
            text += &line([low, high], format!("x_{:<width$} = {}", m.variable, letters.name(1)));
            continue;
        }
        for (state, interval) in m.law().into_iter().enumerate() {
            text += &line(interval, format!("x_{:<width$} = {}", m.variable, letters.name(state)));
        }
    }
    for pair in &record.pairs {
        let (i, j) = pair.variables;
        for (s, row) in pair.table.iter().enumerate() {
            for (t, interval) in row.iter().enumerate() {
                let event = format!("x_{i} = {}, x_{j} = {}", letters.name(s), letters.name(t));
                text += &line(*interval, event);
            }
        }
    }
    if let Some(reason) = &record.reason {
        text += &format!("{reason}\n");
    }
    let mut methods: Vec<&str> = record.methods.iter().copied().map(Method::name).collect();
    if record.neighbourhoods {
        methods.insert(0, "neighbourhoods");
    }
    if methods.is_empty() {
        methods.push("auto");
    }
    let (status, seconds) = (record.status.name(), duration(record.seconds));
    text + &format!(
        "widest interval {:.1e}   ({}, {status}, {seconds})\n",
        record.widest(),
        methods.join(" + ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_states_are_read_or_refused() {
        assert_eq!(parse_pair("3,7"), Ok((3, 7)));
        assert_eq!(parse_given("3=2"), Ok((3, 2)));
        assert_eq!((parse_given("0=-1"), parse_given("0=+1")), (Ok((0, 0)), Ok((0, 1))));
        for bad in ["", "3", "3,", "a,b", "3;4"] {
            assert!(parse_pair(bad).is_err(), "{bad}");
        }
        for bad in ["", "3", "=1", "3=", "3=x", "3=-2"] {
            assert!(parse_given(bad).is_err(), "{bad}");
        }
    }
}
