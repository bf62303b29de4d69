//! The model as elimination sees it: variables named by their position in the order, states that were
//! removed gone, every scope sorted so that the variable eliminated first is the slowest.

use crate::model::FactorModel;

/// Flat tables over positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduced {
    /// States left, by position.
    pub(super) sizes: Vec<u32>,
    /// Position of each variable.
    pub(super) position: Vec<u32>,
    /// Variable at each position.
    pub(super) order: Vec<u32>,
    scope_start: Vec<usize>,
    scopes: Vec<u32>,
    table_start: Vec<usize>,
    tables: Vec<f64>,
    is_hard: Vec<bool>,
    /// The model's constant and the factors whose variables all have one state left.
    pub(super) constant: f64,
}

impl Reduced {
    /// `model` along `order` with the states `left` to each variable (increasing, at least one).
    pub(super) fn new(model: &FactorModel, sizes: &[u32], order: &[u32], left: &[Vec<u32>]) -> Self {
        let mut position = vec![0; order.len()];
        order.iter().enumerate().for_each(|(p, &v)| position[v as usize] = p as u32);
        let mut out = Reduced {
            sizes: order.iter().map(|&v| left[v as usize].len() as u32).collect(),
            order: order.to_vec(),
            position,
            constant: model.constant(),
            scope_start: vec![0],
            table_start: vec![0],
            ..Self::default()
        };
        let mut loops: Vec<(u32, usize)> = Vec::new();
        for factor in model.factors() {
            loops.clear();
            let mut stride = 1;
            for &v in factor.scope {
                loops.push((v, stride));
                stride *= sizes[v as usize] as usize;
            }
            loops.sort_unstable_by_key(|&(v, _)| std::cmp::Reverse(out.position[v as usize]));
            let many = loops.iter().filter(|&&(v, _)| left[v as usize].len() > 1);
            out.scopes.extend(many.map(|&(v, _)| out.position[v as usize]));
            let first = out.tables.len();
            append(&mut out.tables, factor.table, &loops, left);
            if out.scopes.len() == out.scope_start[out.scope_start.len() - 1] {
                out.constant += out.tables[first];
            }
            out.scope_start.push(out.scopes.len());
            out.is_hard.push(out.tables[first..].contains(&f64::NEG_INFINITY));
            out.table_start.push(out.tables.len());
        }
        out
    }

    /// Number of variables.
    pub(super) fn d(&self) -> usize {
        self.sizes.len()
    }

    /// Number of factors.
    pub(super) fn factors(&self) -> usize {
        self.scope_start.len() - 1
    }

    /// Positions of factor `k` that have a choice, decreasing. A factor without any is part of the constant.
    pub(super) fn scope(&self, k: usize) -> &[u32] {
        &self.scopes[self.scope_start[k]..self.scope_start[k + 1]]
    }

    /// Values of factor `k`, the first of its scope fastest.
    pub(super) fn table(&self, k: usize) -> &[f64] {
        &self.tables[self.table_start[k]..self.table_start[k + 1]]
    }

    /// Whether factor `k` has a zero among the states left.
    pub(super) fn is_hard(&self, k: usize) -> bool {
        self.is_hard[k]
    }

    /// Whether any factor has a zero among the states left.
    pub(super) fn has_zeros(&self) -> bool {
        self.is_hard.contains(&true)
    }
}

/// Appends the entries of `table` over the states left, running through `loops` (variable, stride), first fastest.
fn append(out: &mut Vec<f64>, table: &[f64], loops: &[(u32, usize)], left: &[Vec<u32>]) {
    let mut at = vec![0; loops.len()];
    loop {
        let index: usize = loops.iter().zip(&at).map(|(&(v, s), &k)| left[v as usize][k] as usize * s).sum();
        out.push(table[index]);
        let mut done = true;
        for (&(v, _), k) in loops.iter().zip(&mut at) {
            *k += 1;
            if *k < left[v as usize].len() {
                done = false;
                break;
            }
            *k = 0;
        }
        if done {
            return;
        }
    }
}
