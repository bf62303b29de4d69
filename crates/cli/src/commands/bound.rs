//! `zbound bound`: certified bounds, by one method or many.

use crate::cli::EXIT_INCOMPLETE;
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::output;
use crate::supervise::{Ended, Run};
use crate::{table, uai};
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;
use zbound::run::{BoundRequest, MethodChoice, Outcome, Report, bound};
use zbound::{FeatureSpec, Greedy, Method, Model, Pairwise, Rho, Settings, Silent, Solver};

const EXAMPLES: &str = "\
Methods:
  auto            exact when that is cheap, otherwise the bounds that suit the model's size
  all             every method that fits, each for at most a minute unless --time-limit is given
  exact           enumeration or elimination: a rigorous enclosure of log Z itself
  quantum         relative entropy of moment matrices, on the features given by --features
  quantum-greedy  the same on greedily selected features (--greedy)
  quantum-diag    the same with a learned diagonal metric
  logdet          Gaussian entropy, with pairwise constraints (--pairwise); pairwise models
  trw             tree-reweighted bound, on the trees given by --rho; pairwise models
  combined        one proof made of all of the above; pairwise models
  mean-field      lower bounds
  wmb             weighted mini-buckets: both sides, any tables, hard zeros; as large as memory allows (--ibound)

Examples:
  zbound bound model.json
  zbound bound model.json --method quantum --method trw --time-limit 10
  zbound bound grid.uai --evidence grid.uai.evid --json
  zbound bound model.json --method quantum --features degree:2 --certificate proof.zbc
  zbound generate --family gaussian --graph complete --d 8 --seed 3 | zbound bound - --format json";

/// Options of `zbound bound`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Method; may be repeated [default: auto]
    #[arg(long, short, value_name = "M")]
    method: Vec<MethodArg>,
    /// Temperature: bounds eps log Z of exp(f/eps)
    #[arg(long, value_name = "E", default_value_t = 1.0, allow_negative_numbers = true)]
    eps: f64,
    /// Features of the quantum bounds: degree:K, first:N, all, edges or a JSON list of variable sets
    /// [default: 1 and every x_i, plus what the model's terms need]
    #[arg(long, value_name = "SPEC")]
    features: Option<FeatureSpec>,
    /// Features that quantum-greedy adds: a number, or `auto` to stop when a step gains little
    #[arg(long, value_name = "K", default_value = "3", value_parser = parse_greedy)]
    greedy: Greedy,
    /// Features that quantum-greedy adds a round: the best ones of one ranking, for fewer rounds
    #[arg(long, value_name = "N", default_value_t = 1)]
    greedy_batch: usize,
    /// Relative gap at which a method has converged
    #[arg(long, value_name = "T", default_value_t = 1e-8, allow_negative_numbers = true)]
    tol: f64,
    #[command(flatten)]
    limits: LimitArgs,
    /// Algorithm: newton, chambolle-pock, interior-point, message-passing or auto
    #[arg(long, value_name = "A", default_value = "auto")]
    solver: Solver,
    /// Edge probabilities of trw
    #[arg(long, value_enum, default_value_t = RhoArg::Optimized)]
    rho: RhoArg,
    /// Pairs that carry constraints in logdet
    #[arg(long, value_enum, default_value_t = PairwiseArg::All)]
    pairwise: PairwiseArg,
    /// Variables that a mini-bucket of wmb may have besides the one summed out [default: what memory and time allow]
    #[arg(long, value_name = "I")]
    ibound: Option<usize>,
    /// Also report E[x_i x_j] (JSON)
    #[arg(long)]
    pair_moments: bool,
    /// Write the certificate behind the best upper bound to FILE
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
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

/// A method as typed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MethodArg {
    /// What suits the model.
    Auto,
    /// Every method that fits.
    All,
    /// This one.
    One(Method),
}

impl FromStr for MethodArg {
    type Err = zbound::Error;

