//! Tables over the spins of one clique, read chunk by chunk.

/// Entries handled at a time, as a power of two: a few buffers of this size stay in cache.
pub(crate) const CHUNK_BITS: usize = 10;

/// How a table over some of a clique's spins is read along the clique's index.
///
/// Both indices list spins last eliminated first, so the table's bits keep their order.
pub(crate) struct View<'a> {
    data: &'a [f64],
    /// Table index for each value of the low clique bits.
    low: Vec<u32>,
    /// `(clique bit, table bit)` above them.
    high: Vec<(u32, u32)>,
    pattern: Pattern,
}

#[derive(Clone, Copy, PartialEq)]
enum Pattern {
    /// The low bits are the table's own: contiguous.
    Copy,
    /// The table has none of the low bits.
    Constant,
    /// Anything else.
    Gather,
}

impl<'a> View<'a> {
    /// The table over the clique bits `bits` (increasing), chunks having `chunk_bits` bits.
    pub(crate) fn new(data: &'a [f64], bits: &[u32], chunk_bits: usize) -> Self {
        let split = bits.iter().filter(|&&b| (b as usize) < chunk_bits).count();
        let mut low = vec![0u32];
        for bit in 0..chunk_bits as u32 {
            let add = bits[..split].iter().position(|&b| b == bit).map_or(0, |t| 1 << t);
            let upper: Vec<u32> = low.iter().map(|o| o + add).collect();
            low.extend(upper);
        }
        let high = bits.iter().enumerate().skip(split).map(|(t, &b)| (b, t as u32)).collect();
        let pattern = match split {
            0 => Pattern::Constant,
            _ if split == chunk_bits => Pattern::Copy,
            _ => Pattern::Gather,
        };
        View { data, low, high, pattern }
    }

    fn offset(&self, base: usize) -> usize {
        self.high.iter().map(|&(clique, table)| (base >> clique & 1) << table).sum()
    }

    /// Adds the table's entries for the chunk of clique indices from `base`.
    pub(crate) fn add_to(&self, base: usize, chunk: &mut [f64]) {
        let from = self.offset(base);
        match self.pattern {
            Pattern::Constant => chunk.iter_mut().for_each(|x| *x += self.data[from]),
            Pattern::Copy => {
                let source = &self.data[from..from + chunk.len()];
                chunk.iter_mut().zip(source).for_each(|(x, t)| *x += t);
            }
            Pattern::Gather => {
                let source = &self.data[from..];
                chunk.iter_mut().zip(&self.low).for_each(|(x, &k)| *x += source[k as usize]);
            }
        }
    }
}

/// Adds a clique's entries from `base` to the table over the clique bits `bits`: sums out the rest.
pub(crate) fn project(clique: &[f64], bits: &[u32], table: &mut [f64]) {
    let clique_bits = clique.len().trailing_zeros() as usize;
    let chunk_bits = clique_bits.min(CHUNK_BITS);
    let view = View::new(&[], bits, chunk_bits);
    for (number, chunk) in clique.chunks_exact(1 << chunk_bits).enumerate() {
        let to = view.offset(number << chunk_bits);
        for (x, &k) in chunk.iter().zip(&view.low) {
            table[to + k as usize] += x;
        }
    }
}

/// A table that owns its entries, over spins named by their elimination positions, last first.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) scope: Vec<u32>,
    pub(crate) data: Vec<f64>,
}

impl Table {
    /// A factor's table with its spins put in order; `scale` multiplies each entry.
    pub(crate) fn from_factor(positions: &[u32], data: &[f64], scale: f64) -> Self {
        let mut scope = positions.to_vec();
        scope.sort_unstable_by(|x, y| y.cmp(x));
        let source: Vec<usize> =
            scope.iter().map(|p| positions.iter().position(|q| q == p).unwrap_or(0)).collect();
        let entry = |k: usize| {
            let from = source.iter().enumerate().map(|(t, &s)| (k >> t & 1) << s).sum::<usize>();
            data[from] * scale
        };
        Table { data: (0..data.len()).map(entry).collect(), scope }
    }

    /// The sum of two tables over the union of their spins.
    pub(crate) fn sum(&self, other: &Table) -> Table {
        let scope = self.union(other);
        let mut data = vec![0.0; 1 << scope.len()];
        for table in [self, other] {
            View::new(&table.data, &table.bits_in(&scope), scope.len()).add_to(0, &mut data);
        }
        Table { scope, data }
    }

    /// The spins of both, last eliminated first.
    pub(crate) fn union(&self, other: &Table) -> Vec<u32> {
        let mut scope = [self.scope.as_slice(), other.scope.as_slice()].concat();
        scope.sort_unstable_by(|x, y| y.cmp(x));
        scope.dedup();
        scope
    }

    /// Bits of this table's spins in an index over `clique`.
    pub(crate) fn bits_in(&self, clique: &[u32]) -> Vec<u32> {
        bits_in(&self.scope, clique)
    }
}

/// Bits of the spins `scope` in an index over `clique`; both last eliminated first.
pub(crate) fn bits_in(scope: &[u32], clique: &[u32]) -> Vec<u32> {
    let mut at = 0;
    let mut bits = Vec::with_capacity(scope.len());
    for &spin in scope {
        while clique[at] != spin {
            at += 1;
        }
        bits.push(at as u32);
        at += 1;
    }
    bits
}
