//! `zbound scan`: brackets of log Z over inverse temperature.

use crate::choices;
use crate::cli::EXIT_INCOMPLETE;
use crate::decimal::{decimals_for, round_down_display, round_up_display};
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::numbers;
use crate::output;
use crate::supervise::{Ended, Run};
use anyhow::{Context as _, Result, bail};
use comfy_table::{Cell, CellAlignment, Table, presets};
use std::path::{Path, PathBuf};
use std::time::Instant;
use zbound::Method;
use zbound::io::write_atomic;
use zbound::record::Status;
use zbound::run::{Betas, BoundRequest, MethodChoice, ScanPoint, ScanRecord, scan};
use zbound_bench::duration;

const EXAMPLES: &str = "\
beta multiplies f: every line bounds log Z(beta) = log of the sum over states of exp(beta f), which is `zbound bound` \
at eps = 1/beta, divided by eps. beta = 0 counts the states. log Z is convex in beta, so that a bound may follow from \
those at other temperatures; its method is then `convexity`. The time limit is shared by all points.

Examples:
  zbound scan model.json --betas 0:2:21
  zbound scan model.json --betas 0.1:1:10 --method trw --method mean-field --time-limit 30
  zbound scan grid.uai --betas 0.5,1,2 --json
  zbound scan model.json --betas 0:3:31 --out scan.csv --plot scan.svg";

/// Options of `zbound scan`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Inverse temperatures: a:b:n for n points from a to b, or a list such as 0.5,1,2; 0 or 1e-12 to 1e12
    #[arg(long, allow_hyphen_values = true, value_name = "A:B:N", value_parser = numbers::read::<Betas>)]
    betas: Betas,
    /// Method of `zbound bound`; may be repeated [default: auto]
    #[arg(long, short, value_name = "M", value_parser = choices::methods())]
    method: Vec<String>,
    /// Relative gap at which a method has converged, 1e-15 to 1
    #[arg(long, value_name = "T", default_value = "1e-8", allow_negative_numbers = true, value_parser = numbers::real)]
    tol: f64,
    #[command(flatten)]
    limits: LimitArgs,
    /// Also write the points to FILE, as CSV
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also draw the brackets to FILE, .svg or .png
    #[cfg(feature = "figures")]
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// One JSON document instead of a table
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self, start: Instant) -> Result<u8> {
        let run = Run::new(start, &self.limits)?;
        let mut request = BoundRequest::default();
        request.methods = MethodChoice::from_names(&self.method)?;
        request.path = Some(self.model.name());
        request.settings = run.settings.clone().with_tol(self.tol);
        request.validate()?;
        self.check_files()?;
        let (source, betas) = (self.model.clone(), self.betas.clone());
        let ended = run.supervise(move |mut watch, board| {
            let model = source.read()?;
            Ok(scan(&model, &betas, &request, &mut watch, &mut |record| board.post(record.clone()))?)
        })?;
        let record: ScanRecord = match ended {
            Ended::Nothing => return Ok(run.exit_code(EXIT_INCOMPLETE)),
            Ended::Done(record) | Ended::Left(record) => record,
        };
        if self.json {
            output::print_json(&record)?
        } else {
            output::print(&render(&record))?
        }
        if let Some(path) = &self.out {
            write_csv(&record, path)?;
        }
        #[cfg(feature = "figures")]
        if let Some(path) = &self.plot {
            zbound_figures::plot::write(&zbound_figures::page::scan_chart(&record), path)?;
        }
        let is_bare = |p: &ScanPoint| p.log_z.upper.is_none() && p.status != Status::Converged;
        let code = if record.points.iter().any(is_bare) { EXIT_INCOMPLETE } else { 0 };
        Ok(run.exit_code(code))
    }

    /// Fails before the work when a file could not be written after it.
    fn check_files(&self) -> Result<()> {
        let inputs = [Some(&self.model.model), self.model.evidence.as_ref()];
        let check =
            |path: &Path, option: &str| output::check_target(path, option, inputs.into_iter().flatten());
        self.out.iter().try_for_each(|path| check(path, "--out"))?;
        #[cfg(feature = "figures")]
        if let Some(path) = &self.plot {
            check(path, "--plot")?;
            if !path.extension().is_some_and(|e| e == "svg" || e == "png") {
                bail!("--plot {}: expected a name ending in .svg or .png", path.display());
            }
        }
        Ok(())
    }
}

/// The name of a side's method.
fn side(method: Option<Method>, from_others: bool) -> &'static str {
    match method {
        _ if from_others => "convexity",
        Some(method) => method.name(),
        None => "-",
    }
}

fn render(record: &ScanRecord) -> String {
    let values = record.points.iter().flat_map(|p| [p.log_z.lower, p.log_z.upper]).flatten();
    let decimals = decimals_for(values);
    let none = || "-".to_owned();
    let mut table = Table::new();
    table.load_preset(presets::ASCII_BORDERS_ONLY_CONDENSED);
    table.set_header(["beta", "lower", "upper", "upper - lower", "methods", "status"]);
    for p in &record.points {
        let (lower, upper) = (p.log_z.lower, p.log_z.upper);
        let methods = [side(p.lower_method, p.lower_from_others), side(p.upper_method, p.upper_from_others)];
        let methods = if methods[0] == methods[1] { methods[0].to_owned() } else { methods.join(", ") };
        table.add_row([
            Cell::new(numbers::short(p.beta)),
            Cell::new(lower.map_or_else(none, |v| round_down_display(v, decimals))),
            Cell::new(upper.map_or_else(none, |v| round_up_display(v, decimals))),
            Cell::new(lower.zip(upper).map_or_else(none, |(low, high)| numbers::short(high - low))),
            Cell::new(methods),
            Cell::new(p.status.name()),
        ]);
    }
    for column in table.column_iter_mut().take(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let widths = record.points.iter().map(|p| p.log_z.lower.zip(p.log_z.upper).map(|(low, high)| high - low));
    let widest = widths.collect::<Option<Vec<f64>>>().map(|w| w.into_iter().fold(0.0, f64::max));
    let widest = widest
        .map_or_else(|| "some side is open".into(), |w| format!("widest bracket {}", numbers::short(w)));
    format!(
        "{}\nlog Z(beta) at {} points, {widest}, {}\n",
        table.trim_fmt(),
        record.points.len(),
        duration(record.seconds)
    )
}

/// Columns of the CSV file.
const COLUMNS: [&str; 8] =
    ["beta", "lower", "upper", "estimate", "lower_method", "upper_method", "status", "seconds"];

fn write_csv(record: &ScanRecord, path: &Path) -> Result<()> {
    let number = |v: Option<f64>| v.map_or_else(String::new, |v| format!("{v:?}"));
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(COLUMNS)?;
    for p in &record.points {
        let (lower, upper) =
            (side(p.lower_method, p.lower_from_others), side(p.upper_method, p.upper_from_others));
        rows.write_record([
            format!("{:?}", p.beta),
            number(p.log_z.lower),
            number(p.log_z.upper),
            number(p.log_z.estimate),
            lower.to_owned(),
            upper.to_owned(),
            p.status.name().to_owned(),
            format!("{:?}", p.seconds),
        ])?;
    }
    let bytes = rows.into_inner().context("--out")?;
    write_atomic(path, |out| out.write_all(&bytes))?;
    Ok(())
}
