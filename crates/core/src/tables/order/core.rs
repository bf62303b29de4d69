//! One elimination on a graph held as rows of bits, with the missing pairs of every neighbourhood
//! kept up to date: the engine of many randomised greedy runs.

use super::graph::Graph;
use super::noise::Noise;

/// Steps that a price takes: noise, and its share of sorting.
const PRICE_STEPS: u64 = 20;
/// Steps of an elimination before any neighbour is met.
const ELIMINATION_STEPS: u64 = 50;

/// What a greedy run takes as the price of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// Pairs of neighbours not yet joined.
    Fill,
    /// Size of the clique, as a logarithm.
    Weight,
    /// Missing pairs, and the size of the clique among equals.
    FillThenWeight,
    /// Entries of the clique less those of the tables it replaces: what a step adds.
    Growth,
}

/// A greedy rule and the scale of the noise on its prices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) rule: Rule,
    pub(crate) noise: f64,
}

/// A partially eliminated graph.
#[derive(Clone)]
pub(crate) struct Core {
    words: usize,
    rows: Vec<u64>,
    bits: Vec<f64>,
    /// Sum of `bits` over the neighbours.
    weight: Vec<f64>,
    degree: Vec<u32>,
    /// Missing pairs among the neighbours.
    fill: Vec<i64>,
    dirty: Vec<u32>,
    /// Entries of the cliques so far.
    pub(crate) cost: f64,
    /// Elementary steps so far: words looked at.
    pub(crate) work: u64,
}

impl Core {
    pub(crate) fn new(graph: &Graph) -> Self {
        let n = graph.len();
        let words = n.div_ceil(64).max(1);
        let mut core = Core {
            words,
            rows: vec![0; n * words],
            bits: graph.bits.clone(),
            weight: vec![0.0; n],
            degree: vec![0; n],
            fill: vec![0; n],
            dirty: Vec::new(),
            cost: 0.0,
            work: 0,
        };
        for (v, list) in graph.neighbours.iter().enumerate() {
            core.degree[v] = list.len() as u32;
            for &j in list {
                core.rows[v * words + j as usize / 64] |= 1 << (j % 64);
                core.weight[v] += graph.bits[j as usize];
            }
        }
        for (v, list) in graph.neighbours.iter().enumerate() {
            let joined: i64 = list.iter().map(|&j| i64::from(core.common(v, j as usize))).sum();
            core.fill[v] = (list.len() as i64 * (list.len() as i64 - 1) - joined) / 2;
        }
        core
    }

    fn row(&self, v: usize) -> &[u64] {
        &self.rows[v * self.words..(v + 1) * self.words]
    }

    fn common(&self, a: usize, b: usize) -> u32 {
        self.row(a).iter().zip(self.row(b)).map(|(x, y)| (x & y).count_ones()).sum()
    }

    /// The neighbours of v.
    pub(crate) fn members(&self, v: usize) -> Vec<u32> {
        let mut out = Vec::with_capacity(self.degree[v] as usize);
        out.extend(ones(self.row(v)));
        out
    }

    /// Entries of the clique of v.
    pub(crate) fn entries(&self, v: usize) -> f64 {
        (self.weight[v] + self.bits[v]).exp2()
    }

    /// Removes v and joins its neighbours.
    pub(crate) fn eliminate(&mut self, v: u32) {
        let v = v as usize;
        self.cost += self.entries(v);
        let clique = self.members(v);
        let own = self.row(v).to_vec();
        self.dirty.clear();
        for &u in &clique {
            let u = u as usize;
            let outside: u32 = self.row(u).iter().zip(&own).map(|(x, y)| (x & !y).count_ones()).sum();
            self.fill[u] -= i64::from(outside) - 1;
            self.rows[u * self.words + v / 64] &= !(1 << (v % 64));
            self.degree[u] -= 1;
            self.weight[u] -= self.bits[v];
            self.dirty.push(u as u32);
        }
        self.work += ELIMINATION_STEPS + (3 * (self.words + 2) * clique.len()) as u64;
        if self.fill[v] > 0 {
            for &a in &clique {
                self.join_all(a as usize, &own);
            }
        }
    }

    /// Joins a to all vertices of the set `own` with a larger number.
    fn join_all(&mut self, a: usize, own: &[u64]) {
        for (k, &word) in own.iter().enumerate().skip(a / 64) {
            let above = if k == a / 64 { !((2u64 << (a % 64)).wrapping_sub(1)) } else { u64::MAX };
            let mut missing = word & !self.rows[a * self.words + k] & above;
            while missing != 0 {
                let b = k * 64 + missing.trailing_zeros() as usize;
                missing &= missing - 1;
                self.join(a, b);
            }
        }
    }

    fn join(&mut self, a: usize, b: usize) {
        let mut shared = 0;
        for k in 0..self.words {
            let mut both = self.rows[a * self.words + k] & self.rows[b * self.words + k];
            shared += i64::from(both.count_ones());
            while both != 0 {
                let c = k * 64 + both.trailing_zeros() as usize;
                both &= both - 1;
                self.fill[c] -= 1;
                self.dirty.push(c as u32);
            }
        }
        self.work += (2 * self.words + 3 * shared as usize) as u64 + 10;
        self.fill[a] += i64::from(self.degree[a]) - shared;
        self.fill[b] += i64::from(self.degree[b]) - shared;
        for (x, y) in [(a, b), (b, a)] {
            self.rows[x * self.words + y / 64] |= 1 << (y % 64);
            self.degree[x] += 1;
            self.weight[x] += self.bits[y];
        }
    }

