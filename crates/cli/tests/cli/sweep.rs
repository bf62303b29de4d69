//! Sweeps: resumable, the same for any number of workers, unstopped by a bad instance.

use crate::support::{Folder, zbound};
use predicates::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const CONFIG: &str = r#"
draws = 3
[[grid]]
family = ["gaussian", "logdet-mixed"]
graph = ["complete", "chain"]
d = [4, 6]
w = 0.3
eps = [0.5, 1.0]
[[method]]
method = "quantum"
[[method]]
method = "trw"
rho = "uniform"
[[method]]
method = "quantum-greedy"
greedy = [1, 2]
curve = "greedy_{k}"
[[method]]
method = "quantum"
solver = "chambolle-pock"
gap = 1e-3
trace = true
curve = "chambolle-pock"
"#;

/// Records per instance of [`CONFIG`] times its instances.
const RECORDS: usize = 5 * 3 * 2 * 2 * 2 * 2;

/// Records of a folder by key, without what may differ between runs.
fn records(folder: &Path) -> BTreeMap<String, serde_json::Value> {
    let text = std::fs::read_to_string(folder.join("records.jsonl")).expect("records");
    let parse = |line: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).expect("whole lines");
        record["seconds"] = serde_json::Value::Null;
        (record["key"].as_str().expect("a key").to_owned(), record)
    };
    text.lines().map(parse).collect()
}

/// The table without its times.
fn table(folder: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join("records.csv")).expect("a table");
    let header: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    let seconds = header.iter().position(|c| *c == "seconds").expect("a column of times");
    let row = |line: &str| {
        let cells = line.split(',').enumerate().filter(|(k, _)| *k != seconds);
        cells.map(|(_, cell)| cell.to_owned()).collect()
    };
    text.lines().map(row).collect()
}

fn sweep(config: &Path, out: &Path, extra: &[&str]) -> assert_cmd::Command {
    let mut command = zbound();
    command.arg("sweep").arg(config).arg("--out").arg(out).args(extra);
    command
}

#[test]
fn records_do_not_depend_on_the_number_of_workers() {
    let folder = Folder::new();
    let config = folder.write("sweep.toml", CONFIG);
    let out = ["one", "two", "four"].map(|name| folder.path(name));
    for (out, workers) in out.iter().zip(["1", "2", "4"]) {
        sweep(&config, out, &["--workers", workers]).assert().success();
    }
    let first = records(&out[0]);
    assert_eq!(first.len(), RECORDS);
    assert!(first.values().all(|r| r["status"] == "converged" && r["error"].as_f64() > Some(-1e-9)));
    for other in &out[1..] {
        assert_eq!(first, records(other));
        assert_eq!(table(&out[0]), table(other));
    }
    sweep(&config, &out[0], &[]).assert().code(2).stderr(predicate::str::contains("--resume"));
}

/// SIGKILL at times spread over the run; 100 of them with ZBOUND_FULL=1.
#[test]
fn a_killed_sweep_resumes_to_the_same_records() {
    let folder = Folder::new();
    let config = folder.write("sweep.toml", CONFIG);
    let whole = folder.path("whole");
    let start = std::time::Instant::now();
    sweep(&config, &whole, &["--workers", "2"]).assert().success();
    let length = start.elapsed();
    let kills = if std::env::var_os("ZBOUND_FULL").is_some() { 100 } else { 6 };
    let out = folder.path("killed");
    let mut cut = 0;
    for k in 0..kills {
        // A fresh run now and then, so that kills fall on every stage.
        if k % 4 == 0 && out.exists() {
            std::fs::remove_dir_all(&out).expect("an old run");
        }
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("zbound"))
            .arg("sweep")
            .args([&config, Path::new("--out"), &out, Path::new("--resume"), Path::new("--workers=2")])
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        // A sequence that visits the unit interval evenly.
        let fraction = (0.618_034 * (k + 1) as f64).fract();
        std::thread::sleep(Duration::from_secs_f64(fraction * length.as_secs_f64()));
        child.kill().expect("a killed child");
        cut += usize::from(!child.wait().expect("its end").success());
    }
    sweep(&config, &out, &["--resume"]).assert().success();
    assert!(cut > 0, "no run was cut short");
    assert_eq!(records(&whole), records(&out));
    assert_eq!(table(&whole), table(&out));
}

#[test]
fn a_torn_last_line_is_dropped_and_computed_again() {
    let folder = Folder::new();
    let config = folder.write("sweep.toml", &CONFIG.replace("draws = 3", "draws = 1"));
    let out = folder.path("out");
    sweep(&config, &out, &[]).assert().success();
    let whole = records(&out);
    let path = out.join("records.jsonl");
    let text = std::fs::read_to_string(&path).expect("records");
    std::fs::write(&path, &text[..text.len() - 40]).expect("a shorter file");
    let note = predicate::str::contains("1 records computed")
        .and(predicate::str::contains(format!("{} reused", whole.len() - 1)));
    sweep(&config, &out, &["--resume"]).assert().success().stderr(note);
    assert_eq!(whole, records(&out));
}

#[test]
fn one_bad_instance_does_not_stop_the_rest() {
    let folder = Folder::new();
    // There is no 3-regular graph on five spins.
    let text = "[[grid]]\nfamily = \"gaussian\"\ngraph = \"regular\"\nd = [4, 5, 6]\n[[method]]\nmethod = \"quantum\"\n";
    let config = folder.write("sweep.toml", text);
    let out = folder.path("out");
    sweep(&config, &out, &[]).assert().code(1).stderr(predicate::str::contains("1 records are errors"));
    let statuses: Vec<_> = records(&out).values().map(|r| r["status"].to_string()).collect();
    assert_eq!(statuses.iter().filter(|s| *s == "\"converged\"").count(), 2, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|s| *s == "\"error\"").count(), 1);
}

#[test]
fn a_bad_configuration_is_an_error_and_writes_nothing() {
    let folder = Folder::new();
    let config = folder.write("sweep.toml", &CONFIG.replace("\"trw\"", "\"twr\""));
    let out = folder.path("out");
    sweep(&config, &out, &[]).assert().code(2).stderr(predicate::str::contains("twr"));
    assert!(!out.exists());
}

#[test]
fn plots_are_drawn_from_either_form_of_the_records() {
    let folder = Folder::new();
    let config = folder.write("sweep.toml", &CONFIG.replace("draws = 3", "draws = 2"));
    let out = folder.path("out");
    sweep(&config, &out, &[]).assert().success();
    for (records, picture, start) in
        [("records.csv", "a.svg", &b"<svg"[..]), ("records.jsonl", "b.png", b"\x89PNG")]
    {
        let picture = folder.path(picture);
        let mut command = zbound();
        command.arg("plot").arg(out.join(records)).args([
            "--x",
            "d",
            "--y",
            "error_per_spin",
            "--panel",
            "family",
        ]);
        command.arg("--out").arg(&picture).assert().success();
        assert!(std::fs::read(&picture).expect("a picture").starts_with(start));
    }
    let mut command = zbound();
    command.arg("plot").arg(out.join("records.csv")).args(["--x", "depth", "--y", "error", "--out", "x.svg"]);
    command.assert().code(2).stderr(predicate::str::contains("no column `depth`"));
}
