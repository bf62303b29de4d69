//! `zbound bound` and `zbound exact`: documents, tables, exit codes.

use crate::support::{Folder, PAIR_LOG_Z, json, zbound};
use predicates::prelude::*;
use serde_json::Value;

const TOP: [&str; 6] = ["schema", "version", "model", "eps", "results", "best"];
/// Keys that a method which has nothing to say leaves out.
const SOMETIMES: [&str; 5] = ["entropy", "max_f", "argmax", "standard_error", "effective_samples"];

const RESULT: [&str; 16] = [
    "method",
    "phi",
    "log_z",
    "relaxation_gap",
    "status",
    "certified",
    "solver",
    "iterations",
    "eigendecompositions",
    "seconds",
    "features",
    "steps",
    "marginals",
    "state_marginals",
    "pairwise",
    "reason",
];

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn same_names(found: Vec<&str>, expected: &[&str]) {
    let (mut found, mut expected) = (found, expected.to_vec());
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn json_document_has_every_field_of_the_schema() {
    let folder = Folder::new();
    let path = folder.pair();
    let record = json(zbound().arg("bound").arg(&path).args(["--method", "all", "--json"]), 0);
    same_names(keys(&record), &TOP);
    assert_eq!(record["schema"], "zbound.bound/1");
    assert_eq!(record["model"]["path"], path.to_str().unwrap());
    assert_eq!((&record["model"]["d"], &record["model"]["edges"]), (&Value::from(2), &Value::from(1)));
    let best = ["log_z", "phi", "upper_method", "lower_method", "estimate", "estimate_method"];
    same_names(keys(&record["best"]), &best);
    for result in record["results"].as_array().unwrap() {
        let always = keys(result).into_iter().filter(|key| !SOMETIMES.contains(key)).collect();
        same_names(always, &RESULT);
        same_names(keys(&result["phi"]), &["lower", "upper", "estimate"]);
        for (side, sign) in [("lower", 1.0), ("upper", -1.0)] {
            if let Some(v) = result["log_z"][side].as_f64() {
                assert!(sign * (PAIR_LOG_Z - v) >= -1e-15, "{result}");
            }
        }
    }
    let names: Vec<_> = record["results"].as_array().unwrap().iter().map(|r| &r["method"]).collect();
    assert_eq!(names.len(), zbound::Method::ALL.len(), "{names:?}");
}

#[test]
fn exact_is_the_same_document_with_one_result() {
    let folder = Folder::new();
    let record = json(zbound().arg("exact").arg(folder.pair()).args(["--json", "--pair-moments"]), 0);
    let results = record["results"].as_array().unwrap();
    assert_eq!((results.len(), &results[0]["method"]), (1, &Value::from("exact")));
    let (lower, upper) =
        (record["best"]["log_z"]["lower"].as_f64(), record["best"]["log_z"]["upper"].as_f64());
    assert!(lower.unwrap() <= PAIR_LOG_Z && PAIR_LOG_Z <= upper.unwrap());
    assert!(upper.unwrap() - lower.unwrap() < 1e-8);
    let pair = &results[0]["pairwise"][0];
    assert!((pair[2].as_f64().unwrap() - 1f64.tanh()).abs() < 1e-12, "{pair}");
}

#[test]
fn floats_read_back_bit_for_bit() {
    let folder = Folder::new();
    let run = || zbound().arg("exact").arg(folder.complete(6)).arg("--json").output().unwrap().stdout;
    let record: zbound::record::BoundRecord = serde_json::from_slice(&run()).unwrap();
    let again: zbound::record::BoundRecord =
        serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
    assert_eq!(record, again);
    assert_eq!(record.results[0].marginals.as_ref().unwrap().len(), 6);
}

#[test]
fn text_ends_with_an_outward_rounded_line() {
    let folder = Folder::new();
    let output = zbound().arg("bound").arg(folder.pair()).arg("--wide").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.stderr.is_empty());
    for word in ["method", "lower", "upper", "gap", "iterations", "time", "status", "exact"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    let last: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
    assert_eq!(last[1..5], ["<=", "log", "Z", "<="]);
    assert!(last[0].parse::<f64>().unwrap() <= PAIR_LOG_Z && PAIR_LOG_Z <= last[5].parse().unwrap());
    let warm = zbound().arg("bound").arg(folder.pair()).args(["--eps", "2"]).output().unwrap();
    assert!(String::from_utf8(warm.stdout).unwrap().contains("<= eps log Z <="));
}

#[test]
fn uai_output_holds_pr_and_mar() {
    let folder = Folder::new();
    let field = folder.write("field.json", r#"{"d":1,"fields":[0.5]}"#);
    let output = zbound().arg("exact").arg(field).args(["--output-format", "uai"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[2]), ("PR", "MAR"));
    let log10 = (2.0 * 0.5f64.cosh()).log10();
    assert!((lines[1].parse::<f64>().unwrap() - log10).abs() < 1e-8);
    let numbers: Vec<f64> = lines[3].split(' ').map(|t| t.parse().unwrap()).collect();
    let up = 1.0 / (1.0 + (-1f64).exp());
    assert_eq!(numbers[..2], [1.0, 2.0]);
    assert!((numbers[2] - (1.0 - up)).abs() < 1e-12 && (numbers[3] - up).abs() < 1e-12);
}

#[test]
fn evidence_keeps_the_files_numbering() {
    let folder = Folder::new();
    // Three chained spins; table entries in the order 00 01 10 11.
    let table = "4\n 2.0 0.5 0.5 2.0\n";
    let uai = folder.write("chain.uai", &format!("MARKOV\n3\n2 2 2\n2\n2 0 1\n2 1 2\n\n{table}\n{table}"));
    let evidence = folder.write("chain.uai.evid", "1 1 1\n");
    let record = json(zbound().arg("exact").arg(uai).arg("--evidence").arg(evidence).arg("--json"), 0);
    assert_eq!(record["model"]["d"], 2);
    let marginals: Vec<f64> =
        record["results"][0]["marginals"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
    assert_eq!(marginals[1], 1.0);
    assert!((marginals[0] - 0.8).abs() < 1e-12 && (marginals[2] - 0.8).abs() < 1e-12);
    assert!((record["best"]["log_z"]["upper"].as_f64().unwrap() - 2.5f64.ln() * 2.0).abs() < 1e-8);
}

#[test]
fn contradictory_evidence_is_minus_infinity_with_a_reason() {
    let folder = Folder::new();
    let uai = folder.write("never.uai", "MARKOV\n1\n2\n1\n1 0\n\n2\n 0.0 1.0\n");
    let evidence = folder.write("never.evid", "1 0 0\n");
    for method in ["auto", "exact", "quantum"] {
        let mut command = zbound();
        command.arg("bound").arg(&uai).arg("--evidence").arg(&evidence).args(["--method", method, "--json"]);
        let record = json(&mut command, 0);
        assert_eq!(record["best"]["log_z"]["upper"], Value::Null);
        assert!(record["results"][0]["reason"].as_str().unwrap().contains("-inf"), "{record}");
    }
    let text = zbound().arg("bound").arg(&uai).arg("--evidence").arg(&evidence).output().unwrap().stdout;
    assert!(String::from_utf8(text).unwrap().ends_with("log Z = -inf\n"));
}

#[test]
fn a_named_method_that_does_not_apply_exits_with_one() {
    let folder = Folder::new();
    let cubic = folder.write("cubic.json", r#"{"d":3,"terms":[[[0,1,2],1.0]]}"#);
    let record = json(zbound().arg("bound").arg(&cubic).args(["--method", "trw", "--json"]), 1);
    assert_eq!(record["results"][0]["status"], "not-applicable");
    assert!(record["results"][0]["reason"].is_string());
    json(zbound().arg("bound").arg(&cubic).args(["--method", "all", "--json"]), 0);
}

#[test]
fn bad_options_are_one_line_with_a_hint_and_exit_two() {
    let folder = Folder::new();
    let pair = folder.pair();
    for (args, words) in [
        (vec!["--eps", "0"], "eps"),
        (vec!["--eps", "nan"], "eps"),
        (vec!["--tol", "-1"], "tol"),
        (vec!["--time-limit", "-3"], "time limit"),
        (vec!["--method", "all", "--method", "exact"], "stand alone"),
        (vec!["--method", "exact", "--method", "exact"], "twice"),
    ] {
        let output = zbound().arg("bound").arg(&pair).args(&args).assert().code(2).get_output().clone();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.stdout.is_empty() && message.starts_with("zbound: error: "), "{args:?}: {message}");
        assert!(message.lines().next().unwrap().contains(words), "{args:?}: {message}");
        assert!(message.lines().count() <= 2, "{message}");
    }
    for (args, words) in [
        (["--threads", "0"], "at least 1"),
        (["--ibound", "wide"], "whole number"),
        (["--method", "magic"], "possible values: auto, all"),
        (["--greedy", "many"], "a number of features or `auto`"),
        (["--features", "degree:x"], "whole number"),
        (["--solver", "simplex"], "chambolle-pock"),
    ] {
        let assert = zbound().arg("bound").arg(&pair).args(args).assert().code(2);
        assert.stdout("").stderr(predicate::str::contains(words));
    }
}
