//! Mixtures of forests: the dual side of TRW, valid at every point.

use super::resistance::uniform_forests;
use super::spanning::{stars, uniform_cover};
use crate::certify::{Certificate, Component, Form, Slack};
use crate::error::Result;
use crate::model::{Ising, Polynomial};
use crate::relax::forest::Forest;
use crate::settings::Rho;

/// The model divided by the temperature, on the edges that trees may use.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    pub(crate) d: usize,
    pub(crate) ends: Vec<[u32; 2]>,
    /// `h / eps`.
    pub(crate) fields: Vec<f64>,
    /// `J / eps`.
    pub(crate) couplings: Vec<f64>,
    /// Index of every edge in the model.
    pub(crate) edge_names: Vec<u32>,
}

impl Scaled {
    /// The scaled model; edges without coupling are dropped unless `keep_zeros`. `None` when a
    /// quotient overflows.
    pub(crate) fn new(ising: &Ising, eps: f64, keep_zeros: bool) -> Option<Self> {
        let fields: Vec<f64> = ising.fields().iter().map(|h| h / eps).collect();
        let edge_names: Vec<u32> = (0..ising.edges().len() as u32)
            .filter(|&e| keep_zeros || ising.couplings()[e as usize] != 0.0)
            .collect();
        let couplings: Vec<f64> = edge_names.iter().map(|&e| ising.couplings()[e as usize] / eps).collect();
        let ends = edge_names.iter().map(|&e| ising.edges()[e as usize]).collect();
        // Tree parameters are sums of d + m couplings divided by probabilities: leave room for them.
        let safe = fields.iter().chain(&couplings).all(|v| v.abs() < 1e280);
        safe.then_some(Scaled { d: fields.len(), ends, fields, couplings, edge_names })
    }

    /// The model at `1 / factor` times the temperature.
    pub(crate) fn times(&self, factor: f64) -> Self {
        let mut out = self.clone();
        out.fields.iter_mut().chain(&mut out.couplings).for_each(|v| *v *= factor);
        out
    }

    /// Largest `|h_s| + sum_e |J_e|` of a spin.
    pub(crate) fn largest_pull(&self) -> f64 {
        let mut pull: Vec<f64> = self.fields.iter().map(|h| h.abs()).collect();
        for (&[i, j], v) in self.ends.iter().zip(&self.couplings) {
            pull[i as usize] += v.abs();
            pull[j as usize] += v.abs();
        }
        pull.into_iter().fold(0.0, f64::max)
    }

    /// `J_e / (eps rho_e)`, the coupling of edge e in every tree that has it.
    pub(crate) fn tree_couplings(&self, rho: &[f64]) -> Vec<f64> {
        self.couplings.iter().zip(rho).map(|(&v, r)| if v == 0.0 { 0.0 } else { v / r }).collect()
    }
}

/// Proofs may take this many times as long as the one that was timed: the machine may be busier.
const PROOF_CAUTION: f64 = 1.5;

/// Half log-odds sent along every edge, `[to first end, to second end]`: all that distinguishes
/// one point of the TRW dual from another.
pub(crate) type Messages = Vec<[f64; 2]>;

/// Forests with weights that sum to one.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    pub(crate) forests: Vec<Forest>,
    pub(crate) weights: Vec<f64>,
}

impl Mixture {
    /// The mixture of the forests with the given edges; weights are normalised.
    pub(crate) fn new(model: &Scaled, edges: &[Vec<u32>], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let (forests, weights) = edges
            .iter()
            .zip(weights)
            .filter(|(_, w)| **w > 0.0)
            .filter_map(|(edges, w)| Some((Forest::new(model.d, &model.ends, edges)?, w / total)))
            .unzip();
        Mixture { forests, weights }
    }

