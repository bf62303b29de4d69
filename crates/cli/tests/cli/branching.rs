//! `branch` with a checkpoint: whatever ends a run, the next one goes on from what was proved.

use crate::support::{Folder, json, zbound};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The bracket of `log Z` in a document.
fn bracket(document: &Value) -> (f64, f64) {
    let side = |name: &str| document["best"]["log_z"][name].as_f64().expect("both sides");
    (side("lower"), side("upper"))
}

/// A run with a checkpoint that is killed after a while, as by a power failure.
fn killed(model: &Path, checkpoint: &Path, threads: usize, after: Duration) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zbound"))
        .args(["bound", "-m", "branch", "--json", "--threads", &threads.to_string()])
        .arg("--checkpoint")
        .arg(checkpoint)
        .arg(model)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command runs");
    std::thread::sleep(after);
    // It may have come to its end.
    let _ = child.kill();
    child.wait().expect("the command ends");
}

#[test]
fn a_run_killed_at_any_time_goes_on_from_what_was_proved() {
    let folder = Folder::new();
    let model = folder.path("complete32.json");
    let draw = ["generate", "--family", "trw-mixed", "--w", "0.4", "--graph", "complete", "--seed", "3"];
    zbound().args(draw).args(["--d", "32"]).arg("--out").arg(&model).assert().success();
    let truth = bracket(&json(zbound().args(["bound", "-m", "exact", "--json"]).arg(&model), 0));
    let checkpoint = folder.path("tree.json");
    let rounds = if std::env::var_os("ZBOUND_FULL").is_some() { 60 } else { 3 };
    let mut last = (f64::NEG_INFINITY, f64::INFINITY);
    for round in 0..rounds {
        let threads = 1 + round % 3;
        killed(&model, &checkpoint, threads, Duration::from_millis(700 + 397 * (round as u64 * 7 % 5)));
        let goes_on = ["bound", "-m", "branch", "--json", "--time-limit", "1.5", "--threads"];
        let mut next = zbound();
        next.args(goes_on).arg(threads.to_string()).arg("--checkpoint").arg(&checkpoint).arg(&model);
        let now = bracket(&json(&mut next, 0));
        assert!(now.0 <= truth.1 && truth.0 <= now.1, "round {round}: {truth:?} outside {now:?}");
        if checkpoint.exists() {
            assert!(now.0 >= last.0 && now.1 <= last.1, "round {round}: {last:?} {now:?}");
            last = now;
        }
    }
    assert!(checkpoint.exists() && last.1 - last.0 < 30.0, "{last:?}");
}
