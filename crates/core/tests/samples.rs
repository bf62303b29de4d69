//! Samples against the law: chi-square on fixed seeds, hard zeros, letters and reproducibility.

mod proofs;

use proofs::{Random, cases, joint_states, random_ising, random_tables};
use zbound::query::sample::{SampleRequest, SamplerKind, sample};
use zbound::{Ising, Model, Settings, Silent, Source};

fn request(n: usize, seed: u64) -> SampleRequest {
    SampleRequest { n, settings: Settings::default().with_seed(seed), ..SampleRequest::default() }
}

/// `sum (observed - expected)^2 / expected` over the states that are expected at least five times, the others together,
/// and the number of cells.
fn chi_square(model: &Model, samples: &[Vec<i64>], eps: f64) -> (f64, usize) {
    let tables = model.factors().unwrap();
    let states = joint_states(tables.cardinalities());
    let values: Vec<f64> = states.iter().map(|x| tables.value_of(x)).collect();
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = values.iter().map(|v| ((v - top) / eps).exp()).collect();
    let total: f64 = weights.iter().sum();
    let n = samples.len() as f64;
    let (mut rare, mut sum, mut cells) = ((0.0, 0.0), 0.0, 0);
    for (x, w) in states.iter().zip(&weights) {
        let word = model.spell(x);
        let observed = samples.iter().filter(|row| **row == word).count() as f64;
        assert!(*w > 0.0 || observed == 0.0, "an impossible state was drawn");
        let expected = n * w / total;
        if expected >= 5.0 {
            sum += (observed - expected).powi(2) / expected;
            cells += 1;
        } else {
            rare = (rare.0 + observed, rare.1 + expected);
        }
    }
    if rare.1 >= 1.0 {
        sum += (rare.0 - rare.1).powi(2) / rare.1;
        cells += 1;
    }
    (sum, cells)
}

#[test]
fn exact_samples_follow_the_law() {
    let mut random = Random(61);
    for case in 0..cases(40, 400) {
        let scale = random.magnitude(0.1, 4.0);
        let model = match random.below(2) {
            0 => {
                let d = 1 + random.below(5);
                Model::from(random_ising(&mut random, d, scale))
            }
            _ => Model::new(Source::Factors(random_tables(&mut random, scale))),
        };
        let mut asked = request(3000, case as u64);
        asked.eps = random.magnitude(0.5, 2.0);
        let Ok((record, _)) = sample(&model, &asked, &mut Silent) else { continue };
        assert_eq!((record.samples.len(), record.sampler), (3000, SamplerKind::Exact));
        let (chi, cells) = chi_square(&model, &record.samples, asked.eps);
        let freedom = cells.saturating_sub(1).max(1) as f64;
        // Five standard deviations: once in millions of cases, and the seeds are fixed.
        assert!(chi < freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0, "case {case}: {chi} of {freedom}");
    }
}

#[test]
fn annealed_samples_are_close_to_the_law_and_say_what_they_are() {
    let model = Model::from(random_ising(&mut Random(62), 5, 1.0));
    let mut asked = request(2000, 9);
    asked.settings = asked.settings.with_memory_limit(8);
    let (record, _) = sample(&model, &asked, &mut Silent).unwrap();
    assert_eq!(record.sampler, SamplerKind::Annealed);
    assert!(record.reason.unwrap().contains("annealed"));
    let (chi, cells) = chi_square(&model, &record.samples, 1.0);
    let freedom = (cells - 1) as f64;
    assert!(chi < freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0, "{chi} of {freedom}");
}

#[test]
fn a_seed_fixes_the_samples_and_evidence_is_kept() {
    let model = Model::from(Ising::new(3, &[0.3, 0.0, -0.2], &[(0, 1, 1.0), (1, 2, -0.5)]).unwrap());
    let model = model.with_evidence(&[(1, -1)]).unwrap();
    let run = |seed| sample(&model, &request(200, seed), &mut Silent).unwrap().0.samples;
    assert_eq!(run(4), run(4));
    assert_ne!(run(4), run(5));
    assert!(run(4).iter().all(|x| x[1] == -1 && x.iter().all(|s| s.abs() == 1)));
}
