//! Promise 1 at the ends of floating point: a field of a certificate that underflows, overflows or loses its sign
//! proves nothing false.

mod proofs;

use proofs::*;
use zbound::certify::{Certificate, Component, Form, Slack};
use zbound::linalg::{Eigen, Square};
use zbound::{Features, Ising, Polynomial};

/// One certificate of each form, with a witness, for the same pairwise model.
fn one_of_each(random: &mut Random, f: &Polynomial, eps: f64) -> Vec<Certificate> {
    let mut all = vec![
        random_spectral(random, f, eps),
        random_mixture(random, f, eps),
        random_logdet(random, f, eps),
        random_weighted(random, f, eps),
        random_tangent(random, f, eps),
        random_with_slack(random, f, eps),
        random_sparse_dual(random, f, eps),
        single(eps, Form::Constant { value: f.l1_norm() }),
    ];
    for certificate in &mut all {
        certificate.witness = Some(random_witness(random, f, eps));
    }
    all
}

/// Whether what the file proves, if anything, is true; the number of sides it proves.
fn sides_proved(bytes: &[u8], f: &Polynomial, what: &str) -> usize {
    let Ok((certificate, _)) = Certificate::from_bytes(bytes) else { return 0 };
    let exact = brute_force(f, certificate.eps);
    let (upper, lower) = (certificate.verify(f), certificate.verify_lower(f));
    if let Ok(bound) = &upper {
        assert!(bound.phi() >= exact.lo, "{what}: proves phi <= {}, exact {exact:?}", bound.phi());
    }
    if let Ok(bound) = &lower {
        assert!(bound.phi() <= exact.hi, "{what}: proves phi >= {}, exact {exact:?}", bound.phi());
    }
    usize::from(upper.is_ok()) + usize::from(lower.is_ok())
}

#[test]
fn extreme_fields_prove_nothing_false() {
    let mut random = Random(41);
    let (mut tried, mut proved) = (0, 0);
    for case in 0..cases(6, 400) {
        let d = 2 + random.below(2);
        let f: Polynomial = match case % 3 {
            0 => Ising::new(d, &vec![0.0; d], &[]).unwrap().into(),
            _ => random_ising(&mut random, d, 1.0).into(),
        };
        let eps = [1.0, 1e-12, 1e12, 0.03][random.below(4)];
        for (kind, certificate) in one_of_each(&mut random, &f, eps).into_iter().enumerate() {
            let Ok(claim) = certificate.claim(&f, &[]) else { continue };
            let bytes = certificate.to_bytes(&claim);
            let floats = (bytes.len() - floats_at(&bytes)) / 8;
            for which in 0..2 * floats * EXTREMES.len() {
                let altered = with_extremes(&mut random, &bytes, which);
                proved += sides_proved(
                    &altered,
                    &f,
                    &format!("seed 41 case {case} kind {kind} alteration {which}"),
                );
                tried += 1;
            }
        }
    }
    tally(1, "certificates with extreme fields", tried);
    println!("extremes: {tried} altered certificates, {proved} sides proved, all true");
    assert!(tried > 1000 && proved > tried / 20, "{tried} {proved}");
}

/// `Phi(0) = 0` on one spin: with these numbers eps over the total of eta once rounded to a negative number.
#[test]
fn a_quotient_that_underflows_never_turns_negative() {
    let f: Polynomial = Ising::new(1, &[0.0], &[]).unwrap().into();
    for (eps, eta, value) in
        [(5e-324, 3.0, 5e307), (1e-175, 1e150, 1.7e158), (2e-171, 1e153, 1.7e155), (1e-12, 1.7e308, 1e300)]
    {
        let unit = |v: f64| Eigen { values: vec![v], vectors: Square::from_column_major(1, vec![1.0]) };
        let form = Form::Tangent {
            features: Features::new(1, vec![zbound::VarSet::EMPTY]).unwrap(),
            eta: vec![eta],
            point: unit(value),
            matrix: Square::zeros(1),
            eigen: unit(0.0),
        };
        let components = vec![Component { weight: 1.0, form }];
        let certificate = Certificate { eps, slack: Slack::default(), components, witness: None };
        if let Ok(bound) = certificate.verify(&f) {
            assert!(bound.phi() >= 0.0, "eps {eps:e}: proves phi <= {}", bound.phi());
        }
    }
}

#[test]
fn temperatures_out_of_range_are_refused() {
    let mut random = Random(42);
    let f: Polynomial = random_ising(&mut random, 2, 1.0).into();
    for certificate in one_of_each(&mut random, &f, 1.0) {
        let bytes = certificate.to_bytes(&certificate.claim(&f, &[]).unwrap());
        for eps in ["5e-324", "1e-308", "9.9e-13", "1.1e12", "1e308", "-1", "-1e-5"] {
            let Ok((altered, _)) = Certificate::from_bytes(&with_eps(&bytes, eps)) else { continue };
            assert!(
                altered.verify(&f).is_err() && altered.verify_lower(&f).is_err(),
                "eps = {eps} was accepted"
            );
        }
        for eps in ["0", "-0.0", "1e-12", "1e12"] {
            let (altered, _) = Certificate::from_bytes(&with_eps(&bytes, eps)).unwrap();
            sides_proved(&with_eps(&bytes, eps), &f, eps);
            assert!(altered.map_bound(&f).is_ok());
        }
    }
}
