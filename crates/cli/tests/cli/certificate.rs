//! Certificates from writing to checking.

use crate::support::{Folder, PAIR_LOG_Z, json, zbound};
use predicates::prelude::*;

#[test]
fn a_written_certificate_verifies_and_a_damaged_one_does_not() {
    let folder = Folder::new();
    let (model, proof) = (folder.complete(8), folder.path("proof.zbc"));
    let record = json(zbound().arg("bound").arg(&model).arg("--json").arg("--certificate").arg(&proof), 0);
    let verdict = json(zbound().arg("verify").arg(&model).arg(&proof), 0);
    assert_eq!((&verdict["verified"], verdict["eps"].as_f64()), (&true.into(), Some(1.0)));
    let (proved, printed) = (&verdict["log_z_upper"], &record["best"]["log_z"]["upper"]);
    assert!((proved.as_f64().unwrap() - printed.as_f64().unwrap()).abs() < 1e-9);

    let other = zbound().arg("verify").arg(folder.pair()).arg(&proof).assert().code(1).stdout("");
    other.stderr(predicate::str::contains("certificate rejected"));
    let garbage = folder.write("garbage.zbc", "not a certificate");
    zbound().arg("verify").arg(&model).arg(&garbage).assert().code(2).stdout("");
    zbound().arg("verify").arg(&model).arg(folder.path("missing.zbc")).assert().code(2).stdout("");
    let mut names = folder.names();
    names.sort();
    assert_eq!(names, ["complete8.json", "garbage.zbc", "pair.json", "proof.zbc"]);
}

#[test]
fn a_certificate_under_evidence_names_it() {
    let folder = Folder::new();
    let table = "4\n 2.0 0.5 0.5 2.0\n";
    let header = "MARKOV\n3\n2 2 2\n2\n2 0 1\n2 1 2\n\n";
    let model = folder.write("chain.uai", &format!("{header}{table}\n{table}"));
    let evidence = folder.write("chain.evid", "1 1 1\n");
    let other = folder.write("other.evid", "1 0 1\n");
    let proof = folder.path("proof.zbc");
    let mut bound = zbound();
    bound.arg("bound").arg(&model).arg("--evidence").arg(&evidence).arg("--certificate").arg(&proof);
    bound.assert().success();
    let verify = |evidence: Option<&std::path::Path>| {
        let mut command = zbound();
        command.arg("verify").arg(&model).arg(&proof);
        if let Some(path) = evidence {
            command.arg("--evidence").arg(path);
        }
        command
    };
    let verdict = json(&mut verify(Some(&evidence)), 0);
    assert!(verdict["log_z_upper"].as_f64().unwrap() >= 2.5f64.ln() * 2.0 - 1e-12);
    assert_eq!(verdict["evidence"], serde_json::json!([[1, 1]]));
    for given in [None, Some(other.as_path())] {
        verify(given).assert().code(1).stdout("").stderr(predicate::str::contains("not what was given"));
    }
}

#[test]
fn a_certificate_never_overwrites_what_it_is_made_from() {
    let folder = Folder::new();
    let model = folder.write("one.uai", "MARKOV\n1\n2\n1\n1 0\n\n2\n 2.0 0.5\n");
    let evidence = folder.write("one.evid", "0\n");
    for target in [&model, &evidence] {
        let before = std::fs::read(target).unwrap();
        for command in ["bound", "map"] {
            let mut run = zbound();
            run.arg(command).arg(&model).arg("--evidence").arg(&evidence).arg("--certificate").arg(target);
            run.assert().code(2).stderr(predicate::str::contains("overwrite"));
        }
        assert_eq!(std::fs::read(target).unwrap(), before);
    }
}

#[test]
fn verification_beyond_its_limits_is_an_error_that_says_what_it_takes() {
    let folder = Folder::new();
    let (model, proof) = (folder.pair(), folder.path("proof.zbc"));
    let mut bound = zbound();
    bound.arg("bound").arg(&model).args(["--method", "quantum", "--certificate"]).arg(&proof);
    bound.assert().success();
    for (option, word) in [("--memory-limit", "bytes"), ("--work-limit", "operations")] {
        let mut verify = zbound();
        verify.arg("verify").arg(&model).arg(&proof).args([option, "1"]);
        verify.assert().code(2).stdout("").stderr(predicate::str::contains(word));
    }
}

#[test]
fn lower_and_upper_claims_enclose_the_value() {
    let folder = Folder::new();
    let (model, proof) = (folder.pair(), folder.path("proof.zbc"));
    zbound()
        .arg("bound")
        .arg(&model)
        .args(["--method", "exact", "--certificate"])
        .arg(&proof)
        .assert()
        .success();
    let verdict = json(zbound().arg("verify").arg(&model).arg(&proof), 0);
    assert!(verdict["log_z_lower"].as_f64().unwrap() <= PAIR_LOG_Z);
    assert!(verdict["log_z_upper"].as_f64().unwrap() >= PAIR_LOG_Z);
}
