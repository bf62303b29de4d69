//! The tree with a proof per node, and the certificate that it makes.

use crate::certify::{Certificate, Component, Cut, Form, Slack, Tree, Witness};
use crate::error::Result;
use crate::model::{Ising, Polynomial};

/// Where a node hangs: the number of the node above, the spin that distinguishes it and its value.
pub(super) type Above = (usize, usize, i8);

/// Bytes of a cut in a proof, and of a coefficient of the function that the proof is about.
const CUT_BYTES: u64 = 120;
const COEFFICIENT_BYTES: u64 = 32;

struct Entry {
    /// What it proves by itself.
    bound: f64,
    proof: Option<Certificate>,
    /// The spin that is split, and the parts with -1 and +1.
    split: Option<(usize, [usize; 2])>,
}

/// Proofs of the nodes, in the order in which they were bounded.
#[derive(Default)]
pub(super) struct Proofs {
    entries: Vec<Entry>,
    /// A spin that was fixed to +1 because f does not change when all spins do.
    pub(super) mirrored: Option<usize>,
    bytes: u64,
}

impl Proofs {
    /// None yet; `mirrored` is the spin that is fixed to +1 for its opposite.
    pub(super) fn new(mirrored: Option<usize>) -> Self {
        Proofs { mirrored, ..Proofs::default() }
    }

    /// About what the proofs take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the next node.
    pub(super) fn push(&mut self, above: Option<Above>, bound: f64, proof: Option<Certificate>) {
        let number = self.entries.len();
        self.bytes += proof.as_ref().map_or(0, size);
        self.entries.push(Entry { bound, proof, split: None });
        if let Some((parent, spin, value)) = above {
            let split = self.entries[parent].split.get_or_insert((spin, [usize::MAX; 2]));
            split.1[usize::from(value > 0)] = number;
        }
    }

    /// The certificate of the whole, with `spins` below; `None` when some part has no proof.
    pub(super) fn certificate(self, spins: &[i8]) -> Result<Option<Certificate>> {
        let best = self.best();
        if !best.first().is_some_and(|value| value.is_finite()) {
            return Ok(None);
        }
        let mut tree = Tree { nodes: Vec::new(), leaves: Vec::new() };
        if let Some(spin) = self.mirrored {
            tree.nodes.push(Some((spin as u32, 2)));
            self.emit(&best, true, &mut tree)?;
        }
        self.emit(&best, false, &mut tree)?;
        let components = vec![Component { weight: 1.0, form: Form::Tree(tree) }];
        let witness = Some(Witness::Point { spins: spins.to_vec() });
        Ok(Some(Certificate { eps: 0.0, slack: Slack::default(), components, witness }))
    }

    /// What each node proves, by itself or through its parts.
    fn best(&self) -> Vec<f64> {
        let mut best: Vec<f64> = vec![f64::INFINITY; self.entries.len()];
        // Parts come after what they are parts of.
        for (k, entry) in self.entries.iter().enumerate().rev() {
            let own = if entry.proof.is_some() { entry.bound } else { f64::INFINITY };
            let value = |&part: &usize| best.get(part).copied().unwrap_or(f64::INFINITY);
            let parts = entry.split.map_or(f64::INFINITY, |(_, parts)| {
                parts.iter().map(value).fold(f64::NEG_INFINITY, f64::max)
            });
            best[k] = own.min(parts);
        }
        best
    }

    /// The nodes in preorder, each with its own proof where its parts prove no more.
    fn emit(&self, best: &[f64], is_mirrored: bool, tree: &mut Tree<Certificate>) -> Result<()> {
        let mut stack = vec![0usize];
        while let Some(k) = stack.pop() {
            let entry = &self.entries[k];
            match (&entry.proof, entry.split) {
                (Some(proof), _) if entry.bound <= best[k] => {
                    tree.nodes.push(None);
                    tree.leaves.push(if is_mirrored { mirrored(proof)? } else { proof.clone() });
                }
                (_, Some((spin, [minus, plus]))) => {
                    tree.nodes.push(Some((spin as u32, 2)));
                    // The next one is the last of the stack.
                    stack.extend(if is_mirrored { [minus, plus] } else { [plus, minus] });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn size(proof: &Certificate) -> u64 {
    let coefficients = |component: &Component| match &component.form {
        Form::SparseDual { polynomial, .. } | Form::Elimination { polynomial, .. } => {
            (polynomial.d() + polynomial.pairwise_part().edges().len()) as u64
        }
        _ => 0,
    };
    CUT_BYTES * proof.slack.cuts.len() as u64
        + COEFFICIENT_BYTES * proof.components.iter().map(coefficients).sum::<u64>()
}

/// The proof about the function with the signs of all spins changed: whatever has an odd number of them changes its own.
fn mirrored(proof: &Certificate) -> Result<Certificate> {
    let mut proof = proof.clone();
    for Cut { cycle, signs, .. } in &mut proof.slack.cuts {
        for p in 0..cycle.len() {
            if cycle[p] == 0 || cycle[(p + 1) % cycle.len()] == 0 {
                signs[p] = -signs[p];
            }
        }
    }
    for component in &mut proof.components {
        if let Form::SparseDual { polynomial, .. } | Form::Elimination { polynomial, .. } =
            &mut component.form
        {
            let ising = polynomial.pairwise_part();
            let fields: Vec<f64> = ising.fields().iter().map(|h| -h).collect();
            let couplings: Vec<_> = ising.triples().collect();
            let turned = Ising::new(ising.d(), &fields, &couplings)?.with_constant(ising.constant())?;
            *polynomial = Polynomial::from(turned);
        }
    }
    Ok(proof)
}
