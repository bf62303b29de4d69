//! How the tables of one bucket are read along the bucket's index, chunk by chunk.

use super::table::{Domain, Table, offsets};

/// Entries of a chunk from which on loops are long enough: two or three buffers of this size stay in the
/// innermost cache.
const CHUNK: usize = 512;
/// Entries up to which a table with gaps is written out along the chunk beforehand.
const EXPAND: usize = 1 << 15;

/// The variables of a bucket: those that stay, last eliminated first, and the one that leaves.
pub(crate) struct Shape {
    /// Positions of those that stay.
    pub(crate) scope: Vec<u32>,
    /// Position of the one that leaves.
    pub(crate) leaving: u32,
    /// States of those that stay.
    dims: Vec<usize>,
    /// States of the one that leaves.
    pub(crate) states: usize,
    /// Leading variables of the scope within a chunk.
    inner: usize,
    /// Entries of a chunk.
    pub(crate) chunk: usize,
    /// Chunks of the message.
    pub(crate) chunks: usize,
}

impl Shape {
    pub(crate) fn new(scope: &[u32], leaving: u32, states: &[u32]) -> Self {
        let dims: Vec<usize> = scope.iter().map(|&q| states[q as usize] as usize).collect();
        let (mut inner, mut chunk) = (0, 1);
        while inner < dims.len() && chunk < CHUNK {
            chunk *= dims[inner];
            inner += 1;
        }
        let chunks = dims[inner..].iter().product();
        let states = states[leaving as usize] as usize;
        Shape { scope: scope.to_vec(), leaving, dims, states, inner, chunk, chunks }
    }

    /// Entries of the message.
    pub(crate) fn size(&self) -> usize {
        self.chunk * self.chunks
    }

    /// Stride in a table over `scope` of every variable that stays, and of the one that leaves.
    fn strides(&self, scope: &[u32], states: &[u32]) -> (Vec<usize>, usize) {
        let (mut strides, mut top) = (vec![0; self.dims.len()], 0);
        let mut stride = 1;
        let mut at = 0;
        for &q in scope {
            if q == self.leaving {
                top = stride;
            } else {
                while self.scope[at] != q {
                    at += 1;
                }
                strides[at] = stride;
            }
            stride *= states[q as usize] as usize;
        }
        (strides, top)
    }
}

/// Where a table over some of a bucket's variables has its entries.
pub(crate) struct Layout {
    /// `(states, stride)` of the variables beyond the chunk.
    outer: Vec<(usize, usize)>,
    /// Stride of the variable that leaves.
    top: usize,
    pattern: Pattern,
    /// With gaps, a chunk is a sequence of runs: their length, and where each begins in the table.
    run: usize,
    starts: Vec<u32>,
}

/// How a table runs along a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pattern {
    /// Entry by entry.
    Copy,
    /// One entry for all.
    Constant,
    /// Runs of successive entries.
    Runs,
    /// Runs of one entry each.
    Spread,
}

impl Layout {
    pub(crate) fn new(shape: &Shape, scope: &[u32], states: &[u32]) -> Self {
        let (strides, top) = shape.strides(scope, states);
        let axes: Vec<(usize, usize)> = shape.dims.iter().copied().zip(strides).collect();
        let inside: Vec<(usize, usize)> = axes[..shape.inner].iter().copied().filter(|a| a.0 > 1).collect();
        let outer = axes[shape.inner..].to_vec();
        let (mut run, mut starts) = (shape.chunk, Vec::new());
        let has = inside.iter().filter(|a| a.1 > 0).count();
        let pattern = match inside.first() {
            _ if has == 0 => Pattern::Constant,
            _ if has == inside.len() => Pattern::Copy,
            Some(first) => {
                let spread = first.1 == 0;
                let lead = inside.iter().take_while(|a| (a.1 == 0) == spread).count();
                run = inside[..lead].iter().map(|a| a.0).product();
                starts = offsets(&inside[lead..]).into_iter().map(|at| at as u32).collect();
                if spread { Pattern::Spread } else { Pattern::Runs }
            }
            None => Pattern::Constant,
        };
        Layout { outer, top, pattern, run, starts }
    }

