//! The search: follow the barrier down, add violated triangles, improve the tree distribution.

use super::barrier::{Barrier, Centre, inverse};
use super::mixture::Mixture;
use super::pairs::{SIGNS, all_pairs, pair, slacks};
use crate::certify::{Certificate, Cut, Slack, SumOfSquares};
use crate::error::Result;
use crate::features::Features;
use crate::model::Ising;
use crate::observer::Monitor;
use crate::problem::Problem;
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};
use crate::spectral::{Eigen, Square};
use faer::Par;

/// Spins up to which every triangle inequality is present from the start.
const ALL_TRIANGLES: usize = 16;
/// Rounds of separation.
const ROUNDS: usize = 12;
/// Triangles added per round and spin.
const PER_SPIN: usize = 10;
/// A violation below this is left alone.
const VIOLATION: f64 = 1e-5;
/// Relative gap at which trees are improved: well inside, where a change of trees moves little.
const COARSE: f64 = 3e-2;
/// Relative gap at which cuts are separated.
const MIDDLE: f64 = 1e-3;
/// Conditional gradient steps on the tree distribution.
const TREE_STEPS: usize = 80;
/// Newton steps allowed per barrier parameter.
const MAX_NEWTON: usize = 60;
/// Squared decrement, relative to tau, at which a point counts as central.
const CENTRAL: f64 = 0.3;

pub(super) struct Search {
    barrier: Barrier,
    centre: Centre,
    mixture: Mixture,
    tau: f64,
    eps: f64,
    constant: f64,
    failed: bool,
}

impl Search {
    pub(super) fn new(
        problem: &Problem,
        ising: &Ising,
        trw: Option<&Certificate>,
        settings: &Settings,
    ) -> Self {
        let (n, eps) = (ising.d() + 1, problem.eps());
        let mut theta = vec![0.0; n * (n - 1) / 2];
        ising.fields().iter().enumerate().for_each(|(i, h)| theta[pair(0, i + 1)] = h / eps);
        ising.triples().for_each(|(i, j, v)| theta[pair(i + 1, j + 1)] = v / eps);
        let mixture = trw.and_then(Mixture::of_certificate).unwrap_or_else(|| Mixture::start(ising));
        let par = if settings.threads > 1 && n > 64 { Par::rayon(settings.threads) } else { Par::Seq };
        let triples = if n - 1 <= ALL_TRIANGLES { triangles(n, 0) } else { pairwise(n) };
        let scale = theta.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        let rho = mixture.rho(theta.len());
        let count = theta.len();
        let mut barrier = Barrier::new(n, theta, rho, triples, par);
        // The uniform law is strictly inside every constraint.
        let centre = barrier.centre(vec![0.0; count]).unwrap_or_else(|| Centre::at_origin(count));
        Search { barrier, centre, mixture, tau: scale, eps, constant: ising.constant(), failed: false }
    }

    pub(super) fn run(&mut self, settings: &Settings, monitor: &mut Monitor<'_>) -> StopReason {
        let stop = self.stages(settings, monitor).err();
        match stop {
            Some(reason) => reason,
            None if self.failed => StopReason::Stalled,
            None => StopReason::Converged,
        }
    }

    fn stages(&mut self, settings: &Settings, monitor: &mut Monitor<'_>) -> Result<(), StopReason> {
        for _ in 0..ROUNDS {
            self.follow(COARSE, monitor)?;
            self.improve_trees(monitor)?;
            self.follow(MIDDLE, monitor)?;
            if self.separate() == 0 {
                break;
            }
        }
        self.follow(settings.tol, monitor)?;
        self.polish(monitor)
    }

    fn value(&self) -> f64 {
        self.constant / self.eps + self.centre.objective
    }

    /// Lowers tau until the gap at the centre is `relative_gap`.
    fn follow(&mut self, relative_gap: f64, monitor: &mut Monitor<'_>) -> Result<(), StopReason> {
        let mut factor: f64 = 0.25;
        let mut last = None;
        loop {
            match self.recentre(monitor)? {
                Some(steps) if steps > 12 => factor = factor.sqrt().min(0.5),
                Some(_) => {}
                // Not central: what the previous parameter proves is better.
                None => {
                    self.failed = true;
                    if let Some((tau, centre)) = last {
                        (self.tau, self.centre) = (tau, centre);
                    }
                }
            }
            let allowed = relative_gap * self.value().abs().max(1.0);
            if self.failed || self.tau * self.barrier.complexity() <= 0.5 * allowed {
                return Ok(());
            }
            last = Some((self.tau, self.centre.clone()));
            let target = 0.4 * allowed / self.barrier.complexity();
            self.tau = (self.tau * factor).max(target);
        }
    }

