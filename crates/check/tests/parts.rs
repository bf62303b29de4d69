//! Trees with parts that have no state of positive weight, and trees of maxima, through the checker.

#[path = "../../core/tests/proofs/mod.rs"]
mod proofs;

use proofs::{Random, cases, enumerate, random_order, random_tables, tally};
use zbound::certify::{Certificate, Component, Form, Removal, Tree, WeightedElimination};
use zbound::query::map::{MapRequest, map};
use zbound::{FactorModel, Ising, Model, Settings, Silent, Source};
use zbound_check::check;

/// Native JSON of tables, the last variable fastest.
fn native(model: &FactorModel) -> String {
    let number = |v: &f64| if v.is_finite() { format!("{v:?}") } else { "null".into() };
    let factor = |f: zbound::FactorRef<'_>| {
        let scope: Vec<u32> = f.scope.iter().rev().copied().collect();
        let log: Vec<String> = f.table.iter().map(number).collect();
        format!("{{\"scope\":{scope:?},\"log\":[{}]}}", log.join(","))
    };
    let factors: Vec<String> = model.factors().map(factor).collect();
    let (cardinalities, constant) = (model.cardinalities(), model.constant());
    let factors = factors.join(",");
    format!("{{\"cardinalities\":{cardinalities:?},\"constant\":{constant:?},\"factors\":[{factors}]}}")
}

fn whole(eps: f64, form: Form) -> Certificate {
    let components = vec![Component { weight: 1.0, form }];
    Certificate { eps, slack: Default::default(), components, witness: None }
}

/// The model split on one variable, every part summed along an order.
fn split(tables: &FactorModel, eps: f64, variable: usize, random: &mut Random) -> Certificate {
    let model = Model::new(Source::Factors(tables.clone()));
    let states = tables.cardinalities()[variable];
    let mut tree = Tree { nodes: vec![Some((variable as u32, states))], leaves: Vec::new() };
    for state in 0..states {
        let part = model.clone().with_states(&[(variable, state)]).unwrap().factors().unwrap();
        let order = random_order(random, part.d());
        tree.nodes.push(None);
        let elimination = WeightedElimination::exact(&part, &order).unwrap();
        tree.leaves.push(whole(eps, Form::Tables(elimination)));
    }
    whole(eps, Form::Tree(tree))
}

#[test]
fn parts_without_a_state_of_positive_weight_are_proved_to_add_nothing() {
    let mut random = Random(71);
    let (mut impossible, mut refused, mut count) = (0, 0, 0);
    for case in 0..cases(400, 10_000) {
        let tables = random_tables(&mut random, 1.0);
        let eps = [1.0, 0.3, 0.0][case % 3];
        let Some(truth) = enumerate(&tables, eps) else { continue };
        let variable = random.below(tables.d());
        let certificate = split(&tables, eps, variable, &mut random);
        let model = Model::new(Source::Factors(tables.clone()));
        let parts = (0..tables.cardinalities()[variable]).filter(|&state| {
            let part = model.clone().with_states(&[(variable, state)]).unwrap().factors().unwrap();
            enumerate(&part, eps).is_none()
        });
        impossible += parts.count();
        let claim = certificate.verify_model(&model).unwrap_or_else(|e| panic!("case {case}: {e}"));
        let upper = claim.log_z_upper.unwrap();
        let slack = 1e-9 * (1.0 + truth.hi.abs());
        assert!(upper >= truth.lo - slack && upper <= truth.hi + slack, "case {case}: {upper} {truth:?}");
        let text = native(&tables);
        let verdict = check("m.json", &text, &certificate.to_bytes(&claim));
        assert!(verdict.is_ok(), "case {case}: {verdict:?}");
        // A removal that no factor justifies would make any part impossible.
        let mut forged = certificate.clone();
        if let Form::Tree(tree) = &mut forged.components[0].form {
            for leaf in &mut tree.leaves {
                if let Form::Tables(e) = &mut leaf.components[0].form {
                    e.removals.push(Removal { variable: 0, state: 0, factor: 0 });
                }
            }
        }
        let mut low = claim.clone();
        (low.phi_upper, low.log_z_upper) = (None, Some(truth.lo - 1e-3));
        for (proof, said) in [(&forged, &low), (&certificate, &low)] {
            assert!(said.confirm_model(proof, &model, &Default::default()).is_err(), "case {case}");
            assert!(check("m.json", &text, &proof.to_bytes(said)).is_err(), "case {case}");
            refused += 1;
        }
        count += 1;
    }
    assert!(
        impossible > count / 20 && refused > count,
        "{impossible} impossible, {refused} refused of {count}"
    );
    tally(1, "trees with impossible parts through the checker", count);
}

