//! Figures of the paper and their report.

use crate::support::{Folder, zbound};
use std::path::Path;
use std::process::Command;

fn reproduce(figure: &str, out: &Path) {
    let args = ["--draws", "1", "--out"];
    zbound().args(["reproduce", figure]).args(args).arg(out).assert().success();
}

#[test]
fn a_figure_comes_with_records_plots_claims_and_report() {
    let folder = Folder::new();
    let out = folder.path("out");
    reproduce("comp_2", &out);
    let read = |name: &str| std::fs::read(out.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(read("comp_2/comp_2.png").starts_with(b"\x89PNG"));
    assert!(read("comp_2/comp_2.svg").starts_with(b"<svg"));
    let csv = String::from_utf8(read("comp_2/records.csv")).expect("text");
    assert_eq!(csv.lines().count(), 1 + 3 * 10 * 4, "three couplings, ten strengths, four methods");
    let claims: serde_json::Value = serde_json::from_slice(&read("claims.json")).expect("JSON");
    assert_eq!(claims[0]["findings"].as_array().map(Vec::len), Some(6));
    let html = String::from_utf8(read("report.html")).expect("text");
    assert!(html.contains("comp_2") && html.contains("the log-determinant relaxation"));
}

#[test]
fn an_unknown_figure_is_named() {
    let folder = Folder::new();
    let out = folder.path("out");
    let error = zbound().args(["reproduce", "comp_9", "--out"]).arg(&out).assert().code(2);
    assert!(String::from_utf8_lossy(&error.get_output().stderr).contains("comp_9") && !out.exists());
}

/// A browser, if there is one.
fn chromium() -> Option<String> {
    let named = std::env::var("ZBOUND_CHROMIUM").ok();
    let known = ["chromium", "chromium-browser", "google-chrome", "chrome"].map(String::from);
    named
        .into_iter()
        .chain(known)
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

#[test]
fn the_report_opens_from_disk_in_a_browser() {
    let Some(browser) = chromium() else {
        eprintln!("\n*** SKIPPED: the report in a browser: no Chromium found (set ZBOUND_CHROMIUM) ***\n");
        return;
    };
    let folder = Folder::new();
    let out = folder.path("out");
    reproduce("comp_1", &out);
    let page = format!("file://{}", out.join("report.html").display());
    let picture = out.join("report.png");
    let run = |extra: &[&str]| {
        let profile = format!("--user-data-dir={}", out.join("profile").display());
        let mut command = Command::new(&browser);
        // A test may run as root in a container, where the sandbox does not work.
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,2400", &profile]);
        command.args(extra).arg(&page).output().expect("the browser runs")
    };
    let dom = String::from_utf8_lossy(&run(&["--dump-dom"]).stdout).into_owned();
    // The script has run to its end when the last legend entry is a button.
    assert!(dom.matches("role=\"button\"").count() >= 4, "the script did not run:\n{dom:.400}");
    run(&[&format!("--screenshot={}", picture.display())]);
    assert!(std::fs::read(&picture).is_ok_and(|png| png.starts_with(b"\x89PNG") && png.len() > 20_000));
}
