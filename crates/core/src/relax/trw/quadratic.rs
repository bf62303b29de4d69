//! The quadratic model of the bound in the edge probabilities, minimised over mixtures of forests.
//!
//! The Hessian of B is `diag(J_e^2 / (rho_e I_cc)) + R A^-1 R^T`, A the matrix of the inner solve and R
//! what a change of rho does to the stationarity conditions. The forests that the model asks for
//! are found without solving the inner problem again.

use super::point::Point;
use super::simplex_qp::SimplexQp;
use super::spanning::max_spanning_forest;
use super::trees::Scaled;
use crate::linalg::graph_system::GraphSystem;

/// `B(rho) + g . (rho' - rho) + (rho' - rho) H (rho' - rho) / 2` around one point.
pub(super) struct QuadraticModel<'a> {
    model: &'a Scaled,
    rho: &'a [f64],
    system: &'a GraphSystem,
    curvature: Vec<f64>,
    /// What one unit of an edge's probability does to the conditions of its two ends.
    slopes: Vec<[f64; 2]>,
    /// Minus the gradient of the model at zero probabilities, up to the part that weights keep.
    linear: Vec<f64>,
    /// Minus the gradient at the point: mutual informations.
    information: Vec<f64>,
    forests: Vec<Vec<u32>>,
    /// Response of the means to the slopes of each forest.
    responses: Vec<Vec<f64>>,
    /// Weights that the first forests keep, and what is left to distribute.
    least: Vec<f64>,
    room: f64,
    program: SimplexQp,
}

impl<'a> QuadraticModel<'a> {
    /// The model at `point`; the first forests keep the weights `least`, which make up the
    /// probabilities `kept`.
    ///
    /// **Cost** one factorisation on the graph.
    pub(super) fn new(
        model: &'a Scaled,
        (rho, point): (&'a [f64], &Point),
        system: &'a mut GraphSystem,
        (least, kept): (&[f64], &[f64]),
    ) -> Self {
        point.load_hessian(model, rho, system);
        let spreads = point.spreads();
        let couplings = model.tree_couplings(rho);
        let edges = || point.edges.iter().zip(&couplings).enumerate();
        let curvature: Vec<f64> = edges()
            .map(|(e, (edge, &j))| if j == 0.0 { 0.0 } else { j * j * edge.inverse_curvature / rho[e] })
            .collect();
        let slopes = edges()
            .map(|(e, (edge, j))| {
                let spread = model.ends[e].map(|i| spreads[i as usize]);
                [0, 1].map(|side| spread[side] * (-edge.messages[side] - edge.slopes[side] * j))
            })
            .collect();
        let size = curvature.iter().sum::<f64>();
        let mut out = QuadraticModel {
            model,
            rho,
            system,
            curvature,
            slopes,
            linear: Vec::new(),
            information: point.edges.iter().map(|e| e.information).collect(),
            forests: Vec::new(),
            responses: Vec::new(),
            least: least.to_vec(),
            room: 1.0 - least.iter().sum::<f64>(),
            program: SimplexQp::new(size),
        };
        let free: Vec<f64> = rho.iter().zip(kept).map(|(r, k)| r - k).collect();
        let bent = out.hessian_times(&free);
        out.linear = bent.iter().zip(&out.information).map(|(h, i)| h + i).collect();
        out
    }

    /// Adds a forest; the search for the best weights starts from `weight`, which all together sum to
    /// one.
    ///
    /// **Cost** one solve on the graph and O(k d).
    pub(super) fn push(&mut self, edges: &[u32], weight: f64) {
        let a = self.forests.len();
        let mut pull = vec![0.0; self.model.d];
        for &e in edges {
            for (side, &i) in self.model.ends[e as usize].iter().enumerate() {
                pull[i as usize] += self.slopes[e as usize][side];
            }
        }
        let mut response = pull.clone();
        self.system.solve(&mut response);
        self.forests.push(edges.to_vec());
        self.responses.push(response);
        let mut member = vec![0.0; self.rho.len()];
        edges.iter().for_each(|&e| member[e as usize] = self.curvature[e as usize]);
        let entry = |(forest, response): (&Vec<u32>, &Vec<f64>)| {
            let shared: f64 = forest.iter().map(|&e| member[e as usize]).sum();
            shared + pull.iter().zip(response).map(|(p, r)| p * r).sum::<f64>()
        };
        let row = self.forests.iter().zip(&self.responses).map(entry).collect();
        // In v = (w - least) / room the model is v H v / 2 - linear . v up to a factor.
        let least = self.least.get(a).copied().unwrap_or(0.0);
        let linear: f64 = edges.iter().map(|&e| self.linear[e as usize]).sum();
        self.program.push(row, linear / self.room, ((weight - least) / self.room).max(0.0));
    }

    /// The weights of the forests that minimise the model.
    pub(super) fn minimise(&mut self) -> Vec<f64> {
        self.program.minimise();
        let least = self.least.iter().copied().chain(std::iter::repeat(0.0));
        self.program.weights().iter().zip(least).map(|(v, least)| least + self.room * v).collect()
    }

    /// The forest that the model asks for most at `weights`, and how much it could gain at most.
    ///
    /// **Cost** one solve on the graph, O(m log m).
    pub(super) fn best_forest(&self, weights: &[f64]) -> (Vec<u32>, f64) {
        let mut there = vec![0.0; self.rho.len()];
        for (forest, w) in self.forests.iter().zip(weights) {
            forest.iter().for_each(|&e| there[e as usize] += w);
        }
        let step: Vec<f64> = there.iter().zip(self.rho).map(|(t, r)| t - r).collect();
        let bent = self.hessian_times(&step);
        let gain: Vec<f64> = self.information.iter().zip(&bent).map(|(i, h)| i - h).collect();
        let forest = max_spanning_forest(self.model.d, &self.model.ends, &gain);
        let best: f64 = forest.iter().map(|&e| gain[e as usize]).sum();
        let now: f64 = gain.iter().zip(&there).map(|(g, t)| g * t).sum();
        (forest, best - now)
    }

    /// Slope of the bound from the point towards `goal`, both weights of the forests.
    pub(super) fn slope(&self, weights: &[f64], goal: &[f64]) -> f64 {
        let change = goal.iter().zip(weights).map(|(g, w)| w - g);
        let gain = |forest: &Vec<u32>| forest.iter().map(|&e| self.information[e as usize]).sum::<f64>();
        self.forests.iter().zip(change).map(|(forest, c)| c * gain(forest)).sum()
    }

    fn hessian_times(&self, change: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; self.model.d];
        for ((&[i, j], s), c) in self.model.ends.iter().zip(&self.slopes).zip(change) {
            means[i as usize] += s[0] * c;
            means[j as usize] += s[1] * c;
        }
        self.system.solve(&mut means);
        let edges = self.model.ends.iter().zip(&self.slopes).zip(self.curvature.iter().zip(change));
        edges
            .map(|((&[i, j], s), (k, c))| k * c + s[0] * means[i as usize] + s[1] * means[j as usize])
            .collect()
    }
}
