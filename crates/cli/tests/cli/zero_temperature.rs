//! `zbound map` and `zbound kl`: documents, units and exit codes.

use crate::support::{Folder, json, zbound};
use predicates::prelude::*;

#[test]
fn map_prints_a_cut_bound_in_the_units_of_the_file() {
    let folder = Folder::new();
    let triangle = folder.write("triangle.mc", "3 3\n1 2 1\n1 3 1\n2 3 1\n");
    let closed = json(zbound().arg("map").arg(&triangle).arg("--json"), 0);
    assert_eq!((closed["upper"].as_f64(), closed["value"].as_f64()), (Some(2.0), Some(2.0)));
    assert!(closed["proof"] == "elimination" && closed["relative_gap"] == 0.0 && closed["certified"] == true);
    let plain = json(zbound().arg("map").arg(&triangle).args(["--cuts", "none", "--json"]), 0);
    assert_eq!(plain["schema"], "zbound.map/1");
    assert_eq!((plain["value"].as_f64(), plain["certified"].as_bool()), (Some(2.0), Some(true)));
    assert!((plain["upper"].as_f64().unwrap() - 2.25).abs() < 1e-5 && plain["status"] == "converged");
    assert_eq!(plain["assignment"].as_array().unwrap().len(), 3);
    assert!(plain["seconds"].is_number() && plain.get("energy").is_none());
    let cut = json(zbound().arg("map").arg(&triangle).args(["--cuts", "triangle", "--json"]), 0);
    assert!((cut["upper"].as_f64().unwrap() - 2.0).abs() < 1e-5);
}

#[test]
fn map_of_an_energy_reports_the_energy() {
    let folder = Folder::new();
    let qubo = folder.write("q.coo", "# vartype=SPIN\n0 0 1.0\n0 1 -2.0\n");
    let record = json(zbound().arg("map").arg(&qubo).args(["--beta", "3", "--json"]), 0);
    // E = x0 - 2 x0 x1, least at x = (-1, -1): -3.
    assert!((record["energy"].as_f64().unwrap() + 3.0).abs() < 1e-9);
    assert!((record["value"].as_f64().unwrap() - 3.0).abs() < 1e-9);
    let (upper, lower) = (record["upper"].as_f64().unwrap(), record["energy_lower"].as_f64().unwrap());
    assert!(upper == -lower && (3.0..3.0001).contains(&upper));
    assert_eq!(record["assignment"], serde_json::json!([-1, -1]));
}

#[test]
fn map_writes_assignments_in_the_letters_of_the_file() {
    let folder = Folder::new();
    let qubo = folder.write("q.qubo", "p qubo 0 2 2 1\n0 0 1\n1 1 -2\n0 1 -3\n");
    let record = json(zbound().arg("map").arg(&qubo).arg("--json"), 0);
    // E = b0 - 2 b1 - 3 b0 b1, least at b = (1, 1): -4.
    assert_eq!((&record["assignment"], record["energy"].as_f64()), (&serde_json::json!([1, 1]), Some(-4.0)));
    let uai = folder.write("m.uai", "MARKOV\n2\n3 2\n1\n2 0 1\n6\n1 2 1 1 9 0\n");
    let record = json(zbound().arg("map").arg(&uai).arg("--json"), 0);
    assert_eq!((&record["assignment"], &record["status"]), (&serde_json::json!([2, 0]), &"converged".into()));
    assert!((record["value"].as_f64().unwrap() - 9f64.ln()).abs() < 1e-12);
    let text = zbound().arg("map").arg(&qubo).assert().success();
    let text = String::from_utf8(text.get_output().stdout.clone()).unwrap();
    assert!(text.contains("assignment 1 1\n") && text.contains("relative gap 0,"), "{text}");
}

