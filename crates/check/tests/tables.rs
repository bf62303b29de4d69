//! Proofs about tables through the checker: what the library writes is accepted, what is false is not.

#[path = "../../core/tests/proofs/mod.rs"]
mod proofs;

use proofs::*;
use zbound::certify::{Certificate, Claim, Interval, Witness};
use zbound::{FactorModel, Ising, Model, Polynomial, Source};
use zbound_check::{Limits, Refusal, Request, check_with};

/// Native JSON of tables, the last variable fastest.
fn native_tables(model: &FactorModel) -> String {
    let number = |v: &f64| if v.is_finite() { format!("{v:?}") } else { "null".into() };
    let factor = |f: zbound::FactorRef<'_>| {
        let scope: Vec<u32> = f.scope.iter().rev().copied().collect();
        let log: Vec<String> = f.table.iter().map(number).collect();
        format!("{{\"scope\":{scope:?},\"log\":[{}]}}", log.join(","))
    };
    let factors: Vec<String> = model.factors().map(factor).collect();
    format!(
        "{{\"cardinalities\":{:?},\"constant\":{:?},\"factors\":[{}]}}",
        model.cardinalities(),
        model.constant(),
        factors.join(",")
    )
}

fn native_polynomial(f: &Polynomial) -> String {
    let ising = f.pairwise_part();
    let couplings: Vec<String> = ising.triples().map(|(i, j, v)| format!("[{j},{i},{v:?}]")).collect();
    let terms: Vec<String> = f.terms().iter().map(|(set, v)| format!("[{set},{v:?}]")).collect();
    let (d, constant, fields) = (f.d(), ising.constant(), ising.fields());
    format!(
        "{{\"d\":{d},\"constant\":{constant:?},\"fields\":{fields:?},\"couplings\":[{}],\"terms\":[{}]}}",
        couplings.join(","),
        terms.join(",")
    )
}

/// A UAI file of random positive or zero tables, and the library's view of it.
fn random_uai(random: &mut Random) -> (String, FactorModel) {
    let shape = random_tables(random, 1.0);
    let cardinalities: Vec<usize> = shape.cardinalities().iter().map(|q| *q as usize).collect();
    let mut model = FactorModel::with_cardinalities(&cardinalities).unwrap();
    let (mut scopes, mut tables) = (String::new(), String::new());
    for factor in shape.factors() {
        let entry = |v: f64| match random.below(12) {
            _ if v == f64::NEG_INFINITY => 0.0,
            0 => 1.0,
            1 => 1.0 + 1e-9 * random.unit(),
            2 => random.magnitude(1e-307, 1e308),
            _ => random.magnitude(1e-6, 1e3),
        };
        let table: Vec<f64> = factor.table.iter().copied().map(entry).collect();
        let scope: Vec<String> = factor.scope.iter().rev().map(u32::to_string).collect();
        scopes += &format!("{} {}\n", scope.len(), scope.join(" "));
        let numbers: Vec<String> = table.iter().map(|p| format!("{p:e}")).collect();
        tables += &format!("\n{}\n{}\n", table.len(), numbers.join(" "));
        let logs: Vec<f64> = table.iter().map(|p| if *p == 1.0 { 0.0 } else { libm_log(*p) }).collect();
        let own: Vec<usize> = factor.scope.iter().map(|v| *v as usize).collect();
        model.push(&own, &logs).unwrap();
        let finite = logs.iter().filter(|v| v.is_finite());
        model.add_uncertainty(finite.fold(0.0, |m: f64, v| m.max(v.abs())) * 4.0 * f64::EPSILON);
    }
    let cards: Vec<String> = cardinalities.iter().map(usize::to_string).collect();
    let head = format!("MARKOV\n{}\n{}\n{}\n", cards.len(), cards.join(" "), model.len());
    (head + &scopes + &tables, model)
}

fn libm_log(p: f64) -> f64 {
    if p == 0.0 { f64::NEG_INFINITY } else { p.ln() }
}

fn answer(name: &str, text: &str, evidence: Option<&str>, bytes: &[u8]) -> Result<String, Refusal> {
    let limits = Limits::default();
    check_with(&Request { model_path: name, model: text, evidence, certificate: bytes, limits })
}

/// Random evidence on a few variables, in one of the dialects.
fn random_evidence(random: &mut Random, cardinalities: &[u32]) -> (Vec<(usize, u32)>, String) {
    let mut pairs = Vec::new();
    for (i, &q) in cardinalities.iter().enumerate().skip(1) {
        if random.below(4) == 0 {
            pairs.push((i, random.below(q as usize) as u32));
        }
    }
    let words: Vec<String> = pairs.iter().map(|(i, s)| format!("{i} {s}")).collect();
    let text = match random.below(3) {
        0 => format!("{} {}\n", pairs.len(), words.join(" ")),
        1 => format!("1\n{} {}\n", pairs.len(), words.join(" ")),
        _ => format!("{}\n{}\n", pairs.len(), words.join("\n")),
    };
    (pairs, text)
}

