//! Promise 3: every certificate the library writes is accepted, an altered one is rejected or still true.

#[path = "../../core/tests/proofs/mod.rs"]
mod proofs;

use proofs::*;
use std::path::Path;
use std::process::{Command, Output};
use zbound::certify::{Certificate, Claim};
use zbound::{FactorModel, Ising, Model, Polynomial, Source};

fn run(model: &Path, certificate: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zbound-check"));
    command.arg(model).arg(certificate).output().expect("the checker starts")
}

fn run_with(model: &Path, certificate: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zbound-check"));
    command.arg(model).arg(certificate).args(options).output().expect("the checker starts")
}

/// Native JSON; Rust prints floats so that they read back bit for bit.
fn native_json(f: &Polynomial) -> String {
    let ising = f.pairwise_part();
    let couplings: Vec<String> = ising.triples().map(|(i, j, v)| format!("[{j},{i},{v:?}]")).collect();
    let terms: Vec<String> = f.terms().iter().map(|(set, v)| format!("[{set},{v:?}]")).collect();
    format!(
        "{{\"d\":{},\"constant\":{:?},\"fields\":{:?},\"couplings\":[{}],\"terms\":[{}]}}",
        f.d(),
        ising.constant(),
        ising.fields(),
        couplings.join(","),
        terms.join(",")
    )
}

fn one_of_each(random: &mut Random, f: &Polynomial, eps: f64) -> Vec<Certificate> {
    let mut all = vec![random_spectral(random, f, eps)];
    if f.as_ising().is_some() && f.d() >= 2 {
        all.push(random_mixture(random, f, eps));
        all.push(random_logdet(random, f, eps));
        all.push(random_weighted(random, f, eps));
        all.push(random_tangent(random, f, eps));
        all.push(random_with_slack(random, f, eps));
        all.push(random_sparse_dual(random, f, eps));
    }
    for certificate in &mut all {
        certificate.witness = Some(random_witness(random, f, eps));
    }
    all
}

#[test]
fn every_certificate_we_write_is_accepted() {
    let mut random = Random(31);
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("m.json"), folder.path().join("m.zcert"));
    let (models, mut accepted) = (cases(60, 2000), 0);
    for case in 0..models {
        let (d, scale) = (random.size(), random.model_scale());
        let f = if case % 3 == 0 {
            random_polynomial(&mut random, d, scale)
        } else {
            random_ising(&mut random, d, scale).into()
        };
        std::fs::write(&model, native_json(&f)).unwrap();
        let eps = random.magnitude(1e-3, 1e3);
        for (kind, mut certificate) in one_of_each(&mut random, &f, eps).into_iter().enumerate() {
            if random.below(10) == 0
                && !matches!(certificate.witness, Some(zbound::certify::Witness::Forest { .. }))
            {
                certificate.eps = 0.0;
            }
            let Ok(claim) = certificate.claim(&f, &[]) else { continue };
            certificate.write(&proof, &claim).unwrap();
            let output = run(&model, &proof);
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                output.status.code(),
                Some(0),
                "case {case} kind {kind} eps {}: {complaint}",
                certificate.eps
            );
            let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(line["verified"], true);
            assert_eq!(line["phi_upper"].as_f64(), claim.phi_upper);
            assert_eq!(line["log_z_lower"].as_f64(), claim.log_z_lower);
            let low = Claim { phi_upper: claim.phi_upper.map(|u| u - 0.5 * u.abs() - 1.0), ..claim };
            if low.phi_upper < Some(brute_force(&f, certificate.eps).lo) {
                certificate.write(&proof, &low).unwrap();
                assert_eq!(
                    run(&model, &proof).status.code(),
                    Some(1),
                    "case {case}: a false claim was accepted"
                );
            }
            accepted += 1;
        }
    }
    println!("checker: {accepted} certificates of {models} models, all accepted");
    assert!(accepted > models);
}

#[test]
fn proofs_of_the_combined_bound_are_accepted() {
    use zbound::relax::{Combined, Relaxation};
    let mut random = Random(37);
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("m.json"), folder.path().join("m.zcert"));
    for case in 0..cases(30, 1000) {
        let (d, scale) = (3 + random.below(7), random.model_scale());
        let ising = random_ising(&mut random, d, scale);
        let f = Polynomial::from(ising.clone());
        let problem = zbound::Problem::new(ising, zbound::Features::degree(d, 1)).unwrap();
        let problem = problem.with_temperature(random.magnitude(1e-2, 1e2)).unwrap();
        let iterations = Some(1 + random.below(40)).filter(|_| case % 2 == 0);
        let settings = zbound::Settings::default().with_max_iterations(iterations);
        let certificate = Combined.solve(&problem, &settings).unwrap().certificate.unwrap();
        let claim = certificate.claim(&f, &[]).unwrap();
        std::fs::write(&model, native_json(&f)).unwrap();
        certificate.write(&proof, &claim).unwrap();
        let output = run(&model, &proof);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "case {case}: {complaint}");
        let false_claim = Claim {
            phi_upper: Some(brute_force(&f, certificate.eps).lo).map(|v| v - 1e-9 * (1.0 + v.abs())),
            ..claim
        };
        certificate.write(&proof, &false_claim).unwrap();
        assert_eq!(run(&model, &proof).status.code(), Some(1), "case {case}: a false claim was accepted");
    }
}

