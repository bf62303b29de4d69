//! Factors between blocks: their expectations, and what stands for them inside a block.

/// Rounds of backfitting when a factor meets a block in several variables.
const BACKFITTING: usize = 4;

/// Where the law of a part of a scope is found in its block.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// One variable, by its number in the block.
    Single(u32),
    /// Several, by the number of the reading.
    Several(u32),
}

/// A factor between blocks: its table with the parts of the scope in each block one after the other.
pub(super) struct Crossing {
    /// Divided by eps.
    pub(super) values: Vec<f64>,
    /// Block, place in it, size of the part's table.
    pub(super) parts: Vec<(u32, Place, usize)>,
}

impl Crossing {
    /// The expectation given the states of one part, or altogether, under independent parts with the given laws.
    pub(super) fn contract<'l>(&self, law: impl Fn(usize) -> &'l [f64], kept: Option<usize>) -> Vec<f64> {
        if let [first, second] = &self.parts[..] {
            return contract_two(&self.values, [first.2, second.2], [law(0), law(1)], kept);
        }
        let mut values = self.values.clone();
        let mut inner = 1;
        for (p, &(_, _, size)) in self.parts.iter().enumerate() {
            if kept == Some(p) {
                inner *= size;
                continue;
            }
            let outer = values.len() / (inner * size);
            let mut next = vec![0.0; inner * outer];
            for o in 0..outer {
                for (s, &w) in law(p).iter().enumerate().filter(|(_, w)| **w > 0.0) {
                    let row = &values[(o * size + s) * inner..][..inner];
                    next[o * inner..][..inner].iter_mut().zip(row).for_each(|(sum, v)| *sum += w * v);
                }
            }
            values = next;
        }
        values
    }

    /// What independent parts miss of the factor: half the variance that no sum of functions of single parts explains, the
    /// second-order term of the gap in units of eps.
    pub(super) fn missed<'l>(&self, law: impl Fn(usize) -> &'l [f64]) -> f64 {
        let mean = self.contract(&law, None)[0];
        let square =
            Crossing { values: self.values.iter().map(|v| v * v).collect(), parts: self.parts.clone() };
        let mut rest = square.contract(&law, None)[0] - mean * mean;
        for p in 0..self.parts.len() {
            let given = self.contract(&law, Some(p));
            rest -= law(p).iter().zip(given).map(|(w, v)| w * (v - mean) * (v - mean)).sum::<f64>();
        }
        0.5 * rest.max(0.0)
    }
}

/// [`Crossing::contract`] for a factor between two blocks, which is what most are.
fn contract_two(values: &[f64], sizes: [usize; 2], laws: [&[f64]; 2], kept: Option<usize>) -> Vec<f64> {
    let column = |t: usize| &values[t * sizes[0]..(t + 1) * sizes[0]];
    let times = |p: f64, v: f64| if p > 0.0 { p * v } else { 0.0 };
    let over_first = |t: usize| laws[0].iter().zip(column(t)).map(|(&p, &v)| times(p, v)).sum::<f64>();
    match kept {
        Some(0) => {
            let row = |s: usize| laws[1].iter().enumerate().map(|(t, &p)| times(p, column(t)[s])).sum();
            (0..sizes[0]).map(row).collect()
        }
        Some(_) => (0..sizes[1]).map(over_first).collect(),
        None => vec![(0..sizes[1]).map(|t| times(laws[1][t], over_first(t))).sum()],
    }
}

/// The parts of a scope in each block it meets, in the blocks' own numbering.
pub(super) fn parts(scope: &[u32], of: &[(u32, u32)]) -> Vec<(u32, Vec<u32>)> {
    let mut out: Vec<(u32, Vec<u32>)> = Vec::new();
    for &v in scope {
        let (b, k) = of[v as usize];
        match out.iter_mut().find(|part| part.0 == b) {
            Some(part) => part.1.push(k),
            None => out.push((b, vec![k])),
        }
    }
    out
}

/// A table with the variables of each part next to each other, the first part fastest.
pub(super) fn regroup(
    scope: &[u32],
    table: &[f64],
    cardinalities: &[u32],
    of: &[(u32, u32)],
    parts: &[(u32, Vec<u32>)],
) -> Vec<f64> {
    let mut offsets = vec![0usize];
    for (b, members) in parts {
        for k in members {
            let mut stride = 1;
            for &v in scope {
                let q = cardinalities[v as usize] as usize;
                if of[v as usize] == (*b, *k) {
                    offsets = (0..q).flat_map(|s| offsets.iter().map(move |o| o + s * stride)).collect();
                    break;
                }
                stride *= q;
            }
        }
    }
    offsets.into_iter().map(|o| table[o]).collect()
}

/// Adds to the fields of single variables what best stands for a function of several, under their present law:
/// least squares by backfitting.
pub(super) fn spread(function: &[f64], law: &[f64], scope: &[u32], out: &mut [Vec<f64>]) {
    let sizes: Vec<usize> = scope.iter().map(|&k| out[k as usize].len()).collect();
    let mut pieces: Vec<Vec<f64>> = sizes.iter().map(|&q| vec![0.0; q]).collect();
    let state = |index: usize, p: usize| index / sizes[..p].iter().product::<usize>() % sizes[p];
    for _ in 0..BACKFITTING {
        for p in 0..scope.len() {
            let (mut sum, mut weight) = (vec![0.0; sizes[p]], vec![0.0; sizes[p]]);
            for (index, &w) in law.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let others: f64 =
                    (0..scope.len()).filter(|&r| r != p).map(|r| pieces[r][state(index, r)]).sum();
                sum[state(index, p)] += w * (function[index] - others);
                weight[state(index, p)] += w;
            }
            for s in 0..sizes[p] {
                pieces[p][s] = if weight[s] > 0.0 { sum[s] / weight[s] } else { 0.0 };
            }
        }
    }
    for (&k, piece) in scope.iter().zip(pieces) {
        out[k as usize].iter_mut().zip(piece).for_each(|(h, v)| *h += v);
    }
}
