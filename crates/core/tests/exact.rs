//! Exact inference against a naive sum over states, against itself, and against stored values.

mod oracle;
mod proofs;

use oracle::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use zbound::exact::{Algorithm, Wanted, exact, exact_with, sample};
use zbound::{FactorModel, Ising, Model, Settings, Silent, Source};

#[test]
fn enumeration_agrees_with_a_naive_sum() {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(1));
    for trial in 0..1000 {
        let d = draw.below(11);
        let f = polynomial(&mut draw, d);
        let eps = temperature(&mut draw);
        let found = exact(&Model::from(f.clone()), eps, &Settings::default(), &mut Silent).unwrap();
        assert_eq!(found.algorithm, Algorithm::Enumeration);
        assert_eq!(found.pairwise.len(), d * d.saturating_sub(1) / 2);
        let scale = f.l1_norm() + f.pairwise_part().constant().abs();
        agree(
            &naive(d, eps, |x| polynomial_value(&f, x)),
            &found,
            eps,
            scale,
            &format!("trial {trial} d {d} eps {eps}"),
        );
        assert_eq!(found.max_f, f.value(&found.argmax));
    }
}

#[test]
fn any_number_of_states_agrees_with_a_naive_sum() {
    let seed = 4;
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    let trials = if std::env::var("ZBOUND_FULL").is_ok_and(|v| v == "1") { 20_000 } else { 2000 };
    let mut impossible = 0;
    for trial in 0..trials {
        let what = format!("seed {seed} trial {trial}");
        let d = draw.below(7);
        let whole = mixed_model(&mut draw, d);
        let eps = temperature(&mut draw);
        let mut evidence = Vec::new();
        for (i, &q) in whole.cardinalities().iter().enumerate() {
            if draw.below(6) == 0 {
                evidence.push((i, draw.below(q as usize) as u32));
            }
        }
        let model = Model::new(Source::Factors(whole)).with_states(&evidence).unwrap();
        let f = model.factors().unwrap();
        let values: Vec<(Vec<u32>, f64)> = all_states(f.cardinalities())
            .into_iter()
            .map(|x| {
                let entries = f.factors().map(|t| t.table[t.index_of(&x, f.cardinalities())]);
                let value = sum(std::iter::once(f.constant()).chain(entries));
                (x, value)
            })
            .collect();
        let found = exact(&model, eps, &Settings::default(), &mut Silent).unwrap();
        let top = values.iter().map(|v| v.1).fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            impossible += 1;
            assert_eq!((found.log_z, found.log_z_bounds), (top, (top, top)), "{what}");
            continue;
        }
        let weights: Vec<f64> = values.iter().map(|v| ((v.1 - top) / eps).exp()).collect();
        let total = sum(weights.iter().copied());
        let truth = top + eps * total.ln();
        let finite = f.factors().flat_map(|t| t.table).filter(|v| v.is_finite()).map(|v| v.abs());
        let scale = eps + f.constant().abs() + finite.sum::<f64>();
        let (low, high) = found.log_z_bounds;
        let slack = 4.0 * f64::EPSILON * scale;
        assert!(low - slack <= truth && truth <= high + slack, "{what}: {low} {truth} {high}");
        assert!(low <= found.log_z && found.log_z <= high && high - low <= TOLERANCE * scale, "{what}");
        assert!((f.value_of(&found.best) - top).abs() <= TOLERANCE * scale, "{what}: maximum");
        let moments = TOLERANCE * (1.0 + scale / eps);
        let mut entropy = total.ln();
        let mut marginals: Vec<Vec<f64>> = f.cardinalities().iter().map(|&q| vec![0.0; q as usize]).collect();
        for ((x, value), w) in values.iter().zip(&weights).filter(|(_, w)| **w > 0.0) {
            entropy -= w / total * (value - top) / eps;
            x.iter().zip(&mut marginals).for_each(|(&s, p)| p[s as usize] += w / total);
        }
        // Enumeration of spins gives no list of states beyond the means.
        for (p, q) in marginals.iter().flatten().zip(found.state_marginals.iter().flatten()) {
            assert!((p - q).abs() <= moments, "{what}: {p} {q}");
        }
        assert_eq!(found.state_marginals.len(), f.d(), "{what}");
        assert!((entropy - found.entropy).abs() <= 10.0 * moments, "{what}: {entropy} {}", found.entropy);
        let alone = exact_with(&model, eps, Wanted::LOG_Z, &Settings::default(), &mut Silent).unwrap();
        assert!(alone.log_z_bounds.0 - slack <= truth && truth <= alone.log_z_bounds.1 + slack, "{what}");
    }
    assert!(impossible > 10, "{impossible}");
}

#[test]
fn samples_follow_the_law_and_respect_hard_zeros() {
    let mut model = FactorModel::with_cardinalities(&[3, 2, 4, 1]).unwrap();
    let none = f64::NEG_INFINITY;
    model.push(&[0, 1], &[0.0, 1.0, none, 0.5, none, -1.0]).unwrap();
    model.push(&[2, 1], &[0.3, none, 1.0, 0.0, 2.0, -1.0, 0.0, none]).unwrap();
    model.push(&[0, 2], &[0.5; 12]).unwrap();
    let model = Model::new(Source::Factors(model));
    let count = 20_000;
    let samples = sample(&model, 0.7, count, 11, &Settings::default(), &mut Silent).unwrap();
    let law = exact(&model, 0.7, &Settings::default(), &mut Silent).unwrap().state_marginals;
    for (i, p) in law.iter().enumerate() {
        for (s, &p) in p.iter().enumerate() {
            let share = samples.iter().filter(|x| x[i] as usize == s).count() as f64 / count as f64;
            // Five standard deviations.
            assert!((share - p).abs() <= 5.0 * (p * (1.0 - p) / count as f64).sqrt(), "{i} {s}: {share} {p}");
        }
    }
    let f = model.factors().unwrap();
    assert!(samples.iter().all(|x| f.value_of(x) > none));
    let again = sample(&model, 0.7, 3, 11, &Settings::default(), &mut Silent).unwrap();
    assert_eq!(again, samples[..3]);
}

