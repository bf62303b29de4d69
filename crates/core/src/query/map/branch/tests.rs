//! Trees of small models, without the shortcut of elimination, against enumeration.

use super::{Tree, grow};
use crate::certify::{Certificate, Limits};
use crate::model::{Ising, Model, Polynomial};
use crate::observer::{Monitor, Silent};
use crate::settings::Settings;
use crate::solution::StopReason;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

struct Random(ChaCha8Rng);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0.next_u32() % n
    }

    /// Integers, or numbers without a lattice.
    fn draw(&mut self, is_integer: bool) -> f64 {
        if is_integer { f64::from(self.below(7)) - 3.0 } else { f64::from(self.below(2_000_001)) / 1e6 - 1.0 }
    }
}

fn model(random: &mut Random) -> Polynomial {
    let d = 2 + random.below(11) as usize;
    let (is_integer, has_fields) = (random.below(2) == 0, random.below(2) == 0);
    let field = |random: &mut Random| if has_fields { random.draw(is_integer) } else { 0.0 };
    let fields: Vec<f64> = (0..d).map(|_| field(random)).collect();
    let pairs = (0..d).flat_map(|j| (0..j).map(move |i| (i, j)));
    let kept: Vec<(usize, usize)> = pairs.filter(|_| random.below(4) > 0).collect();
    let couplings: Vec<_> = kept.into_iter().map(|(i, j)| (i, j, random.draw(is_integer))).collect();
    Ising::new(d, &fields, &couplings).unwrap().into()
}

fn largest(f: &Polynomial) -> f64 {
    let spins =
        |bits: usize| -> Vec<i8> { (0..f.d()).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect() };
    (0..1usize << f.d()).map(|bits| f.value(&spins(bits))).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn trees_bound_the_maximum_at_every_stop_and_their_certificates_prove_it() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(21));
    let count = if std::env::var_os("ZBOUND_FULL").is_some() { 4000 } else { 200 };
    let (mut closed, mut split, mut proved) = (0, 0, 0);
    for case in 0..count {
        let f = model(&mut random);
        let truth = largest(&f);
        let mut settings = Settings::default().with_tol(1e-6).with_threads(1 + case % 2);
        settings.max_iterations = [None, Some(1 + random.below(4) as usize)][random.below(2) as usize];
        let keeps = random.below(3) > 0;
        if !keeps && random.below(2) == 0 {
            // No room: the node that is nearest to its end comes first.
            settings.memory_limit = 4096;
        }
        let start = vec![1; f.d()];
        let mut tree = Tree::new(&f, start, keeps, &settings);
        tree.exact_spins = 1 + random.below(3) as usize;
        let mut silent = Silent;
        let mut monitor = Monitor::new(&settings, usize::MAX, &mut silent);
        let found = grow(tree, f64::INFINITY, &mut monitor).unwrap();
        let slack = 1e-9 * (1.0 + truth.abs());
        assert!(found.upper >= truth - slack, "case {case}: {} below {truth}", found.upper);
        let value = f.value(&found.assignment);
        assert!(value <= truth + slack, "case {case}");
        split += usize::from(found.nodes > 1);
        if found.stop == StopReason::Converged {
            closed += 1;
            assert!(
                found.upper - value <= 2e-6 * (1.0 + truth.abs()),
                "case {case}: {} {value}",
                found.upper
            );
        }
        if keeps {
            let certificate = found.certificate.expect("a proof");
            let model = Model::from(f.clone());
            let claim = certificate.verify_model(&model).unwrap_or_else(|e| panic!("case {case}: {e}"));
            let (low, high) = (claim.phi_lower.unwrap(), claim.phi_upper.unwrap());
            assert!(low <= truth + slack && high >= truth - slack, "case {case}: {low} {truth} {high}");
            assert!((low - value).abs() <= slack, "case {case}: {low} {value}");
            // Integrality comes after the proof.
            assert!(high >= found.upper - slack, "case {case}: {high} {}", found.upper);
            let bytes = certificate.to_bytes(&claim);
            let (read, said) = Certificate::from_bytes(&bytes).unwrap();
            assert!(said == claim && read.to_bytes(&said) == bytes, "case {case}");
            said.confirm_model(&read, &model, &Limits::default()).unwrap();
            proved += 1;
        }
    }
    assert!(
        closed > count / 2 && split > count / 60 && proved > count / 2,
        "{closed} {split} {proved} of {count}"
    );
}
