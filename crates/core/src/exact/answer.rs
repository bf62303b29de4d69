//! What exact inference answers.

use super::cost::Algorithm;
use super::descend::Marginals;
use super::laws::within_factor;
use super::rounding::{Enclosure, U};
use crate::model::FactorModel;
use crate::solution::StopReason;
use crate::tables::order::interaction_graph;
use crate::tables::reduce::Reduction;

/// The exact answer, over the free variables.
///
/// `log_z = eps log sum_x exp(f/eps)` and `phi = log_z - eps sum_i log q_i`; both are `-inf` when hard
/// zeros leave no state (then there is no distribution: means and entropy are NaN, no pairs).
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use]
pub struct Exact {
    /// `eps log E_uniform exp(f/eps)`.
    pub phi: f64,
    /// `eps log sum_x exp(f/eps)`.
    pub log_z: f64,
    /// Proved lower and upper bound on phi: rounding and the model's uncertainty included.
    pub phi_bounds: (f64, f64),
    /// Proved lower and upper bound on log_z.
    pub log_z_bounds: (f64, f64),
    /// `E x_i` when all variables are spins; empty when not, or when marginals were not wanted.
    pub means: Vec<f64>,
    /// `P(x_i = s)`, a list of states per variable; empty when marginals were not wanted.
    pub state_marginals: Vec<Vec<f64>>,
    /// Proved intervals `[low, high]` around every `P(x_i = s)`, rounding and the model's uncertainty included; empty
    /// when there are no marginals.
    pub state_bounds: Vec<Vec<[f64; 2]>>,
    /// `(i, j, E x_i x_j)`, i < j in lexicographic order: all pairs after enumeration, the pairs
    /// within a common factor after elimination.
    pub pairwise: Vec<(u32, u32, f64)>,
    /// `-sum_x p(x) log p(x)` in nats; NaN when marginals were not wanted.
    pub entropy: f64,
    /// f at `best`: the largest value, up to rounding; NaN when it was not wanted.
    pub max_f: f64,
    /// A state of largest f. Enumeration returns, of equal values, the state whose number (bit i
    /// set for state 1) is smallest; elimination prefers low states for the variables eliminated last.
    pub best: Vec<u32>,
    /// The same as spins, when all variables are spins.
    pub argmax: Vec<i8>,
    /// What was run.
    pub algorithm: Algorithm,
    /// 2^d for enumeration, the induced width for elimination.
    pub states_or_width: u64,
    /// The elimination order.
    pub order: Option<Vec<u32>>,
    /// Always [`StopReason::Converged`]; an interrupted run is [`Error::Interrupted`](crate::Error::Interrupted).
    pub stop: StopReason,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl Exact {
    /// The values of log Z and phi; moments are left to the caller.
    pub(super) fn new(cardinalities: &[u32], eps: f64, log_z: f64, bounds: Enclosure) -> Self {
        let states = Enclosure::log_states(cardinalities);
        let phi = bounds.minus(states.times(eps));
        Exact {
            phi: log_z - eps * 0.5 * (states.low + states.high),
            log_z,
            phi_bounds: (phi.low, phi.high),
            log_z_bounds: (bounds.low, bounds.high),
            means: Vec::new(),
            state_marginals: Vec::new(),
            state_bounds: Vec::new(),
            pairwise: Vec::new(),
            entropy: f64::NAN,
            max_f: f64::NAN,
            best: Vec::new(),
            argmax: Vec::new(),
            algorithm: Algorithm::Enumeration,
            states_or_width: 0,
            order: None,
            stop: StopReason::Converged,
            seconds: 0.0,
        }
    }

    /// Whether marginals were wanted, fit the memory limit, and exist.
    pub fn has_marginals(&self) -> bool {
        !self.entropy.is_nan()
    }

    pub(super) fn set_best(&mut self, best: Vec<u32>, spins: bool) {
        if spins {
            self.argmax = best.iter().map(|&s| if s == 1 { 1 } else { -1 }).collect();
        }
        self.best = best;
    }

    /// Marginals over the original variables; none exist when no state has positive weight.
    pub(super) fn set_marginals(
        &mut self,
        original: &FactorModel,
        reduction: &Reduction,
        found: Option<Marginals>,
        eps: f64,
    ) {
        let spins = original.is_binary();
        let Some(found) = found else {
            let none = |&q: &u32| vec![f64::NAN; q as usize];
            self.state_marginals = original.cardinalities().iter().map(none).collect();
            if spins {
                self.means = vec![f64::NAN; original.d()];
            }
            return;
        };
        self.entropy = found.entropy;
        let cardinalities = original.cardinalities();
        self.state_marginals = reduction.restore_laws(cardinalities, &found.states, (0.0, 1.0));
        let laws = found.states.iter().zip(&found.roundings);
        let bounds: Vec<Vec<[f64; 2]>> = laws
            .map(|(law, roundings)| {
                let radius = 1.01 * U * roundings + 1.01 * reduction.model.uncertainty() / eps;
                within_factor(law, radius)
            })
            .collect();
        self.state_bounds = reduction.restore_laws(cardinalities, &bounds, ([0.0; 2], [1.0; 2]));
        if spins {
            self.means = self.state_marginals.iter().map(|p| p[1] - p[0]).collect();
            let name = |i: u32| reduction.variables[i as usize];
            self.pairwise = found.pairs.into_iter().map(|(i, j, v)| (name(i), name(j), v)).collect();
            self.add_fixed_pairs(original, reduction);
        }
    }

    /// Pairs of a common factor of which one spin has a single state left.
    fn add_fixed_pairs(&mut self, original: &FactorModel, reduction: &Reduction) {
        if reduction.variables.len() == original.d() {
            return;
        }
        let is_free: Vec<bool> = reduction.states.iter().map(|s| s.len() > 1).collect();
        for (i, list) in interaction_graph(original).into_iter().enumerate() {
            for j in list.into_iter().filter(|&j| j as usize > i) {
                if !is_free[i] || !is_free[j as usize] {
                    self.pairwise.push((i as u32, j, self.means[i] * self.means[j as usize]));
                }
            }
        }
        self.pairwise.sort_unstable_by_key(|&(i, j, _)| (i, j));
    }
}
