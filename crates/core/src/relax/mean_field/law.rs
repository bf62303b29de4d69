//! The exact law of a block: `q ~ exp(sum of tables + fields)` by elimination up and probabilities down.

/// A table inside the block, in the block's numbering.
pub(super) struct Piece {
    pub(super) scope: Vec<u32>,
    /// Log values divided by eps, first variable fastest; empty for a scope whose marginal is wanted.
    pub(super) values: Vec<f64>,
}

/// One clique: the variable that it eliminates, then those that remain, in the order of elimination.
struct Clique {
    variables: Vec<u32>,
    sizes: Vec<usize>,
    /// Where the message goes.
    parent: Option<u32>,
    /// What a step of each of the parent's variables adds to the index of the message.
    strides_in_parent: Vec<usize>,
    /// Sum of the pieces.
    base: Vec<f64>,
}

/// A scope with the strides of a clique's variables in its table.
struct Reading {
    clique: u32,
    strides: Vec<usize>,
    size: usize,
}

/// The structure of a block and its tables.
pub(super) struct Law {
    cliques: Vec<Clique>,
    /// Position of every variable in the order.
    position: Vec<u32>,
    readings: Vec<Reading>,
}

/// Log Z and marginals of a block under given fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    pub(super) log_z: f64,
    /// One row per variable.
    pub(super) single: Vec<Vec<f64>>,
    /// One table per piece without values, in their order.
    pub(super) parts: Vec<Vec<f64>>,
}

impl Law {
    /// `order` lists the block's variables, `cardinalities` their numbers of states; every scope is a clique of the
    /// graph that the order was made for.
    pub(super) fn new(order: &[u32], cardinalities: &[usize], pieces: &[Piece]) -> Self {
        let n = order.len();
        let mut position = vec![0u32; n];
        order.iter().enumerate().for_each(|(p, &v)| position[v as usize] = p as u32);
        let sorted = |scope: &[u32]| {
            let mut list: Vec<u32> = scope.iter().map(|&v| position[v as usize]).collect();
            list.sort_unstable();
            list
        };
        // Cliques as lists of positions, the variable itself first.
        let mut lists: Vec<Vec<u32>> = (0..n as u32).map(|p| vec![p]).collect();
        for piece in pieces {
            let list = sorted(&piece.scope);
            join(&mut lists[list[0] as usize], &list);
        }
        for p in 0..n {
            let rest = lists[p][1..].to_vec();
            if let Some(&first) = rest.first() {
                join(&mut lists[first as usize], &rest);
            }
        }
        let size = |p: u32| cardinalities[order[p as usize] as usize];
        let mut cliques: Vec<Clique> = lists
            .iter()
            .map(|list| {
                let sizes: Vec<usize> = list.iter().map(|&p| size(p)).collect();
                let parent = list.get(1).copied();
                let strides_in_parent = match parent {
                    Some(parent) => strides_of(&list[1..], &sizes[1..], &lists[parent as usize]),
                    None => Vec::new(),
                };
                let variables = list.iter().map(|&p| order[p as usize]).collect();
                let base = vec![0.0; sizes.iter().product()];
                Clique { variables, sizes, parent, strides_in_parent, base }
            })
            .collect();
        let mut readings = Vec::new();
        for piece in pieces {
            let positions: Vec<u32> = piece.scope.iter().map(|&v| position[v as usize]).collect();
            let sizes: Vec<usize> = piece.scope.iter().map(|&v| cardinalities[v as usize]).collect();
            let clique = positions.iter().copied().min().unwrap_or(0);
            let strides = strides_of(&positions, &sizes, &lists[clique as usize]);
            if piece.values.is_empty() {
                readings.push(Reading { clique, strides, size: sizes.iter().product() });
                continue;
            }
            let home = &mut cliques[clique as usize];
            walk(&home.sizes, &strides, |big, small| home.base[big] += piece.values[small]);
        }
        Law { cliques, position, readings }
    }

    /// Entries of all tables.
    pub(super) fn entries(&self) -> usize {
        self.cliques.iter().map(|c| c.base.len()).sum()
    }

    /// The law with `fields[v]` (divided by eps) added to the log weights of variable v.
    ///
    /// **Cost** one exponential and a few additions per entry.
    pub(super) fn moments(&self, fields: &[Vec<f64>]) -> Moments {
        let n = self.cliques.len();
        // Conditional laws of each variable given the rest of its clique, made on the way up.
        let mut tables: Vec<Vec<f64>> = self.cliques.iter().map(|c| c.base.clone()).collect();
        let mut log_z = 0.0;
        for p in 0..n {
            let clique = &self.cliques[p];
            let mut table = std::mem::take(&mut tables[p]);
            let message = eliminate(&mut table, &fields[clique.variables[0] as usize]);
            match clique.parent {
                None => log_z += message[0],
                Some(parent) => {
                    let target = &mut tables[parent as usize];
                    let sizes = &self.cliques[parent as usize].sizes;
                    walk(sizes, &clique.strides_in_parent, |big, small| target[big] += message[small]);
                }
            }
            tables[p] = table;
        }
        for p in (0..n).rev() {
            let clique = &self.cliques[p];
            let Some(parent) = clique.parent else { continue };
            let q = clique.sizes[0];
            let mut outer = vec![0.0; tables[p].len() / q];
            let above = &tables[parent as usize];
            let sizes = &self.cliques[parent as usize].sizes;
            walk(sizes, &clique.strides_in_parent, |big, small| outer[small] += above[big]);
            for (group, weight) in tables[p].chunks_exact_mut(q).zip(outer) {
                group.iter_mut().for_each(|x| *x *= weight);
            }
        }
        self.read(log_z, &tables)
    }

