//! Stored instances with quantities computed by two independent means (`golden/README.md`).

use zbound::{FeatureSpec, Ising, Problem};

/// Small models with the value of every bound.
pub fn golden_instances() -> Vec<serde_json::Value> {
    instances(include_str!("../golden/instances.json"))
}

/// Models of ten spins with the error of another solver's combination of trees, moments and triangles.
pub fn golden_combined() -> Vec<serde_json::Value> {
    instances(include_str!("../golden/combined.json"))
}

fn instances(text: &str) -> Vec<serde_json::Value> {
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    file["instances"].as_array().unwrap().clone()
}

pub fn reference_model(instance: &serde_json::Value) -> Ising {
    let number = |v: &serde_json::Value| v.as_f64().unwrap();
    let fields: Vec<f64> = instance["fields"].as_array().unwrap().iter().map(number).collect();
    let index = |v: &serde_json::Value| v.as_u64().unwrap() as usize;
    let triple = |v: &serde_json::Value| (index(&v[0]), index(&v[1]), number(&v[2]));
    let couplings: Vec<_> = instance["couplings"].as_array().unwrap().iter().map(triple).collect();
    Ising::new(fields.len(), &fields, &couplings).unwrap()
}

pub fn reference_problem(instance: &serde_json::Value, features: &FeatureSpec) -> Problem {
    let model = reference_model(instance);
    let features = features.resolve(&model.clone().into()).unwrap();
    Problem::new(model, features).unwrap().with_temperature(instance["eps"].as_f64().unwrap()).unwrap()
}
