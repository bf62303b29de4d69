//! The data of a proof.

use super::noise::Noise;
use super::tables::WeightedElimination;
use super::tree::Tree;
use crate::features::Features;
use crate::linalg::{Eigen, Square};
use crate::model::Polynomial;

/// Everything needed to re-derive a bound from the model alone; see [`crate::certify`].
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Certificate {
    /// Temperature; 0 for a bound on `max f`.
    pub eps: f64,
    /// Functions that are nonnegative on the cube, added to f.
    pub slack: Slack,
    /// The convex decomposition; empty when only a lower bound is proved.
    pub components: Vec<Component>,
    /// A distribution that proves a lower bound.
    pub witness: Option<Witness>,
}

/// `g(x) >= 0` added to f: `Phi(f) <= Phi(f + g)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slack {
    /// Cycle inequalities with multipliers.
    pub cuts: Vec<Cut>,
    /// Sums of squares `phi^T S phi`.
    pub squares: Vec<SumOfSquares>,
}

/// `multiplier * (k - 2 + sum_p signs_p z_{c_p} z_{c_{p+1}}) >= 0` around a cycle of length k >= 3.
///
/// Vertices index `z = (1, x_0, ..., x_{d-1})`: a pairwise cut `1 + a x_i + b x_j + ab x_i x_j` is
/// the triangle through vertex 0. Valid when `(-1)^k prod signs = -1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// At least 0, exactly.
    pub multiplier: f64,
    /// Distinct vertices, 0 for the constant, i + 1 for spin i.
    pub cycle: Vec<u32>,
    /// -1 or +1 for the edge from each vertex to the next.
    pub signs: Vec<i8>,
}

/// `phi^T S phi` with S positive semidefinite up to a defect that joins the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct SumOfSquares {
    /// phi.
    pub features: Features,
    /// S, symmetric.
    pub matrix: Square,
    /// Approximate eigenpairs of S.
    pub eigen: Eigen,
}

/// One term `w_k f_k` of the decomposition.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// `w_k >= 0`; weights are normalised by their sum.
    pub weight: f64,
    /// `f_k`, in a form with a closed expression for `Phi`.
    pub form: Form,
}

/// A function `f_k` whose `Phi` is bounded in closed form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// `f_k = phi^T F' phi`: `Phi <= eps log((1/n) tr exp(n F' / eps))`.
    Spectral {
        /// phi.
        features: Features,
        /// F', symmetric.
        matrix: Square,
        /// Approximate eigenpairs of F'.
        eigen: Eigen,
    },
    /// `f_k` as written, summed exactly along an elimination order.
    Elimination {
        /// `f_k` over the model's spins.
        polynomial: Polynomial,
        /// Spins in order of elimination.
        order: Vec<u32>,
    },
    /// The tables of `f_k`'s coefficients (fields, pairs, terms in the order of the file, without zeros), summed out with
    /// weights: a component of any width in tables of any size.
    WeightedElimination {
        /// `f_k` over the model's spins.
        polynomial: Polynomial,
        /// Order, mini-buckets and shifts.
        elimination: WeightedElimination,
    },
    /// `f_k = z^T F z` with z = (1, x), F hollow except `F_00`, bounded by the entropy of a Gaussian.
    LogDet {
        /// The law of the noise R.
        noise: Noise,
        /// Multipliers of `X_00 = 1`, `X_ii = E R^2`.
        lambda: Vec<f64>,
        /// F.
        matrix: Square,
        /// Approximate eigenpairs of `diag(lambda) - F`.
        eigen: Eigen,
    },
    /// The tangent of the metric-learning objective at `Sigma_0 = U diag(values) U^T`.
    Tangent {
        /// phi.
        features: Features,
        /// Weights of the diagonal metric.
        eta: Vec<f64>,
        /// Approximate eigenpairs of `Sigma_0`.
        point: Eigen,
        /// `F - eps grad - Y`, up to a defect.
        matrix: Square,
        /// Approximate eigenpairs of `matrix`.
        eigen: Eigen,
    },
    /// `f_k = phi^T F' phi` in a diagonal metric V: `Phi <= eps log tr exp(B/eps)`,
    /// `B = eps log V + V^(-1/2) F' V^(-1/2)`.
    WeightedSpectral {
        /// phi.
        features: Features,
        /// Diagonal of V, positive; normalised by its sum.
        eta: Vec<f64>,
        /// F', symmetric.
        matrix: Square,
        /// Approximate eigenpairs of B.
        eigen: Eigen,
    },
    /// `f_k = z^T P z` pairwise with P sparse and hollow, z = (1, x): `f_k <= constant + sum_i diagonal_i` when
    /// `diag(diagonal) - P` is positive semidefinite, which a sparse Cholesky factorisation shows.
    SparseDual {
        /// `f_k`, pairwise.
        polynomial: Polynomial,
        /// d + 1 multipliers of `z_i^2 = 1`.
        diagonal: Vec<f64>,
        /// The d + 1 indices of z in order of elimination.
        order: Vec<u32>,
    },
    /// `f_k = value` everywhere.
    Constant {
        /// The constant.
        value: f64,
    },
    /// The factor tables of the model, summed out with weights: see [`Certificate::verify_tables`]. It is the only
    /// component, without slack.
    Tables(WeightedElimination),
    /// Disjoint parts of the state space, each with a bound of its own (and no witness): log Z is the log of the sum of
    /// theirs. It is the only component, without slack.
    Tree(Tree<Certificate>),
}

