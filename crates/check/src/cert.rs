//! What a certificate file holds.

use crate::cert_tables::Elimination;
use crate::interval::Interval;
use crate::model::Set;
use std::collections::BTreeMap;

/// What is proved, and with what.
pub(crate) struct Certificate {
    pub(crate) d: usize,
    pub(crate) eps: f64,
    /// Variables and their states.
    pub(crate) evidence: Vec<(usize, usize)>,
    pub(crate) zero_floor: Option<f64>,
    /// Claimed upper and lower bound on phi.
    pub(crate) phi: [Option<f64>; 2],
    /// Claimed upper and lower bound on eps log Z.
    pub(crate) log_z: [Option<f64>; 2],
    pub(crate) proof: Proof,
    pub(crate) witness: Option<Witness>,
}

/// What proves an upper bound.
pub(crate) struct Proof {
    pub(crate) cuts: Vec<Cut>,
    pub(crate) squares: Vec<Quadratic>,
    pub(crate) components: Vec<(f64, Form)>,
}

/// A decision tree: its nodes in preorder, a variable with its number of states or a leaf, and one proof per leaf.
pub(crate) struct Tree<T> {
    pub(crate) nodes: Vec<Option<(usize, usize)>>,
    pub(crate) leaves: Vec<T>,
}

/// Multiplier, cycle and signs of `multiplier (k - 2 + sum_p signs_p z_p z_{p+1})`, z = (1, x).
pub(crate) type Cut = (f64, Vec<usize>, Vec<i8>);

/// Column-major n x n entries.
pub(crate) struct Matrix {
    pub(crate) n: usize,
    pub(crate) data: Vec<f64>,
}

impl Matrix {
    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i + self.n * j]
    }

    pub(crate) fn column(&self, j: usize) -> &[f64] {
        &self.data[self.n * j..self.n * (j + 1)]
    }
}

/// Approximate eigenvalues and eigenvectors (columns).
pub(crate) struct Pairs {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Matrix,
}

/// `phi^T M phi` with approximate eigenpairs of M, or of what the form makes of M and its n parameters.
pub(crate) struct Quadratic {
    pub(crate) features: Vec<Set>,
    pub(crate) matrix: Matrix,
    pub(crate) parameters: Vec<f64>,
    pub(crate) pairs: Pairs,
}

/// Coefficients that are not 0, as a list.
pub(crate) type Terms = Vec<(Set, Interval)>;

/// A polynomial whose coefficients are floats.
pub(crate) type Polynomial = BTreeMap<Set, Interval>;

pub(crate) enum Form {
    Spectral(Quadratic),
    /// Parameters: the weights eta.
    Weighted(Quadratic),
    /// Parameters: the multipliers lambda; the weights of the noise.
    LogDet(Quadratic, Vec<f64>),
    /// Parameters: the weights eta; the tangent point.
    Tangent(Quadratic, Pairs),
    Elimination(Polynomial, Vec<usize>),
    /// The coefficients in the order of the file.
    WeightedElimination(Terms, Elimination),
    /// The diagonal and the order.
    SparseDual(Polynomial, Vec<f64>, Vec<usize>),
    Constant(f64),
    Tables(Elimination),
    Tree(Tree<Proof>),
}

pub(crate) enum Witness {
    Product(Vec<f64>),
    Forest(Polynomial),
    Point(Vec<i8>),
    Elimination(Vec<usize>),
    /// Allowed states per variable, all when there is no list.
    Tables(Elimination, Option<Vec<Vec<usize>>>),
    States(Vec<usize>),
    StateProduct(Vec<Vec<f64>>),
    Bethe(Bethe),
    /// Means of the kept spins, and the spins that are summed out.
    Layer(Vec<f64>, Vec<usize>),
    /// Blocks and one row of fields per variable.
    Blocks(Vec<Vec<usize>>, Vec<Vec<f64>>),
    /// Leaves without a witness add nothing.
    Tree(Tree<Option<Witness>>),
}

/// A locally consistent point of a balanced pairwise model.
pub(crate) struct Bethe {
    pub(crate) means: Vec<f64>,
    pub(crate) edges: Vec<Vec<usize>>,
    pub(crate) correlations: Vec<f64>,
    pub(crate) flips: Vec<i8>,
}