    /// The starting mixture for `rho`: stars on complete graphs unless resistances are asked for, a
    /// few forests that cover the edges when probabilities are to be optimised; and a note where the
    /// probabilities are not those asked for. `stop` cuts the decomposition of resistances short.
    pub(super) fn start(model: &Scaled, rho: Rho, stop: &mut dyn FnMut() -> bool) -> (Self, Option<String>) {
        let d = model.d;
        let complete = d >= 2 && model.ends.len() == d * (d - 1) / 2;
        let (edges, weights, note) = match rho {
            Rho::Uniform | Rho::Optimized if complete => (stars(d, &model.ends), vec![1.0; d], None),
            Rho::Optimized => {
                let (edges, weights) = uniform_cover(d, &model.ends);
                (edges, weights, None)
            }
            Rho::Uniform | Rho::Resistance => {
                let uniform = uniform_forests(d, &model.ends, stop);
                (uniform.forests, uniform.weights, uniform.note)
            }
        };
        (Mixture::new(model, &edges, &weights), note)
    }

    /// Edge appearance probabilities.
    pub(crate) fn rho(&self, m: usize) -> Vec<f64> {
        let mut rho = vec![0.0; m];
        for (forest, w) in self.forests.iter().zip(&self.weights) {
            forest.edges().iter().for_each(|&e| rho[e as usize] += w);
        }
        rho
    }