#[test]
fn large_matrices_are_accepted() {
    let mut random = Random(32);
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("m.json"), folder.path().join("m.zcert"));
    for d in if cases(0, 1) == 1 { vec![99, 199, 499, 999] } else { vec![99, 199] } {
        let f: Polynomial = random_ising(&mut random, d, 0.2).into();
        std::fs::write(&model, native_json(&f)).unwrap();
        let matrix = hollow(&f);
        let eigen = decompose(&matrix);
        let features = zbound::Features::degree(d, 1);
        let certificate = single(1.0, zbound::certify::Form::Spectral { features, matrix, eigen });
        certificate.write(&proof, &certificate.claim(&f, &[]).unwrap()).unwrap();
        let start = std::time::Instant::now();
        let output = run(&model, &proof);
        println!("checker at n = {}: {:?}", d + 1, start.elapsed());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_large_sparse_dual_is_accepted() {
    let side = cases(30, 100);
    let d = side * side;
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("m.json"), folder.path().join("m.zcert"));
    let joins = |i: usize| {
        [(i + 1) % side + i / side * side, (i + side) % d]
            .map(|j| (i, j, if (i * j).is_multiple_of(3_usize) { 1.0 } else { -1.0 }))
    };
    let couplings: Vec<_> = (0..d).flat_map(joins).collect();
    let f: Polynomial = Ising::new(d, &vec![0.0; d], &couplings).unwrap().into();
    let mut diagonal = vec![2.0; d + 1];
    diagonal[0] = 0.0;
    let certificate = single(0.0, zbound::certify::Form::sparse_dual(&f, &diagonal).unwrap());
    std::fs::write(&model, native_json(&f)).unwrap();
    certificate.write(&proof, &certificate.claim(&f, &[]).unwrap()).unwrap();
    let start = std::time::Instant::now();
    let output = run(&model, &proof);
    println!("checker on a sparse dual, d = {d}: {:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn altered_files_are_rejected_or_still_true() {
    let mut random = Random(33);
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("m.json"), folder.path().join("m.zcert"));
    let (count, mut rejected) = (cases(500, 10_000), 0);
    for _ in 0..count / 10 {
        let d = 2 + random.below(3);
        let f: Polynomial = random_ising(&mut random, d, 1.0).into();
        std::fs::write(&model, native_json(&f)).unwrap();
        let all = one_of_each(&mut random, &f, 1.0);
        for _ in 0..10 {
            let certificate = &all[random.below(all.len())];
            let claim = certificate.claim(&f, &[]).unwrap();
            let mut bytes = certificate.to_bytes(&claim);
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            std::fs::write(&proof, &bytes).unwrap();
            let output = run(&model, &proof);
            match output.status.code() {
                Some(0) => check_line(&output.stdout, &f),
                Some(1 | 2) => rejected += 1,
                other => panic!("exit {other:?}: {}", String::from_utf8_lossy(&output.stderr)),
            }
        }
    }
    println!("checker: {count} bit flips, {rejected} rejected, the rest still true");
    assert!(5 * rejected > 3 * count, "only {rejected} of {count} rejected");
}

fn check_line(stdout: &[u8], f: &Polynomial) {
    let line: serde_json::Value = serde_json::from_slice(stdout).unwrap();
    let exact = brute_force(f, line["eps"].as_f64().unwrap());
    assert!(line["phi_upper"].as_f64().is_none_or(|u| u >= exact.lo), "{line} but {exact:?}");
    assert!(line["phi_lower"].as_f64().is_none_or(|l| l <= exact.hi), "{line} but {exact:?}");
}

