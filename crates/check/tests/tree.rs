//! Certificates of trees: what is changed in them is refused, or still true.

use zbound::certify::{Certificate, Form, Tree, Witness};
use zbound::run::{BoundRequest, MethodChoice, bound};
use zbound::{Ising, Method, Model, Settings, Silent};
use zbound_check::check;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn unit(&mut self) -> f64 {
        self.below(2_000_001) as f64 / 1e6 - 1.0
    }
}

/// Complete graph of `d` spins; its file and its log Z by enumeration.
fn model(random: &mut Random, d: usize) -> (Model, String, f64) {
    let fields: Vec<f64> = (0..d).map(|_| random.unit()).collect();
    let pairs = (0..d).flat_map(|j| (0..j).map(move |i| (i, j)));
    let couplings: Vec<(usize, usize, f64)> = pairs.map(|(i, j)| (i, j, random.unit())).collect();
    let listed: Vec<String> = couplings.iter().map(|(i, j, v)| format!("[{i},{j},{v:?}]")).collect();
    let text = format!("{{\"d\":{d},\"fields\":{fields:?},\"couplings\":[{}]}}", listed.join(","));
    let spin = |k: usize, i: usize| if k >> i & 1 == 1 { 1.0 } else { -1.0 };
    let weight = |k: usize| {
        let field: f64 = (0..d).map(|i| fields[i] * spin(k, i)).sum();
        let pair: f64 = couplings.iter().map(|&(i, j, v)| v * spin(k, i) * spin(k, j)).sum();
        (field + pair).exp()
    };
    let log_z = (0..1 << d).map(weight).sum::<f64>().ln();
    (Model::from(Ising::new(d, &fields, &couplings).unwrap()), text, log_z)
}

fn upper(certificate: &mut Certificate) -> Option<&mut Tree<Certificate>> {
    certificate
        .components
        .iter_mut()
        .find_map(|c| if let Form::Tree(t) = &mut c.form { Some(t) } else { None })
}

fn lower(certificate: &mut Certificate) -> Option<&mut Tree<Option<Witness>>> {
    if let Some(Witness::Tree(tree)) = &mut certificate.witness { Some(tree) } else { None }
}

fn mutate<T: Clone>(tree: &mut Tree<T>, random: &mut Random) {
    let (n, m) = (tree.nodes.len(), tree.leaves.len());
    match random.below(6) {
        0 => tree.leaves.swap(random.below(m), random.below(m)),
        1 => tree.nodes.swap(random.below(n), random.below(n)),
        2 => {
            let leaf = tree.leaves[random.below(m)].clone();
            tree.leaves[random.below(m)] = leaf;
        }
        3 => drop(tree.leaves.remove(random.below(m))),
        4 => {
            if let Some(Some(node)) = tree.nodes.iter_mut().find(|n| n.is_some()) {
                node.0 = random.below(8) as u32;
            }
        }
        _ => {
            if let Some(Some(node)) = tree.nodes.iter_mut().find(|n| n.is_some()) {
                node.1 = random.below(4) as u32;
            }
        }
    }
}

#[test]
fn what_is_changed_in_a_tree_is_refused_or_true() {
    let mut random = Random(11);
    let count = if std::env::var_os("ZBOUND_FULL").is_some() { 300 } else { 30 };
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..count {
        let (model, text, log_z) = model(&mut random, 5 + case % 3);
        let mut request = BoundRequest::default();
        request.methods = MethodChoice::List(vec![Method::Branch]);
        request.want_certificate = true;
        request.settings = Settings::default().with_max_iterations(Some(1 + case % 4)).with_ibound(Some(1));
        let report = bound(&model, &request, &mut Silent).unwrap();
        let certificate = report.bracket_certificate().unwrap();
        let claim = certificate.verify_model(&model).unwrap();
        let verdict = check("m.json", &text, &certificate.to_bytes(&claim));
        assert!(verdict.is_ok(), "case {case}: {verdict:?}");
        for _ in 0..20 {
            let mut forged = certificate.clone();
            if random.below(2) == 0 {
                upper(&mut forged).into_iter().for_each(|tree| mutate(tree, &mut random));
            } else {
                lower(&mut forged).into_iter().for_each(|tree| mutate(tree, &mut random));
            }
            let mut claim = claim.clone();
            // What the file claims must be tight to be worth forging.
            if forged.verify_model(&model).is_ok() {
                claim = forged.verify_model(&model).unwrap();
                assert!(claim.log_z_upper.is_none_or(|u| u >= log_z - 1e-9), "case {case}");
                assert!(claim.log_z_lower.is_none_or(|l| l <= log_z + 1e-9), "case {case}");
            } else {
                claim.log_z_upper = Some(log_z - 1e-3);
                claim.phi_upper = None;
            }
            match check("m.json", &text, &forged.to_bytes(&claim)) {
                Ok(_) => {
                    accepted += 1;
                    assert!(claim.log_z_upper.is_none_or(|u| u >= log_z - 1e-9), "case {case}");
                    assert!(claim.log_z_lower.is_none_or(|l| l <= log_z + 1e-9), "case {case}");
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 5 * count && accepted > 0, "{refused} refused, {accepted} accepted");
}

#[test]
fn layers_of_bipartite_models_are_accepted() {
    let mut random = Random(13);
    for case in 0..20 {
        let (a, b, eps) = (9, 10 + case % 5, [1.0, 0.5, 3.0][case % 3]);
        let fields: Vec<f64> = (0..a + b).map(|_| 0.3 * random.unit()).collect();
        let pairs = (0..a).flat_map(|i| (0..b).map(move |j| (i, a + j)));
        let couplings: Vec<(usize, usize, f64)> = pairs.map(|(i, j)| (i, j, 0.3 * random.unit())).collect();
        let listed: Vec<String> = couplings.iter().map(|(i, j, v)| format!("[{i},{j},{v:?}]")).collect();
        let text = format!("{{\"d\":{},\"fields\":{fields:?},\"couplings\":[{}]}}", a + b, listed.join(","));
        let model = Model::from(Ising::new(a + b, &fields, &couplings).unwrap());
        let mut means = vec![0.2; a];
        means[case % a] = -0.7;
        let witness = Witness::Layer { means, summed: (a as u32..(a + b) as u32).collect() };
        let certificate =
            Certificate { eps, slack: Default::default(), components: Vec::new(), witness: Some(witness) };
        let mut claim = certificate.verify_model(&model).unwrap();
        let verdict = check("m.json", &text, &certificate.to_bytes(&claim));
        assert!(verdict.is_ok(), "case {case}: {verdict:?}");
        claim.phi_lower = claim.phi_lower.map(|v| v + 1e-6);
        assert!(check("m.json", &text, &certificate.to_bytes(&claim)).is_err(), "case {case}");
    }
}
