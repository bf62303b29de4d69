//! `zbound-check MODEL CERT`: confirms a certificate of zbound with its own reader, its own arithmetic
//! and plain loops. It shares no code with zbound and trusts nothing in the certificate.
//!
//! Exit code 0 and one line of JSON when every claim is proved; 1 and the reason when not; 2 for unreadable files.

use std::process::ExitCode;
use zbound_check::Refusal;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &arguments[..] {
        [flag] if flag == "--version" => Ok(format!("zbound-check {}", env!("CARGO_PKG_VERSION"))),
        [model, certificate] => check(model, certificate),
        _ => Err((2, "usage: zbound-check MODEL CERT".into())),
    };
    match outcome {
        Ok(line) => println!("{line}"),
        Err((code, reason)) => {
            eprintln!("zbound-check: {reason}");
            return ExitCode::from(code);
        }
    }
    ExitCode::SUCCESS
}

/// The line for stdout, or an exit code and a reason.
fn check(model_path: &str, certificate_path: &str) -> Result<String, (u8, String)> {
    let unreadable = |path: &str, what: String| (2, format!("{path}: {what}"));
    let bytes = std::fs::read(certificate_path).map_err(|e| unreadable(certificate_path, e.to_string()))?;
    let text = std::fs::read_to_string(model_path).map_err(|e| unreadable(model_path, e.to_string()))?;
    zbound_check::check(model_path, &text, &bytes).map_err(|refusal| match refusal {
        Refusal::Certificate(what) => unreadable(certificate_path, what),
        Refusal::Model(what) => unreadable(model_path, what),
        Refusal::Rejected(reason) => (1, format!("rejected: {reason}")),
    })
}
