//! `zbound bound`: certified bounds, by one method or many.

use crate::choices;
use crate::cli::EXIT_INCOMPLETE;
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::numbers;
use crate::output;
use crate::progress::History;
use crate::supervise::{Ended, Run};
use crate::{table, uai};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::time::Instant;
use zbound::run::{BoundRequest, MethodChoice, Outcome, Report, bound};
use zbound::{FeatureSpec, Greedy, Method, Model, Pairwise, Rho, Settings, Silent, Solver};

const EXAMPLES: &str = "\
Status says how a method ended; whatever it is, a number under lower or upper is proved:
  converged          done: the bound is the best this method has, within --tol
  time-limit         stopped by --time-limit (or the share of it): more time may narrow the bracket
  iteration-limit    stopped by --max-iterations, or by the method's own cap
  cancelled          stopped by Ctrl-C
  stalled            no further progress in floating point
  numerical-trouble  floating point gave out on the way; what was reached is proved
  not-applicable     the method is not for this model; a line below the table says why
  skipped            not started; a line below says why
  uncertified        ran, but nothing it found could be proved
  estimate           a number without proof (ais)

Examples:
  zbound bound model.json
  zbound bound model.json --time-limit 10 --report page.html
  zbound bound model.json --method quantum --method trw --time-limit 10
  zbound bound grid.uai --evidence grid.uai.evid --json
  zbound bound model.json --method quantum --features degree:2 --certificate proof.zbc
  zbound generate --family gaussian --graph complete --d 8 --seed 3 | zbound bound -";

/// Options of `zbound bound`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Method; may be repeated [default: auto]
    #[arg(long, short, value_name = "M", value_parser = choices::methods())]
    method: Vec<String>,
    /// Temperature: bounds eps log Z of exp(f/eps); 1e-12 to 1e12
    #[arg(long, alias = "temperature", value_name = "E", default_value_t = 1.0, allow_negative_numbers = true, value_parser = numbers::real)]
    eps: f64,
    /// Features of the quantum bounds: degree:K, first:N, all, edges or a JSON list of variable sets
    /// [default: 1 and every x_i, plus what the model's terms need]
    #[arg(long, value_name = "SPEC", value_parser = numbers::read::<FeatureSpec>)]
    features: Option<FeatureSpec>,
    /// Features that quantum-greedy adds: a number, or `auto` to stop when a step gains little
    #[arg(long, value_name = "K", default_value = "3")]
    greedy: Greedy,
    /// Features that quantum-greedy adds a round: the best ones of one ranking, for fewer rounds
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = numbers::count)]
    greedy_batch: usize,
    /// Relative gap at which a method has converged, 1e-15 to 1
    #[arg(long, value_name = "T", default_value = "1e-8", allow_negative_numbers = true, value_parser = numbers::real)]
    tol: f64,
    #[command(flatten)]
    limits: LimitArgs,
    /// Algorithm
    #[arg(long, value_name = "A", default_value_t, value_parser = choices::parser::<Solver>())]
    solver: Solver,
    /// Edge probabilities of trw
    #[arg(long, default_value_t, value_parser = choices::parser::<Rho>())]
    rho: Rho,
    /// Pairs that carry constraints in logdet
    #[arg(long, default_value_t, value_parser = choices::parser::<Pairwise>())]
    pairwise: Pairwise,
    /// auto stops when upper - lower is at most G, at least 0 [default: 1e-6 of log Z]
    #[arg(long, value_name = "G", allow_negative_numbers = true, value_parser = numbers::real)]
    target_gap: Option<f64>,

    /// Keep the tree of `branch` in FILE, and go on from it when it is there
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Variables that a mini-bucket of wmb may have besides the one summed out [default: what memory and time allow]
    #[arg(long, value_name = "I", allow_negative_numbers = true, value_parser = numbers::whole)]
    ibound: Option<usize>,
    /// Also report E[x_i x_j] (JSON)
    #[arg(long)]
    pair_moments: bool,
    /// Write one certificate of both sides of the bracket to FILE
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Write a page for a browser to FILE: the bracket against time, methods side by side, marginals, certificate
    #[cfg(feature = "figures")]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Files that `answer` writes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Files<'a> {
    /// The certificate.
    certificate: Option<&'a Path>,
    /// The page.
    report: Option<&'a Path>,
}

/// How results are printed.
#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// The same as --output-format json
    #[arg(long, conflicts_with = "output_format")]
    json: bool,
    /// text: a table; json: one document; uai: PR (log10 Z) and MAR
    #[arg(long, value_enum, default_value_t = OutputFormat::Text, value_name = "FORMAT")]
    output_format: OutputFormat,
    /// All columns in the table
    #[arg(long)]
    wide: bool,
    /// Also report P(x_i = s) for every state (JSON), for spins too
    #[arg(long)]
    states: bool,
    /// One line of JSON on standard error whenever the bracket shrinks
    #[arg(long)]
    trace: bool,
}

