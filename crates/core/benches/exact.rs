//! Exact inference: enumeration of dense models, elimination of grids.

mod clock;

use zbound::exact::exact;
use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::{Model, Settings, Silent};

fn main() {
    for (name, graph, d) in [
        ("exact/enumerate/16", Graph::Complete, 16),
        ("exact/enumerate/22", Graph::Complete, 22),
        ("exact/grid/8x8", Graph::Grid, 64),
        ("exact/grid/14x14", Graph::Grid, 196),
    ] {
        let spec = GenerateSpec { family: Family::TrwMixed, graph, d, w: 0.5, seed: 1 };
        let model = Model::from(generate(&spec).unwrap());
        clock::time(name, || exact(&model, 1.0, &Settings::default(), &mut Silent).unwrap());
    }
}
