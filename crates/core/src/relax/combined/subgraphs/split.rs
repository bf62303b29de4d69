//! The model as a sum of models on parts, `f = sum_k g_k`, and the bound `sum_k T_k log sum_x exp(g_k / T_k)` with
//! temperatures `T_k = lambda_k eps`, `sum_k lambda_k = 1` (Hoelder's inequality): convex in all of it.

use super::part::{Laws, Part};
use crate::certify::{Certificate, Component, Form, Slack};
use crate::error::Result;
use crate::model::{Ising, Polynomial};
use crate::observer::{Monitor, Silent};
use crate::settings::Settings;
use rayon::prelude::*;

/// Weight of all parts that join a split.
const NEW_WEIGHT: f64 = 0.1;

/// Parts and what they hold.
pub(super) struct Split<'a> {
    pub(super) ising: &'a Ising,
    pub(super) eps: f64,
    pub(super) parts: Vec<Part>,
    /// By edge: parts that hold it.
    holders: Vec<f64>,
    /// By part: where its fields and then its couplings begin; at the end, where the logarithms of the weights do.
    start: Vec<usize>,
}

impl<'a> Split<'a> {
    pub(super) fn new(ising: &'a Ising, eps: f64, parts: Vec<Part>) -> Self {
        let mut holders = vec![0.0; ising.edges().len()];
        parts.iter().flat_map(|part| &part.edges).for_each(|&e| holders[e as usize] += 1.0);
        let mut start = vec![0];
        parts.iter().for_each(|part| start.push(start[start.len() - 1] + ising.d() + part.edges.len()));
        Split { ising, eps, parts, holders, start }
    }

    /// Everything in equal shares.
    pub(super) fn equal(&self) -> Vec<f64> {
        let count = self.parts.len() as f64;
        let mut x = vec![0.0; self.start[self.parts.len()] + self.parts.len()];
        for (k, part) in self.parts.iter().enumerate() {
            let (fields, couplings) = x[self.start[k]..self.start[k + 1]].split_at_mut(self.ising.d());
            fields.iter_mut().zip(self.ising.fields()).for_each(|(x, h)| *x = h / count);
            for (x, &e) in couplings.iter_mut().zip(&part.edges) {
                *x = self.ising.couplings()[e as usize] / self.holders[e as usize];
            }
        }
        x
    }

    /// Everything as at a point of a split into the first of these parts, but for small shares of the others.
    pub(super) fn joined(&self, fewer: &Split<'_>, x: &[f64]) -> Vec<f64> {
        let (old, all) = (fewer.parts.len(), self.parts.len());
        let each = NEW_WEIGHT / (all - old) as f64;
        let mut out: Vec<f64> = x[..fewer.start[old]].iter().map(|v| (1.0 - NEW_WEIGHT) * v).collect();
        for part in &self.parts[old..] {
            out.extend(self.ising.fields().iter().map(|h| each * h));
            out.extend(part.edges.iter().map(|&e| each * self.ising.couplings()[e as usize]));
        }
        out.extend(fewer.weights(x).iter().map(|w| ((1.0 - NEW_WEIGHT) * w).ln()));
        out.extend((old..all).map(|_| each.ln()));
        self.projected(&out)
    }

    /// The closest point whose parts add up to f.
    fn projected(&self, x: &[f64]) -> Vec<f64> {
        let equal = self.equal();
        let mut off: Vec<f64> = x.iter().zip(&equal).map(|(x, y)| x - y).collect();
        self.centre(&mut off);
        off.iter().zip(equal).map(|(x, y)| x + y).collect()
    }

    /// `lambda` at a point.
    pub(super) fn weights(&self, x: &[f64]) -> Vec<f64> {
        let logs = &x[self.start[self.parts.len()]..];
        let top = logs.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let total: f64 = logs.iter().map(|v| (v - top).exp()).sum();
        logs.iter().map(|v| (v - top).exp() / total).collect()
    }

