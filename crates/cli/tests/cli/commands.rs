//! Help, files and streams: everything around the numbers.

use crate::support::{Folder, json, zbound};
use predicates::prelude::*;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

#[test]
fn help_tells_the_story() {
    let help = |args: &[&str]| {
        let output = zbound().args(args).assert().success().get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    };
    let top = help(&["--help"]);
    for word in [
        "log-partition",
        "bound",
        "exact",
        "marginals",
        "info",
        "convert",
        "generate",
        "verify",
        "Exit codes",
    ] {
        assert!(top.contains(word), "{word} in {top}");
    }
    for command in ["bound", "exact", "marginals", "info", "convert", "generate", "verify"] {
        assert!(help(&[command, "--help"]).contains("zbound "), "{command} shows an example");
    }
    let bound = help(&["bound", "--help"]);
    for option in [
        "--method",
        "--eps",
        "--features",
        "--greedy",
        "--greedy-batch",
        "--tol",
        "--time-limit",
        "--threads",
        "--solver",
        "--certificate",
        "--json",
        "--rho",
        "--pairwise",
        "--output-format",
        "--evidence",
        "--format",
        "--beta",
    ] {
        assert!(bound.contains(option), "{option} in {bound}");
    }
    zbound().arg("--version").assert().success().stdout(predicate::str::contains(env!("CARGO_PKG_VERSION")));
    zbound().args(["completions", "bash"]).assert().success().stdout(predicate::str::contains("_zbound"));
}

#[test]
fn bad_files_are_named_with_line_and_what_was_expected() {
    let folder = Folder::new();
    let refused = |name: &str, text: &str, words: &str| {
        let path = folder.write(name, text);
        let stderr = predicate::str::contains(words).and(predicate::str::contains("usize").not());
        zbound().arg("bound").arg(path).assert().code(2).stdout("").stderr(stderr);
    };
    refused("negative.json", r#"{"d":-1}"#, "expected a whole number, at least 0");
    refused("empty.json", "", "the file is empty");
    refused("grid.json", "MARKOV\n1\n2\n0\n", "looks like uai: try --format uai");
    refused("broken.json", "{\"d\":2,\n\"fields\":[1,}", "broken.json:2");
    refused("twice.json", r#"{"d":2,"couplings":[[0,1,1],[1,0,1]]}"#, "twice");
    refused("model.xyz", "1", "--format");
    let missing = zbound().arg("bound").arg(folder.path("missing.json")).assert().code(2);
    missing.stderr(predicate::str::contains("missing.json").and(predicate::str::contains("hint: ")));
}

#[test]
fn generated_models_convert_and_come_back() {
    let folder = Folder::new();
    let first = folder.complete(5);
    let coo = folder.path("model.coo");
    let back = folder.path("back.json");
    zbound().arg("convert").arg(&first).arg(&coo).assert().success().stdout("");
    zbound().arg("convert").arg(&coo).arg(&back).assert().success();
    let value = |path| {
        let record = json(zbound().arg("exact").arg(path).arg("--json"), 0);
        record["best"]["log_z"]["upper"].as_f64().unwrap()
    };
    assert!((value(&first) - value(&back)).abs() < 1e-12);
    zbound()
        .arg("convert")
        .arg(&first)
        .arg(folder.path("x.unknown"))
        .assert()
        .code(2)
        .stderr(predicate::str::contains("--to"));
    let spec = ["generate", "--graph", "grid", "--d", "9", "--seed", "4"];
    zbound()
        .args(spec)
        .args(["--family", "trw-mixed"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("--w"));
    let draw = || zbound().args(spec).args(["--family", "trw-mixed", "--w", "0.5"]).output().unwrap().stdout;
    assert_eq!(draw(), draw());
}

#[test]
fn dash_is_a_standard_stream() {
    let model = r#"{"d":2,"couplings":[[0,1,1.0]]}"#;
    let mut bound = zbound();
    bound.args(["bound", "-", "--format", "json", "--json"]).write_stdin(model);
    assert_eq!(json(&mut bound, 0)["model"]["path"], "-");
    let convert =
        zbound().args(["convert", "-", "-", "--from", "json", "--to", "uai"]).write_stdin(model).assert();
    convert.success().stdout(predicate::str::starts_with("MARKOV"));
    // What the text shows beyond doubt need not be said.
    let mut shown = zbound();
    shown.args(["bound", "-", "--json"]).write_stdin(model);
    assert_eq!(json(&mut shown, 0)["model"]["d"], 2);
    let unnamed = zbound().args(["bound", "-"]).write_stdin("2 1\n1 2 1\n").assert().code(2);
    unnamed.stderr(predicate::str::contains("--format"));
}

#[test]
fn info_is_a_table_or_a_document() {
    let folder = Folder::new();
    let info = json(zbound().arg("info").arg(folder.pair()).arg("--json"), 0);
    assert_eq!(info["d"], 2);
    zbound().arg("info").arg(folder.pair()).assert().success().stdout(predicate::str::contains("d"));
}

#[test]
fn bench_compares_methods_on_drawn_models() {
    let record = json(zbound().args(["bench", "--d", "4,6", "--json"]), 0);
    assert_eq!(record["schema"], "zbound.bench/1");
    let sizes: Vec<_> = record["models"].as_array().unwrap().iter().map(|m| &m["model"]["d"]).collect();
    assert_eq!(sizes, [4, 6]);
    zbound().args(["bench", "--d", "4"]).assert().success().stdout(predicate::str::contains("quantum"));
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zbound"))
        .args(["bound", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(br#"{"d":2}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_no_file() {
    let folder = Folder::new();
    let pair = folder.pair();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zbound"));
    let output = command.arg("bound").arg(&pair).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("standard output"));
    zbound().arg("convert").arg(&pair).args(["/dev/full", "--to", "json"]).assert().code(2);
    zbound().arg("convert").arg(&pair).arg(folder.path("no/such/folder/x.json")).assert().code(2);
    zbound().arg("bound").arg(&pair).arg("--certificate").arg(folder.path("no/x.zbc")).assert().code(2);
    assert_eq!(folder.names(), ["pair.json"]);
}

/// Runs zbound on a model, sends SIGINT after a second, and waits for its end.
#[cfg(unix)]
fn interrupted(args: &[&str], model: &Path) -> Output {
    let child = Command::new(env!("CARGO_BIN_EXE_zbound"))
        .args(args)
        .arg(model)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let sent = Instant::now();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert!(sent.elapsed() < Duration::from_secs(30), "took {:?} to stop", sent.elapsed());
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    output
}

#[cfg(unix)]
#[test]
fn ctrl_c_still_prints_the_best_bound_so_far() {
    let folder = Folder::new();
    // 2^34 states: a job of many seconds that is stopped after one.
    let model = folder.complete(34);
    let args = ["bound", "--method", "quantum", "--method", "exact", "--json"];
    let output = interrupted(&args, &model);
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["results"][1]["status"], "cancelled");
    assert_eq!(record["best"]["upper_method"], "quantum");
    assert!(record["best"]["log_z"]["upper"].is_f64());
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_divergence_found_so_far() {
    let folder = Folder::new();
    let model = folder.complete(18);
    let output = interrupted(&["kl", "--features", "degree:1", "--greedy", "100", "--json"], &model);
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(record["kl_lower"].is_f64());
    assert!(record["reason"].as_str().unwrap().contains("stopped"), "{}", record["reason"]);
}