/// A kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OutputFormat {
    /// A table for people.
    Text,
    /// The document zbound.bound/1.
    Json,
    /// The UAI competition's PR and MAR.
    Uai,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self, start: Instant) -> Result<u8> {
        let run = Run::new(start, &self.limits)?;
        let request = self.request(&run)?;
        request.validate()?;
        if let Some(path) = &self.certificate {
            check_certificate(path, &self.model)?;
        }
        let mut files = Files { certificate: self.certificate.as_deref(), ..Files::default() };
        #[cfg(feature = "figures")]
        if let Some(path) = &self.report {
            let inputs = std::iter::once(&self.model.model).chain(&self.model.evidence);
            output::check_target(path, "--report", inputs.chain(&self.certificate))?;
            files.report = Some(path);
        }
        answer(&run, self.model, request, &self.output, files)
    }

    fn request(&self, run: &Run) -> Result<BoundRequest> {
        let mut request = BoundRequest::default();
        request.methods = MethodChoice::from_names(&self.method)?;
        request.eps = self.eps;
        request.features = self.features.clone().unwrap_or_default();
        request.target_gap = self.target_gap;
        request.checkpoint.clone_from(&self.checkpoint);
        request.want_pairwise = self.pair_moments;
        request.want_certificate = self.certificate.is_some();
        request.path = Some(self.model.name());
        let settings = run.settings.clone();
        request.settings = settings
            .with_tol(self.tol)
            .with_solver(self.solver)
            .with_greedy(self.greedy)
            .with_greedy_batch(self.greedy_batch)
            .with_ibound(self.ibound)
            .with_rho(self.rho)
            .with_pairwise(self.pairwise);
        Ok(request)
    }
}

/// What the work of this command hands back.
struct Answer {
    model: Model,
    report: Report,
    /// eps log Z for the table.
    exact: Option<f64>,
}

/// Reads, bounds, prints, and writes the certificate: the part that `zbound exact` shares.
pub(crate) fn answer(
    run: &Run,
    source: ModelArgs,
    request: BoundRequest,
    output: &OutputArgs,
    files: Files<'_>,
) -> Result<u8> {
    let asked = request.clone();
    let trace = output.trace;
    let history = History::default();
    let kept = history.clone();
    let ended = run.supervise(move |watch, board| {
        // Ready by the time the model is read, or soon after: a failure to start it costs a millisecond.
        let preparing = std::thread::Builder::new().spawn(zbound::linalg::prepare);
        let model = source.read()?;
        drop(preparing.map(std::thread::JoinHandle::join));
        let report = bound(&model, &asked, &mut watch.tracing(trace).keeping(kept).posting(board))?;
        let exact = exact_value(&model, &asked, &report);
        Ok(Answer { model, report, exact })
    })?;
    let (mut record, done) = match ended {
        Ended::Nothing => return Ok(run.exit_code(EXIT_INCOMPLETE)),
        Ended::Done(answer) => (answer.report.record.clone(), Some(answer)),
        Ended::Left(mut record) => {
            if run.is_stopped() {
                record.mark_cancelled();
            }
            (record, None)
        }
    };
    if output.states {
        record.add_states();
    }
    let format = if output.json { OutputFormat::Json } else { output.output_format };
    match format {
        OutputFormat::Json => output::print_json(&record)?,
        OutputFormat::Uai => output::print(&uai::render(&record)?)?,
        OutputFormat::Text => {
            let exact = done.as_ref().and_then(|answer| answer.exact);
            let model = done.as_ref().map(|answer| &answer.model);
            output::print(&table::render(&record, model, exact, output.wide))?;
        }
    }
    let mut code = Outcome::of(&request, &record).exit_code();
    let written = |path: &Path| match &done {
        Some(answer) => answer.report.write_certificate(&answer.model, path),
        None => Ok(false),
    };
    if let Some(path) = files.certificate
        && !written(path)?
    {
        output::warn(if done.is_some() {
            "no certificate was written: no bound comes with one"
        } else if run.is_stopped() {
            "no certificate was written: the run was stopped before its proof was ready"
        } else {
            "no certificate was written: the time limit ended the run before its proof was ready (more --time-limit)"
        });
        code = code.max(EXIT_INCOMPLETE);
    }
    #[cfg(feature = "figures")]
    if let Some(path) = files.report {
        let model = done.as_ref().map(|answer| &answer.model);
        crate::report::write(path, &record, &history, model, files.certificate)?;
    }
    Ok(run.exit_code(code))
}

/// Elementary operations that the distance to the exact value is worth in a table.
const GLANCE_OPERATIONS: f64 = 1e7;

/// Spins up to which planning exact inference is quick, whatever the graph.
const GLANCE_SPINS: usize = 2000;

/// eps log Z for the table, when exact inference costs next to nothing.
fn exact_value(model: &Model, request: &BoundRequest, report: &Report) -> Option<f64> {
    let others = report.record.results.iter().any(|r| r.method != Method::Exact);
    if !others {
        return None;
    }
    if let Some(result) = report.record.results.iter().find(|r| r.method == Method::Exact) {
        return result.log_z.estimate;
    }
    // A glance is not worth a second past the limit.
    if request.settings.deadline.stop().is_some() || model.d() > GLANCE_SPINS {
        return None;
    }
    let cost = zbound::exact::estimate(model, &request.settings).ok()?;
    let settings = Settings::default().with_deadline(request.settings.deadline.clone());
    (cost.operations < GLANCE_OPERATIONS)
        .then(|| zbound::exact::exact(model, request.eps, &settings, &mut Silent).ok())
        .flatten()
        .map(|exact| exact.log_z)
        .filter(|value| value.is_finite())
}

/// Fails before the work when the certificate could not be written after it, or would replace a file it is made from.
pub(crate) fn check_certificate(path: &Path, model: &ModelArgs) -> Result<()> {
    let inputs = std::iter::once(&model.model).chain(&model.evidence);
    output::check_target(path, "--certificate", inputs)
}
