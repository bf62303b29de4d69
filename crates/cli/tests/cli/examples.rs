//! Every file in `examples/` is read, bounded and, where the value is known, checked.

use crate::support::{json, zbound};
use std::path::{Path, PathBuf};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn every_example_can_be_read() {
    let models = std::fs::read_dir(examples()).unwrap().map(|e| e.unwrap().path());
    let models = models.filter(|p| p.extension().is_some_and(|e| e == "json" || e == "uai"));
    let count = models.map(|path| drop(zbound().arg("info").arg(path).assert().success())).count();
    assert!(count >= 5, "{count} examples");
}

#[test]
fn sprinkler_has_the_probability_of_its_evidence() {
    let mut exact = zbound();
    exact.arg("exact").arg(examples().join("sprinkler.uai")).arg("--json");
    exact.arg("--evidence").arg(examples().join("sprinkler.uai.evid"));
    let log_z = &json(&mut exact, 0)["best"]["log_z"];
    // P(wet grass) = 0.6471, summed by hand over the eight cases.
    let truth = 0.6471f64.ln();
    assert!(
        log_z["lower"].as_f64().unwrap() <= truth + 1e-15
            && truth - 1e-15 <= log_z["upper"].as_f64().unwrap()
    );
}

#[test]
fn bounds_of_the_small_examples_enclose_their_exact_values() {
    for name in ["glass12.json", "cubic.json", "grid36.json"] {
        let path = examples().join(name);
        let exact = json(zbound().arg("exact").arg(&path).arg("--json"), 0);
        let all = json(
            zbound().arg("bound").arg(&path).args(["--method", "all", "--json", "--time-limit", "5"]),
            0,
        );
        let value = |side: &str| exact["best"]["log_z"][side].as_f64().unwrap();
        for result in all["results"].as_array().unwrap() {
            let log_z = &result["log_z"];
            assert!(log_z["upper"].as_f64().is_none_or(|v| v >= value("lower")), "{name}: {result}");
            assert!(log_z["lower"].as_f64().is_none_or(|v| v <= value("upper")), "{name}: {result}");
        }
    }
}