fn listed(ising: &Ising) -> String {
    let couplings: Vec<String> = ising.triples().map(|(i, j, v)| format!("[{i},{j},{v:?}]")).collect();
    let (d, fields) = (ising.d(), ising.fields());
    format!("{{\"d\":{d},\"fields\":{fields:?},\"couplings\":[{}]}}", couplings.join(","))
}

#[test]
fn certificates_of_maxima_are_accepted_and_what_is_changed_in_them_is_refused_or_true() {
    let mut random = Random(72);
    let (mut trees, mut refused) = (0, 0);
    for case in 0..cases(6, 60) {
        let d = 19 + case % 3;
        let pairs = (0..d).flat_map(|j| (0..j).map(move |i| (i, j)));
        let couplings: Vec<_> = pairs.map(|(i, j)| (i, j, random.between(-1.0, 1.0))).collect();
        let fields: Vec<f64> =
            (0..d).map(|_| if case % 2 == 0 { 0.0 } else { random.between(-1.0, 1.0) }).collect();
        let ising = Ising::new(d, &fields, &couplings).unwrap();
        let (text, model) = (listed(&ising), Model::from(ising));
        let exact = zbound::exact::exact(&model, 1.0, &Settings::default(), &mut Silent);
        let truth = exact.unwrap().max_f;
        // No memory for elimination.
        let settings = Settings::default().with_memory_limit(1 << 20).with_time_limit(Some(20.0));
        let request = MapRequest { close: true, want_certificate: true, settings, ..MapRequest::default() };
        let report = map(&model, &request, &mut Silent).unwrap();
        let Some(certificate) = report.certificate else { panic!("case {case}: no certificate") };
        let claim = certificate.verify_model(&model).unwrap();
        assert!(claim.phi_upper.unwrap() >= truth - 1e-9, "case {case}");
        assert!(claim.phi_lower.unwrap() <= truth + 1e-9, "case {case}");
        let verdict = check("m.json", &text, &certificate.to_bytes(&claim));
        assert!(verdict.is_ok(), "case {case}: {verdict:?}");
        let Form::Tree(tree) = &certificate.components[0].form else { continue };
        trees += 1;
        for _ in 0..10 {
            let mut forged = tree.clone();
            let (n, m) = (forged.nodes.len(), forged.leaves.len());
            match random.below(4) {
                0 => forged.leaves.swap(random.below(m), random.below(m)),
                1 => forged.nodes.swap(random.below(n), random.below(n)),
                2 => drop(forged.leaves.remove(random.below(m))),
                _ => {
                    let leaf = forged.leaves[random.below(m)].clone();
                    forged.leaves[random.below(m)] = leaf;
                }
            }
            let forged = Certificate { witness: None, ..whole(0.0, Form::Tree(forged)) };
            let mut said = claim.clone();
            (said.phi_lower, said.log_z_lower) = (None, None);
            match check("m.json", &text, &forged.to_bytes(&said)) {
                Ok(_) => assert!(said.phi_upper.unwrap() >= truth - 1e-9, "case {case}"),
                Err(_) => refused += 1,
            }
            (said.phi_upper, said.log_z_upper) = (Some(truth - 1e-3), Some(truth - 1e-3));
            assert!(check("m.json", &text, &forged.to_bytes(&said)).is_err(), "case {case}");
        }
    }
    assert!(trees > 0 && refused > 0, "{trees} trees, {refused} refused");
}
