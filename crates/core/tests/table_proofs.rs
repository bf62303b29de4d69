//! Promise 1 for proofs about factor tables: whatever the order, partition, weights and shifts, what is proved is true.

mod proofs;

use proofs::*;
use zbound::certify::{Certificate, Claim, Component, Form, WeightedElimination, Witness};
use zbound::{FactorModel, Ising, Model, Polynomial, Source};

/// Which sides a certificate proves; panics when one is false.
fn sides_proved(certificate: &Certificate, model: &FactorModel, what: &str) -> (bool, bool) {
    let exact = enumerate(model, certificate.eps);
    let (upper, lower) = (certificate.verify_tables(model), certificate.verify_lower_tables(model));
    if let Ok(bound) = &upper {
        assert!(
            exact.is_none_or(|e| bound.log_z() >= e.lo),
            "{what}: proves log Z <= {bound:?}, exact {exact:?}"
        );
    }
    if let Ok(bound) = &lower {
        assert!(
            exact.is_some_and(|e| bound.log_z() <= e.hi),
            "{what}: proves log Z >= {bound:?}, exact {exact:?}"
        );
    }
    (upper.is_ok(), lower.is_ok())
}

#[test]
fn random_table_proofs_are_true_on_both_sides() {
    let (seed, count) = (51, cases(4000, 200_000));
    let mut random = Random(seed);
    let (mut uppers, mut lowers) = (0, 0);
    for case in 0..count {
        let scale = [0.0, 1.0, 1.0, 1.0, 30.0, 1e-5, 1e6][random.below(7)];
        let model = random_tables(&mut random, scale);
        let eps = [1.0, 1.0, 0.0, 1e-3, 50.0, 1e-12][random.below(6)];
        let certificate = random_table_certificate(&mut random, &model, eps);
        let what = format!("seed {seed} case {case} eps {eps} {certificate:?} {model:?}");
        let (upper, lower) = sides_proved(&certificate, &model, &what);
        uppers += usize::from(upper);
        lowers += usize::from(lower);
        let possible = enumerate(&model, eps).is_some();
        assert!(upper || !possible, "{what}: {:?}", certificate.verify_tables(&model));
        // Marginals at a temperature far below the rounding of f are nobody's.
        let cold = eps < 1e-9 * scale.max(1.0) && matches!(certificate.witness, Some(Witness::Blocks { .. }));
        if !model.has_hard_zeros() && !cold {
            assert!(lower, "{what}: {:?}", certificate.verify_lower_tables(&model));
        }
    }
    tally(1, "random proofs about tables", count);
    println!("tables: {count} random proofs, {uppers} upper and {lowers} lower bounds proved, all true");
    assert!(uppers * 10 > count * 8 && lowers * 2 > count, "{uppers} {lowers} of {count}");
}

#[test]
fn one_mini_bucket_a_variable_is_exact() {
    let mut random = Random(52);
    for case in 0..cases(500, 20_000) {
        let model = random_tables(&mut random, 3.0);
        let eps = [1.0, 0.0, 0.1][random.below(3)];
        let Some(exact) = enumerate(&model, eps) else { continue };
        let order = random_order(&mut random, model.d());
        let elimination = WeightedElimination::exact(&model, &order).unwrap();
        let components = vec![Component { weight: 1.0, form: Form::Tables(elimination.clone()) }];
        let witness = Some(Witness::Tables { elimination, allowed: None });
        let certificate = Certificate { eps, slack: Default::default(), components, witness };
        let upper = certificate.verify_tables(&model).unwrap().log_z();
        let lower = certificate.verify_lower_tables(&model).unwrap().log_z();
        assert!(upper >= exact.lo && upper - exact.hi < 1e-10, "case {case}: {upper} {exact:?}");
        assert!(lower <= exact.hi && exact.lo - lower < 1e-10, "case {case}: {lower} {exact:?}");
    }
}

#[test]
fn one_block_with_any_fields_is_exact() {
    let mut random = Random(53);
    let mut proved = 0;
    for case in 0..cases(500, 20_000) {
        let model = random_tables(&mut random, 2.0);
        let blocks = vec![random_order(&mut random, model.d())];
        let fields = model.cardinalities().iter().map(|&q| vec![0.25; q as usize]).collect();
        let witness = Some(Witness::Blocks { blocks, fields });
        let certificate = Certificate { eps: 0.7, slack: Default::default(), components: vec![], witness };
        let Some(exact) = enumerate(&model, 0.7) else { continue };
        let lower = certificate.verify_lower_tables(&model).unwrap().log_z();
        assert!(lower <= exact.hi && exact.lo - lower < 1e-9, "case {case}: {lower} {exact:?}");
        proved += 1;
    }
    assert!(proved > 100);
}

