//! Time limits and signals. How long they take is told apart from never ending; to the tenth of a second it is measured in the full run, on a
//! quiet machine.

use crate::support::{Folder, zbound};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Seconds that tell a run that ends from one that does not notice its limit, however busy the machine is.
const HANGS: f64 = 30.0;

const METHODS: [&str; 12] = [
    "exact",
    "mean-field",
    "bethe",
    "wmb",
    "quantum",
    "logdet",
    "trw",
    "quantum-greedy",
    "quantum-diag",
    "combined",
    "branch",
    "auto",
];

/// Runs a command under a limit; the document on standard output and the wall-clock seconds.
fn timed(command: &str, path: &Path, options: &[&str], limit: f64) -> (Value, f64) {
    let start = Instant::now();
    let limit = limit.to_string();
    let output = zbound()
        .arg(command)
        .arg(path)
        .args(options)
        .args(["--json", "--time-limit", &limit])
        .output()
        .expect("the command runs");
    let seconds = start.elapsed().as_secs_f64();
    // What does not fit into memory is refused at once, with a word on what would.
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) && said.contains("above the limit") {
        return (Value::Null, seconds);
    }
    assert!(matches!(output.status.code(), Some(0 | 1)), "{options:?}: {output:?}");
    (serde_json::from_slice(&output.stdout).expect("one document"), seconds)
}

fn is_full() -> bool {
    std::env::var_os("ZBOUND_FULL").is_some()
}

/// A model drawn by the program itself.
fn draw(folder: &Folder, graph: &str, d: usize) -> std::path::PathBuf {
    let path = folder.path(&format!("{graph}{d}.json"));
    let d = d.to_string();
    let args = ["generate", "--family", "trw-mixed", "--w", "1", "--graph", graph, "--seed", "1", "--d", &d];
    zbound().args(args).arg("--out").arg(&path).assert().success();
    path
}

/// `d` spins in a ring with a term for every three neighbours.
fn ternary(folder: &Folder, d: usize) -> std::path::PathBuf {
    let term = |i: usize| {
        let mut set = [i, (i + 1) % d, (i + 7) % d];
        set.sort_unstable();
        format!("[[{},{},{}],{}]", set[0], set[1], set[2], if i.is_multiple_of(3) { 0.8 } else { -0.6 })
    };
    let terms: Vec<String> = (0..d).map(term).collect();
    folder.write(&format!("ternary{d}.json"), &format!("{{\"d\":{d},\"terms\":[{}]}}", terms.join(",")))
}

#[test]
fn a_time_limit_ends_a_run_with_a_proved_side() {
    let folder = Folder::new();
    let path = folder.complete(150);
    for method in ["combined", "quantum-diag", "quantum-greedy", "wmb"] {
        let (record, seconds) = timed("bound", &path, &["--method", method], 1.0);
        assert!(seconds < HANGS, "{method}: {seconds} s");
        assert_eq!(record["results"][0]["certified"], true, "{record}");
    }
    let (record, seconds) = timed("map", &path, &["--cuts", "triangle"], 1.0);
    assert!(seconds < HANGS && record["certified"] == true, "{seconds} s: {record}");
    let (_, seconds) = timed("marginals", &path, &[], 1.0);
    assert!(seconds < HANGS, "{seconds} s");
}

#[test]
fn a_limit_that_reading_used_up_still_gives_the_bracket_of_the_coefficients() {
    let folder = Folder::new();
    let path = folder.complete(60);
    let (record, _) = timed("bound", &path, &[], 0.0);
    let best = &record["best"]["log_z"];
    assert!(best["lower"].as_f64().unwrap() < best["upper"].as_f64().unwrap(), "{record}");
    assert_eq!(record["results"][0]["status"], "time-limit");
    for method in METHODS {
        let (record, _) = timed("bound", &path, &["--method", method], 0.0);
        assert_eq!(record["results"][0]["certified"], true, "{method}: {record}");
    }
}

#[cfg(unix)]
#[test]
fn signals_are_answered_with_the_best_bracket() {
    let folder = Folder::new();
    let path = folder.complete(250);
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let child = Command::new(env!("CARGO_BIN_EXE_zbound"))
            .arg("bound")
            .arg(&path)
            .args(["--method", "mean-field", "--method", "combined", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        std::thread::sleep(Duration::from_millis(1500));
        let sent = Instant::now();
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().expect("an end");
        let seconds = sent.elapsed().as_secs_f64();
        assert!(seconds < HANGS, "{signal}: {seconds} s");
        assert_eq!(output.status.code(), Some(code), "{signal}");
        let record: Value = serde_json::from_slice(&output.stdout).expect("one document");
        assert!(record["best"]["log_z"]["upper"].is_f64(), "{record}");
    }
}

#[test]
fn limits_hold_for_every_method_and_size() {
    if !is_full() {
        return;
    }
    let folder = Folder::new();
    let mut models: Vec<std::path::PathBuf> =
        [50, 200, 1000, 3000].iter().map(|&d| folder.complete(d)).collect();
    models.extend([10_000, 100_000].map(|d| draw(&folder, "regular", d)));
    models.push(draw(&folder, "grid", 10_000));
    models.extend([300, 10_000].map(|d| ternary(&folder, d)));
    let mut late = Vec::new();
    for path in &models {
        // Reading counts, and has to end before anything can be said.
        let (_, reading) = timed("bound", path, &["--method", "mean-field"], 0.0);
        for limit in [1.0, 5.0] {
            let allowed = f64::max(limit, 1.5 * reading) + f64::max(0.5, 0.1 * limit) + 0.25;
            for method in METHODS {
                let (_, seconds) = timed("bound", path, &["--method", method], limit);
                if seconds > allowed {
                    late.push(format!("{} {method} {limit}: {seconds:.2} s", path.display()));
                }
            }
            for (command, options) in [("map", &[][..]), ("marginals", &[])] {
                let (_, seconds) = timed(command, path, options, limit);
                if seconds > allowed {
                    late.push(format!("{} {command} {limit}: {seconds:.2} s", path.display()));
                }
            }
        }
    }
    assert!(late.is_empty(), "late:\n{}", late.join("\n"));
}