    fn price(&self, v: usize, style: Style, noise: &mut Noise) -> f64 {
        let price = match style.rule {
            Rule::Fill => self.fill[v] as f64,
            Rule::Weight => self.weight[v] + self.bits[v],
            Rule::FillThenWeight => self.fill[v] as f64 + 1e-3 * self.weight[v],
            // The tables replaced have about one entry per state of v and neighbour each.
            Rule::Growth => self.weight[v] + 0.5 * (self.fill[v] as f64 + 1.0).log2(),
        };
        if style.noise == 0.0 {
            return price;
        }
        // The vertex of least price becomes a draw from a Gibbs law over prices.
        let counts = matches!(style.rule, Rule::Fill | Rule::FillThenWeight);
        price - style.noise * if counts { 1.0 + price } else { 1.0 } * noise.gumbel()
    }

    /// Eliminates `candidates` greedily, appending to `order`; false when the cost reaches `limit` or the work
    /// `allowance` beforehand, leaving the rest undone.
    pub(crate) fn greedy(
        &mut self,
        mut candidates: Vec<u32>,
        style: Style,
        noise: &mut Noise,
        (limit, allowance): (f64, u64),
        order: &mut Vec<u32>,
    ) -> bool {
        let end = self.work.saturating_add(allowance);
        // Prices and the numbers that break ties, side by side; infinite for vertices that are not candidates.
        let mut prices = vec![(f64::INFINITY, 0u32); self.degree.len()];
        for &v in &candidates {
            prices[v as usize] = (self.price(v as usize, style, noise), noise.next());
        }
        self.work += PRICE_STEPS * candidates.len() as u64;
        while !candidates.is_empty() {
            let (mut at, mut least) = (0, prices[candidates[0] as usize]);
            for (k, &v) in candidates.iter().enumerate().skip(1) {
                let price = prices[v as usize];
                if price.0 < least.0 || (price.0 == least.0 && price.1 < least.1) {
                    (at, least) = (k, price);
                }
            }
            self.work += candidates.len() as u64;
            let best = candidates.swap_remove(at);
            prices[best as usize].0 = f64::INFINITY;
            self.eliminate(best);
            order.push(best);
            if self.cost >= limit || self.work > end {
                return candidates.is_empty() && self.cost < limit;
            }
            let mut dirty = std::mem::take(&mut self.dirty);
            dirty.sort_unstable();
            dirty.dedup();
            self.work += PRICE_STEPS * dirty.len() as u64;
            for &v in &dirty {
                if prices[v as usize].0 < f64::INFINITY {
                    prices[v as usize].0 = self.price(v as usize, style, noise);
                }
            }
            self.dirty = dirty;
        }
        self.cost < limit
    }

    /// The vertices of `inside` and their neighbours as a graph of their own, and its vertices in the numbers of this
    /// one, those of `inside` first. Eliminating vertices of `inside` costs the same there as here.
    pub(crate) fn around(&self, inside: &[u32]) -> (Graph, Vec<u32>) {
        let mut reached = vec![0u64; self.words];
        for &v in inside {
            reached.iter_mut().zip(self.row(v as usize)).for_each(|(all, row)| *all |= row);
        }
        inside.iter().for_each(|&v| reached[v as usize / 64] &= !(1 << (v % 64)));
        let mut vertices = inside.to_vec();
        vertices.extend(ones(&reached));
        let mut place = vec![u32::MAX; self.degree.len()];
        vertices.iter().enumerate().for_each(|(k, &v)| place[v as usize] = k as u32);
        let list = |&v: &u32| {
            let near = ones(self.row(v as usize)).map(|j| place[j as usize]).filter(|&j| j != u32::MAX);
            let mut near: Vec<u32> = near.collect();
            near.sort_unstable();
            near
        };
        let neighbours = vertices.iter().map(list).collect();
        (Graph { neighbours, bits: vertices.iter().map(|&v| self.bits[v as usize]).collect() }, vertices)
    }
}

/// The elements of a set of bits, increasing.
fn ones(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(k, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| (k * 64) as u32 + rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_pairs_stay_true_while_vertices_leave() {
        let mut rng = Noise::new(1);
        for n in [5usize, 30, 90] {
            let mut lists = vec![Vec::new(); n];
            for i in 0..n {
                for j in i + 1..n {
                    if rng.next().is_multiple_of(6) {
                        lists[i].push(j as u32);
                        lists[j].push(i as u32);
                    }
                }
            }
            lists.iter_mut().for_each(|l| l.sort_unstable());
            let bits = vec![1.0; n];
            let mut core = Core::new(&Graph { neighbours: lists, bits });
            let mut alive: Vec<u32> = (0..n as u32).collect();
            while !alive.is_empty() {
                core.eliminate(alive.swap_remove(rng.next() as usize % alive.len()));
                for &u in &alive {
                    let list = core.members(u as usize);
                    let joined: i64 =
                        list.iter().map(|&j| i64::from(core.common(u as usize, j as usize))).sum();
                    let k = list.len() as i64;
                    assert_eq!(core.fill[u as usize], (k * (k - 1) - joined) / 2);
                    assert_eq!(core.degree[u as usize] as usize, list.len());
                }
            }
        }
    }
}