/// Means and correlations of a random law of two spins at a time, shrunk until they are consistent.
fn random_bethe(random: &mut Random, f: &Ising, flips: Vec<i8>) -> Witness {
    let means: Vec<f64> = (0..f.d()).map(|_| random.between(-1.0, 1.0)).collect();
    let inside = |i: usize, j: usize, random: &mut Random| {
        let (a, b) = (means[i], means[j]);
        let (low, high) = ((a + b).abs() - 1.0, 1.0 - (a - b).abs());
        low + (high - low) * random.between(1e-9, 1.0 - 1e-9)
    };
    let edges = f.edges().to_vec();
    let correlations = edges.iter().map(|&[i, j]| inside(i as usize, j as usize, random)).collect();
    Witness::Bethe { means, edges, correlations, flips }
}

#[test]
fn bethe_values_of_balanced_models_are_below_brute_force() {
    let mut random = Random(54);
    for case in 0..cases(1000, 40_000) {
        let d = 2 + random.below(5);
        let flips: Vec<i8> = (0..d).map(|_| if random.below(2) == 0 { 1 } else { -1 }).collect();
        let mixed = random_ising(&mut random, d, 2.0);
        let balance = |(i, j, v): (usize, usize, f64)| (i, j, v.abs() * f64::from(flips[i] * flips[j]));
        let couplings: Vec<_> = mixed.triples().map(balance).collect();
        let ising = Ising::new(d, mixed.fields(), &couplings).unwrap();
        let eps = [1.0, 0.1, 10.0, 0.0][random.below(4)];
        let witness = Some(random_bethe(&mut random, &ising, flips));
        let certificate = Certificate { eps, slack: Default::default(), components: vec![], witness };
        let f: Polynomial = ising.into();
        let lower = certificate.verify_lower(&f).unwrap();
        let exact = brute_force(&f, eps);
        assert!(lower.phi() <= exact.hi, "case {case}: {lower:?} above {exact:?}");
        let mixed: Polynomial = mixed.into();
        if let Ok(other) = certificate.verify_lower(&mixed) {
            assert!(other.phi() <= brute_force(&mixed, eps).hi, "case {case}: a model that is not balanced");
        }
    }
}

#[test]
fn bethe_values_are_exact_on_trees() {
    // Two spins, no field: E x_0 x_1 = tanh J, log Z = log(4 cosh J).
    let f: Polynomial = Ising::new(2, &[0.0, 0.0], &[(0, 1, 0.8)]).unwrap().into();
    let correlations = vec![0.8f64.tanh()];
    let witness =
        Witness::Bethe { means: vec![0.0; 2], edges: vec![[0, 1]], correlations, flips: vec![1, 1] };
    let certificate =
        Certificate { eps: 1.0, slack: Default::default(), components: vec![], witness: Some(witness) };
    let lower = certificate.verify_lower(&f).unwrap().log_z();
    let exact = (4.0 * 0.8f64.cosh()).ln();
    assert!(lower <= exact && exact - lower < 1e-12, "{lower} {exact}");
}

#[test]
fn a_correlation_outside_the_local_polytope_is_refused() {
    let f: Polynomial = Ising::new(2, &[0.0, 0.0], &[(0, 1, 0.8)]).unwrap().into();
    for (means, c) in
        [([0.5, 0.5], 1.0f64.next_up()), ([1.0, -1.0], -1.0f64.next_up()), ([0.5, -0.5], 5e-324)]
    {
        let witness = Witness::Bethe {
            means: means.to_vec(),
            edges: vec![[0, 1]],
            correlations: vec![c],
            flips: vec![1, 1],
        };
        let certificate =
            Certificate { eps: 1.0, slack: Default::default(), components: vec![], witness: Some(witness) };
        assert!(certificate.verify_lower(&f).is_err(), "{means:?} {c}");
    }
}

