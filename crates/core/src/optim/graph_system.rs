//! Linear systems with the sparsity of a graph: envelope Cholesky, or conjugate gradient where the
//! envelope would not fit.

/// A symmetric positive definite matrix with entries on the diagonal and on a graph's edges.
#[derive(Clone, Debug)]
pub(crate) struct GraphSystem {
    ends: Vec<[u32; 2]>,
    diagonal: Vec<f64>,
    entries: Vec<f64>,
    factor: Option<Envelope>,
}

/// Above this many multiplications per factorisation conjugate gradient takes over.
const ENVELOPE_WORK: f64 = 4e9;

/// Steps of conjugate gradient: Newton directions need not be exact.
const CG_STEPS: usize = 400;

/// Relative residual at which conjugate gradient stops.
const CG_TOL: f64 = 1e-10;

impl GraphSystem {
    /// The pattern of a graph on `d` nodes.
    ///
    /// **Cost** O(d + m) plus the envelope of a reverse Cuthill-McKee order.
    pub(crate) fn new(d: usize, ends: &[[u32; 2]]) -> Self {
        let factor = Envelope::new(d, ends);
        GraphSystem { ends: ends.to_vec(), diagonal: vec![1.0; d], entries: vec![0.0; ends.len()], factor }
    }

    /// Sets the matrix and factors it.
    ///
    /// **Cost** the sum of squared envelope widths.
    pub(crate) fn set(&mut self, diagonal: &[f64], entries: &[f64]) {
        self.diagonal.copy_from_slice(diagonal);
        self.entries.copy_from_slice(entries);
        if let Some(envelope) = &mut self.factor {
            envelope.factor(&self.ends, diagonal, entries);
        }
    }

    /// `rhs <- matrix^-1 rhs`.
    pub(crate) fn solve(&self, rhs: &mut [f64]) {
        match &self.factor {
            Some(envelope) => envelope.solve(rhs),
            None => self.conjugate_gradient(rhs),
        }
    }

    fn multiply(&self, x: &[f64], out: &mut [f64]) {
        for i in 0..x.len() {
            out[i] = self.diagonal[i] * x[i];
        }
        for (&[i, j], v) in self.ends.iter().zip(&self.entries) {
            out[i as usize] += v * x[j as usize];
            out[j as usize] += v * x[i as usize];
        }
    }

    /// Preconditioned by the diagonal.
    fn conjugate_gradient(&self, rhs: &mut [f64]) {
        let n = rhs.len();
        let mut x = vec![0.0; n];
        let mut residual = rhs.to_vec();
        let scale = |r: &[f64]| -> Vec<f64> { r.iter().zip(&self.diagonal).map(|(r, d)| r / d).collect() };
        let mut z = scale(&residual);
        let mut direction = z.clone();
        let mut product = vec![0.0; n];
        let mut rz = dot(&residual, &z);
        let target = rz * CG_TOL * CG_TOL;
        for _ in 0..CG_STEPS {
            self.multiply(&direction, &mut product);
            let curvature = dot(&direction, &product);
            if !(rz > target && curvature > 0.0) {
                break;
            }
            let step = rz / curvature;
            for i in 0..n {
                x[i] += step * direction[i];
                residual[i] -= step * product[i];
            }
            z = scale(&residual);
            let next = dot(&residual, &z);
            for i in 0..n {
                direction[i] = z[i] + next / rz * direction[i];
            }
            rz = next;
        }
        rhs.copy_from_slice(&x);
    }
}

/// Rows of a Cholesky factor from their first nonzero to the diagonal.
#[derive(Clone, Debug)]
struct Envelope {
    /// Position of every node in the elimination order.
    position: Vec<u32>,
    /// First column of every row.
    first: Vec<u32>,
    /// Where every row starts in `values`; row i ends with its diagonal.
    start: Vec<usize>,
    values: Vec<f64>,
}

impl Envelope {
    fn new(d: usize, ends: &[[u32; 2]]) -> Option<Self> {
        let position = reverse_cuthill_mckee(d, ends);
        let mut first: Vec<u32> = (0..d as u32).collect();
        for &[i, j] in ends {
            let (a, b) = (position[i as usize], position[j as usize]);
            let (low, high) = (a.min(b), a.max(b) as usize);
            first[high] = first[high].min(low);
        }
        let mut start = Vec::with_capacity(d + 1);
        let (mut length, mut work) = (0usize, 0.0);
        for (i, &f) in first.iter().enumerate() {
            start.push(length);
            let width = i - f as usize + 1;
            length += width;
            work += (width as f64).powi(2);
        }
        start.push(length);
        (work <= ENVELOPE_WORK).then(|| Envelope { position, first, start, values: vec![0.0; length] })
    }