    fn read(&self, log_z: f64, tables: &[Vec<f64>]) -> Moments {
        let single = |v: usize| {
            let p = self.position[v] as usize;
            let mut row = vec![0.0; self.cliques[p].sizes[0]];
            for group in tables[p].chunks_exact(row.len()) {
                row.iter_mut().zip(group).for_each(|(sum, x)| *sum += x);
            }
            row
        };
        let part = |reading: &Reading| {
            let mut out = vec![0.0; reading.size];
            let table = &tables[reading.clique as usize];
            let sizes = &self.cliques[reading.clique as usize].sizes;
            walk(sizes, &reading.strides, |big, small| out[small] += table[big]);
            out
        };
        Moments {
            log_z,
            single: (0..self.position.len()).map(single).collect(),
            parts: self.readings.iter().map(part).collect(),
        }
    }
}

/// Replaces log weights by the conditional law of the fastest variable and returns the log sums.
fn eliminate(table: &mut [f64], field: &[f64]) -> Vec<f64> {
    let mut message = Vec::with_capacity(table.len() / field.len());
    for group in table.chunks_exact_mut(field.len()) {
        let mut top = f64::NEG_INFINITY;
        for (x, h) in group.iter_mut().zip(field) {
            *x += h;
            top = top.max(*x);
        }
        if top == f64::NEG_INFINITY {
            group.fill(0.0);
            message.push(top);
            continue;
        }
        let mut sum = 0.0;
        for x in group.iter_mut() {
            *x = if *x == top { 1.0 } else { (*x - top).exp() };
            sum += *x;
        }
        group.iter_mut().for_each(|x| *x /= sum);
        message.push(top + sum.ln());
    }
    message
}

/// Adds the members of an increasing list to another.
fn join(list: &mut Vec<u32>, more: &[u32]) {
    for &p in more {
        if let Err(at) = list.binary_search(&p) {
            list.insert(at, p);
        }
    }
}

/// Strides in the table over `scope` of the variables of a clique, 0 for those that are not in it.
fn strides_of(scope: &[u32], sizes: &[usize], clique: &[u32]) -> Vec<usize> {
    let mut stride = 1;
    let mut out = vec![0; clique.len()];
    for (p, size) in scope.iter().zip(sizes) {
        if let Some(k) = clique.iter().position(|other| other == p) {
            out[k] = stride;
        }
        stride *= size;
    }
    out
}

/// Calls `act(i, j)` for every entry i of a table with the given sizes and the entry j that the strides lead to.
fn walk(sizes: &[usize], strides: &[usize], mut act: impl FnMut(usize, usize)) {
    let total: usize = sizes.iter().product();
    let (first, stride) = (sizes[0], strides[0]);
    let mut digits = vec![0usize; sizes.len()];
    let mut small = 0;
    let mut big = 0;
    while big < total {
        for s in 0..first {
            act(big + s, small + s * stride);
        }
        big += first;
        for k in 1..sizes.len() {
            digits[k] += 1;
            small += strides[k];
            if digits[k] < sizes[k] {
                break;
            }
            small -= strides[k] * sizes[k];
            digits[k] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_of_mixed_domains_has_the_moments_of_enumeration() {
        let sizes = [2usize, 3, 2];
        let zero = f64::NEG_INFINITY;
        let pieces = [
            Piece { scope: vec![0, 1], values: vec![0.3, zero, 1.0, 0.2, -0.7, 0.1] },
            Piece { scope: vec![2, 1], values: vec![0.5, -0.5, 0.25, 1.5, 0.0, -1.0] },
            Piece { scope: vec![0, 2], values: vec![0.0, 0.4, -0.3, 0.9] },
            Piece { scope: vec![2, 0], values: Vec::new() },
        ];
        let fields = [vec![0.1, -0.2], vec![0.0, 0.5, -0.5], vec![1.0, 0.0]];
        let (mut z, mut pair) = (0.0, [0.0; 4]);
        let mut single = [0.0; 3];
        for k in 0..12 {
            let x = [k % 2, k / 2 % 3, k / 6];
            let value = pieces[0].values[x[0] + 2 * x[1]]
                + pieces[1].values[x[2] + 2 * x[1]]
                + pieces[2].values[x[0] + 2 * x[2]]
                + (0..3).map(|i| fields[i][x[i]]).sum::<f64>();
            z += value.exp();
            pair[x[2] + 2 * x[0]] += value.exp();
            single[x[1]] += value.exp();
        }
        for order in [[0u32, 1, 2], [1, 2, 0], [2, 0, 1]] {
            let found = Law::new(&order, &sizes, &pieces).moments(&fields);
            assert!((found.log_z - f64::ln(z)).abs() < 1e-13);
            assert!((0..4).all(|k| (found.parts[0][k] - pair[k] / z).abs() < 1e-14));
            assert!((0..3).all(|k| (found.single[1][k] - single[k] / z).abs() < 1e-14));
        }
    }
}