/// A random UAI file with tables over one to three variables, and the same model in the library.
fn random_uai(random: &mut Random, d: usize) -> (String, Model) {
    let mut factors = FactorModel::new(d);
    let (mut scopes, mut tables) = (String::new(), String::new());
    let count = 1 + random.below(2 * d);
    for _ in 0..count {
        let arity = 1 + random.below(3.min(d));
        let mut scope: Vec<usize> = random_order(random, d).into_iter().map(|i| i as usize).collect();
        scope.truncate(arity);
        let table: Vec<f64> = (0..1 << arity).map(|_| random.magnitude(1e-6, 1e3)).collect();
        scopes += &format!("{arity} {}\n", scope.iter().map(usize::to_string).collect::<Vec<_>>().join(" "));
        tables += &format!(
            "{}\n{}\n",
            table.len(),
            table.iter().map(|p| format!("{p:?}")).collect::<Vec<_>>().join(" ")
        );
        // UAI's last variable is the fastest, the library's first is.
        let reversed = |k: usize| (0..arity).map(|p| (k >> p & 1) << (arity - 1 - p)).sum::<usize>();
        let logs: Vec<f64> = (0..table.len()).map(|k| table[reversed(k)].ln()).collect();
        factors.push(&scope, &logs).unwrap();
        factors.add_uncertainty(logs.iter().map(|v| v.abs()).fold(0.0, f64::max) * 2.0 * f64::EPSILON);
    }
    let cards = vec!["2"; d].join(" ");
    (format!("MARKOV\n{d}\n{cards}\n{count}\n{scopes}\n{tables}"), Model::new(Source::Factors(factors)))
}

#[test]
fn uai_tables_and_evidence_are_read_independently() {
    let mut random = Random(34);
    let folder = tempfile::tempdir().unwrap();
    let (path, proof) = (folder.path().join("m.uai"), folder.path().join("m.zcert"));
    let given = folder.path().join("m.evid");
    for case in 0..cases(60, 1000) {
        let d = 2 + random.below(7);
        let (text, model) = random_uai(&mut random, d);
        std::fs::write(&path, text).unwrap();
        let mut evidence = Vec::new();
        for i in 0..d - 1 {
            if random.below(4) == 0 {
                evidence.push((i, if random.below(2) == 0 { 1 } else { -1 }));
            }
        }
        let model = model.with_evidence(&evidence).unwrap();
        let pairs: Vec<String> = evidence.iter().map(|(i, s)| format!("{i} {}", u8::from(*s > 0))).collect();
        std::fs::write(&given, format!("{} {}\n", pairs.len(), pairs.join(" "))).unwrap();
        let f = model.polynomial().unwrap();
        let mut certificate = random_spectral(&mut random, &f, 1.0);
        certificate.witness = Some(random_witness(&mut random, &f, 1.0));
        certificate.write(&proof, &certificate.claim(&f, model.fixed()).unwrap()).unwrap();
        let output = run_with(&path, &proof, &["--evidence", given.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "case {case}: {}", String::from_utf8_lossy(&output.stderr));
        let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(line["evidence"].as_array().unwrap().len(), evidence.len());
        let silent = run(&path, &proof);
        assert_eq!(silent.status.code(), Some(if evidence.is_empty() { 0 } else { 1 }), "case {case}");
    }
}

#[test]
fn a_multiple_precision_checker_agrees() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/tests/check_mpmath.py");
    let found = Command::new("python3").args(["-c", "import mpmath"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: python3 with mpmath is not here");
        return;
    }
    let mut random = Random(36);
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("m.json"), folder.path().join("m.zcert"));
    for case in 0..cases(6, 60) {
        let (d, scale) = (random.size(), random.model_scale());
        let f = random_polynomial(&mut random, d, scale);
        std::fs::write(&model, native_json(&f)).unwrap();
        let eps = random.magnitude(1e-3, 1e3);
        let certificate = random_spectral(&mut random, &f, eps);
        certificate.write(&proof, &certificate.claim(&f, &[]).unwrap()).unwrap();
        let output = Command::new("python3").arg(script).args([&model, &proof]).output().unwrap();
        assert!(output.status.success(), "case {case}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn unreadable_files_are_told_apart_from_rejected_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (model, other, proof) =
        (folder.path().join("m.json"), folder.path().join("g.mc"), folder.path().join("m.zcert"));
    let f: Polynomial = Ising::new(2, &[0.5, 0.0], &[(0, 1, 1.0)]).unwrap().into();
    std::fs::write(&model, native_json(&f)).unwrap();
    std::fs::write(&other, "2 1\n1 2 1\n").unwrap();
    let mut random = Random(35);
    let certificate = random_spectral(&mut random, &f, 1.0);
    certificate.write(&proof, &certificate.claim(&f, &[]).unwrap()).unwrap();
    assert_eq!(run(&model, &proof).status.code(), Some(0));
    let converted = run(&other, &proof);
    assert_eq!(converted.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&converted.stderr).contains("zbound convert"));
    assert_eq!(run(&model, &model).status.code(), Some(2));
    assert_eq!(run(&model, &folder.path().join("absent")).status.code(), Some(2));
    let stronger: Polynomial = Ising::new(2, &[5.0, 0.0], &[(0, 1, 1.0)]).unwrap().into();
    std::fs::write(&model, native_json(&stronger)).unwrap();
    assert_eq!(run(&model, &proof).status.code(), Some(1));
}