    /// Writes a table with gaps out along a chunk.
    fn gather(&self, source: &[f64], chunk: &mut [f64]) {
        let starts = self.starts.as_slice();
        match (self.pattern == Pattern::Spread, self.run) {
            (true, 1) | (false, 1) => copy_runs::<1>(starts, source, chunk),
            (true, 2) => spread_runs::<2>(starts, source, chunk),
            (true, 4) => spread_runs::<4>(starts, source, chunk),
            (true, 8) => spread_runs::<8>(starts, source, chunk),
            (false, 2) => copy_runs::<2>(starts, source, chunk),
            (false, 4) => copy_runs::<4>(starts, source, chunk),
            (false, 8) => copy_runs::<8>(starts, source, chunk),
            (false, 16) => copy_runs::<16>(starts, source, chunk),
            (spread, run) => {
                for (&start, out) in starts.iter().zip(chunk.chunks_exact_mut(run)) {
                    let from = &source[start as usize..];
                    if spread { out.fill(from[0]) } else { out.copy_from_slice(&from[..run]) }
                }
            }
        }
    }

    /// Bound on the roundings of the additions that end in one entry when [`scatter`] adds up a whole bucket.
    pub(crate) fn additions(&self, shape: &Shape) -> f64 {
        let missing = self.outer.iter().filter(|axis| axis.1 == 0).map(|axis| axis.0 as f64);
        let chunks = missing.product::<f64>() * if self.top == 0 { shape.states as f64 } else { 1.0 };
        match self.pattern {
            Pattern::Copy => chunks,
            Pattern::Constant => (shape.chunk / 8 + 16) as f64 + chunks,
            Pattern::Runs => chunks * self.most_repeats(),
            Pattern::Spread => self.run as f64 + chunks * self.most_repeats(),
        }
    }

    /// Most runs of a chunk that begin at the same entry.
    fn most_repeats(&self) -> f64 {
        let mut starts = self.starts.clone();
        starts.sort_unstable();
        starts.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(1) as f64
    }

    /// First entry for a chunk and a state of the variable that leaves.
    pub(crate) fn base(&self, chunk: usize, state: usize) -> usize {
        let mut at = state * self.top;
        let mut rest = chunk;
        for &(states, stride) in &self.outer {
            at += rest % states * stride;
            rest /= states;
        }
        at
    }
}

/// A table as the bucket reads it.
pub(crate) struct View<'a> {
    data: std::borrow::Cow<'a, [f64]>,
    layout: Layout,
}

impl<'a> View<'a> {
    pub(crate) fn new(shape: &Shape, table: &'a Table, states: &[u32]) -> Self {
        let layout = Layout::new(shape, &table.scope, states);
        if matches!(layout.pattern, Pattern::Runs | Pattern::Spread) {
            return Self::expanded(shape, table, states, layout);
        }
        View { data: (&table.data).into(), layout }
    }

    /// Writes a small table with gaps out along the chunk, so that it is read entry by entry.
    fn expanded(shape: &Shape, table: &'a Table, states: &[u32], layout: Layout) -> Self {
        let beyond = layout.outer.iter().filter(|a| a.1 > 0).map(|a| a.0).product::<usize>();
        let rows = beyond * if layout.top > 0 { shape.states } else { 1 };
        if rows.saturating_mul(shape.chunk) > EXPAND.min(shape.size()) {
            return View { data: (&table.data).into(), layout };
        }
        let mut stride = shape.chunk;
        let mut old = Vec::new();
        let mut outer = layout.outer.clone();
        for (states, axis) in outer.iter_mut().filter(|a| a.1 > 0).map(|a| (a.0, &mut a.1)) {
            old.push((states, *axis));
            *axis = stride;
            stride *= states;
        }
        let mut top = 0;
        if layout.top > 0 {
            old.push((states[shape.leaving as usize] as usize, layout.top));
            top = stride;
        }
        let bases = offsets(&old);
        let mut data = vec![0.0; bases.len() * shape.chunk];
        for (row, &base) in data.chunks_exact_mut(shape.chunk).zip(&bases) {
            layout.gather(&table.data[base..], row);
        }
        let layout = Layout { outer, top, pattern: Pattern::Copy, run: shape.chunk, starts: Vec::new() };
        View { data: data.into(), layout }
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.layout.pattern == Pattern::Constant
    }

    /// The entry that holds along a chunk, for a table that does not vary in it.
    pub(crate) fn constant(&self, chunk: usize, state: usize) -> Option<f64> {
        self.is_constant().then(|| self.data[self.layout.base(chunk, state)])
    }