    fn from_str(name: &str) -> Result<Self, zbound::Error> {
        match name {
            "auto" => Ok(MethodArg::Auto),
            "all" => Ok(MethodArg::All),
            _ => name.parse().map(MethodArg::One),
        }
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum RhoArg {
    Uniform,
    Resistance,
    Optimized,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum PairwiseArg {
    All,
    Edges,
    None,
}

fn parse_greedy(text: &str) -> Result<Greedy, String> {
    match text {
        "auto" => Ok(Greedy::Auto),
        _ => text.parse().map(Greedy::Count).map_err(|_| "expected a whole number or `auto`".to_owned()),
    }
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self, start: Instant) -> Result<u8> {
        let run = Run::new(start, &self.limits)?;
        let request = self.request(&run)?;
        request.validate()?;
        if let Some(path) = &self.certificate {
            check_directory(path)?;
        }
        answer(&run, self.model, request, &self.output, self.certificate.as_deref())
    }

    fn request(&self, run: &Run) -> Result<BoundRequest> {
        let mut request = BoundRequest::default();
        request.methods = choice(&self.method)?;
        request.eps = self.eps;
        request.features = self.features.clone().unwrap_or_default();
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
            .with_rho(match self.rho {
                RhoArg::Uniform => Rho::Uniform,
                RhoArg::Resistance => Rho::Resistance,
                RhoArg::Optimized => Rho::Optimized,
            })
            .with_pairwise(match self.pairwise {
                PairwiseArg::All => Pairwise::All,
                PairwiseArg::Edges => Pairwise::Edges,
                PairwiseArg::None => Pairwise::None,
            });
        Ok(request)
    }
}

/// Resolves the methods as typed; `auto` and `all` stand alone.
pub(crate) fn choice(methods: &[MethodArg]) -> Result<MethodChoice> {
    match methods {
        [] | [MethodArg::Auto] => Ok(MethodChoice::Auto),
        [MethodArg::All] => Ok(MethodChoice::All),
        _ => {
            let one = |m: &MethodArg| match m {
                MethodArg::One(method) => Ok(*method),
                _ => bail!("--method auto and --method all stand alone"),
            };
            Ok(MethodChoice::List(methods.iter().map(one).collect::<Result<_>>()?))
        }
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
    certificate: Option<&Path>,
) -> Result<u8> {
    let asked = request.clone();
    let ended = run.supervise(move |watch, board| {
        // Ready by the time the model is read, or soon after: a failure to start it costs a millisecond.
        let preparing = std::thread::Builder::new().spawn(zbound::linalg::prepare);
        let model = source.read()?;
        drop(preparing.map(std::thread::JoinHandle::join));
        let report = bound(&model, &asked, &mut watch.posting(board))?;
        let exact = exact_value(&model, &asked, &report);
        Ok(Answer { model, report, exact })
    })?;
    let (record, done) = match ended {
        Ended::Nothing => return Ok(run.exit_code(EXIT_INCOMPLETE)),
        Ended::Done(answer) => (answer.report.record.clone(), Some(answer)),
        Ended::Left(mut record) => {
            if run.is_stopped() {
                record.mark_cancelled();
            }
            (record, None)
        }
    };
    let format = if output.json { OutputFormat::Json } else { output.output_format };
    match format {
        OutputFormat::Json => output::print_json(&record)?,
        OutputFormat::Uai => output::print(&uai::render(&record)?)?,
        OutputFormat::Text => {
            output::print(&table::render(&record, done.as_ref().and_then(|answer| answer.exact)))?;
        }
    }
    let mut code = Outcome::of(&request, &record).exit_code();
    let written = |path: &Path| match &done {
        Some(answer) => answer.report.write_certificate(&answer.model, path),
        None => Ok(false),
    };
    if let Some(path) = certificate
        && !written(path)?
    {
        output::warn("no certificate was written: no bound comes with one");
        code = code.max(EXIT_INCOMPLETE);
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

/// Fails before the work when the certificate could not be written after it.
pub(crate) fn check_directory(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let metadata = parent.metadata().map_err(|e| zbound::Error::io(parent, e));
    if !metadata.context("--certificate")?.is_dir() || path.is_dir() {
        bail!("--certificate {}: not a file in an existing folder", path.display());
    }
    Ok(())
}
