//! The TRW bound against enumeration, stored references and published values.

mod support;

use serde_json::Value;
use zbound::relax::{Relaxation, Trw};
use zbound::{Features, Ising, Problem, Rho, Settings, Solution};

fn reference() -> Option<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/reference.json");
    let text = std::fs::read_to_string(path).ok();
    if text.is_none() {
        eprintln!("SKIPPED: no reference data at {path}");
    }
    text.map(|t| serde_json::from_str(&t).unwrap())
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn problem_of(instance: &Value) -> Problem {
    let fields = floats(&instance["fields"]);
    let couplings: Vec<(usize, usize, f64)> = instance["couplings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c[0].as_u64().unwrap() as usize, c[1].as_u64().unwrap() as usize, c[2].as_f64().unwrap()))
        .collect();
    problem(Ising::new(fields.len(), &fields, &couplings).unwrap(), instance["eps"].as_f64().unwrap())
}

fn problem(model: Ising, eps: f64) -> Problem {
    let d = model.d();
    Problem::new(model, Features::degree(d, 1)).unwrap().with_temperature(eps).unwrap()
}

fn solve(problem: &Problem, rho: Rho) -> Solution {
    Trw.solve(problem, &Settings::default().with_rho(rho)).unwrap()
}

#[test]
fn explore() {
    let Some(data) = reference() else { return };
    for instance in data["instances"].as_array().unwrap() {
        let r = &instance["ref"];
        let p = problem_of(instance);
        if r["trw_fixed"].is_object() {
            let s = solve(&p, Rho::Uniform);
            eprintln!("{} fixed {:.2e} gap {:?} {:?} it {} {:.2}ms {:?}", instance["id"], s.estimate - r["trw_fixed"]["value"].as_f64().unwrap(), s.trace.last().map(|t|t.upper-t.lower), s.trace.last().map(|t|t.seconds), s.iterations, s.seconds*1e3, s.stop);
            let s = solve(&p, Rho::Optimized);
            eprintln!("{} opt   {:.2e} ({:.2e}) gap {:?} it {} {:.2}ms {:?}", instance["id"], s.estimate - r["trw_opt"]["value"].as_f64().unwrap_or(f64::NAN), s.estimate - r["trw_opt"]["lower"].as_f64().unwrap_or(f64::NAN), s.trace.last().map(|t|t.upper-t.lower), s.iterations, s.seconds*1e3, s.stop);
        }
    }
}
#[test]
fn low() {
    let Some(data) = reference() else { return };
    for instance in data["instances"].as_array().unwrap() {
        if !["S27"].contains(&instance["id"].as_str().unwrap()) { continue; }
        let p = problem_of(instance);
        eprintln!("{}", instance["id"]);
        let s = Trw.solve(&p, &Settings::default().with_rho(Rho::Optimized).with_max_iterations(Some(40))).unwrap();
        for t in &s.trace { eprintln!("  {} {:.10} {:.10}", t.iteration, t.lower, t.upper); }
    }
}
