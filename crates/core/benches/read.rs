//! Reading and representing: files, and features with coinciding products.

mod clock;

use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::io::{Format, ReadOptions, read_bytes, write_to};
use zbound::{Features, Model};

fn main() {
    let spec = GenerateSpec { family: Family::TrwMixed, graph: Graph::Grid, d: 10_000, w: 0.5, seed: 1 };
    let model = Model::from(generate(&spec).unwrap());
    for format in [Format::Json, Format::Uai, Format::Coo] {
        let mut bytes = Vec::new();
        write_to(&model, format, &mut bytes).unwrap();
        clock::time(&format!("read/{}/10000", format.name()), || {
            read_bytes("bench", &bytes, format, &ReadOptions::default()).unwrap()
        });
    }
    let f = generate(&GenerateSpec { graph: Graph::Complete, d: 30, ..spec }).unwrap().into();
    let features = Features::degree(30, 2);
    clock::time("features/classes/466", || features.classes());
    let classes = features.classes();
    clock::time("features/represent/466", || classes.represent(&f).unwrap());
}
