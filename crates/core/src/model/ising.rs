//! The pairwise model.

use crate::error::{Error, Result};

/// A checked Ising model `f(x) = c + sum_i h_i x_i + sum_{i<j} J_ij x_i x_j`, x in {-1,+1}^d.
///
/// Data lie in flat arrays: `edges()[e]` are the ends `i < j` of the edge whose coupling is
/// `couplings()[e]`, in lexicographic order.
///
/// ```
/// use zbound::Ising;
/// let model = Ising::new(3, &[0.1, 0.0, -0.2], &[(0, 1, 0.5), (2, 1, -1.0)])?;
/// assert_eq!(model.edges(), &[[0, 1], [1, 2]]);
/// assert_eq!(model.value(&[1, 1, -1]), 0.1 + 0.2 + 0.5 + 1.0);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ising {
    constant: f64,
    fields: Vec<f64>,
    edges: Vec<[u32; 2]>,
    couplings: Vec<f64>,
}

impl Ising {
    /// Builds the model from `d` fields and couplings `(i, j, J_ij)`, `i != j` in any order.
    ///
    /// # Errors
    /// NaN, infinite, repeated, self-looped or out-of-range entries: the message names the entry.
    pub fn new(d: usize, fields: &[f64], couplings: &[(usize, usize, f64)]) -> Result<Self> {
        if fields.len() != d {
            return Err(Error::Model(format!("{} fields given for d = {d} spins", fields.len())));
        }
        if u32::try_from(d).is_err() {
            return Err(Error::Model(format!("d = {d} exceeds the supported 2^32 - 1 spins")));
        }
        if let Some(i) = fields.iter().position(|h| !h.is_finite()) {
            return Err(Error::Model(format!("field {i} is {}, expected a finite number", fields[i])));
        }
        let mut sorted = Vec::with_capacity(couplings.len());
        for &(i, j, value) in couplings {
            if i == j {
                return Err(Error::Model(format!("coupling ({i}, {j}) joins a spin to itself")));
            }
            if i.max(j) >= d {
                return Err(Error::Model(format!("coupling ({i}, {j}) is out of range for d = {d}")));
            }
            if !value.is_finite() {
                return Err(Error::Model(format!(
                    "coupling ({i}, {j}) is {value}, expected a finite number"
                )));
            }
            sorted.push(([i.min(j) as u32, i.max(j) as u32], value));
        }
        sorted.sort_by_key(|&(edge, _)| edge);
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let [i, j] = pair[0].0;
            return Err(Error::Model(format!("coupling ({i}, {j}) is given twice")));
        }
        let (edges, couplings) = sorted.into_iter().unzip();
        Ok(Ising { constant: 0.0, fields: fields.to_vec(), edges, couplings })
    }

    /// The same model with constant `c`.
    ///
    /// # Errors
    /// A constant that is not finite.
    pub fn with_constant(mut self, constant: f64) -> Result<Self> {
        if !constant.is_finite() {
            return Err(Error::Model(format!("the constant is {constant}, expected a finite number")));
        }
        self.constant = constant;
        Ok(self)
    }

    /// Number of spins.
    pub fn d(&self) -> usize {
        self.fields.len()
    }

    /// The constant `c`.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// Fields `h_i`.
    pub fn fields(&self) -> &[f64] {
        &self.fields
    }

    /// Edges `i < j` in lexicographic order.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Couplings `J_ij`, one per edge.
    pub fn couplings(&self) -> &[f64] {
        &self.couplings
    }

    /// Edges with their couplings as `(i, j, J_ij)`.
    pub fn triples(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.edges.iter().zip(&self.couplings).map(|(&[i, j], &v)| (i as usize, j as usize, v))
    }

    /// `f(x)` at spins `x` in {-1, +1}.
    pub fn value(&self, x: &[i8]) -> f64 {
        let linear: f64 = self.fields.iter().zip(x).map(|(h, &s)| h * f64::from(s)).sum();
        let pairs: f64 = self.triples().map(|(i, j, v)| v * f64::from(x[i] * x[j])).sum();
        self.constant + linear + pairs
    }

    /// The model in the spins `x'_i = signs_i x_i`: same log Z, relabelled states.
    ///
    /// # Errors
    /// A sign other than -1 and +1, or the wrong number of signs.
    pub fn flip(&self, signs: &[i8]) -> Result<Self> {
        check_signs(signs, self.d())?;
        let mut out = self.clone();
        for (h, &s) in out.fields.iter_mut().zip(signs) {
            *h *= f64::from(s);
        }
        for (v, &[i, j]) in out.couplings.iter_mut().zip(&self.edges) {
            *v *= f64::from(signs[i as usize] * signs[j as usize]);
        }
        Ok(out)
    }

    /// The model with spin `i` renamed `permutation[i]`.
    ///
    /// # Errors
    /// `permutation` is not a permutation of `0..d`.
    pub fn relabel(&self, permutation: &[usize]) -> Result<Self> {
        check_permutation(permutation, self.d())?;
        let mut fields = vec![0.0; self.d()];
        for (i, &p) in permutation.iter().enumerate() {
            fields[p] = self.fields[i];
        }
        let couplings: Vec<_> = self.triples().map(|(i, j, v)| (permutation[i], permutation[j], v)).collect();
        Ising::new(self.d(), &fields, &couplings)?.with_constant(self.constant)
    }

    /// Compressed adjacency: neighbours of spin `i` with the index of the joining edge.
    ///
    /// **Cost** O(d + m), rebuilt on every call.
    pub fn adjacency(&self) -> Adjacency {
        let mut start = vec![0usize; self.d() + 1];
        for &[i, j] in &self.edges {
            start[i as usize + 1] += 1;
            start[j as usize + 1] += 1;
        }
        for i in 0..self.d() {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut entries = vec![(0u32, 0u32); 2 * self.edges.len()];
        for (e, &[i, j]) in self.edges.iter().enumerate() {
            for (from, to) in [(i, j), (j, i)] {
                entries[next[from as usize]] = (to, e as u32);
                next[from as usize] += 1;
            }
        }
        Adjacency { start, entries }
    }
}

