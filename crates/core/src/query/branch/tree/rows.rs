//! The tree as it is kept on disk.

use super::Tree;
use crate::query::branch::leaf::Known;

/// A node: parent, variable, state, lower and upper bound.
pub(in crate::query::branch) type Row = (u32, u32, u32, f64, f64);

impl Tree {
    /// The nodes as they are kept on disk.
    pub(in crate::query::branch) fn rows(&self) -> Vec<Row> {
        let order = self.order();
        let mut place = vec![0u32; self.nodes.len()];
        order.iter().enumerate().for_each(|(at, &k)| place[k as usize] = at as u32);
        let row = |&k: &u32| {
            let n = &self.nodes[k as usize];
            (place[n.parent as usize], n.fixed.0, n.fixed.1, n.known.lower, n.known.upper)
        };
        order.iter().map(row).collect()
    }

    /// The tree that [`Tree::rows`] described; `None` when they are none.
    pub(in crate::query::branch) fn from_rows(eps: f64, rows: &[Row], cardinalities: &[u32]) -> Option<Self> {
        let known = |row: &Row| Known { lower: row.3, upper: row.4, ..Known::unknown() };
        let (first, rest) = rows.split_first()?;
        // Rows are numbered as they stand: nothing is forgotten before the last.
        let mut tree = Tree::new(eps, known(first), true);
        let mut at = 0;
        while at < rest.len() {
            let (parent, variable, ..) = rest[at];
            let states = *cardinalities.get(variable as usize)? as usize;
            let group = rest.get(at..at + states)?;
            let fits = |(s, row): (usize, &Row)| (row.0, row.1, row.2) == (parent, variable, s as u32);
            let is_leaf = tree.nodes.get(parent as usize)?.children.is_empty();
            let is_new = tree.path(parent).iter().all(|step| step.0 != variable);
            if !is_leaf || !is_new || !group.iter().enumerate().all(fits) {
                return None;
            }
            tree.split(parent, variable, group.iter().map(known).collect());
            at += states;
        }
        let leaves: Vec<u32> = tree.order().into_iter().filter(|&k| tree.children(k).is_empty()).collect();
        tree.open.clear();
        tree.keeps = false;
        leaves.into_iter().for_each(|leaf| tree.offer(leaf));
        Some(tree)
    }
}
