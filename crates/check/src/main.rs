//! `zbound-check MODEL CERT`: confirms a certificate of zbound with its own readers, its own arithmetic
//! and plain loops. It shares no code with zbound and trusts nothing in the certificate.

use std::io::Write as _;
use std::process::ExitCode;
use zbound_check::{Limits, Refusal, Request, parse_size};

const HELP: &str = "\
zbound-check: confirms a certificate of zbound, sharing no code with it

Usage: zbound-check MODEL CERT [options]

  MODEL                  native JSON (.json) or UAI (.uai); convert other formats with `zbound convert`
  CERT                   certificate written by `zbound bound --certificate`

Options:
  --evidence FILE        UAI evidence file; the certificate must be about exactly this evidence, and
                         about none when the option is not given
  --memory-limit SIZE    memory the check may take, for example 16G [default: 4G]
  --work-limit OPS       elementary operations the check may take [default: 1e12]
  --help                 this text
  --version              the version

When every claim of the certificate is proved, one line of JSON on standard output:
  {\"verified\":true,\"eps\":1.0,\"evidence\":[[variable,state],...],\"phi_upper\":...,\"log_z_upper\":...,\"phi_lower\":...,\"log_z_lower\":...}
with the bounds that are claimed.

Exit codes: 0 every claim is proved; 1 some claim is not proved (the reason is on standard error);
2 a file cannot be read, the usage is wrong, or the check would exceed a limit.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(line) => match writeln!(std::io::stdout(), "{line}").and_then(|()| std::io::stdout().flush()) {
            Ok(()) => ExitCode::SUCCESS,
            // A verdict that nobody received is none.
            Err(error) => complain(2, &format!("standard output: {error}")),
        },
        Err((code, reason)) => complain(code, &reason),
    }
}

/// Says why on standard error, which may be closed as well.
fn complain(code: u8, reason: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "zbound-check: {reason}");
    ExitCode::from(code)
}

/// The line for standard output, or an exit code and a reason.
fn run(arguments: &[String]) -> Result<String, (u8, String)> {
    let wrong = |what: &str| {
        (
            2,
            format!(
                "{what}\nusage: zbound-check MODEL CERT [--evidence FILE] [--memory-limit SIZE] [--work-limit OPS]"
            ),
        )
    };
    let (mut files, mut evidence, mut limits) = (Vec::new(), None, Limits::default());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let (name, inline) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (argument.as_str(), None),
        };
        let mut value = || {
            inline
                .clone()
                .or_else(|| rest.next().cloned())
                .ok_or_else(|| wrong(&format!("{name} needs a value")))
        };
        match name {
            "--help" | "-h" => return Ok(HELP.to_owned()),
            "--version" | "-V" => return Ok(format!("zbound-check {}", env!("CARGO_PKG_VERSION"))),
            "--evidence" => evidence = Some(value()?),
            "--memory-limit" => {
                let text = value()?;
                limits.memory = parse_size(&text)
                    .ok_or_else(|| wrong(&format!("--memory-limit {text}: expected a size such as 4G")))?;
            }
            "--work-limit" => {
                let text = value()?;
                let number = text.parse::<f64>().ok().filter(|x| *x > 0.0);
                limits.work = number
                    .ok_or_else(|| wrong(&format!("--work-limit {text}: expected a number of operations")))?;
            }
            _ if name.starts_with("--") => return Err(wrong(&format!("unknown option {name}"))),
            _ => files.push(argument.clone()),
        }
    }
    match &files[..] {
        [model, certificate] => check(model, certificate, evidence.as_deref(), limits),
        _ => Err(wrong("expected a model and a certificate")),
    }
}

fn check(
    model_path: &str,
    certificate_path: &str,
    evidence_path: Option<&str>,
    limits: Limits,
) -> Result<String, (u8, String)> {
    let unreadable = |path: &str, what: String| (2, format!("{path}: {what}"));
    let text = |path: &str| std::fs::read_to_string(path).map_err(|e| unreadable(path, e.to_string()));
    let bytes = std::fs::read(certificate_path).map_err(|e| unreadable(certificate_path, e.to_string()))?;
    let model = text(model_path)?;
    let evidence = evidence_path.map(text).transpose()?;
    let request =
        Request { model_path, model: &model, evidence: evidence.as_deref(), certificate: &bytes, limits };
    zbound_check::check_with(&request).map_err(|refusal| match refusal {
        Refusal::Certificate(what) => unreadable(certificate_path, what),
        Refusal::Model(what) => unreadable(model_path, what),
        Refusal::Evidence(what) => unreadable(evidence_path.unwrap_or("evidence"), what),
        Refusal::Rejected(reason) => (1, format!("rejected: {reason}")),
        Refusal::Limit(reason) => (2, reason),
    })
}
