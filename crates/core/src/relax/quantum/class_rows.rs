//! The normal matrix as the Gram matrix of the weighted entries of `U^T A_C U`, one column per class.
//!
//! Entry (k, l) is the correlation `sum_i u_ik u_(i xor C) l` over the group that the features
//! generate. When that group is hardly larger than the set of classes, the columns of all its
//! elements are one Walsh transform of the products of the transformed eigenvectors, which costs
//! less than summing the pairs of features of every class.

use super::normal_matrix::{class_entries, transposed};
use crate::features::Classes;
use crate::linalg::{Square, multiply};
use faer::Par;
use faer::traits::pulp::Arch;

/// Columns `sqrt(K_kl) (U^T A_C U)_kl`, k <= l, off-diagonal ones counted twice.
pub(crate) struct Rows {
    source: Source,
    rows: Vec<f64>,
    par: Par,
}

/// Where the columns come from.
enum Source {
    /// The pairs of features of every class.
    Pairs(Vec<Vec<(u32, u32)>>),
    Group(Group),
}

impl Rows {
    pub(crate) fn new(classes: &Classes, par: Par) -> Self {
        let source = Group::new(classes).map_or_else(|| Source::Pairs(class_entries(classes)), Source::Group);
        Rows { source, rows: Vec::new(), par }
    }

    /// The lower triangle of H, by columns.
    ///
    /// **Cost** N^2 n^2 / 2 flops for N classes.
    pub(crate) fn lower(&mut self, vectors: &Square, kernel: &Square) -> Vec<f64> {
        let n = vectors.n();
        let mut roots = Vec::with_capacity(n * (n + 1) / 2);
        for l in 0..n {
            let both = |k: usize| if k == l { 1.0 } else { 2.0 };
            roots.extend((0..=l).map(|k| (both(k) * kernel.at(k, l)).sqrt()));
        }
        let transposed = transposed(vectors);
        let count = match &mut self.source {
            Source::Pairs(entries) => {
                self.rows.resize(roots.len() * entries.len(), 0.0);
                fill_pairs(entries, &transposed, &roots, &mut self.rows);
                entries.len()
            }
            Source::Group(group) => {
                self.rows.resize(roots.len() * group.order, 0.0);
                let rows = &mut self.rows;
                Arch::new().dispatch(|| group.fill(&transposed, &roots, rows));
                group.order
            }
        };
        let mut lower = vec![0.0; count * count];
        multiply::gram_lower(&self.rows, roots.len(), count, &mut lower, self.par);
        match &self.source {
            Source::Pairs(_) => lower,
            Source::Group(group) => group.of_classes(&lower),
        }
    }
}

fn fill_pairs(entries: &[Vec<(u32, u32)>], transposed: &Square, roots: &[f64], rows: &mut [f64]) {
    for (column, entries) in rows.chunks_exact_mut(roots.len()).zip(entries) {
        column.fill(0.0);
        for &(i, j) in entries {
            let (u, v) = (transposed.column(i as usize), transposed.column(j as usize));
            add_symmetric_outer(column, u, v, i == j);
        }
        column.iter_mut().zip(roots).for_each(|(v, r)| *v *= r);
    }
}

/// Adds the upper triangle of `u v^T + v u^T` (or `u u^T`), packed by columns.
fn add_symmetric_outer(packed: &mut [f64], u: &[f64], v: &[f64], same: bool) {
    let mut start = 0;
    for l in 0..u.len() {
        let target = &mut packed[start..=start + l];
        if same {
            target.iter_mut().zip(u).for_each(|(t, a)| *t += a * u[l]);
        } else {
            target.iter_mut().zip(u).zip(v).for_each(|((t, a), b)| *t += a * v[l] + b * u[l]);
        }
        start += l + 1;
    }
}

/// The group of all products of the classes, its elements numbered so that products are XORs.
struct Group {
    order: usize,
    /// Numbers of `x^A x^B`, B the first feature, for every feature A.
    features: Vec<usize>,
    classes: Vec<usize>,
    spectrum: Vec<f64>,
}

/// The group may have this many elements per class, and costs this much more per element.
const SPARSE: f64 = 1.25;
/// Rows that are transformed together: with all elements of a usual group they fit the first cache.
const BLOCK: usize = 64;