#[test]
fn map_certificates_verify() {
    let folder = Folder::new();
    let model = folder.complete(7);
    for (name, more) in
        [("a.zbc", vec![]), ("b.zbc", vec!["--cuts", "triangle"]), ("c.zbc", vec!["--features", "degree:2"])]
    {
        let proof = folder.path(name);
        zbound().arg("map").arg(&model).args(&more).arg("--certificate").arg(&proof).assert().success();
        let verdict = json(zbound().arg("verify").arg(&model).arg(&proof), 0);
        assert!(verdict["verified"] == true && verdict["eps"] == 0.0, "{more:?}");
        assert!(verdict["phi_lower"].as_f64().unwrap() <= verdict["phi_upper"].as_f64().unwrap());
    }
}

#[test]
fn map_refuses_bad_options_and_prints_text() {
    let folder = Folder::new();
    let model = folder.pair();
    zbound().arg("map").arg(&model).assert().success().stdout(predicate::str::contains("max f <= 1.0"));
    zbound().arg("map").arg(&model).args(["--tol", "7"]).assert().code(2);
    zbound().arg("map").arg(&model).args(["--cuts", "squares"]).assert().code(2);
    zbound().arg("map").arg(&model).args(["--features", "[[]]"]).assert().code(2);
}

#[test]
fn kl_prints_the_documented_record() {
    let folder = Folder::new();
    let model = folder.complete(4);
    let record = json(zbound().arg("kl").arg(&model).args(["--features", "all", "--json"]), 0);
    assert_eq!(record["schema"], "zbound.kl/1");
    let number = |name: &str| record[name].as_f64().unwrap();
    assert!((number("kl") - number("kl_lower")).abs() < 1e-9 && number("kl") > 0.0);
    assert!(number("kl_lower_diag") <= number("kl"));
    assert_eq!(record["features"].as_array().unwrap().len(), 16);
    let greedy =
        json(zbound().arg("kl").arg(&model).args(["--features", "degree:1", "--greedy", "3", "--json"]), 0);
    let steps = greedy["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3);
    let exact = json(zbound().arg("exact").arg(&model).arg("--json"), 0);
    let phi = exact["results"][0]["phi"]["lower"].as_f64().unwrap();
    assert!(steps.iter().all(|s| s["phi_upper"].as_f64().unwrap() >= phi && s["feature"].is_array()));
    let table = folder.write("other.json", &format!("[{}]", ["1"; 16].join(",")));
    let other =
        json(zbound().arg("kl").arg(&model).arg("--q").arg(&table).args(["--greedy", "1", "--json"]), 0);
    assert!(other["steps"][0]["phi_upper"].is_null());
    assert_eq!(greedy["features"].as_array().unwrap().len(), 8);
}

#[test]
fn kl_takes_tables_and_models_on_both_sides() {
    let folder = Folder::new();
    let table = folder.write("table.json", "[0.1, 0.2, 0.3, 0.4]");
    let pair = folder.pair();
    let record =
        json(zbound().arg("kl").arg(&table).arg("--q").arg(&pair).args(["--features", "all", "--json"]), 0);
    assert!((record["kl"].as_f64().unwrap() - record["kl_lower"].as_f64().unwrap()).abs() < 1e-9);
    let back = json(zbound().arg("kl").arg(&pair).arg("--q").arg(&table).args(["--eps", "2", "--json"]), 0);
    assert!(back["kl_lower"].as_f64().unwrap() < back["kl"].as_f64().unwrap());
    let same = json(zbound().arg("kl").arg(&table).arg("--q").arg(&table).arg("--json"), 0);
    assert!(same["kl"].as_f64() == Some(0.0) && same["kl_lower"].as_f64() == Some(0.0));
    zbound().arg("kl").arg(&pair).assert().success().stdout(predicate::str::contains("<= D(p||q)"));
    let bad = folder.write("bad.json", "[0.1, 0.2, 0.3]");
    zbound().arg("kl").arg(&bad).assert().code(2).stderr(predicate::str::contains("2^d"));
}