#[test]
fn tables_with_hard_zeros_agree_with_a_naive_sum() {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(2));
    let (mut eliminated, mut impossible) = (0, 0);
    for trial in 0..1000 {
        let d = draw.below(11);
        let f = factor_model(&mut draw, d);
        let eps = temperature(&mut draw);
        let model = Model::new(Source::Factors(f.clone()));
        let found = exact(&model, eps, &Settings::default(), &mut Silent).unwrap();
        let truth = naive(d, eps, |x| factors_value(&f, x));
        eliminated += usize::from(found.algorithm == Algorithm::Elimination);
        if truth.max_f == f64::NEG_INFINITY {
            impossible += 1;
            assert_eq!((found.log_z, found.phi, found.max_f), (truth.max_f, truth.max_f, truth.max_f));
            assert_eq!(found.log_z_bounds, (f64::NEG_INFINITY, f64::NEG_INFINITY));
            continue;
        }
        let finite = |v: &&f64| v.is_finite();
        let scale: f64 = f.factors().flat_map(|t| t.table).filter(finite).map(|v| v.abs()).sum();
        agree(&truth, &found, eps, scale + f.constant().abs(), &format!("trial {trial} d {d} eps {eps}"));
        assert!((found.max_f - f.value(&found.argmax)).abs() <= TOLERANCE * (1.0 + scale));
    }
    assert!(eliminated > 200 && impossible > 10, "{eliminated} {impossible}");
}

#[test]
fn elimination_agrees_with_enumeration() {
    for (seed, scale, eps) in [(1, 1.0, 1.0), (2, 4.0, 0.1), (3, 0.2, 10.0), (4, 3.0, 1e-3)] {
        // 21 spins: large enough that the polynomial is eliminated; a dense copy is enumerated.
        let grid = random_grid(seed, 3, 7, scale);
        let slim = exact(&Model::from(grid.clone()), eps, &Settings::default(), &mut Silent).unwrap();
        assert_eq!(slim.algorithm, Algorithm::Elimination);
        let mut couplings: Vec<_> = grid.triples().collect();
        for i in 0..21 {
            for j in i + 1..21 {
                if !grid.edges().contains(&[i as u32, j as u32]) {
                    couplings.push((i, j, 1e-300));
                }
            }
        }
        let dense = Ising::new(21, grid.fields(), &couplings).unwrap();
        let full = exact(&Model::from(dense), eps, &Settings::default(), &mut Silent).unwrap();
        assert_eq!(full.algorithm, Algorithm::Enumeration);
        let overlap =
            slim.log_z_bounds.0 <= full.log_z_bounds.1 && full.log_z_bounds.0 <= slim.log_z_bounds.1;
        assert!(overlap, "{:?} {:?}", slim.log_z_bounds, full.log_z_bounds);
        for (a, b) in slim.means.iter().zip(&full.means) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
        for (i, j, v) in &slim.pairwise {
            let other = full.pairwise.iter().find(|p| (p.0, p.1) == (*i, *j)).unwrap();
            assert!((v - other.2).abs() < 1e-9);
        }
        assert!((slim.entropy - full.entropy).abs() < 1e-8 && (slim.max_f - full.max_f).abs() < 1e-10);
    }
}

#[test]
fn stored_reference_values_are_met() {
    let numbers = |v: &serde_json::Value| -> Vec<f64> {
        v.as_array().into_iter().flatten().filter_map(|x| x.as_f64()).collect()
    };
    let triples = |v: &serde_json::Value| -> Vec<(usize, usize, f64)> {
        let rows = v.as_array().into_iter().flatten().map(numbers);
        rows.map(|r| (r[0] as usize, r[1] as usize, r[2])).collect()
    };
    let mut checked = 0;
    for instance in &proofs::golden_instances() {
        let model = Model::from(proofs::reference_model(instance));
        let d = model.d();
        let eps = instance["eps"].as_f64().unwrap();
        let found = exact(&model, eps, &Settings::default(), &mut Silent).unwrap();
        let truth = &instance["ref"]["exact"];
        let phi = truth["phi"].as_f64().unwrap();
        let id = &instance["id"];
        assert!((found.phi - phi).abs() <= 1e-10 * phi.abs().max(1.0), "{id}: {} {phi}", found.phi);
        for (mean, p) in found.means.iter().zip(numbers(&truth["p_plus"])) {
            assert!(((1.0 + mean) / 2.0 - p).abs() < 1e-10, "{id}");
        }
        for (i, j, v) in triples(&truth["pair_moments"]) {
            let ours = found.pairwise.iter().find(|p| (p.0 as usize, p.1 as usize) == (i, j)).unwrap();
            assert!((ours.2 - v).abs() < 1e-10, "{id}: {i} {j}");
        }
        if let Some(max_f) = instance["ref"]["zero_temp"]["max_f"].as_f64() {
            assert!((found.max_f - max_f).abs() < 1e-10 * max_f.abs().max(1.0), "{id}");
        }
        if let Some(kl) = truth["kl_p_uniform"].as_f64() {
            assert!((d as f64 * 2f64.ln() - found.entropy - kl).abs() < 1e-9 * (1.0 + kl), "{id}");
        }
        checked += 1;
    }
    assert_eq!(checked, 34);
}
