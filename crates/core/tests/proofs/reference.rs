//! Stored instances with quantities computed by two independent means.

use zbound::{FeatureSpec, Ising, Problem};

/// The parsed file, or `None` (said loudly) where it is absent.
pub fn reference() -> Option<serde_json::Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/reference.json");
    match std::fs::read_to_string(path) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(_) => {
            println!("SKIPPED: no reference data at {path}");
            None
        }
    }
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
