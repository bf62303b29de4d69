//! The program around the checker: options, exit codes, and what happens when nobody listens.

#[path = "../../core/tests/proofs/mod.rs"]
mod proofs;

use proofs::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use zbound::certify::{Certificate, Form, WeightedElimination, Witness};
use zbound::{FactorModel, Ising, Polynomial};

fn checker() -> Command {
    Command::new(env!("CARGO_BIN_EXE_zbound-check"))
}

fn run(arguments: &[&str]) -> Output {
    checker().args(arguments).output().expect("the checker starts")
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A small model and a valid certificate about it.
fn written(folder: &Path, d: usize) -> (PathBuf, PathBuf) {
    let (model, proof) = (folder.join("m.json"), folder.join("m.zcert"));
    let f: Polynomial = Ising::new(d, &vec![0.0; d], &[]).unwrap().into();
    std::fs::write(&model, format!("{{\"d\":{d}}}")).unwrap();
    let certificate = single(1.0, Form::Constant { value: 0.5 });
    certificate.write(&proof, &certificate.claim(&f, &[]).unwrap()).unwrap();
    (model, proof)
}

#[test]
fn help_names_every_option_and_exit_code() {
    let output = run(&["--help"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0));
    for word in ["--evidence", "--memory-limit", "--work-limit", "--version", "Exit codes", "MODEL", "CERT"] {
        assert!(text.contains(word), "{word} is missing from\n{text}");
    }
    assert_eq!(run(&["--version"]).status.code(), Some(0));
}

#[test]
fn wrong_usage_is_told_apart_from_rejection() {
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = written(folder.path(), 2);
    let (model, proof) = (model.to_str().unwrap(), proof.to_str().unwrap());
    assert_eq!(run(&[model, proof]).status.code(), Some(0));
    assert_eq!(run(&[model, proof, "--memory-limit", "2G", "--work-limit=1e9"]).status.code(), Some(0));
    for wrong in [
        &["m.json"][..],
        &[model, proof, "more"],
        &[model, proof, "--evidence"],
        &[model, proof, "--memory-limit", "many"],
        &[model, proof, "--work-limit", "-1"],
        &[model, proof, "--unknown"],
        &[model, proof, "--evidence", "absent.evid"],
    ] {
        let output = run(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", error_of(&output));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_verdict_that_nobody_can_read_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = written(folder.path(), 2);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = checker().args([&model, &proof]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", error_of(&output));
    assert!(!error_of(&output).contains("panicked"), "{}", error_of(&output));
    // A pipe whose reader is gone, and no standard error either.
    let mut command = Command::new("sh");
    let line =
        format!("{} {} {} 2>&- | true", env!("CARGO_BIN_EXE_zbound-check"), model.display(), proof.display());
    assert_eq!(command.args(["-c", &line]).output().unwrap().status.code(), Some(0));
}

#[test]
fn limits_are_obeyed_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("m.json"), folder.path().join("m.zcert"));
    let d = 20;
    let couplings: Vec<_> = (1..d).map(|i| (i - 1, i, 0.25)).collect();
    let ising = Ising::new(d, &vec![0.1; d], &couplings).unwrap();
    let f: Polynomial = ising.into();
    let pairs: Vec<String> = couplings.iter().map(|(i, j, v)| format!("[{i},{j},{v:?}]")).collect();
    let fields = format!("{:?}", vec![0.1; d]);
    std::fs::write(&model, format!("{{\"d\":{d},\"fields\":{fields},\"couplings\":[{}]}}", pairs.join(",")))
        .unwrap();
    let order: Vec<u32> = (0..d as u32).collect();
    let form = Form::Tables(WeightedElimination::exact(&FactorModel::from(&f), &order).unwrap());
    let certificate = Certificate { witness: Some(Witness::Elimination { order }), ..single(1.0, form) };
    let claim = certificate.verify_model(&f.into()).unwrap();
    assert!(claim.phi_upper.is_some() && claim.phi_lower.is_some());
    certificate.write(&proof, &claim).unwrap();
    let (model, proof) = (model.to_str().unwrap(), proof.to_str().unwrap());
    let both = run(&[model, proof]);
    assert_eq!(both.status.code(), Some(0), "{}", error_of(&both));
    let line = String::from_utf8_lossy(&both.stdout).into_owned();
    assert!(line.contains("log_z_upper") && line.contains("log_z_lower"), "{line}");
    for (option, value, word) in [("--memory-limit", "10", "GB"), ("--work-limit", "10", "operations")] {
        let output = run(&[model, proof, option, value]);
        assert_eq!(output.status.code(), Some(2), "{}", error_of(&output));
        assert!(error_of(&output).contains(word), "{}", error_of(&output));
    }
}

/// Native JSON of a pairwise model.
fn pairwise_json(d: usize, field: f64, couplings: &[(usize, usize, f64)]) -> String {
    let pairs: Vec<String> = couplings.iter().map(|(i, j, v)| format!("[{i},{j},{v:?}]")).collect();
    format!("{{\"d\":{d},\"fields\":{:?},\"couplings\":[{}]}}", vec![field; d], pairs.join(","))
}

#[test]
fn large_forests_take_time_in_proportion_to_their_size() {
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("m.json"), folder.path().join("m.zcert"));
    let d = cases(10_000, 100_000);
    let chain: Vec<_> = (1..d).map(|i| (i - 1, i, 0.5)).collect();
    let star: Vec<_> = (1..d).map(|i| (0, i, 0.5)).collect();
    for couplings in [chain, star] {
        let f: Polynomial = Ising::new(d, &vec![0.1; d], &couplings).unwrap().into();
        std::fs::write(&model, pairwise_json(d, 0.1, &couplings)).unwrap();
        // Leaves first; the centre of the star is spin 0.
        let order: Vec<u32> = (0..d as u32).rev().collect();
        let form = Form::Elimination { polynomial: f.clone(), order };
        let witness = Some(Witness::Forest { polynomial: f.clone() });
        let certificate = Certificate { witness, ..single(1.0, form) };
        certificate.write(&proof, &certificate.claim(&f, &[]).unwrap()).unwrap();
        // Operations, not seconds: a quadratic step would exceed this.
        let limit = ["--work-limit", &format!("{}", 1000 * d)];
        let output = checker().args([&model, &proof]).args(limit).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", error_of(&output));
    }
}

#[test]
fn a_dense_factor_from_a_small_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("m.json"), folder.path().join("m.zcert"));
    let d = 20_000;
    let star: Vec<_> = (1..d).map(|i| (0, i, 1.0)).collect();
    let f: Polynomial = Ising::new(d, &vec![0.0; d], &star).unwrap().into();
    std::fs::write(&model, pairwise_json(d, 0.0, &star)).unwrap();
    // The centre first: its leaves become a clique.
    let order = std::iter::once(1).chain(std::iter::once(0)).chain(2..=d as u32).collect();
    let mut diagonal = vec![1.0; d + 1];
    diagonal[1] = 1e9;
    let certificate = single(0.0, Form::SparseDual { polynomial: f, diagonal, order });
    let claim = zbound::certify::Claim { d, phi_upper: Some(1e12), ..Default::default() };
    certificate.write(&proof, &claim).unwrap();
    let output = checker().args([&model, &proof]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", error_of(&output));
    assert!(error_of(&output).contains("GB"), "{}", error_of(&output));
}
