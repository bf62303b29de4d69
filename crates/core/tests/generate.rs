//! Generated models: the families, the graphs, and the same bits on every platform.

use zbound::generate::{Family, GenerateSpec, Graph, generate};

fn spec(family: Family, graph: Graph, d: usize) -> GenerateSpec {
    GenerateSpec { family, graph, d, w: 0.5, seed: 42 }
}

#[test]
fn names_round_trip_and_unknown_ones_are_refused() {
    assert!(Family::ALL.iter().all(|f| f.name().parse::<Family>().unwrap() == *f));
    assert!(Graph::ALL.iter().all(|g| g.name().parse::<Graph>().unwrap() == *g));
    assert!("torus".parse::<Graph>().unwrap_err().to_string().contains("grid"));
    assert!("cauchy".parse::<Family>().unwrap_err().to_string().contains("gaussian"));
}

#[test]
fn graphs_have_their_edges() {
    let edges = |graph, d| generate(&spec(Family::TrwMixed, graph, d)).unwrap().edges().len();
    assert_eq!(edges(Graph::Complete, 9), 36);
    assert_eq!(edges(Graph::Grid, 12), 17);
    assert_eq!(edges(Graph::Grid, 7), 6);
    assert_eq!((edges(Graph::Chain, 1), edges(Graph::Chain, 5), edges(Graph::Star, 5)), (0, 4, 4));
    assert_eq!((edges(Graph::Tree, 1), edges(Graph::Tree, 2), edges(Graph::Tree, 50)), (0, 1, 49));
    assert_eq!((edges(Graph::Independent, 8), edges(Graph::Regular, 20)), (0, 30));
}

#[test]
fn trees_are_connected_and_regular_graphs_are_regular() {
    for seed in 0..50 {
        let tree = generate(&GenerateSpec { seed, ..spec(Family::Gaussian, Graph::Tree, 30) }).unwrap();
        let info = zbound::exact::info(&tree.into()).unwrap();
        assert!(info.is_forest && info.components == 1);
        let cubic = generate(&GenerateSpec { seed, ..spec(Family::Gaussian, Graph::Regular, 14) }).unwrap();
        let adjacency = cubic.adjacency();
        assert!((0..14).all(|i| adjacency.of(i).len() == 3));
    }
}

#[test]
fn parameters_stay_in_their_ranges_and_fill_them() {
    for (family, field, low, high) in [
        (Family::LogdetAttractive, 0.25, 0.0, 1.0),
        (Family::LogdetMixed, 0.25, -0.5, 0.5),
        (Family::LogdetRepulsive, 0.25, -1.0, 0.0),
        (Family::TrwAttractive, 0.05, 0.0, 0.5),
        (Family::TrwMixed, 0.05, -0.5, 0.5),
    ] {
        let model = generate(&spec(family, Graph::Complete, 60)).unwrap();
        let (h, j) = (model.fields(), model.couplings());
        assert!(h.iter().all(|v| v.abs() <= field) && h.iter().any(|v| v.abs() > 0.8 * field));
        assert!(j.iter().all(|v| (low..=high).contains(v)));
        let mean = j.iter().sum::<f64>() / j.len() as f64;
        assert!((mean - (low + high) / 2.0).abs() < 0.05, "{}: {mean}", family.name());
    }
    let normal = generate(&spec(Family::Gaussian, Graph::Complete, 150)).unwrap();
    let count = normal.couplings().len() as f64;
    let mean = normal.couplings().iter().sum::<f64>() / count;
    let square = normal.couplings().iter().map(|v| v * v).sum::<f64>() / count;
    assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05, "{mean} {square}");
}

#[test]
fn bad_requests_are_refused() {
    for bad in [
        GenerateSpec { w: -1.0, ..spec(Family::TrwMixed, Graph::Chain, 4) },
        GenerateSpec { w: f64::NAN, ..spec(Family::TrwMixed, Graph::Chain, 4) },
        spec(Family::Gaussian, Graph::Chain, 0),
        spec(Family::Gaussian, Graph::Regular, 5),
        spec(Family::Gaussian, Graph::Regular, 2),
        spec(Family::Gaussian, Graph::Complete, 1_000_000),
    ] {
        assert!(generate(&bad).is_err(), "{bad:?}");
    }
}

#[test]
fn bits_never_change() {
    // Recorded on x86-64; the three numbers agree with an independent ChaCha8 up to the last digit
    // of its cosine. Any other value on any platform is a bug.
    let bits = |family, graph| {
        let model = generate(&spec(family, graph, 4)).unwrap();
        let values = model.fields().iter().chain(model.couplings());
        values.map(|v| v.to_bits()).fold(0u64, |hash, b| (hash ^ b).wrapping_mul(0x0000_0100_0000_01b3))
    };
    assert_eq!(bits(Family::Gaussian, Graph::Complete), 3_839_583_574_820_884_834);
    assert_eq!(bits(Family::LogdetMixed, Graph::Tree), 18_034_412_911_553_335_798);
    assert_eq!(bits(Family::TrwAttractive, Graph::Regular), 2_348_292_558_640_065_644);
    let model = generate(&spec(Family::Gaussian, Graph::Chain, 2)).unwrap();
    assert_eq!(
        (model.fields(), model.couplings()),
        (&[-0.20581220180265158, -0.7870865549928759][..], &[1.7046563129953871][..])
    );
}