#[test]
fn files_about_tables_round_trip_and_claims_are_compared() {
    let mut random = Random(55);
    for _ in 0..100 {
        let tables = random_tables(&mut random, 1.0);
        let certificate = random_table_certificate(&mut random, &tables, 1.0);
        let model = Model::new(Source::Factors(tables));
        let Ok(claim) = certificate.verify_model(&model) else { continue };
        let (read, said) = Certificate::from_bytes(&certificate.to_bytes(&claim)).unwrap();
        assert_eq!((&read, &said), (&certificate, &claim));
        said.confirm_model(&read, &model, &Default::default()).unwrap();
        let low = Claim { log_z_upper: claim.log_z_upper.map(f64::next_down), ..claim.clone() };
        assert!(low.confirm_model(&read, &model, &Default::default()).is_err());
        let high = Claim { phi_lower: claim.phi_lower.map(f64::next_up), ..claim.clone() };
        assert!(high.confirm_model(&read, &model, &Default::default()).is_err());
        let evidence = Claim { evidence: vec![(0, 0)], ..claim };
        assert!(evidence.confirm_model(&read, &model, &Default::default()).is_err());
    }
}

#[test]
fn altered_table_proofs_are_rejected_or_still_true() {
    let (seed, count) = (56, cases(4000, 200_000));
    let mut random = Random(seed);
    let (mut rejected, mut kept) = (0, 0);
    for case in 0..count {
        let model = random_tables(&mut random, 1.0);
        let certificate = random_table_certificate(&mut random, &model, 1.0);
        let bytes = certificate.to_bytes(&Claim { d: model.d(), ..Default::default() });
        let altered = match case % 3 {
            0 => with_extremes(&mut random, &bytes, case),
            1 => {
                let mut bytes = bytes;
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
                bytes
            }
            _ => with_digit(&mut random, &bytes),
        };
        let Ok((read, _)) = Certificate::from_bytes(&altered) else {
            rejected += 1;
            continue;
        };
        let (upper, lower) = sides_proved(&read, &model, &format!("seed {seed} case {case}"));
        kept += usize::from(upper || lower);
        rejected += usize::from(!upper && !lower);
    }
    tally(3, "altered proofs about tables", count);
    println!("altered table proofs: {count}, {rejected} rejected, {kept} still true");
    assert!(rejected * 10 > count && kept * 10 > count, "{rejected} {kept} of {count}");
}

/// Another digit somewhere in the header.
fn with_digit(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let magic = bytes.iter().position(|b| *b == b'\n').unwrap();
    let digits: Vec<usize> = (magic..floats_at(bytes)).filter(|&k| bytes[k].is_ascii_digit()).collect();
    out[digits[random.below(digits.len())]] = b'0' + random.below(10) as u8;
    out
}

#[test]
fn a_removal_that_no_factor_justifies_is_refused() {
    let mut model = FactorModel::new(2);
    model.push(&[0, 1], &[0.0, f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY]).unwrap();
    let mut elimination = WeightedElimination::exact(&model, &[0, 1]).unwrap();
    let verify = |e: &WeightedElimination| {
        let components = vec![Component { weight: 1.0, form: Form::Tables(e.clone()) }];
        Certificate { eps: 1.0, slack: Default::default(), components, witness: None }.verify_tables(&model)
    };
    let whole = verify(&elimination).unwrap().log_z();
    let removal = |variable, state| zbound::certify::Removal { variable, state, factor: 0 };
    elimination.removals = vec![removal(0, 1)];
    assert!((verify(&elimination).unwrap().log_z() - whole).abs() < 1e-12);
    for wrong in [removal(0, 0), removal(1, 0), removal(0, 2), removal(7, 0)] {
        elimination.removals = vec![wrong];
        assert!(verify(&elimination).is_err(), "{wrong:?}");
    }
    elimination.removals = vec![removal(0, 1), removal(0, 1)];
    assert!(verify(&elimination).is_err());
}

#[test]
fn proofs_that_would_not_fit_are_refused_before_any_work() {
    let d = 40;
    let mut model = FactorModel::new(d);
    for i in 1..d {
        model.push(&[0, i], &[0.0; 4]).unwrap();
    }
    // A star summed out from its centre: one table over all leaves.
    let order: Vec<u32> = (0..d as u32).collect();
    let form = Form::Tables(WeightedElimination::exact(&model, &order).unwrap());
    let components = vec![Component { weight: 1.0, form }];
    let certificate = Certificate { eps: 1.0, slack: Default::default(), components, witness: None };
    assert!(matches!(certificate.verify_tables(&model), Err(zbound::Error::Memory { .. })));
}
