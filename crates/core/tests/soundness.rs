//! Promise 1 and 2: a certified number is a bound, whatever the solver or eigensolver did.

mod proofs;

use proofs::*;
use zbound::certify::{Certificate, Form, Witness};
use zbound::linalg::{Eigen, Square};
use zbound::{Features, Polynomial};

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
    tally(1, "random spectral certificates", count);
}

#[test]
fn quantum_bound_with_all_features_is_exact() {
    let mut random = Random(2);
    for _ in 0..50 {
        let d = 1 + random.below(6);
        let f = random_polynomial(&mut random, d, 1.0);
        let features = Features::degree(d, d);
        let classes = features.classes();
        let mut matrix = Square::zeros(features.len());
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
    tally(2, "faults of the eigensolver", count);
    println!("{rejected} rejected, the rest still true");
    assert!(4 * rejected > count, "only {rejected} of {count} rejected");
}

fn inject_fault(random: &mut Random, eigen: &mut Eigen, matrix: &mut Square) {
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

fn random_symmetric(random: &mut Random, n: usize) -> Square {
    let entries = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
    let mut matrix = Square::from_column_major(n, entries);
    matrix.symmetrize();
    matrix
}

/// Checks `upper >= Phi` over random models for certificates of one kind.
fn upper_bounds_hold(
    name: &str,
    seed: u64,
    full: usize,
    make: impl Fn(&mut Random, &Polynomial, f64) -> Option<Certificate>,
) {
    let mut random = Random(seed);
    let (count, mut refused) = (cases(300, full), 0);
    for case in 0..count {
        let (d, scale) = (random.size(), random.model_scale());
        let f: Polynomial = random_ising(&mut random, d, scale).into();
        let eps = random.magnitude(1e-3, 1e3);
        let Some(certificate) = make(&mut random, &f, eps) else { continue };
        let exact = brute_force(&f, eps);
        match certificate.verify(&f) {
            Err(_) => refused += 1,
            Ok(bound) => {
                assert!(bound.phi() >= exact.lo, "{name} case {case}: {} < {exact:?}", bound.phi())
            }
        }
        if let Ok(bound) = certificate.map_bound(&f) {
            assert!(bound.phi() >= brute_force(&f, 0.0).lo, "{name} case {case} at eps = 0");
        }
    }
    tally(1, &format!("random {name} certificates"), count);
    println!("{refused} refused");
    assert!(refused * 10 <= count, "{name}: {refused} of {count} certificates were refused");
}

#[test]
fn elimination_mixture_is_above_brute_force() {
    upper_bounds_hold("elimination", 11, 10_000, |random, f, eps| Some(random_mixture(random, f, eps)));
}

#[test]
fn logdet_bound_is_above_brute_force() {
    upper_bounds_hold("log-det", 12, 10_000, |random, f, eps| Some(random_logdet(random, f, eps)));
}

#[test]
fn weighted_spectral_bound_is_above_brute_force() {
    upper_bounds_hold("weighted spectral", 13, 10_000, |random, f, eps| {
        Some(random_weighted(random, f, eps))
    });
}

#[test]
fn tangent_bound_is_above_brute_force() {
    upper_bounds_hold("tangent", 14, 10_000, |random, f, eps| Some(random_tangent(random, f, eps)));
}

#[test]
fn bound_with_cuts_and_squares_is_above_brute_force() {
    upper_bounds_hold("cuts and squares", 15, 10_000, |random, f, eps| {
        (f.d() >= 2).then(|| random_with_slack(random, f, eps))
    });
}

#[test]
fn sparse_dual_bound_is_above_the_maximum() {
    upper_bounds_hold("sparse dual", 16, 10_000, |random, f, eps| Some(random_sparse_dual(random, f, eps)));
}

#[test]
fn witnesses_are_below_brute_force() {
    let mut random = Random(17);
    let count = cases(600, 10_000);
    for case in 0..count {
        let (d, scale) = (random.size(), random.model_scale());
        let f = random_polynomial(&mut random, d, scale);
        let eps = if random.below(5) == 0 { 0.0 } else { random.magnitude(1e-3, 1e3) };
        let witness = random_witness(&mut random, &f, eps);
        let certificate =
            Certificate { eps, slack: Default::default(), components: Vec::new(), witness: Some(witness) };
        let lower = certificate.verify_lower(&f).unwrap().phi();
        let exact = brute_force(&f, eps);
        assert!(lower <= exact.hi, "case {case}: {lower} > {exact:?} by {:?}", certificate.witness);
        assert!(certificate.verify(&f).is_err());
    }
    tally(1, "random witnesses", count);
}

#[test]
fn overflow_is_refused_or_sound() {
    let mut random = Random(19);
    let (count, mut refused) = (cases(300, 3000), 0);
    for _ in 0..count {
        let d = 2 + random.below(4);
        let scale = random.magnitude(1e290, 1.7e308);
        let f: Polynomial = random_ising(&mut random, d, scale).into();
        let exact = brute_force(&f, 1.0);
        let mut certificate = random_mixture_of_itself(&mut random, &f);
        certificate.witness = Some(random_elimination(&mut random, d));
        match certificate.verify(&f) {
            Ok(bound) => assert!(exact.lo.is_nan() || bound.phi() >= exact.lo),
            Err(_) => refused += 1,
        }
        if let Ok(bound) = certificate.verify_lower(&f) {
            assert!(exact.hi.is_nan() || bound.phi() <= exact.hi);
        }
    }
    tally(5, "models near the largest float", count);
    println!("{refused} refused");
    assert!(refused < count, "nothing was proved");
}

#[test]
fn a_model_without_spins_is_its_constant() {
    let f: Polynomial = zbound::Ising::new(0, &[], &[]).unwrap().with_constant(1.5).unwrap().into();
    let mut matrix = Square::zeros(1);
    matrix.data_mut()[0] = 1.5;
    let eigen = decompose(&matrix);
    let spectral = Form::Spectral { features: Features::degree(0, 1), matrix, eigen };
    let elimination = Form::Elimination { polynomial: f.clone(), order: Vec::new() };
    for form in [spectral, elimination, Form::Constant { value: 1.5 }] {
        let upper = single(2.0, form).verify(&f).unwrap().phi();
        assert!((1.5..1.5 + 1e-12).contains(&upper), "{upper}");
    }
}

#[test]
fn exact_witnesses_are_tight() {
    let mut random = Random(18);
    for _ in 0..100 {
        let d = random.size();
        let f: Polynomial = random_forest(&mut random, d, 1.0).into();
        let exact = brute_force(&f, 0.3);
        for witness in [Witness::Forest { polynomial: f.clone() }, random_elimination(&mut random, d)] {
            let witness = Some(witness);
            let certificate =
                Certificate { eps: 0.3, slack: Default::default(), components: Vec::new(), witness };
            let lower = certificate.verify_lower(&f).unwrap().phi();
            assert!(exact.lo - lower < 1e-11, "{lower} against {exact:?}");
        }
    }
}