    fn of_part<'x>(&self, x: &'x [f64], k: usize) -> (&'x [f64], &'x [f64]) {
        x[self.start[k]..self.start[k + 1]].split_at(self.ising.d())
    }

    /// The bound on `eps log Z` without the constant, and its derivative along the points whose parts add up to f;
    /// infinite when the deadline comes first.
    pub(super) fn evaluate(
        &self,
        x: &[f64],
        gradient: &mut [f64],
        settings: &Settings,
        pool: Option<&rayon::ThreadPool>,
    ) -> f64 {
        let weights = self.weights(x);
        let one = |k: usize| -> Result<Laws> {
            let mut silent = Silent;
            let mut monitor = Monitor::new(settings, usize::MAX, &mut silent);
            let eps = weights[k] * self.eps;
            self.parts[k].laws(self.ising.edges(), self.of_part(x, k), eps, &mut monitor)
        };
        let numbers = 0..self.parts.len();
        let laws: Vec<Result<Laws>> = match pool {
            Some(pool) => pool.install(|| numbers.into_par_iter().with_max_len(1).map(one).collect()),
            None => numbers.map(one).collect(),
        };
        let Ok(laws) = laws.into_iter().collect::<Result<Vec<Laws>>>() else { return f64::INFINITY };
        for (k, law) in laws.iter().enumerate() {
            let (fields, couplings) = gradient[self.start[k]..self.start[k + 1]].split_at_mut(self.ising.d());
            fields.copy_from_slice(&law.means);
            couplings.copy_from_slice(&law.correlations);
        }
        self.centre(gradient);
        let mean: f64 = weights.iter().zip(&laws).map(|(w, law)| w * law.entropy).sum();
        let logs = &mut gradient[self.start[self.parts.len()]..];
        for ((g, w), law) in logs.iter_mut().zip(&weights).zip(&laws) {
            *g = self.eps * w * (law.entropy - mean);
        }
        laws.iter().map(|law| law.value).sum()
    }

    /// Subtracts from what concerns one term its mean over the parts.
    fn centre(&self, v: &mut [f64]) {
        let (d, count) = (self.ising.d(), self.parts.len() as f64);
        let mut fields = vec![0.0; d];
        let mut couplings = vec![0.0; self.holders.len()];
        for (k, part) in self.parts.iter().enumerate() {
            let (h, c) = v[self.start[k]..self.start[k + 1]].split_at(d);
            fields.iter_mut().zip(h).for_each(|(sum, h)| *sum += h / count);
            part.edges
                .iter()
                .zip(c)
                .for_each(|(&e, c)| couplings[e as usize] += c / self.holders[e as usize]);
        }
        for (k, part) in self.parts.iter().enumerate() {
            let (h, c) = v[self.start[k]..self.start[k + 1]].split_at_mut(d);
            h.iter_mut().zip(&fields).for_each(|(h, mean)| *h -= mean);
            part.edges.iter().zip(c).for_each(|(&e, c)| *c -= couplings[e as usize]);
        }
    }

    /// The proof at a point.
    ///
    /// # Errors
    /// Parameters that leave floating point.
    pub(super) fn certificate(&self, x: &[f64]) -> Result<Certificate> {
        // What rounding moved away from the sum goes back.
        let x = self.projected(x);
        let weights = self.weights(&x);
        let mut components = Vec::with_capacity(self.parts.len());
        for (k, part) in self.parts.iter().enumerate() {
            let (fields, couplings) = self.of_part(&x, k);
            let scaled = |v: &f64| v / weights[k];
            let fields: Vec<f64> = fields.iter().map(scaled).collect();
            let ends = part.edges.iter().map(|&e| self.ising.edges()[e as usize].map(|i| i as usize));
            let triples: Vec<(usize, usize, f64)> =
                ends.zip(couplings).map(|([i, j], v)| (i, j, scaled(v))).collect();
            let model = Ising::new(self.ising.d(), &fields, &triples)?;
            let model = model.with_constant(self.ising.constant())?;
            let form =
                Form::Elimination { polynomial: Polynomial::from(model), order: part.plan.order.clone() };
            components.push(Component { weight: weights[k], form });
        }
        Ok(Certificate { eps: self.eps, slack: Slack::default(), components, witness: None })
    }
}
