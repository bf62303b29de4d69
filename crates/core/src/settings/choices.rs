//! What is chosen by name.

use crate::choice::choice;
use crate::error::{Error, Result};

/// A way to bound log Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Enumeration or elimination.
    Exact,
    /// The quantum relaxation a_eps(F).
    Quantum,
    /// The quantum relaxation on greedily selected features.
    QuantumGreedy,
    /// The quantum relaxation with a learned diagonal metric.
    QuantumDiag,
    /// The log-determinant relaxation.
    LogDet,
    /// Tree-reweighted bound.
    Trw,
    /// All of the above in one decomposition.
    Combined,
    /// Mean-field lower bounds.
    MeanField,
    /// Bethe lower bounds of balanced models.
    Bethe,
    /// Weighted mini-buckets, both sides.
    Wmb,
    /// Annealed importance sampling: an estimate, no bound.
    Ais,
    /// Branching on states of variables.
    Branch,
}

impl Method {
    /// Every method, in the order of `--method all`.
    pub const ALL: [Method; 12] = [
        Method::Exact,
        Method::MeanField,
        Method::Bethe,
        Method::Wmb,
        Method::Quantum,
        Method::LogDet,
        Method::Trw,
        Method::QuantumGreedy,
        Method::QuantumDiag,
        Method::Combined,
        Method::Branch,
        Method::Ais,
    ];

    /// The name used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Method::Exact => "exact",
            Method::Quantum => "quantum",
            Method::QuantumGreedy => "quantum-greedy",
            Method::QuantumDiag => "quantum-diag",
            Method::LogDet => "logdet",
            Method::Trw => "trw",
            Method::Combined => "combined",
            Method::MeanField => "mean-field",
            Method::Bethe => "bethe",
            Method::Wmb => "wmb",
            Method::Ais => "ais",
            Method::Branch => "branch",
        }
    }

    /// What it does, on one line.
    pub fn about(self) -> &'static str {
        match self {
            Method::Exact => "enumeration or elimination: a rigorous enclosure of log Z itself",
            Method::Quantum => "relative entropy of moment matrices, on the features given by --features",
            Method::QuantumGreedy => "quantum on greedily selected features (--greedy)",
            Method::QuantumDiag => "quantum with a learned diagonal metric",
            Method::LogDet => "Gaussian entropy, with pairwise constraints (--pairwise); pairwise models",
            Method::Trw => "tree-reweighted bound, on the trees given by --rho; pairwise models",
            Method::Combined => "one proof made of quantum, logdet, trees and cuts; pairwise models",
            Method::MeanField => {
                "lower bounds by the best state, products, trees and blocks; any number of states"
            }
            Method::Bethe => "lower bounds by belief propagation; balanced pairwise models",
            Method::Wmb => "weighted mini-buckets over tables, both sides; any number of states",
            Method::Branch => "splits the state space until a gap or a limit, both sides; any model",
            Method::Ais => "annealed importance sampling: an estimate with its error, no bound",
        }
    }
}

choice!(Method, "method", about);

/// An optimisation algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Solver {
    /// Chosen by size and structure.
    #[default]
    Auto,
    /// Newton-CG on the smooth dual with temperature continuation.
    Newton,
    /// The paper's primal-dual first-order method.
    ChambollePock,
    /// Primal-dual interior point on the moments.
    InteriorPoint,
    /// Damped TRW message passing.
    MessagePassing,
}

impl Solver {
    /// Every solver.
    pub const ALL: [Solver; 5] =
        [Solver::Auto, Solver::Newton, Solver::ChambollePock, Solver::InteriorPoint, Solver::MessagePassing];

    /// The name used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Solver::Auto => "auto",
            Solver::Newton => "newton",
            Solver::ChambollePock => "chambolle-pock",
            Solver::InteriorPoint => "interior-point",
            Solver::MessagePassing => "message-passing",
        }
    }

    /// What it is, on one line.
    pub fn about(self) -> &'static str {
        match self {
            Solver::Auto => "chosen by size and structure",
            Solver::Newton => "quantum with (1, x): Newton along the temperature",
            Solver::ChambollePock => "quantum: the paper's first-order method",
            Solver::InteriorPoint => "quantum and logdet: on the moments",
            Solver::MessagePassing => "trw: damped message passing",
        }
    }
}

choice!(Solver, "solver", about);

/// Edge appearance probabilities of TRW.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rho {
    /// 2/d on complete graphs (uniform over the d stars); elsewhere as `Resistance`.
    Uniform,
    /// Uniform spanning tree probabilities, by effective resistance.
    Resistance,
    /// Optimised by conditional gradient over the spanning tree polytope.
    #[default]
    Optimized,
}

impl Rho {
    /// Every choice.
    pub const ALL: [Rho; 3] = [Rho::Uniform, Rho::Resistance, Rho::Optimized];

    /// The name used everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Rho::Uniform => "uniform",
            Rho::Resistance => "resistance",
            Rho::Optimized => "optimized",
        }
    }

    /// What it is, on one line.
    pub fn about(self) -> &'static str {
        match self {
            Rho::Uniform => "2/d on complete graphs, elsewhere as resistance",
            Rho::Resistance => "those of a uniform spanning tree",
            Rho::Optimized => "the best over the spanning tree polytope",
        }
    }
}

choice!(Rho, "rho", about);

/// Which pairs carry the constraints `1 + a mu_i + b mu_j + ab mu_ij >= 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pairwise {
    /// Every pair.
    #[default]
    All,
    /// The model's edges.
    Edges,
    /// None.
    None,
}

impl Pairwise {
    /// Every choice.
    pub const ALL: [Pairwise; 3] = [Pairwise::All, Pairwise::Edges, Pairwise::None];

    /// The name used everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Pairwise::All => "all",
            Pairwise::Edges => "edges",
            Pairwise::None => "none",
        }
    }

    /// What it is, on one line.
    pub fn about(self) -> &'static str {
        match self {
            Pairwise::All => "every pair",
            Pairwise::Edges => "the model's edges",
            Pairwise::None => "no pair",
        }
    }
}

choice!(Pairwise, "pairwise", about);

/// How many features greedy selection adds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Greedy {
    /// Exactly this many (fewer when the pool is empty).
    Count(usize),
    /// Until the gain of a step falls below `1e-4 max(eps, |phi|)` or time runs out.
    Auto,
}

impl std::str::FromStr for Greedy {
    type Err = Error;

    /// A number, or `auto`.
    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(Greedy::Auto);
        }
        let count = text.parse().map(Greedy::Count);
        count.map_err(|_| Error::Setting(format!("greedy `{text}`: expected a number of features or `auto`")))
    }
}