/// Neighbour lists in one flat array, made by [`Ising::adjacency`].
#[derive(Clone, Debug)]
pub struct Adjacency {
    start: Vec<usize>,
    entries: Vec<(u32, u32)>,
}

impl Adjacency {
    /// Neighbours of `i` as `(neighbour, edge index)`, increasing.
    pub fn of(&self, i: usize) -> &[(u32, u32)] {
        &self.entries[self.start[i]..self.start[i + 1]]
    }
}

pub(crate) fn check_signs(signs: &[i8], d: usize) -> Result<()> {
    if signs.len() != d || signs.iter().any(|s| s.abs() != 1) {
        return Err(Error::Model(format!("expected {d} signs, each -1 or +1")));
    }
    Ok(())
}

pub(crate) fn check_permutation(permutation: &[usize], d: usize) -> Result<()> {
    let mut seen = vec![false; d];
    for &p in permutation {
        if p >= d || std::mem::replace(&mut seen[p], true) {
            return Err(Error::Model(format!("{p} is repeated or out of range in the relabelling")));
        }
    }
    if permutation.len() != d {
        return Err(Error::Model(format!("expected a permutation of 0..{d}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_entries_are_refused_by_name() {
        let refused = |fields: &[f64], couplings: &[(usize, usize, f64)]| {
            Ising::new(2, fields, couplings).unwrap_err().to_string()
        };
        assert!(refused(&[0.0, f64::NAN], &[]).contains("field 1"));
        assert!(refused(&[0.0; 3], &[]).contains("3 fields"));
        assert!(refused(&[0.0; 2], &[(0, 2, 1.0)]).contains("(0, 2)"));
        assert!(refused(&[0.0; 2], &[(1, 1, 1.0)]).contains("itself"));
        assert!(refused(&[0.0; 2], &[(0, 1, 1.0), (1, 0, 1.0)]).contains("twice"));
        assert!(refused(&[0.0; 2], &[(0, 1, f64::INFINITY)]).contains("inf"));
    }

    #[test]
    fn flips_and_relabelling_move_values_with_the_states() {
        let model = Ising::new(3, &[0.3, -0.7, 0.1], &[(0, 1, 0.5), (1, 2, -0.25)]).unwrap();
        let x = [1i8, -1, 1];
        let flipped = model.flip(&[-1, 1, -1]).unwrap();
        assert_eq!(flipped.value(&[-1, -1, -1]), model.value(&x));
        let relabelled = model.relabel(&[2, 0, 1]).unwrap();
        assert!((relabelled.value(&[-1, 1, 1]) - model.value(&x)).abs() < 1e-15);
    }
}