#[test]
fn table_proofs_are_accepted_and_false_claims_are_not() {
    let (seed, count) = (61, cases(3000, 100_000));
    let mut random = Random(seed);
    let (mut accepted, mut false_claims) = (0, 0);
    for case in 0..count {
        let (name, text, tables) = match random.below(3) {
            0 => {
                let (text, model) = random_uai(&mut random);
                ("m.uai", text, Source::Factors(model))
            }
            1 => {
                let d = 1 + random.below(5);
                let f = random_polynomial(&mut random, d, 1.0);
                ("m.json", native_polynomial(&f), Source::Polynomial(f))
            }
            _ => {
                let scale = [0.0, 1.0, 1e-9, 1e5][random.below(4)];
                let model = random_tables(&mut random, scale);
                ("m.json", native_tables(&model), Source::Factors(model))
            }
        };
        let mut model = Model::new(tables);
        let mut evidence_text = None;
        if random.below(3) == 0 {
            let cardinalities: Vec<u32> = (0..model.variables()).map(|i| model.cardinality(i)).collect();
            let (pairs, text) = random_evidence(&mut random, &cardinalities);
            model = model.with_states(&pairs).unwrap();
            evidence_text = Some(text).filter(|_| !pairs.is_empty());
        }
        let tables = model.factors().unwrap();
        if tables.constant() == f64::NEG_INFINITY {
            continue;
        }
        let eps = [1.0, 0.0, 1e-2, 1e-12, 1e12, 30.0][random.below(6)];
        let certificate = random_table_certificate(&mut random, &tables, eps);
        let mut sides = certificate.clone();
        let claim = match sides.verify_model(&model) {
            Ok(claim) => claim,
            // A lower side may prove nothing where there are zeros.
            Err(_) => {
                sides.witness = None;
                let Ok(claim) = sides.verify_model(&model) else { continue };
                claim
            }
        };
        let what = format!("seed {seed} case {case} eps {eps}");
        let line = answer(name, &text, evidence_text.as_deref(), &sides.to_bytes(&claim));
        let line = line.unwrap_or_else(|why| panic!("{what}: {why:?}\n{sides:?}\n{text}"));
        assert!(line.contains("\"evidence\":[") && line.contains("\"log_z_upper\""), "{line}");
        accepted += 1;
        if evidence_text.is_some() {
            let silent = answer(name, &text, None, &sides.to_bytes(&claim));
            assert!(matches!(silent, Err(Refusal::Rejected(_))), "{what}: evidence was not asked for");
        }
        let Some(exact) = enumerate(&tables, eps) else { continue };
        let margin = 1e-9 * (exact.hi.abs() + eps) + 4.0 * tables.uncertainty() + 1e-300;
        let low = Claim { log_z_upper: Some(exact.lo - margin), ..claim.clone() };
        let high = Claim { log_z_lower: Some(exact.hi + margin), ..claim };
        for wrong in [low, high] {
            let verdict = answer(name, &text, evidence_text.as_deref(), &sides.to_bytes(&wrong));
            assert!(matches!(verdict, Err(Refusal::Rejected(_))), "{what}: {verdict:?} for {wrong:?}");
            false_claims += 1;
        }
    }
    tally(3, "proofs about tables that the checker accepts", accepted);
    println!("checker: {accepted} table proofs accepted, {false_claims} false claims rejected");
    assert!(accepted * 10 > count * 8, "{accepted} of {count}");
}

#[test]
fn bethe_points_are_accepted() {
    let mut random = Random(62);
    for case in 0..cases(300, 10_000) {
        let d = 2 + random.below(5);
        let mixed = random_ising(&mut random, d, 1.0);
        let couplings: Vec<_> = mixed.triples().map(|(i, j, v)| (i, j, v.abs())).collect();
        let ising = Ising::new(d, mixed.fields(), &couplings).unwrap();
        let means: Vec<f64> = (0..d).map(|_| random.between(-1.0, 1.0)).collect();
        let edges = ising.edges().to_vec();
        let inside = |&[i, j]: &[u32; 2]| means[i as usize] * means[j as usize];
        let correlations = edges.iter().map(inside).collect();
        let witness = Some(Witness::Bethe { means: means.clone(), edges, correlations, flips: vec![1; d] });
        let eps = [1.0, 1e-3, 1e3][random.below(3)];
        let certificate = Certificate { eps, slack: Default::default(), components: vec![], witness };
        let f: Polynomial = ising.into();
        let claim = certificate.claim(&f, &[]).unwrap();
        let text = native_polynomial(&f);
        answer("m.json", &text, None, &certificate.to_bytes(&claim))
            .unwrap_or_else(|e| panic!("case {case}: {e:?}"));
        let exact = brute_force(&f, eps);
        let high = Claim { phi_lower: Some(exact.hi + 1e-9 * (1.0 + exact.hi.abs())), ..claim };
        assert!(answer("m.json", &text, None, &certificate.to_bytes(&high)).is_err());
    }
}

