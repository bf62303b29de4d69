//! Lines of all variables along which neighbours are close: blocks are pieces of them.

use super::partition::Divider;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

impl Divider {
    /// Lines of all variables along which neighbours are close: as they are numbered, breadth first, strongest first.
    pub(super) fn lines(&self) -> [Vec<u32>; 3] {
        [(0..self.graph.len() as u32).collect(), self.breadth_first(), self.strongest_first()]
    }

    /// Breadth-first from a variable that is far from others, component by component.
    fn breadth_first(&self) -> Vec<u32> {
        let mut seen = vec![false; self.graph.len()];
        let mut line = Vec::with_capacity(self.graph.len());
        for root in 0..self.graph.len() {
            if seen[root] {
                continue;
            }
            let mut far = root;
            for _ in 0..2 {
                far = *self.layer(far, &mut seen.clone()).last().unwrap_or(&(far as u32)) as usize;
            }
            line.extend(self.layer(far, &mut seen));
        }
        line
    }

    fn layer(&self, root: usize, seen: &mut [bool]) -> Vec<u32> {
        let mut queue = vec![root as u32];
        seen[root] = true;
        let mut head = 0;
        while head < queue.len() {
            for &u in &self.graph[queue[head] as usize] {
                if !std::mem::replace(&mut seen[u as usize], true) {
                    queue.push(u);
                }
            }
            head += 1;
        }
        queue
    }

    /// Always the variable that is bound most strongly to those before it.
    fn strongest_first(&self) -> Vec<u32> {
        let d = self.graph.len();
        let mut pull = vec![0.0; d];
        let mut taken = vec![false; d];
        let mut line = Vec::with_capacity(d);
        let total = |v: usize| self.of_variable[v].iter().map(|&k| self.strength[k as usize]).sum::<f64>();
        let mut roots: Vec<u32> = (0..d as u32).collect();
        let totals: Vec<f64> = (0..d).map(total).collect();
        roots.sort_by(|&a, &b| totals[b as usize].total_cmp(&totals[a as usize]));
        for root in roots {
            let mut heap = BinaryHeap::from([Entry(0.0, root)]);
            while let Some(Entry(_, v)) = heap.pop() {
                if std::mem::replace(&mut taken[v as usize], true) {
                    continue;
                }
                line.push(v);
                for &k in &self.of_variable[v as usize] {
                    for &u in self.scopes[k as usize].iter().filter(|&&u| !taken[u as usize]) {
                        pull[u as usize] += self.strength[k as usize];
                        heap.push(Entry(pull[u as usize], u));
                    }
                }
            }
        }
        line
    }
}

/// A variable by the pull on it.
struct Entry(f64, u32);

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}
