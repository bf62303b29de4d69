//! A solve of every method, certificate included.

mod clock;

use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::query::map::{Cuts, Map};
use zbound::relax::{Combined, LogDet, MeanField, Quantum, QuantumDiag, QuantumGreedy, Relaxation, Trw};
use zbound::{FeatureSpec, Features, Problem, Settings};

fn main() {
    let methods: [(&str, &dyn Relaxation, &[usize]); 7] = [
        ("quantum", &Quantum::default(), &[10, 100]),
        ("quantum-greedy", &QuantumGreedy, &[10]),
        ("quantum-diag", &QuantumDiag, &[8]),
        ("logdet", &LogDet, &[10, 50]),
        ("trw", &Trw, &[10, 100]),
        ("combined", &Combined, &[10]),
        ("mean-field", &MeanField, &[10, 100]),
    ];
    for (name, method, sizes) in methods {
        for &d in sizes {
            let problem = problem(d);
            clock::time(&format!("solve/{name}/{d}"), || {
                method.solve(&problem, &Settings::default()).unwrap()
            });
        }
    }
    let (f, settings) = (problem(100).polynomial().clone(), Settings::default().with_tol(1e-6));
    clock::time("solve/map/100", || {
        Map::new(Cuts::None).solve(&f, &FeatureSpec::Default, &settings).unwrap()
    });
}

fn problem(d: usize) -> Problem {
    let spec = GenerateSpec { family: Family::LogdetMixed, graph: Graph::Complete, d, w: 0.25, seed: 1 };
    Problem::new(generate(&spec).unwrap(), Features::degree(d, 1)).unwrap()
}