impl Group {
    /// `None` when the pairs of features cost less.
    fn new(classes: &Classes) -> Option<Self> {
        let mut basis: Vec<u64> = Vec::new();
        let largest = SPARSE * classes.len() as f64;
        for set in classes.sets() {
            let (rest, _) = reduce(&basis, set.as_bits()?);
            if rest != 0 {
                basis.push(rest);
            }
            if (1u64 << basis.len().min(60)) as f64 > largest {
                return None;
            }
        }
        let (n, order) = (classes.n(), 1usize << basis.len());
        if order * (basis.len() + 2) > n * n {
            return None;
        }
        let number = |c: usize| classes.sets()[c].as_bits().map(|bits| reduce(&basis, bits).1);
        let features = classes.of()[..n].iter().map(|&c| number(c as usize)).collect::<Option<_>>()?;
        let own = (0..classes.len()).map(number).collect::<Option<_>>()?;
        Some(Group { order, features, classes: own, spectrum: Vec::new() })
    }

    /// Columns of all elements, weighted by `roots`.
    #[inline(always)]
    fn fill(&mut self, transposed: &Square, roots: &[f64], rows: &mut [f64]) {
        let n = transposed.n();
        self.spectrum.clear();
        self.spectrum.resize(n * self.order, 0.0);
        for (i, &at) in self.features.iter().enumerate() {
            self.spectrum[n * at..n * (at + 1)].copy_from_slice(transposed.column(i));
        }
        walsh(&mut self.spectrum, n, self.order);
        let scale = 1.0 / self.order as f64;
        for (column, u) in rows.chunks_exact_mut(roots.len()).zip(self.spectrum.chunks_exact(n)) {
            let mut start = 0;
            for l in 0..n {
                let factor = scale * u[l];
                let weighted = column[start..=start + l].iter_mut().zip(&roots[start..=start + l]);
                weighted.zip(u).for_each(|((c, r), u)| *c = factor * u * r);
                start += l + 1;
            }
        }
        walsh(rows, roots.len(), self.order);
    }

    /// The lower triangle in the order of the classes.
    fn of_classes(&self, lower: &[f64]) -> Vec<f64> {
        let size = self.classes.len();
        let mut out = vec![0.0; size * size];
        for (column, &c) in out.chunks_exact_mut(size).zip(&self.classes) {
            for (value, &d) in column.iter_mut().zip(&self.classes) {
                *value = lower[c.max(d) + self.order * c.min(d)];
            }
        }
        out
    }
}

/// What is left of `bits` after elimination by `basis`, and which members were used.
fn reduce(basis: &[u64], mut bits: u64) -> (u64, usize) {
    let mut used = 0;
    for (k, member) in basis.iter().enumerate() {
        // The highest bit of a member is in no later one.
        if bits >> member.ilog2() & 1 == 1 {
            bits ^= member;
            used |= 1 << k;
        }
    }
    (bits, used)
}

/// Walsh transform over `order` columns of `length` entries.
#[inline(always)]
fn walsh(columns: &mut [f64], length: usize, order: usize) {
    for first in (0..length).step_by(BLOCK) {
        let block = BLOCK.min(length - first);
        let mut half = 1;
        while half < order {
            for start in (0..order).filter(|s| s & half == 0) {
                let (left, right) = columns.split_at_mut(length * (start + half));
                let a = &mut left[length * start + first..][..block];
                let b = &mut right[first..][..block];
                a.iter_mut().zip(b).for_each(|(a, b)| (*a, *b) = (*a + *b, *a - *b));
            }
            half *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;

    #[test]
    fn the_walsh_transform_gives_the_sums_over_pairs() {
        for (d, n) in [(4, 16), (5, 19), (5, 31), (6, 40)] {
            let classes = Features::first(d, n).expect("features").classes();
            let entry = |k: usize| ((k % n * 7 + k / n * 3) as f64 * 1.7 + ((k % n) * (k / n)) as f64).sin();
            let vectors = Square::from_column_major(n, (0..n * n).map(entry).collect());
            let weight = |k: usize| (((k % n + k / n) % 9) as f64 - 4.0).exp();
            let kernel = Square::from_column_major(n, (0..n * n).map(weight).collect());
            let mut rows = Rows::new(&classes, Par::Seq);
            assert!(matches!(rows.source, Source::Group(_)), "d {d}, n {n}");
            let found = rows.lower(&vectors, &kernel);
            rows.source = Source::Pairs(class_entries(&classes));
            let expected = rows.lower(&vectors, &kernel);
            let size = classes.len();
            for j in 0..size {
                for i in j..size {
                    let (f, e) = (found[i + size * j], expected[i + size * j]);
                    assert!((f - e).abs() < 1e-11 * expected[0].abs(), "({i}, {j}): {f} {e}");
                }
            }
        }
    }
}
