//! The pairwise inequalities `1 + a mu_i + b mu_j + ab mu_ij >= 0` as a linear map.

use crate::linalg::Square;
use crate::model::Ising;
use crate::relax::cuts::quad::{Quad, adjoint, sides};
use crate::settings::Pairwise;

/// The constrained pairs, as vertices `1 <= i < j <= d` of the moment matrix.
#[derive(Clone, Debug)]
pub(super) struct Cuts {
    /// Vertices of each pair.
    pub(super) pairs: Vec<[u32; 2]>,
}

impl Cuts {
    pub(super) fn new(model: &Ising, which: Pairwise) -> Self {
        let d = model.d() as u32;
        let pairs = match which {
            Pairwise::All => (1..=d).flat_map(|j| (1..j).map(move |i| [i, j])).collect(),
            Pairwise::Edges => model.edges().iter().map(|&[i, j]| [i + 1, j + 1]).collect(),
            Pairwise::None => Vec::new(),
        };
        Cuts { pairs }
    }

    /// Number of inequalities.
    pub(super) fn len(&self) -> usize {
        4 * self.pairs.len()
    }

    /// `constant + a y_0i + b y_0j + ab y_ij` for every pair.
    pub(super) fn values(&self, y: &Square, constant: f64) -> Vec<Quad> {
        let value = |&[i, j]: &[u32; 2]| {
            let (i, j) = (i as usize, j as usize);
            sides(constant, [y.at(i, 0), y.at(j, 0), y.at(i, j)])
        };
        self.pairs.iter().map(value).collect()
    }

    /// Adds the adjoint: the symmetric hollow A with `<A, Y> = sum w_ab (a y_0i + b y_0j + ab y_ij)`.
    pub(super) fn add_adjoint(&self, weights: &[Quad], out: &mut Square) {
        let n = out.n();
        let data = out.data_mut();
        for (&[i, j], w) in self.pairs.iter().zip(weights) {
            let (i, j) = (i as usize, j as usize);
            let [u, v, p] = adjoint(w).map(|x| 0.5 * x);
            data[i] += u;
            data[n * i] += u;
            data[j] += v;
            data[n * j] += v;
            data[i + n * j] += p;
            data[j + n * i] += p;
        }
    }

    /// The matrix with the given diagonal and hollow part `-(s + A^T nu)`.
    pub(super) fn complete(&self, s: &Square, nu: &[Quad], diagonal: impl Iterator<Item = f64>) -> Square {
        let n = s.n();
        let mut m = s.clone();
        self.add_adjoint(nu, &mut m);
        m.data_mut().iter_mut().for_each(|v| *v = -*v);
        m.data_mut().iter_mut().step_by(n + 1).zip(diagonal).for_each(|(v, d)| *v = d);
        m
    }
}

/// `f` applied entry by entry.
pub(super) fn zip_quads(x: &[Quad], y: &[Quad], f: impl Fn(f64, f64) -> f64) -> Vec<Quad> {
    x.iter().zip(y).map(|(x, y)| std::array::from_fn(|k| f(x[k], y[k]))).collect()
}