    /// The entries along a chunk, gathered into `buffer` where they are not contiguous.
    pub(crate) fn slice<'b>(
        &'b self,
        chunk: usize,
        state: usize,
        len: usize,
        buffer: &'b mut [f64],
    ) -> &'b [f64] {
        let base = self.layout.base(chunk, state);
        match self.layout.pattern {
            Pattern::Copy => &self.data[base..base + len],
            Pattern::Constant => {
                buffer[..len].fill(self.data[base]);
                &buffer[..len]
            }
            Pattern::Runs | Pattern::Spread => {
                self.layout.gather(&self.data[base..], &mut buffer[..len]);
                &buffer[..len]
            }
        }
    }
}

/// Successive entries from each start, N at a time: loops of known length need no call.
fn copy_runs<const N: usize>(starts: &[u32], source: &[f64], chunk: &mut [f64]) {
    for (&start, out) in starts.iter().zip(chunk.as_chunks_mut::<N>().0) {
        if let Some(run) = source[start as usize..].first_chunk::<N>() {
            *out = *run;
        }
    }
}

/// The entry at each start, N times.
fn spread_runs<const N: usize>(starts: &[u32], source: &[f64], chunk: &mut [f64]) {
    for (&start, out) in starts.iter().zip(chunk.as_chunks_mut::<N>().0) {
        *out = [source[start as usize]; N];
    }
}

/// Adds successive entries at each start, N at a time.
fn add_runs<const N: usize>(starts: &[u32], entries: &[f64], table: &mut [f64]) {
    for (&start, run) in starts.iter().zip(entries.as_chunks::<N>().0) {
        if let Some(target) = table[start as usize..].first_chunk_mut::<N>() {
            (0..N).for_each(|k| target[k] += run[k]);
        }
    }
}

/// Adds N entries at a time to the one at each start.
fn collect_runs<const N: usize>(starts: &[u32], entries: &[f64], table: &mut [f64]) {
    for (&start, run) in starts.iter().zip(entries.as_chunks::<N>().0) {
        table[start as usize] += run.iter().sum::<f64>();
    }
}

/// Adds a chunk of a bucket's entries to a table over some of its variables.
pub(crate) fn scatter(layout: &Layout, chunk: usize, state: usize, entries: &[f64], table: &mut [f64]) {
    let base = layout.base(chunk, state);
    let (table, starts) = (&mut table[base..], layout.starts.as_slice());
    match (layout.pattern, layout.run) {
        (Pattern::Copy, _) => table[..entries.len()].iter_mut().zip(entries).for_each(|(t, x)| *t += x),
        (Pattern::Constant, _) => table[0] += sum(entries),
        (Pattern::Runs, 1) => add_runs::<1>(starts, entries, table),
        (Pattern::Runs, 2) => add_runs::<2>(starts, entries, table),
        (Pattern::Runs, 4) => add_runs::<4>(starts, entries, table),
        (Pattern::Runs, 8) => add_runs::<8>(starts, entries, table),
        (Pattern::Runs, 16) => add_runs::<16>(starts, entries, table),
        (Pattern::Runs, run) => {
            for (&start, run) in starts.iter().zip(entries.chunks_exact(run)) {
                let target = &mut table[start as usize..][..run.len()];
                target.iter_mut().zip(run).for_each(|(t, x)| *t += x);
            }
        }
        (Pattern::Spread, 1) => collect_runs::<1>(starts, entries, table),
        (Pattern::Spread, 2) => collect_runs::<2>(starts, entries, table),
        (Pattern::Spread, 4) => collect_runs::<4>(starts, entries, table),
        (Pattern::Spread, 8) => collect_runs::<8>(starts, entries, table),
        (Pattern::Spread, run) => {
            for (&start, run) in starts.iter().zip(entries.chunks_exact(run)) {
                table[start as usize] += run.iter().sum::<f64>();
            }
        }
    }
}

/// A sum in eight lanes.
pub(crate) fn sum(values: &[f64]) -> f64 {
    let (whole, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for chunk in whole {
        (0..8).for_each(|k| lanes[k] += chunk[k]);
    }
    lanes.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

/// Whether a bucket of these tables can be computed with numbers: no product, in whatever order, leaves the
/// range of normal floating point.
pub(crate) fn fits_numbers<'t>(tables: impl Iterator<Item = &'t Table>) -> bool {
    let (mut above, mut below, mut linear) = (0.0, 0.0, true);
    for table in tables.filter(|t| !t.is_impossible()) {
        linear &= table.domain == Domain::Linear;
        above += table.highest.max(0.0);
        below += table.lowest.min(0.0);
    }
    linear && above < super::table::SAFE && below > -super::table::SAFE
}
