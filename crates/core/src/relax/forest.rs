//! Sum-product on forests, in the domain of half log-odds so that no temperature overflows.

/// `log cosh x`, accurate for every magnitude.
pub(crate) fn log_cosh(x: f64) -> f64 {
    let a = x.abs();
    a + (-2.0 * a).exp().ln_1p() - std::f64::consts::LN_2
}

/// `atanh(tanh(coupling) tanh(field))`: the half log-odds that a neighbour with cavity field
/// `field` sends through `coupling`.
pub(crate) fn message(coupling: f64, field: f64) -> f64 {
    let (sum, difference) = (coupling + field, coupling - field);
    // (|sum| - |difference|) / 2 is the smaller magnitude with the sign of the product.
    let large = coupling.abs().min(field.abs()).copysign(coupling) * field.signum();
    large + 0.5 * ((-2.0 * sum.abs()).exp().ln_1p() - (-2.0 * difference.abs()).exp().ln_1p())
}

/// A rooted forest on `d` spins whose edges are named by their index in a model's edge list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Forest {
    /// Spins, children before parents.
    order: Vec<u32>,
    /// Parent and joining edge of every spin; `None` for roots.
    parent: Vec<Option<(u32, u32)>>,
    /// Chosen edges, increasing.
    edges: Vec<u32>,
}

/// First and second moments of a forest distribution.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ForestMoments {
    /// `log E_uniform exp(g)`.
    pub(crate) log_mean_exp: f64,
    /// `atanh E x_i`: exact even where the mean rounds to one.
    pub(crate) half_log_odds: Vec<f64>,
    /// `E x_i x_j` for the forest's edges in the order of [`Forest::edges`].
    pub(crate) pair_moments: Vec<f64>,
}

impl Forest {
    /// The forest with the `chosen` edges of a model with edge list `ends`; `None` on a cycle.
    ///
    /// **Cost** O(d + |chosen| log |chosen|).
    pub(crate) fn new(d: usize, ends: &[[u32; 2]], chosen: &[u32]) -> Option<Self> {
        let mut edges = chosen.to_vec();
        edges.sort_unstable();
        let mut start = vec![0usize; d + 1];
        for &e in &edges {
            ends[e as usize].iter().for_each(|&i| start[i as usize + 1] += 1);
        }
        (0..d).for_each(|i| start[i + 1] += start[i]);
        let mut next = start.clone();
        let mut neighbours = vec![(0u32, 0u32); 2 * edges.len()];
        for &e in &edges {
            let [i, j] = ends[e as usize];
            for (from, to) in [(i, j), (j, i)] {
                neighbours[next[from as usize]] = (to, e);
                next[from as usize] += 1;
            }
        }
        let mut parent = vec![None; d];
        let mut seen = vec![false; d];
        let mut order = Vec::with_capacity(d);
        for root in 0..d {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut head = order.len();
            order.push(root as u32);
            while head < order.len() {
                let i = order[head] as usize;
                head += 1;
                for &(j, e) in &neighbours[start[i]..start[i + 1]] {
                    if parent[i].is_some_and(|(_, up)| up == e) {
                        continue;
                    }
                    if std::mem::replace(&mut seen[j as usize], true) {
                        return None;
                    }
                    parent[j as usize] = Some((i as u32, e));
                    order.push(j);
                }
            }
        }
        order.reverse();
        Some(Forest { order, parent, edges })
    }

    /// Spins, children before parents: an elimination order of width one.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The chosen edges, increasing.
    pub(crate) fn edges(&self) -> &[u32] {
        &self.edges
    }

    /// `log E_uniform exp(g)`, `g = sum_i fields_i x_i + sum_e couplings_e x_i x_j` over the
    /// forest's edges; `couplings` is indexed by the model's edges. On return `fields` holds the
    /// cavity fields towards the parents.
    ///
    /// **Cost** O(d), four exponentials per edge.
    pub(crate) fn log_mean_exp(&self, fields: &mut [f64], couplings: &[f64]) -> f64 {
        let mut total = 0.0;
        for &i in &self.order {
            let a = fields[i as usize];
            total += match self.parent[i as usize] {
                None => log_cosh(a),
                Some((p, e)) => {
                    let j = couplings[e as usize];
                    fields[p as usize] += message(j, a);
                    0.5 * (log_cosh(a + j) + log_cosh(a - j))
                }
            };
        }
        total
    }

