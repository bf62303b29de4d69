//! The proof of a tree: one certificate of all nodes whose own bounds are the better ones.

use super::{Node, Tree};
use crate::certify::{Certificate, Component, Form, Slack, Tree as ProofTree, Witness};

impl Tree {
    /// The proofs of both sides: every node with its own where that is the better one.
    pub(in crate::query::branch) fn certificate(&self, eps: f64) -> Certificate {
        let (mut upper, mut lower) = (proof_tree(), proof_tree());
        self.collect(
            &mut upper,
            |node| node.known.proof.is_some() && node.known.upper <= node.best.1,
            |k, out| {
                out.nodes.push(None);
                out.leaves.extend(self.nodes[k as usize].known.proof.clone());
            },
        );
        self.collect(
            &mut lower,
            |node| node.known.lower >= node.best.0,
            |k, out| match &self.nodes[k as usize].known.witness {
                // A witness that is a tree of its own continues this one, in the whole model's numbers.
                Some(Witness::Tree(own)) => {
                    let mut fixed: Vec<u32> = self.path(k).iter().map(|step| step.0).collect();
                    fixed.sort_unstable();
                    let name = |v: u32| fixed.iter().fold(v, |v, &f| v + u32::from(v >= f));
                    out.nodes.extend(own.nodes.iter().map(|node| node.map(|(v, q)| (name(v), q))));
                    out.leaves.extend(own.leaves.iter().cloned());
                }
                witness => {
                    out.nodes.push(None);
                    out.leaves.push(witness.clone());
                }
            },
        );
        let leaves = upper.nodes.iter().filter(|node| node.is_none()).count();
        // A leaf without a proof leaves the whole without an upper bound.
        let is_proved = upper.leaves.len() == leaves;
        let form = Form::Tree(ProofTree { nodes: upper.nodes, leaves: upper.leaves });
        let has_witness = lower.leaves.iter().any(Option::is_some);
        let witness = Witness::Tree(ProofTree { nodes: lower.nodes, leaves: lower.leaves });
        Certificate {
            eps,
            slack: Slack::default(),
            components: is_proved.then_some(Component { weight: 1.0, form }).into_iter().collect(),
            witness: has_witness.then_some(witness),
        }
    }

    /// Nodes in preorder: those with a proof of their own, or no children, through `emit`.
    fn collect<T>(
        &self,
        out: &mut ProofTree<T>,
        is_own: impl Fn(&Node) -> bool,
        emit: impl Fn(u32, &mut ProofTree<T>),
    ) {
        let mut stack = vec![0u32];
        while let Some(k) = stack.pop() {
            let node = &self.nodes[k as usize];
            if node.children.is_empty() || is_own(node) {
                emit(k, out);
                continue;
            }
            let variable = self.nodes[node.children.start as usize].fixed.0;
            out.nodes.push(Some((variable, node.children.len() as u32)));
            stack.extend(node.children.clone().rev());
        }
    }
}

fn proof_tree<T>() -> ProofTree<T> {
    ProofTree { nodes: Vec::new(), leaves: Vec::new() }
}