    /// Newton steps to the centre of the current tau; how many were needed, `None` when it was not reached.
    fn recentre(&mut self, monitor: &mut Monitor<'_>) -> Result<Option<usize>, StopReason> {
        for steps in 0..MAX_NEWTON {
            let decrement = self.barrier.step(&mut self.centre, self.tau);
            monitor.eigendecompositions += 1;
            let lower = self.eps * self.value();
            let gap = self.eps * self.tau * self.barrier.complexity();
            let Some(decrement) = decrement else { return Ok(None) };
            if let Some(reason) = monitor.iteration(lower, lower + gap) {
                return Err(reason);
            }
            if decrement <= CENTRAL * self.tau {
                return Ok(Some(steps + 1));
            }
        }
        Ok(None)
    }

    /// Last Newton steps at the final tau: what is left of the gradient widens the bound.
    fn polish(&mut self, monitor: &mut Monitor<'_>) -> Result<(), StopReason> {
        for _ in 0..6 {
            let Some(decrement) = self.barrier.step(&mut self.centre, self.tau) else { break };
            if let Some(reason) = monitor.interrupted() {
                return Err(reason);
            }
            if decrement <= 1e-20 {
                break;
            }
        }
        Ok(())
    }

    /// Adds the most violated triangles among spins and steps back inside them; how many.
    fn separate(&mut self) -> usize {
        let n = self.barrier.n;
        if n - 1 <= ALL_TRIANGLES {
            return 0;
        }
        let present: std::collections::HashSet<[u32; 3]> = self.barrier.triples.iter().copied().collect();
        let worst =
            |t: &[u32; 3]| slacks(&self.centre.moments, *t).iter().copied().fold(f64::INFINITY, f64::min);
        let mut violated: Vec<(f64, [u32; 3])> = triangles(n, 1)
            .into_iter()
            .filter(|t| !present.contains(t))
            .map(|t| (worst(&t), t))
            .filter(|(g, _)| *g < -VIOLATION)
            .collect();
        violated.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        violated.truncate(PER_SPIN * (n - 1));
        let Some(&(depth, _)) = violated.first() else { return 0 };
        self.barrier.triples.extend(violated.iter().map(|(_, t)| *t));
        // Towards the uniform law every left side grows to 1: leave the deepest at one tenth of the way.
        let shrink = (1.0 - 0.1) / (1.0 - depth);
        let moved: Vec<f64> = self.centre.moments.iter().map(|m| shrink * m).collect();
        match self.barrier.centre(moved) {
            Some(centre) => {
                self.centre = centre;
                self.tau = (30.0 * self.tau).min(1.0);
            }
            None => self.failed = true,
        }
        violated.len()
    }

    /// Conditional gradient on the tree distribution, at the current tau; a step that does not
    /// lower the bound is halved a few times and then given up.
    fn improve_trees(&mut self, monitor: &mut Monitor<'_>) -> Result<(), StopReason> {
        let count = self.barrier.theta.len();
        for k in 0..TREE_STEPS {
            let before = self.centre.objective;
            let vertex = Mixture::vertex(&self.barrier, &self.centre.moments);
            let information = |rho: &[f64]| -> f64 {
                let pairs = all_pairs(self.barrier.n);
                let used = pairs.iter().enumerate().filter(|(e, _)| rho[*e] > 0.0);
                used.map(|(e, &[k, l])| rho[e] * self.barrier.information(&self.centre.moments, e, k, l))
                    .sum()
            };
            let promise = information(&vertex.rho(count)) - information(&self.barrier.rho);
            if promise <= MIDDLE * self.value().abs().max(1.0) {
                return Ok(());
            }
            let (old_mixture, old_centre) = (self.mixture.clone(), self.centre.clone());
            let mut improved = false;
            let mut share = 1.0 / (k as f64 + 4.0);
            for _ in 0..4 {
                self.mixture = old_mixture.mixed(&vertex, share);
                self.barrier.rho = self.mixture.rho(count);
                let moments = old_centre.moments.clone();
                let Some(centre) = self.barrier.centre(moments) else { break };
                self.centre = centre;
                if self.recentre(monitor)?.is_some() && self.centre.objective < before {
                    improved = true;
                    break;
                }
                share *= 0.3;
            }
            if !improved {
                self.mixture = old_mixture;
                self.barrier.rho = self.mixture.rho(count);
                self.centre = old_centre;
                return Ok(());
            }
        }
        Ok(())
    }

