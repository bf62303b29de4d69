//! Elimination on sorted neighbour lists: what may go first without loss, and the way down from graphs
//! too large for rows of bits.

use super::graph::Graph;

/// Neighbours up to which a vertex is tested for a complete neighbourhood: the test costs their square.
const SIMPLICIAL_DEGREE: usize = 24;

/// A graph that loses vertices, cheapest first.
pub(crate) struct Sparse {
    lists: Vec<Vec<u32>>,
    bits: Vec<f64>,
    gone: Vec<bool>,
    left: usize,
    /// Vertices by the rounded logarithm of their clique; stale entries are skipped when met.
    buckets: Vec<Vec<u32>>,
    key: Vec<u32>,
    pub(crate) order: Vec<u32>,
    pub(crate) cost: f64,
    /// Elementary steps so far: list entries looked at.
    pub(crate) work: u64,
}

impl Sparse {
    pub(crate) fn new(graph: &Graph) -> Self {
        let n = graph.len();
        let mut sparse = Sparse {
            lists: graph.neighbours.clone(),
            bits: graph.bits.clone(),
            gone: vec![false; n],
            left: n,
            buckets: Vec::new(),
            key: vec![u32::MAX; n],
            order: Vec::with_capacity(n),
            cost: 0.0,
            work: 0,
        };
        (0..n).for_each(|v| sparse.file(v));
        sparse
    }

    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Logarithm of the entries of the clique of v.
    fn clique_bits(&self, v: usize) -> f64 {
        self.bits[v] + self.lists[v].iter().map(|&j| self.bits[j as usize]).sum::<f64>()
    }

    /// Puts v in the bucket of its clique.
    fn file(&mut self, v: usize) {
        let key = self.clique_bits(v).ceil() as u32;
        self.work += self.lists[v].len() as u64;
        if std::mem::replace(&mut self.key[v], key) != key {
            while self.buckets.len() <= key as usize {
                self.buckets.push(Vec::new());
            }
            self.buckets[key as usize].push(v as u32);
        }
    }

    /// Eliminates vertices with at most two neighbours or a complete neighbourhood until none is left:
    /// no order does better than to start with them.
    pub(crate) fn eliminate_safe(&mut self) {
        let mut stack: Vec<u32> = (0..self.lists.len() as u32).rev().collect();
        let mut waiting = vec![true; self.lists.len()];
        while let Some(v) = stack.pop() {
            waiting[v as usize] = false;
            if self.gone[v as usize] || !self.is_safe(v as usize) {
                continue;
            }
            for u in self.eliminate(v) {
                if !std::mem::replace(&mut waiting[u as usize], true) {
                    stack.push(u);
                }
            }
        }
    }

    fn is_safe(&mut self, v: usize) -> bool {
        let list = &self.lists[v];
        if list.len() <= 2 {
            return true;
        }
        if list.len() > SIMPLICIAL_DEGREE {
            return false;
        }
        self.work += (list.len() * list.len()) as u64;
        list.iter()
            .enumerate()
            .all(|(k, &a)| list[k + 1..].iter().all(|b| self.lists[a as usize].binary_search(b).is_ok()))
    }

    /// Eliminates the vertex of smallest clique again and again until `target` are left, a clique has more
    /// than `2^most_bits` entries or the work reaches `allowance`; whether the target was met.
    pub(crate) fn eliminate_cheapest(&mut self, target: usize, most_bits: f64, allowance: u64) -> bool {
        let mut lowest = 0;
        while self.left > target {
            let Some(bucket) = self.buckets.get_mut(lowest) else { return false };
            let Some(v) = bucket.pop() else {
                lowest += 1;
                continue;
            };
            if self.gone[v as usize] || self.key[v as usize] != lowest as u32 {
                continue;
            }
            if lowest as f64 > most_bits || self.work > allowance {
                bucket.push(v);
                return false;
            }
            for u in self.eliminate(v) {
                lowest = lowest.min(self.key[u as usize] as usize);
            }
        }
        true
    }

    /// Removes v, joins its neighbours and returns them.
    fn eliminate(&mut self, v: u32) -> Vec<u32> {
        self.cost += self.clique_bits(v as usize).exp2();
        self.gone[v as usize] = true;
        self.left -= 1;
        self.order.push(v);
        let clique = std::mem::take(&mut self.lists[v as usize]);
        for &i in &clique {
            let merged = merge(&self.lists[i as usize], &clique, i, v);
            self.work += (merged.len() + clique.len()) as u64;
            self.lists[i as usize] = merged;
        }
        clique.iter().for_each(|&i| self.file(i as usize));
        clique
    }

    /// What is left, and its vertices in the numbers of the whole.
    pub(crate) fn rest(&self) -> (Graph, Vec<u32>) {
        let vertices: Vec<u32> = (0..self.lists.len() as u32).filter(|&v| !self.gone[v as usize]).collect();
        let mut place = vec![u32::MAX; self.lists.len()];
        vertices.iter().enumerate().for_each(|(new, &v)| place[v as usize] = new as u32);
        let list = |&v: &u32| self.lists[v as usize].iter().map(|&j| place[j as usize]).collect();
        let neighbours = vertices.iter().map(list).collect();
        (Graph { neighbours, bits: vertices.iter().map(|&v| self.bits[v as usize]).collect() }, vertices)
    }
}

/// Neighbours of i once its neighbour v is gone and `clique` is complete: a merge of sorted lists.
fn merge(mine: &[u32], clique: &[u32], i: u32, v: u32) -> Vec<u32> {
    let mut merged = Vec::with_capacity(mine.len() + clique.len());
    let (mut a, mut b) = (0, 0);
    while a < mine.len() || b < clique.len() {
        let x = mine.get(a).copied().unwrap_or(u32::MAX);
        let y = clique.get(b).copied().unwrap_or(u32::MAX);
        a += usize::from(x <= y);
        b += usize::from(y <= x);
        let j = x.min(y);
        if j != i && j != v {
            merged.push(j);
        }
    }
    merged
}

/// Largest minimum degree of a subgraph, a lower bound on the width of every order.
pub(crate) fn degeneracy(graph: &Graph) -> usize {
    let mut degree: Vec<usize> = graph.neighbours.iter().map(Vec::len).collect();
    let mut buckets = vec![Vec::new(); degree.iter().max().map_or(1, |&k| k + 1)];
    degree.iter().enumerate().for_each(|(v, &k)| buckets[k].push(v as u32));
    let mut gone = vec![false; degree.len()];
    let (mut largest, mut lowest) = (0, 0);
    while lowest < buckets.len() {
        let Some(v) = buckets[lowest].pop() else {
            lowest += 1;
            continue;
        };
        if gone[v as usize] || degree[v as usize] != lowest {
            continue;
        }
        gone[v as usize] = true;
        largest = largest.max(lowest);
        for &j in &graph.neighbours[v as usize] {
            if !gone[j as usize] {
                degree[j as usize] -= 1;
                buckets[degree[j as usize]].push(j);
                lowest = lowest.min(degree[j as usize]);
            }
        }
    }
    largest
}