    fn factor(&mut self, ends: &[[u32; 2]], diagonal: &[f64], entries: &[f64]) {
        self.values.fill(0.0);
        for (i, &v) in diagonal.iter().enumerate() {
            self.values[self.start[self.position[i] as usize + 1] - 1] = v;
        }
        for (&[i, j], &v) in ends.iter().zip(entries) {
            let (a, b) = (self.position[i as usize], self.position[j as usize]);
            let (low, high) = (a.min(b), a.max(b) as usize);
            self.values[self.start[high] + (low - self.first[high]) as usize] = v;
        }
        for i in 0..self.first.len() {
            let (done, rest) = self.values.split_at_mut(self.start[i]);
            let row = &mut rest[..self.start[i + 1] - self.start[i]];
            let (first, width) = (self.first[i] as usize, row.len());
            for k in 0..width - 1 {
                let j = first + k;
                let other = &done[self.start[j]..self.start[j + 1]];
                let from = first.max(self.first[j] as usize);
                let overlap = dot(&row[from - first..k], &other[from - self.first[j] as usize..other.len() - 1]);
                row[k] = (row[k] - overlap) / other[other.len() - 1];
            }
            let original = row[width - 1];
            let pivot = original - dot(&row[..width - 1], &row[..width - 1]);
            // Rounding may eat a pivot; a floor keeps the direction a direction of ascent.
            row[width - 1] = pivot.max(1e-14 * original).max(f64::MIN_POSITIVE).sqrt();
        }
    }

    fn solve(&self, rhs: &mut [f64]) {
        let n = self.first.len();
        let mut x = vec![0.0; n];
        (0..n).for_each(|i| x[self.position[i] as usize] = rhs[i]);
        for i in 0..n {
            let row = &self.values[self.start[i]..self.start[i + 1]];
            let (first, last) = (self.first[i] as usize, row.len() - 1);
            x[i] = (x[i] - dot(&row[..last], &x[first..i])) / row[last];
        }
        for i in (0..n).rev() {
            let row = &self.values[self.start[i]..self.start[i + 1]];
            let (first, last) = (self.first[i] as usize, row.len() - 1);
            x[i] /= row[last];
            let xi = x[i];
            x[first..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * xi);
        }
        (0..n).for_each(|i| rhs[i] = x[self.position[i] as usize]);
    }
}

/// Position of every node: breadth first from a far end, neighbours by degree, reversed.
fn reverse_cuthill_mckee(d: usize, ends: &[[u32; 2]]) -> Vec<u32> {
    let mut neighbours = vec![Vec::new(); d];
    for &[i, j] in ends {
        neighbours[i as usize].push(j);
        neighbours[j as usize].push(i);
    }
    let degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    neighbours.iter_mut().for_each(|list| list.sort_by_key(|&j| (degree[j as usize], j)));
    let search = |root: usize, seen: &mut [bool]| -> Vec<u32> {
        let mut order = vec![root as u32];
        seen[root] = true;
        let mut head = 0;
        while head < order.len() {
            for &j in &neighbours[order[head] as usize] {
                if !std::mem::replace(&mut seen[j as usize], true) {
                    order.push(j);
                }
            }
            head += 1;
        }
        order
    };
    let mut seen = vec![false; d];
    let mut order: Vec<u32> = Vec::with_capacity(d);
    for root in 0..d {
        if seen[root] {
            continue;
        }
        let component = search(root, &mut seen);
        // The node found last is far from `root`: a good place to start.
        component.iter().for_each(|&i| seen[i as usize] = false);
        order.extend(search(component[component.len() - 1] as usize, &mut seen));
    }
    let mut position = vec![0; d];
    order.iter().rev().enumerate().for_each(|(k, &i)| position[i as usize] = k as u32);
    position
}

/// Inner product with eight partial sums, which the compiler turns into vector code.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (blocks_a, blocks_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = blocks_a.remainder().iter().zip(blocks_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in blocks_a.zip(blocks_b) {
        (0..8).for_each(|k| lanes[k] += x[k] * y[k]);
    }
    lanes.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: u32, columns: u32) -> Vec<[u32; 2]> {
        let at = |r: u32, c: u32| r * columns + c;
        let across = (0..rows).flat_map(|r| (1..columns).map(move |c| [at(r, c - 1), at(r, c)]));
        let down = (1..rows).flat_map(|r| (0..columns).map(move |c| [at(r - 1, c), at(r, c)]));
        across.chain(down).collect()
    }

    fn residual(system: &GraphSystem, d: usize) -> f64 {
        let rhs: Vec<f64> = (0..d).map(|i| ((i * 37 % 11) as f64) - 5.0).collect();
        let mut x = rhs.clone();
        system.solve(&mut x);
        let mut back = vec![0.0; d];
        system.multiply(&x, &mut back);
        back.iter().zip(&rhs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn envelope_and_conjugate_gradient_solve_a_grid_with_an_isolated_node() {
        let ends = grid(7, 9);
        let d = 64;
        let entries: Vec<f64> = (0..ends.len()).map(|e| -0.3 + 0.01 * (e % 17) as f64).collect();
        let mut system = GraphSystem::new(d, &ends);
        system.set(&vec![2.0; d], &entries);
        assert!(residual(&system, d) < 1e-12);
        system.factor = None;
        assert!(residual(&system, d) < 1e-8);
    }

    #[test]
    fn the_envelope_of_a_grid_is_a_narrow_band() {
        let envelope = Envelope::new(400, &grid(20, 20)).unwrap();
        assert!(envelope.values.len() < 400 * 24);
    }
}
