//! Every certificate that a run writes is accepted by the program, whatever the model: trivial tables, entries at the
//! ends of floating point, no variables at all, every method, hot and cold.

#[path = "../../core/tests/proofs/mod.rs"]
mod proofs;

use proofs::*;
use std::path::Path;
use std::process::{Command, Output};
use zbound::io::{ReadOptions, read};
use zbound::query::map::{MapRequest, map};
use zbound::run::{BoundRequest, MethodChoice, bound};
use zbound::{Method, Settings, Silent};

fn check(model: &Path, proof: &Path, evidence: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zbound-check"));
    command.arg(model).arg(proof);
    if let Some(path) = evidence {
        command.arg("--evidence").arg(path);
    }
    command.output().expect("the checker starts")
}

/// Positive tables over up to six spins (none now and then) with the entries that have made trouble.
fn uai(random: &mut Random, most_spins: usize, zeros: bool) -> String {
    let d = random.below(most_spins + 1);
    let count = if d == 0 { 0 } else { 1 + random.below(2 * d) };
    let (mut scopes, mut tables) = (String::new(), String::new());
    let kind = random.below(5);
    for _ in 0..count {
        let arity = 1 + random.below(2.min(d));
        let scope: Vec<String> = random_order(random, d).iter().take(arity).map(u32::to_string).collect();
        let entry = |random: &mut Random| match (kind, random.below(6)) {
            _ if zeros && random.below(8) == 0 => 0.0,
            (0, _) | (_, 0) => 1.0,
            (1, _) => 1.0 + 1e-12 * random.unit(),
            (2, _) => random.magnitude(1e-300, 1.7e308),
            (3, 1) => 1.7e308,
            (3, 2) => 2e-308,
            _ => random.magnitude(1e-3, 1e3),
        };
        let table: Vec<String> = (0..1 << arity).map(|_| format!("{:e}", entry(random))).collect();
        scopes += &format!("{arity} {}\n", scope.join(" "));
        tables += &format!("\n{}\n{}\n", table.len(), table.join(" "));
    }
    format!("MARKOV\n{d}\n{}\n{count}\n{scopes}{tables}", vec!["2"; d].join(" "))
}

#[test]
fn every_certificate_of_a_run_is_accepted() {
    let (seed, count) = (71, cases(12, 400));
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let (path, proof) = (folder.path().join("m.uai"), folder.path().join("m.zbc"));
    let mut accepted = 0;
    for case in 0..count {
        let text = uai(&mut random, 6, case % 4 == 3);
        std::fs::write(&path, &text).unwrap();
        let Ok(model) = read(&path, &ReadOptions::default()) else { continue };
        for method in Method::ALL {
            let mut request = BoundRequest::default();
            request.methods = MethodChoice::List(vec![method]);
            request.eps = [1.0, 1e-2, 1e-6, 1e-12, 1e3, 1e12][random.below(6)];
            request.want_certificate = true;
            request.settings = Settings::default().with_max_iterations(Some(1 + random.below(40)));
            let report = bound(&model, &request, &mut Silent).unwrap();
            let what = format!("seed {seed} case {case} {} at {:e}\n{text}", method.name(), request.eps);
            match report.write_certificate(&model, &proof) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => panic!("{what}: {error}"),
            }
            let output = check(&path, &proof, None);
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{what}: {complaint}");
            accepted += 1;
        }
    }
    tally(3, "certificates of runs that the checker accepts", accepted);
    assert!(accepted > 3 * count, "{accepted} of {count} models");
}

#[test]
fn certificates_of_map_are_accepted_even_of_nothing() {
    let mut random = Random(72);
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("m.zbc");
    let (json, uai_path) = (folder.path().join("m.json"), folder.path().join("m.uai"));
    let mut accepted = 0;
    for case in 0..cases(12, 200) {
        let (path, text) = match case {
            0 => (&json, "{\"d\":0}".to_owned()),
            1 => (&json, "{\"d\":4}".to_owned()),
            2 => (&json, "{\"d\":3,\"fields\":[0,-0.0,0]}".to_owned()),
            3 => (&json, "{\"d\":0,\"constant\":-1.5}".to_owned()),
            _ => (&uai_path, uai(&mut random, 5, false)),
        };
        std::fs::write(path, &text).unwrap();
        let model = read(path, &ReadOptions::default()).unwrap();
        let report = map(&model, &MapRequest::default(), &mut Silent).unwrap();
        if !report.write_certificate(&model, &proof).unwrap() {
            continue;
        }
        let output = check(path, &proof, None);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "seed 72 case {case}: {complaint}\n{text}");
        accepted += 1;
    }
    assert!(accepted > 3, "{accepted}");
}

#[test]
fn a_bracket_of_two_methods_is_one_file_with_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let (path, proof) = (folder.path().join("m.uai"), folder.path().join("m.zbc"));
    let evidence = folder.path().join("m.evid");
    let mut random = Random(73);
    let mut text = uai(&mut random, 6, false);
    while text.starts_with("MARKOV\n0") || text.starts_with("MARKOV\n1") {
        text = uai(&mut random, 6, false);
    }
    std::fs::write(&path, text).unwrap();
    std::fs::write(&evidence, "1 0 1").unwrap();
    let options = ReadOptions { evidence: Some(evidence.clone()), ..ReadOptions::default() };
    let model = read(&path, &options).unwrap();
    let mut request = BoundRequest::default();
    request.methods = MethodChoice::List(vec![Method::Quantum, Method::MeanField]);
    let report = bound(&model, &request, &mut Silent).unwrap();
    assert!(report.write_certificate(&model, &proof).unwrap());
    let output = check(&path, &proof, Some(&evidence));
    let line: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(line["evidence"], serde_json::json!([[0, 1]]));
    assert_eq!(line["log_z_upper"].as_f64(), report.record.best.log_z.upper);
    assert_eq!(line["log_z_lower"].as_f64(), report.record.best.log_z.lower);
    assert_eq!(check(&path, &proof, None).status.code(), Some(1));
}
