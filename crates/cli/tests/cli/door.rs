//! What a newcomer meets first: pages, completions, scans, the report, and messages about slips.

use crate::support::{Folder, PAIR_LOG_Z, json, zbound};
use predicates::prelude::*;

#[test]
fn manual_pages_cover_every_command() {
    let folder = Folder::new();
    zbound().arg("man").assert().success().stdout(predicate::str::contains(".TH zbound 1"));
    zbound().args(["man", "scan"]).assert().success().stdout(predicate::str::contains("\\-\\-betas"));
    zbound()
        .args(["man", "no-such"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("there are bound, map"));
    zbound().arg("man").arg("--out").arg(folder.path("man1")).assert().success();
    let help = String::from_utf8(zbound().arg("--help").output().unwrap().stdout).unwrap();
    let listed = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| l.starts_with("  "));
    let names: Vec<&str> =
        listed.filter_map(|l| l.split_whitespace().next()).filter(|n| *n != "help").collect();
    assert!(names.contains(&"completions") && names.contains(&"man") && names.contains(&"scan"), "{names:?}");
    for name in names {
        let page = std::fs::read_to_string(folder.path("man1").join(format!("zbound-{name}.1"))).unwrap();
        assert!(page.contains("zbound"), "{name}");
        let help = String::from_utf8(zbound().args([name, "--help"]).output().unwrap().stdout).unwrap();
        assert!(
            help.contains("Examples:") && help.contains(&format!("  zbound {name}")),
            "{name} shows an example"
        );
    }
}

#[test]
fn help_explains_every_status() {
    let help = String::from_utf8(zbound().args(["bound", "--help"]).output().unwrap().stdout).unwrap();
    for status in [
        "converged",
        "time-limit",
        "iteration-limit",
        "cancelled",
        "stalled",
        "numerical-trouble",
        "not-applicable",
        "skipped",
        "uncertified",
        "estimate",
    ] {
        assert!(help.contains(&format!("  {status} ")), "{status}");
    }
}

#[test]
fn a_scan_is_a_table_a_document_a_csv_file_and_a_picture() {
    let folder = Folder::new();
    let (csv, svg) = (folder.path("scan.csv"), folder.path("scan.svg"));
    let scan = |betas: &str| {
        let mut command = zbound();
        command.arg("scan").arg(folder.pair()).args(["--betas", betas]);
        command
    };
    let record = json(scan("0:1:3").arg("--json").arg("--out").arg(&csv).arg("--plot").arg(&svg), 0);
    assert_eq!((&record["schema"], record["points"].as_array().unwrap().len()), (&"zbound.scan/1".into(), 3));
    let at = |k: usize, side: &str| record["points"][k]["log_z"][side].as_f64().unwrap();
    assert!((at(0, "upper") - 4f64.ln()).abs() < 1e-12);
    assert!(
        at(2, "lower") <= PAIR_LOG_Z && PAIR_LOG_Z <= at(2, "upper") && at(2, "upper") - PAIR_LOG_Z < 1e-9
    );
    let rows = std::fs::read_to_string(csv).unwrap();
    assert!(rows.starts_with("beta,lower,upper") && rows.lines().count() == 4, "{rows}");
    assert!(std::fs::read_to_string(svg).unwrap().contains("beta"));
    scan("0.5,1").assert().success().stdout(predicate::str::contains("log Z(beta) at 2 points"));
    scan("1:2").assert().code(2).stderr(predicate::str::contains("a:b:n"));
    scan("-1:1:3").assert().code(2).stderr(predicate::str::contains("inverse temperature"));
}

#[test]
fn the_report_is_one_page_that_stands_alone() {
    let folder = Folder::new();
    let (page, proof) = (folder.path("page.html"), folder.path("proof.zbc"));
    zbound()
        .arg("bound")
        .arg(folder.complete(8))
        .args(["-m", "quantum", "-m", "mean-field", "--report"])
        .arg(&page)
        .arg("--certificate")
        .arg(&proof)
        .assert()
        .success();
    let html = std::fs::read_to_string(&page).unwrap();
    for words in [
        "The bracket against time",
        "Methods side by side",
        "read back and verified",
        "8 ",
        "\u{2264} log Z \u{2264}",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert!(!html.replace("http://www.w3.org/2000/svg", "").contains("http"), "no outside resources");
    let input = folder.pair();
    let overwrite = zbound().arg("bound").arg(&input).arg("--report").arg(&input).assert().code(2);
    overwrite.stderr(predicate::str::contains("would overwrite the input"));
}

#[test]
fn every_line_of_a_trace_is_an_improvement() {
    let folder = Folder::new();
    let output = zbound()
        .arg("bound")
        .arg(folder.complete(30))
        .args(["--time-limit", "2", "--trace"])
        .output()
        .unwrap();
    let lines: Vec<serde_json::Value> =
        String::from_utf8(output.stderr).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(lines.len() >= 2, "{lines:?}");
    let width = |line: &serde_json::Value| {
        line["upper"].as_f64().unwrap_or(f64::INFINITY) - line["lower"].as_f64().unwrap_or(f64::NEG_INFINITY)
    };
    assert!(lines.windows(2).all(|pair| width(&pair[1]) <= width(&pair[0])), "{lines:?}");
}

#[test]
fn slips_are_answered_in_plain_words() {
    let folder = Folder::new();
    let pair = folder.pair();
    let cases: [(&[&str], &str); 10] = [
        (&["--time-limit", "-1"], "at least 0"),
        (&["--time-limit", "soon"], "expected a number"),
        (&["--threads", "-3"], "a whole number, at least 1"),
        (&["--threads", "0"], "at least 1"),
        (&["--ibound", "-1"], "a whole number, at least 0"),
        (&["--eps", "0"], "between 1e-12 and 1e12"),
        (&["--tol", "5"], "between 1e-15 and 1"),
        (&["--method", "magic"], "possible values: auto, all, exact"),
        (&["--features", "deg:2"], "degree:K"),
        (&["--colour", "red"], "unexpected argument '--colour'"),
    ];
    for (options, words) in cases {
        let said =
            zbound().arg("bound").arg(&pair).args(options).assert().code(2).get_output().stderr.clone();
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains(words), "{options:?}: {said}");
        for jargon in ["Some(", "usize", "f64", "--format", "float literal", "to pass"] {
            assert!(!said.contains(jargon), "{options:?}: {said}");
        }
    }
    // JSON without an extension is still JSON.
    let bare = folder.write("model", r#"{"d":2,"couplings":[[0,1,1.0]]}"#);
    zbound().arg("bound").arg(bare).assert().success();
}

#[test]
fn states_are_written_as_the_file_writes_them() {
    let folder = Folder::new();
    let uai = folder.write("m.uai", "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 5 2 1\n");
    for command in ["bound", "exact"] {
        let said = zbound().arg(command).arg(&uai).args(["--temperature", "1"]).output().unwrap();
        assert!(String::from_utf8(said.stdout).unwrap().contains(" at 0 1\n"), "{command}");
    }
    let said = zbound().arg("bound").arg(folder.pair()).output().unwrap();
    assert!(String::from_utf8(said.stdout).unwrap().contains(" at -1 -1\n"));
}