    /// `log E exp(g)` with means and pair moments; arguments as in [`Forest::log_mean_exp`].
    ///
    /// **Cost** O(d).
    pub(crate) fn moments(&self, fields: &[f64], couplings: &[f64]) -> ForestMoments {
        let mut cavity = fields.to_vec();
        let log_mean_exp = self.log_mean_exp(&mut cavity, couplings);
        let mut belief = vec![0.0; fields.len()];
        let mut pair_moments = vec![0.0; self.edges.len()];
        for &i in self.order.iter().rev() {
            let i = i as usize;
            let a = cavity[i];
            let Some((p, e)) = self.parent[i] else {
                belief[i] = a;
                continue;
            };
            let j = couplings[e as usize];
            let from_parent = belief[p as usize] - message(j, a);
            belief[i] = a + message(j, from_parent);
            // The sum x_i x_j has log-odds 2 J + log cosh(a + b) - log cosh(a - b).
            let odds = j + 0.5 * (log_cosh(a + from_parent) - log_cosh(a - from_parent));
            if let Ok(slot) = self.edges.binary_search(&e) {
                pair_moments[slot] = odds.tanh();
            }
        }
        ForestMoments { log_mean_exp, half_log_odds: belief, pair_moments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [[u32; 2]; 4] = [[0, 1], [1, 2], [1, 3], [4, 5]];

    fn brute(fields: &[f64], couplings: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let d = fields.len();
        let (mut z, mut means, mut pairs) = (0.0, vec![0.0; d], vec![0.0; ENDS.len()]);
        for bits in 0..1u32 << d {
            let x = |i: u32| if bits >> i & 1 == 1 { 1.0 } else { -1.0 };
            let g: f64 = (0..d).map(|i| fields[i] * x(i as u32)).sum::<f64>()
                + ENDS.iter().zip(couplings).map(|(&[i, j], v)| v * x(i) * x(j)).sum::<f64>();
            z += g.exp();
            (0..d).for_each(|i| means[i] += g.exp() * x(i as u32));
            ENDS.iter().enumerate().for_each(|(e, &[i, j])| pairs[e] += g.exp() * x(i) * x(j));
        }
        means.iter_mut().chain(pairs.iter_mut()).for_each(|v| *v /= z);
        ((z / f64::from(1u32 << d)).ln(), means, pairs)
    }

    #[test]
    fn forest_moments_match_enumeration() {
        let forest = Forest::new(6, &ENDS, &[0, 1, 2, 3]).unwrap();
        let fields = [0.3, -1.2, 0.0, 2.0, -0.4, 0.9];
        let couplings = [1.5, -0.7, 0.2, -2.5];
        let got = forest.moments(&fields, &couplings);
        let (value, means, pairs) = brute(&fields, &couplings);
        assert!((got.log_mean_exp - value).abs() < 1e-13);
        assert!(got.half_log_odds.iter().zip(&means).all(|(u, m)| (u.tanh() - m).abs() < 1e-13));
        assert!(got.pair_moments.iter().zip(&pairs).all(|(c, p)| (c - p).abs() < 1e-13));
    }

    #[test]
    fn extreme_parameters_stay_finite() {
        let forest = Forest::new(6, &ENDS, &[0, 1, 2, 3]).unwrap();
        let got = forest.moments(&[1e9, -1e9, 0.0, 1e-300, 0.0, -3e8], &[1e9, 5e8, -1e9, 2e9]);
        assert!(got.log_mean_exp.is_finite() && got.pair_moments.iter().all(|c| c.is_finite()));
        assert!((got.log_mean_exp - 4.8e9).abs() < 10.0, "{}", got.log_mean_exp);
    }

    #[test]
    fn a_cycle_is_not_a_forest() {
        assert!(Forest::new(3, &[[0, 1], [0, 2], [1, 2]], &[0, 1, 2]).is_none());
        assert!(Forest::new(3, &[[0, 1], [0, 2], [1, 2]], &[0, 2]).is_some());
    }
}