    /// Fields of every forest: `h + sum_e (rho_e - [e in T]) message_e`, so that the mixture of the
    /// forests is the model whatever the messages.
    fn tree_fields<'a>(
        &'a self,
        model: &'a Scaled,
        messages: &'a Messages,
    ) -> impl Iterator<Item = (&'a Forest, f64, Vec<f64>)> + 'a {
        let rho = self.rho(model.ends.len());
        let mut mean = model.fields.clone();
        for ((&[i, j], m), r) in model.ends.iter().zip(messages).zip(&rho) {
            mean[i as usize] += r * m[0];
            mean[j as usize] += r * m[1];
        }
        self.forests.iter().zip(&self.weights).map(move |(forest, &w)| {
            let mut fields = mean.clone();
            for &e in forest.edges() {
                let [i, j] = model.ends[e as usize];
                fields[i as usize] -= messages[e as usize][0];
                fields[j as usize] -= messages[e as usize][1];
            }
            (forest, w, fields)
        })
    }

    /// `sum_T w_T log E exp(theta_T)`: an upper bound on phi / eps in plain floating point.
    ///
    /// **Cost** O(d) per forest.
    pub(crate) fn value(&self, model: &Scaled, messages: &Messages) -> f64 {
        let couplings = model.tree_couplings(&self.rho(model.ends.len()));
        self.tree_fields(model, messages)
            .map(|(forest, w, mut fields)| w * forest.log_mean_exp(&mut fields, &couplings))
            .sum()
    }

    /// The mixture's value, its gradient in the messages, and the average half log-odds.
    pub(crate) fn value_and_gradient(
        &self,
        model: &Scaled,
        messages: &Messages,
        gradient: &mut [[f64; 2]],
    ) -> (f64, Vec<f64>) {
        let rho = self.rho(model.ends.len());
        let couplings = model.tree_couplings(&rho);
        let (mut value, mut odds, mut means) = (0.0, vec![0.0; model.d], vec![0.0; model.d]);
        gradient.fill([0.0; 2]);
        for (forest, w, fields) in self.tree_fields(model, messages) {
            let moments = forest.moments(&fields, &couplings);
            value += w * moments.log_mean_exp;
            for i in 0..model.d {
                odds[i] += w * moments.half_log_odds[i];
                means[i] += w * moments.half_log_odds[i].tanh();
            }
            for &e in forest.edges() {
                for (side, &i) in model.ends[e as usize].iter().enumerate() {
                    gradient[e as usize][side] -= w * moments.half_log_odds[i as usize].tanh();
                }
            }
        }
        for (e, ends) in model.ends.iter().enumerate() {
            (0..2).for_each(|side| gradient[e][side] += rho[e] * means[ends[side] as usize]);
        }
        (value, odds)
    }

    /// The coupled edges of each forest.
    pub(super) fn edges(&self, model: &Scaled) -> Vec<Vec<[u32; 2]>> {
        let is_coupled = |e: &&u32| model.couplings[**e as usize] != 0.0;
        let ends = |e: &u32| model.ends[*e as usize];
        self.forests.iter().map(|f| f.edges().iter().filter(is_coupled).map(ends).collect()).collect()
    }

    /// The proof: one elimination component per forest, in the units of the model.
    ///
    /// # Errors
    /// Parameters that overflow.
    pub(crate) fn certificate(
        &self,
        model: &Scaled,
        messages: &Messages,
        constant: f64,
        eps: f64,
    ) -> Result<Certificate> {
        let components = self.trees(model, messages, constant, eps).map(|part| {
            let (forest, weight, tree) = part?;
            let order = forest.order().to_vec();
            Ok(Component { weight, form: Form::Elimination { polynomial: Polynomial::from(tree), order } })
        });
        let components = components.collect::<Result<Vec<_>>>()?;
        Ok(Certificate { eps, slack: Slack::default(), components, witness: None })
    }

    /// Every forest with its weight and its model, in the units of the whole one.
    fn trees<'a>(
        &'a self,
        model: &'a Scaled,
        messages: &'a Messages,
        constant: f64,
        eps: f64,
    ) -> impl Iterator<Item = Result<(&'a Forest, f64, Ising)>> + 'a {
        let couplings = model.tree_couplings(&self.rho(model.ends.len()));
        self.tree_fields(model, messages).map(move |(forest, weight, mut fields)| {
            fields.iter_mut().for_each(|h| *h *= eps);
            let triples: Vec<_> = forest
                .edges()
                .iter()
                .filter(|&&e| couplings[e as usize] != 0.0)
                .map(|&e| {
                    let [i, j] = model.ends[e as usize];
                    (i as usize, j as usize, couplings[e as usize] * eps)
                })
                .collect();
            let tree = Ising::new(model.d, &fields, &triples)?.with_constant(constant)?;
            Ok((forest, weight, tree))
        })
    }

    /// Seconds that the proof of one forest takes, found out on the first.
    pub(super) fn forest_proof_seconds(&self, model: &Scaled, eps: f64) -> f64 {
        let start = std::time::Instant::now();
        let one = Mixture { forests: self.forests.iter().take(1).cloned().collect(), weights: vec![1.0] };
        let messages = vec![[0.0; 2]; model.ends.len()];
        if let Some(Ok((.., tree))) = one.trees(model, &messages, 0.0, eps).next()
            && let Ok(proof) = one.certificate(model, &messages, 0.0, eps)
        {
            // Only the time counts.
            let _ = proof.verify(&Polynomial::from(tree));
        }
        PROOF_CAUTION * start.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradient_matches_differences_and_any_messages_bound_phi() {
        let ising = Ising::new(
            4,
            &[0.3, -0.2, 0.5, 0.0],
            &[(0, 1, 0.9), (1, 2, -1.1), (2, 3, 0.4), (0, 3, 0.7), (0, 2, 0.2)],
        )
        .unwrap();
        let model = Scaled::new(&ising, 1.0, true).unwrap();
        let (mixture, _) = Mixture::start(&model, Rho::Resistance, &mut || false);
        let mut messages: Messages = (0..5).map(|e| [0.1 * e as f64 - 0.2, 0.3 - 0.05 * e as f64]).collect();
        let mut gradient = vec![[0.0; 2]; 5];
        let (value, _) = mixture.value_and_gradient(&model, &messages, &mut gradient);
        let exact: f64 = (0..16u32)
            .map(|bits| {
                let x: Vec<i8> = (0..4).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect();
                ising.value(&x).exp() / 16.0
            })
            .sum();
        assert!(value > exact.ln());
        for e in 0..5 {
            for side in 0..2 {
                let step = 1e-5;
                messages[e][side] += step;
                let above = mixture.value(&model, &messages);
                messages[e][side] -= 2.0 * step;
                let below = mixture.value(&model, &messages);
                messages[e][side] += step;
                let slope = (above - below) / (2.0 * step);
                assert!((slope - gradient[e][side]).abs() < 1e-9, "{e} {side}");
            }
        }
    }
}
