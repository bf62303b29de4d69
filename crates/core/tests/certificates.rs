//! Promise 3 on the library's side: files round-trip, altered files are rejected or still true; and
//! how much certification widens.

mod proofs;

use proofs::*;
use zbound::certify::{Certificate, Claim, Form};
use zbound::linalg::{EigenWork, Square, eigh};
use zbound::{Error, Features, Ising, Polynomial};

/// A certificate of every kind with a witness, for one model.
fn one_of_each(random: &mut Random, f: &Polynomial, eps: f64) -> Vec<Certificate> {
    let mut all = vec![
        random_spectral(random, f, eps),
        random_mixture(random, f, eps),
        random_logdet(random, f, eps),
        random_weighted(random, f, eps),
        random_tangent(random, f, eps),
        random_with_slack(random, f, eps),
        random_sparse_dual(random, f, eps),
    ];
    for certificate in &mut all {
        certificate.witness = Some(random_witness(random, f, eps));
    }
    all
}

#[test]
fn files_round_trip_bit_for_bit() {
    let mut random = Random(21);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proof.zcert");
    for _ in 0..20 {
        let d = 2 + random.below(5);
        let f: Polynomial = random_ising(&mut random, d, 1.0).into();
        for certificate in one_of_each(&mut random, &f, 0.5) {
            let claim = certificate.claim(&f, &[]).unwrap();
            certificate.write(&path, &claim).unwrap();
            let (read, said) = Certificate::read(&path).unwrap();
            assert_eq!((&read, &said), (&certificate, &claim));
            said.confirm(&read, &f).unwrap();
            let too_low = Claim { phi_upper: claim.phi_upper.map(f64::next_down), ..said.clone() };
            assert!(matches!(too_low.confirm(&read, &f), Err(Error::Certificate(_))));
            let too_high = Claim { phi_lower: claim.phi_lower.map(f64::next_up), ..said };
            assert!(too_high.confirm(&read, &f).is_err());
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "a temporary file was left behind");
}

/// Whether the file is rejected; panics when it is accepted and false.
fn rejected_or_true(bytes: &[u8], f: &Polynomial, what: &str) -> bool {
    let Ok((certificate, claim)) = Certificate::from_bytes(bytes) else { return true };
    if claim.confirm(&certificate, f).is_err() {
        return true;
    }
    let exact = brute_force(f, certificate.eps);
    assert!(claim.phi_upper.is_none_or(|u| u >= exact.lo), "{what}: accepted {claim:?}, exact {exact:?}");
    assert!(claim.phi_lower.is_none_or(|l| l <= exact.hi), "{what}: accepted {claim:?}, exact {exact:?}");
    false
}

#[test]
fn altered_files_are_rejected_or_still_true() {
    let mut random = Random(22);
    let (count, mut rejected) = (cases(700, 14_000), 0);
    for case in 0..count / 7 {
        let d = 2 + random.below(3);
        let f: Polynomial = random_ising(&mut random, d, 1.0).into();
        for certificate in one_of_each(&mut random, &f, 1.0) {
            let mut bytes = certificate.to_bytes(&certificate.claim(&f, &[]).unwrap());
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            rejected += usize::from(rejected_or_true(&bytes, &f, &format!("case {case}")));
        }
    }
    tally(3, "files with one bit changed", count);
    println!("{rejected} rejected, the rest still true");
    assert!(5 * rejected > 4 * count, "only {rejected} of {count} rejected");
}

#[test]
fn altered_fields_are_rejected_or_still_true() {
    let mut random = Random(23);
    let f: Polynomial = random_ising(&mut random, 3, 1.0).into();
    let hostile =
        ["0", "-1", "1", "2", "1e308", "1e-308", "null", "[]", "[[0]]", "\"x\"", "18446744073709551615"];
    let (mut tried, mut rejected) = (0, 0);
    for certificate in one_of_each(&mut random, &f, 1.0) {
        let bytes = certificate.to_bytes(&certificate.claim(&f, &[]).unwrap());
        let magic = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
        let end = magic + bytes[magic..].iter().position(|&b| b == b'\n').unwrap();
        let header: serde_json::Value = serde_json::from_slice(&bytes[magic..end]).unwrap();
        for path in leaf_paths(&header) {
            for text in hostile {
                let mut altered = header.clone();
                *altered.pointer_mut(&path).unwrap() = serde_json::from_str(text).unwrap();
                let mut file = bytes[..magic].to_vec();
                file.extend(serde_json::to_vec(&altered).unwrap());
                file.extend(&bytes[end..]);
                rejected += usize::from(rejected_or_true(&file, &f, &format!("{path} = {text}")));
                tried += 1;
            }
        }
        for cut in [1, 8, bytes.len() - end] {
            assert!(rejected_or_true(&bytes[..bytes.len() - cut], &f, "truncated"));
        }
    }
    tally(3, "files with one field changed", tried);
    println!("{rejected} rejected, the rest still true");
    assert!(5 * rejected > 4 * tried, "only {rejected} of {tried} rejected");
}

/// JSON pointers of every value in the document, containers included.
fn leaf_paths(value: &serde_json::Value) -> Vec<String> {
    let mut paths = Vec::new();
    let mut stack = vec![(String::new(), value)];
    while let Some((path, value)) = stack.pop() {
        match value {
            serde_json::Value::Object(map) => {
                stack.extend(map.iter().map(|(key, v)| (format!("{path}/{key}"), v)))
            }
            serde_json::Value::Array(list) => {
                stack.extend(list.iter().enumerate().map(|(k, v)| (format!("{path}/{k}"), v)))
            }
            _ => {}
        }
        if !path.is_empty() {
            paths.push(path);
        }
    }
    paths
}

fn spin_glass(random: &mut Random, d: usize) -> Polynomial {
    let width = 1.0 / (d as f64).sqrt();
    let mut couplings = Vec::new();
    for i in 0..d {
        couplings.extend((i + 1..d).map(|j| (i, j, width * random.between(-1.7, 1.7))));
    }
    let fields: Vec<f64> = (0..d).map(|_| random.between(-1.0, 1.0)).collect();
    Ising::new(d, &fields, &couplings).unwrap().into()
}

/// The closed form in plain floating point.
fn plain_value(matrix: &Square, values: &[f64], eps: f64) -> f64 {
    let n = matrix.n() as f64;
    let top = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
    n * top + eps * (values.iter().map(|v| (n * (v - top) / eps).exp()).sum::<f64>() / n).ln()
}

#[test]
fn certification_hardly_widens() {
    let mut random = Random(24);
    let full = std::env::var_os("ZBOUND_FULL").is_some();
    let sizes: &[usize] = if full { &[50, 100, 200, 500, 1000] } else { &[50, 100, 200] };
    for &n in sizes {
        let f = spin_glass(&mut random, n - 1);
        measure(&f, Features::degree(n - 1, 1), hollow(&f), "(1, x)");
    }
    for d in if full { vec![10, 20, 30] } else { vec![10, 20] } {
        let f = spin_glass(&mut random, d);
        let features = Features::degree(d, 2);
        let matrix = random_matrix(&mut random, &f, &features, 0.0);
        measure(&f, features, matrix, "degree 2");
    }
}

fn measure(f: &Polynomial, features: Features, matrix: Square, name: &str) {
    let n = matrix.n();
    let (mut eigen, mut work) = (Default::default(), EigenWork::default());
    assert!(eigh(&matrix, &mut eigen, &mut work));
    let norm = eigen.values.iter().fold(0.0, |m: f64, v| m.max(v.abs())) * n as f64;
    let plain = plain_value(&matrix, &eigen.values, 1.0);
    let certificate = single(1.0, Form::Spectral { features, matrix, eigen });
    let upper = certificate.verify(f).unwrap().phi();
    let widening = (upper - plain) / norm.max(1.0);
    println!("{name} n {n}: widening {widening:.1e}");
    assert!(widening > 0.0 && widening <= if n <= 200 { 1e-9 } else { 1e-7 });
}

#[test]
fn elimination_handles_long_chains() {
    let d = 100_000;
    let couplings: Vec<_> = (1..d).map(|i| (i - 1, i, 0.5)).collect();
    let f: Polynomial = Ising::new(d, &vec![0.1; d], &couplings).unwrap().into();
    let form = Form::Elimination { polynomial: f.clone(), order: (0..d as u32).collect() };
    let upper = single(1.0, form).verify(&f).unwrap().phi();
    // Transfer matrix: the larger eigenvalue of [[e^(J+h), e^-J], [e^-J, e^(J-h)]] / 2.
    let (j, h) = (0.5f64, 0.1f64);
    let largest = j.exp() * h.cosh() + (j.exp().powi(2) * h.sinh().powi(2) + (-2.0 * j).exp()).sqrt();
    let expected = d as f64 * (largest / 2.0).ln();
    assert!((upper - expected).abs() < 1.0, "{upper} against {expected}");
}

#[test]
fn sparse_duals_scale_to_thousands_of_spins() {
    let side = if std::env::var_os("ZBOUND_FULL").is_some() { 100 } else { 40 };
    let (d, mut random) = (side * side, Random(25));
    let mut couplings = Vec::new();
    for i in 0..d {
        let (right, down) = ((i + 1) % side + i / side * side, (i + side) % d);
        couplings.extend([right, down].map(|j| (i, j, if random.below(2) == 0 { 1.0 } else { -1.0 })));
    }
    let f: Polynomial = Ising::new(d, &vec![0.0; d], &couplings).unwrap().into();
    // The couplings of a spin add up to 4 in absolute value: diag(2) - P is singular at best.
    let mut diagonal = vec![2.0; d + 1];
    diagonal[0] = 0.0;
    let form = Form::sparse_dual(&f, &diagonal).unwrap();
    let upper = single(0.0, form).verify(&f).unwrap().phi();
    assert!(upper >= 2.0 * d as f64 && upper < 2.0 * d as f64 * (1.0 + 1e-6));
}