/// Claims one float on the wrong side of the truth, which nothing may prove.
fn false_claim(d: usize, exact: Interval, upper: bool) -> Claim {
    if upper {
        Claim { d, phi_upper: Some(exact.lo.next_down()), ..Default::default() }
    } else {
        Claim { d, phi_lower: Some(exact.hi.next_up()), ..Default::default() }
    }
}

#[test]
fn extreme_fields_prove_nothing_false_to_the_checker() {
    let mut random = Random(63);
    let mut tried = 0;
    for case in 0..cases(4, 200) {
        let d = 2 + random.below(2);
        let f: Polynomial = match case % 2 {
            0 => Ising::new(d, &vec![0.0; d], &[]).unwrap().into(),
            _ => random_ising(&mut random, d, 1.0).into(),
        };
        let eps = [1.0, 1e-12, 1e12][random.below(3)];
        let (text, exact) = (native_polynomial(&f), brute_force(&f, eps));
        let mut all = vec![
            random_spectral(&mut random, &f, eps),
            random_mixture(&mut random, &f, eps),
            random_logdet(&mut random, &f, eps),
            random_weighted(&mut random, &f, eps),
            random_tangent(&mut random, &f, eps),
            random_with_slack(&mut random, &f, eps),
            random_sparse_dual(&mut random, &f, eps),
        ];
        let tables = FactorModel::from(&f);
        all.push(random_table_certificate(&mut random, &tables, eps));
        for (kind, mut certificate) in all.into_iter().enumerate() {
            if certificate.witness.is_none() {
                certificate.witness = Some(random_witness(&mut random, &f, eps));
            }
            for upper in [true, false] {
                let bytes = certificate.to_bytes(&false_claim(d, exact, upper));
                let floats = (bytes.len() - floats_at(&bytes)) / 8;
                for which in 0..(2 * floats * EXTREMES.len()).min(cases(600, 6000)) {
                    let altered = with_extremes(&mut random, &bytes, which);
                    let verdict = answer("m.json", &text, None, &altered);
                    assert!(
                        verdict.is_err(),
                        "seed 63 case {case} kind {kind} alteration {which}: {verdict:?}"
                    );
                    tried += 1;
                }
            }
        }
    }
    println!("checker: {tried} certificates with extreme fields and false claims, all rejected");
    assert!(tried > 1000);
}

#[test]
fn altered_table_proofs_are_rejected_or_still_true_to_the_checker() {
    let (seed, count) = (64, cases(3000, 100_000));
    let mut random = Random(seed);
    let (mut rejected, mut kept) = (0, 0);
    for case in 0..count {
        let tables = random_tables(&mut random, 1.0);
        let certificate = random_table_certificate(&mut random, &tables, 1.0);
        let model = Model::new(Source::Factors(tables.clone()));
        let Ok(claim) = certificate.verify_model(&model) else { continue };
        let mut bytes = certificate.to_bytes(&claim);
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
        match answer("m.json", &native_tables(&tables), None, &bytes) {
            Err(_) => rejected += 1,
            Ok(line) => {
                let line: serde_json::Value = serde_json::from_str(&line).unwrap();
                let exact = enumerate(&tables, line["eps"].as_f64().unwrap());
                let (upper, lower) = (line["log_z_upper"].as_f64(), line["log_z_lower"].as_f64());
                let holds =
                    exact.is_none_or(|e| upper.is_none_or(|u| u >= e.lo) && lower.is_none_or(|l| l <= e.hi));
                assert!(holds, "seed {seed} case {case}: {line} but {exact:?}");
                kept += 1;
            }
        }
    }
    println!("checker: {rejected} altered table proofs rejected, {kept} still true");
    assert!(rejected > kept && kept > 0, "{rejected} {kept}");
}

#[test]
fn what_would_take_too_much_is_refused_with_what_it_would_take() {
    let d = 40;
    let couplings: Vec<_> = (1..d).map(|i| (0, i, 0.5)).collect();
    let f: Polynomial = Ising::new(d, &vec![0.0; d], &couplings).unwrap().into();
    let text = native_polynomial(&f);
    // From the centre of a star: one table over all leaves.
    let order: Vec<u32> = (0..d as u32).collect();
    let tables = FactorModel::from(&f);
    let form =
        zbound::certify::Form::Tables(zbound::certify::WeightedElimination::exact(&tables, &order).unwrap());
    let claim = Claim { d, phi_upper: Some(1e6), ..Default::default() };
    let verdict = answer("m.json", &text, None, &single(1.0, form).to_bytes(&claim));
    assert!(matches!(&verdict, Err(Refusal::Limit(why)) if why.contains("GB")), "{verdict:?}");
    // Terms of 25 spins: tables of half a gigabyte each.
    let sets = (0..15).map(|k| ((k..k + 25).collect::<zbound::VarSet>(), 1.0));
    let wide = Polynomial::new(Ising::new(d, &vec![0.0; d], &[]).unwrap(), sets.collect()).unwrap();
    let form = zbound::certify::Form::Elimination { polynomial: wide, order };
    let verdict = answer("m.json", &text, None, &single(1.0, form).to_bytes(&claim));
    assert!(matches!(&verdict, Err(Refusal::Limit(_))), "{verdict:?}");
}