/// A distribution q: `Phi(f) >= E_q f - eps D(q || uniform)`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Witness {
    /// Independent spins with the given means.
    Product {
        /// `E_q x_i`.
        means: Vec<f64>,
    },
    /// A forest distribution proportional to `exp(g/eps)`.
    Forest {
        /// g, pairwise on a forest.
        polynomial: Polynomial,
    },
    /// One assignment.
    Point {
        /// Spins.
        spins: Vec<i8>,
    },
    /// The value of the model itself, by elimination along an order.
    Elimination {
        /// Spins in order of elimination.
        order: Vec<u32>,
    },
    /// The factor tables summed out with one positive weight a bucket.
    Tables {
        /// The elimination.
        elimination: WeightedElimination,
        /// The states of each variable that are summed over, in increasing order: any choice is valid. `None` for all.
        allowed: Option<Vec<Vec<u32>>>,
    },
    /// One state of every variable.
    States {
        /// The states.
        states: Vec<u32>,
    },
    /// Independent variables of any number of states.
    StateProduct {
        /// One row per variable, at least 0, normalised by the verifier.
        probabilities: Vec<Vec<f64>>,
    },
    /// A locally consistent point of a balanced pairwise polynomial: its Bethe value is a lower bound.
    Bethe {
        /// `E x_i`.
        means: Vec<f64>,
        /// Edges `i < j` in lexicographic order; couplings of the model on other pairs are paid for.
        edges: Vec<[u32; 2]>,
        /// `E x_i x_j`, one per edge.
        correlations: Vec<f64>,
        /// The change of signs that makes every coupling at least 0.
        flips: Vec<i8>,
    },
    /// One layer of spins summed out, independent spins for the others.
    Layer {
        /// `E x_i` of the spins that are not summed out, in order.
        means: Vec<f64>,
        /// Spins without couplings among themselves, in increasing order.
        summed: Vec<u32>,
    },
    /// Independent blocks of variables, each with the exact law of the factors inside it plus fields.
    Blocks {
        /// A partition of the variables, each block in order of elimination.
        blocks: Vec<Vec<u32>>,
        /// Per variable one value a state, added to f inside its block.
        fields: Vec<Vec<f64>>,
    },
    /// Disjoint parts of the state space, each with a witness of its own: log Z is the log of the sum of theirs. A part
    /// without one adds nothing.
    Tree(Tree<Option<Witness>>),
}

impl Witness {
    /// Whether the witness speaks of factor tables rather than of a polynomial.
    pub fn is_about_tables(&self) -> bool {
        match self {
            Witness::Tables { .. } | Witness::States { .. } => true,
            Witness::StateProduct { .. } | Witness::Blocks { .. } => true,
            Witness::Product { .. } | Witness::Forest { .. } | Witness::Point { .. } => false,
            Witness::Elimination { .. }
            | Witness::Bethe { .. }
            | Witness::Layer { .. }
            | Witness::Tree(_) => false,
        }
    }
}

impl Form {
    /// Size of the dense matrix the form stores, 0 when it has none.
    pub(super) fn matrix_size(&self) -> usize {
        match self {
            Form::Spectral { matrix, .. }
            | Form::WeightedSpectral { matrix, .. }
            | Form::LogDet { matrix, .. }
            | Form::Tangent { matrix, .. } => matrix.n(),
            Form::Elimination { .. } | Form::SparseDual { .. } | Form::Constant { .. } => 0,
            Form::WeightedElimination { .. } | Form::Tables(_) | Form::Tree(_) => 0,
        }
    }
}

impl Certificate {
    /// What the coefficients alone prove: `f <= c + sum |theta|` from above and `Phi(f) >= E f = c` from below.
    pub(crate) fn of_coefficients(f: &Polynomial, eps: f64, upper: bool, lower: bool) -> Self {
        let form = Form::Constant { value: f.pairwise_part().constant() };
        let components = if upper { vec![Component { weight: 1.0, form }] } else { Vec::new() };
        let witness = lower.then(|| Witness::Product { means: vec![0.0; f.d()] });
        Certificate { eps, slack: Slack::default(), components, witness }
    }
}