    /// The certificate at the current point and what it proves.
    pub(super) fn solution(&self, problem: &Problem) -> Result<Solution> {
        let (n, eps) = (self.barrier.n, self.eps);
        let mut solution = Solution::new(Method::Combined, StopReason::Converged);
        let inverse = inverse(&self.centre.eigen);
        let features = Features::degree(n - 1, 1);
        let mut matrix = Square::zeros(n);
        matrix.data_mut().iter_mut().zip(inverse.data()).for_each(|(s, r)| *s = eps * self.tau * r);
        let eigen = reversed(&self.centre.eigen, eps * self.tau);
        let slack = Slack {
            cuts: self.cuts(),
            squares: vec![SumOfSquares { features: features.clone(), matrix, eigen }],
        };
        let residual = self.barrier.gradient(&self.centre, self.tau, &inverse);
        let components = self.mixture.components(n - 1, &self.centre.moments, &residual, eps)?;
        let certificate = Certificate { eps, slack, components, witness: None };
        let primal = eps * self.value();
        solution.estimate = primal;
        match certificate.verify(problem.polynomial()) {
            Ok(bound) => {
                solution.upper = Some(bound);
                solution.estimate = bound.phi();
                solution.relaxation_gap = Some(bound.phi() - primal);
                solution.certificate = Some(certificate);
            }
            Err(error) => solution.reason = Some(error.to_string()),
        }
        solution.features = Some(features);
        solution.means = Some((1..n).map(|i| self.centre.moments[pair(0, i)]).collect());
        let edges = problem.polynomial().pairwise_part().edges().iter();
        let moment = |&[i, j]: &[u32; 2]| (i, j, self.centre.moments[pair(i as usize + 1, j as usize + 1)]);
        solution.pairwise = Some(edges.map(moment).collect());
        Ok(solution)
    }

    /// Multipliers `tau / g` of all inequalities.
    fn cuts(&self) -> Vec<Cut> {
        let mut cuts = Vec::with_capacity(4 * self.barrier.triples.len());
        for &triple in &self.barrier.triples {
            for (g, s) in slacks(&self.centre.moments, triple).iter().zip(&SIGNS) {
                let [k, l, m] = triple;
                // The cycle k, l, m has the sides (k,l), (l,m), (m,k).
                let signs = [s[0], s[2], s[1]].map(|v| v as i8);
                cuts.push(Cut {
                    multiplier: self.eps * self.tau / g,
                    cycle: vec![k, l, m],
                    signs: signs.to_vec(),
                });
            }
        }
        cuts
    }
}

/// Eigenpairs of `scale Sigma^{-1}`, values increasing.
fn reversed(eigen: &Eigen, scale: f64) -> Eigen {
    let n = eigen.values.len();
    let values = eigen.values.iter().rev().map(|v| scale / v).collect();
    let columns = (0..n).rev().flat_map(|k| eigen.vectors.column(k).to_vec()).collect();
    Eigen { values, vectors: Square::from_column_major(n, columns) }
}

/// Triples of vertices `first <= k < l < m < n`.
fn triangles(n: usize, first: usize) -> Vec<[u32; 3]> {
    let mut out = Vec::new();
    for k in first as u32..n as u32 {
        for l in k + 1..n as u32 {
            out.extend((l + 1..n as u32).map(|m| [k, l, m]));
        }
    }
    out
}

/// Triples through vertex 0: pairwise consistency of all spins.
fn pairwise(n: usize) -> Vec<[u32; 3]> {
    (1..n as u32).flat_map(|l| (l + 1..n as u32).map(move |m| [0, l, m])).collect()
}
