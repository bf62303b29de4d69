//! Promise 1 and 2: a certified number is a bound, whatever the solver or eigensolver did.

mod support;

use support::*;
use zbound::certify::{Certificate, Component, Form, Slack};
use zbound::spectral::Eigen;
use zbound::{Features, Polynomial};

fn single(eps: f64, form: Form) -> Certificate {
    let components = vec![Component { weight: 1.0, form }];
    Certificate { eps, slack: Slack::default(), components, witness: None }
}

fn random_spectral(random: &mut Random, f: &Polynomial, eps: f64) -> Certificate {
    let features = random_features(random, f);
    let defect = if random.below(3) == 0 { random.magnitude(1e-12, 1.0) } else { 0.0 };
    let matrix = random_matrix(random, f, &features, defect);
    let eigen = decompose(&matrix);
    single(eps, Form::Spectral { features, matrix, eigen })
}

#[test]
fn quantum_bound_is_above_brute_force() {
    let mut random = Random(1);
    let count = cases(2000, 100_000);
    for case in 0..count {
        let (d, scale) = (random.size(), random.model_scale());
        let f = random_polynomial(&mut random, d, scale);
        let eps = random.magnitude(1e-3, 1e3);
        let certificate = random_spectral(&mut random, &f, eps);
        let upper = certificate.verify(&f).unwrap().phi();
        let exact = brute_force(&f, eps);
        assert!(upper >= exact.lo, "case {case}: {upper} < {exact:?}, eps {eps}, {f:?}");
        let top = certificate.map_bound(&f).unwrap().phi();
        assert!(top >= brute_force(&f, 0.0).lo, "case {case}: max f above {top}");
    }
    println!("quantum: {count} random models, 0 violations");
}

#[test]
fn quantum_bound_with_all_features_is_exact() {
    let mut random = Random(2);
    for _ in 0..50 {
        let d = 1 + random.below(6);
        let f = random_polynomial(&mut random, d, 1.0);
        let features = Features::degree(d, d);
        let classes = features.classes();
        let mut matrix = zbound::spectral::Square::zeros(features.len());
        classes.fill(&classes.represent(&f).unwrap(), matrix.data_mut());
        let eigen = decompose(&matrix);
        let upper = single(0.7, Form::Spectral { features, matrix, eigen }).verify(&f).unwrap().phi();
        let exact = brute_force(&f, 0.7);
        assert!(upper >= exact.lo && upper - exact.hi < 1e-10, "{upper} against {exact:?}");
    }
}

#[test]
fn a_lying_eigensolver_is_rejected_or_harmless() {
    let mut random = Random(3);
    let (mut rejected, count) = (0, cases(1000, 20_000));
    for case in 0..count {
        let d = random.size();
        let f = random_polynomial(&mut random, d, 1.0);
        let mut certificate = random_spectral(&mut random, &f, 1.0);
        let Form::Spectral { eigen, matrix, .. } = &mut certificate.components[0].form else {
            unreachable!()
        };
        inject_fault(&mut random, eigen, matrix);
        match certificate.verify(&f) {
            Err(_) => rejected += 1,
            Ok(bound) => assert!(bound.phi() >= brute_force(&f, 1.0).lo, "case {case}"),
        }
    }
    println!("fault injection: {count} faults, {rejected} rejected, the rest still true");
}

fn inject_fault(random: &mut Random, eigen: &mut Eigen, matrix: &mut zbound::spectral::Square) {
    let n = eigen.values.len();
    let (i, j, at) = (random.below(n), random.below(n), random.below(n * n));
    match random.below(9) {
        0 => eigen.values.swap(i, j),
        1 => eigen.vectors.data_mut().iter_mut().for_each(|v| *v *= 1.01),
        2 => eigen.vectors.data_mut()[at] += random.between(-0.25, 0.25),
        3 => eigen.vectors.data_mut()[at] = f64::NAN,
        4 => eigen.values[i] = [f64::NAN, f64::INFINITY, -1e300][random.below(3)],
        5 => {
            let column = eigen.vectors.column(i).to_vec();
            eigen.vectors.data_mut()[n * j..n * (j + 1)].copy_from_slice(&column);
        }
        6 => eigen.values.iter_mut().for_each(|v| *v -= 0.1),
        7 => {
            let stale = decompose(&random_symmetric(random, n));
            eigen.vectors = stale.vectors;
        }
        _ => matrix.data_mut()[at] += 0.5,
    }
}

fn random_symmetric(random: &mut Random, n: usize) -> zbound::spectral::Square {
    let entries = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
    let mut matrix = zbound::spectral::Square::from_column_major(n, entries);
    matrix.symmetrize();
    matrix
}
