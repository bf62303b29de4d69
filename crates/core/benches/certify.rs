//! Verification of certificates beside the eigendecomposition it is compared with, and of long eliminations.

mod clock;

use zbound::certify::{Certificate, Component, Form, Slack};
use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::relax::{LogDet, Quantum, Relaxation, Trw};
use zbound::{Features, Ising, Polynomial, Problem, Settings};

fn main() {
    for d in [49, 199] {
        let spec = GenerateSpec { family: Family::LogdetMixed, graph: Graph::Complete, d, w: 0.1, seed: 1 };
        let problem = Problem::new(generate(&spec).unwrap(), Features::degree(d, 1)).unwrap();
        let methods: [(&str, &dyn Relaxation); 3] =
            [("quantum", &Quantum::default()), ("logdet", &LogDet), ("trw", &Trw)];
        for (name, method) in methods {
            let certificate =
                method.solve(&problem, &Settings::default().with_tol(1e-4)).unwrap().certificate;
            let certificate = certificate.unwrap();
            clock::time(&format!("certify/{name}/{d}"), || certificate.verify(problem.polynomial()).unwrap());
        }
    }
    let d = 100_000;
    let couplings: Vec<_> = (1..d).map(|i| (i - 1, i, 0.5)).collect();
    let f: Polynomial = Ising::new(d, &vec![0.1; d], &couplings).unwrap().into();
    let form = Form::Elimination { polynomial: f.clone(), order: (0..d as u32).collect() };
    let components = vec![Component { weight: 1.0, form }];
    let chain = Certificate { eps: 1.0, slack: Slack::default(), components, witness: None };
    clock::time("certify/chain/100000", || chain.verify(&f).unwrap());
}
