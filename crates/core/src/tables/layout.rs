//! How a small table sits inside a larger one over mixed domains.
//!
//! Every scope is sorted the same way, so a table reads as nested loops in which the smaller one either
//! advances or stands still. Loops that do the same are merged, and the innermost one is contiguous.

/// Entries handled together: with a few states of the eliminated variable they fit the second-level cache.
const BLOCK: usize = 2048;

/// Innermost runs shorter than this go through a list of offsets instead.
const SHORT_RUN: usize = 8;

/// One loop over `size` steps that moves the smaller table by `stride` entries a step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Loop {
    size: usize,
    stride: usize,
}

/// A cut of a message's table into blocks of whole leading variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Blocks {
    /// Entries in a block.
    pub(crate) size: usize,
    /// Number of blocks.
    pub(crate) count: usize,
    /// Leading variables of the scope inside a block.
    split: usize,
}

impl Blocks {
    /// Cuts a table over `scope`, the first variable fastest.
    pub(crate) fn new(scope: &[u32], sizes: &[u32]) -> Self {
        let (mut size, mut split) = (1, 0);
        for &v in scope {
            let next = size * sizes[v as usize] as usize;
            if next > BLOCK && split > 0 {
                break;
            }
            (size, split) = (next, split + 1);
        }
        let count = scope[split..].iter().map(|&v| sizes[v as usize] as usize).product();
        Blocks { size, count, split }
    }
}

/// The place of a smaller table inside the table of a mini-bucket: `scope` cut into blocks, and beyond it
/// the eliminated variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Broadcast {
    inner: Vec<Loop>,
    outer: Vec<Loop>,
    state_stride: usize,
    /// Where the entries of a block lie, when runs are short.
    offsets: Vec<u32>,
    entries: usize,
}

impl Broadcast {
    /// Places a table over `item` (sorted like `scope`, the eliminated `variable` last if present), keeping allocations.
    pub(crate) fn place(
        &mut self,
        scope: &[u32],
        variable: u32,
        item: &[u32],
        sizes: &[u32],
        blocks: Blocks,
    ) {
        self.inner.clear();
        self.outer.clear();
        let (mut next, mut stride) = (0, 1);
        for (k, &v) in scope.iter().enumerate() {
            let size = sizes[v as usize] as usize;
            let is_inside = item.get(next) == Some(&v);
            let loops = if k < blocks.split { &mut self.inner } else { &mut self.outer };
            push(loops, Loop { size, stride: if is_inside { stride } else { 0 } });
            if is_inside {
                next += 1;
                stride *= size;
            }
        }
        let has_variable = item.get(next) == Some(&variable);
        debug_assert_eq!(next + usize::from(has_variable), item.len());
        self.state_stride = if has_variable { stride } else { 0 };
        self.entries = stride * if has_variable { sizes[variable as usize] as usize } else { 1 };
        self.list_offsets(blocks.size);
    }

    fn list_offsets(&mut self, block: usize) {
        self.offsets.clear();
        if self.inner.len() < 2 || self.inner[0].size >= SHORT_RUN {
            return;
        }
        self.offsets.reserve(block);
        self.offsets.push(0);
        for step in &self.inner {
            let done = self.offsets.len();
            for k in 1..step.size {
                let base = (k * step.stride) as u32;
                self.offsets.extend_from_within(..done);
                self.offsets[k * done..].iter_mut().for_each(|o| *o += base);
            }
        }
    }

    /// Entries of the smaller table.
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// First entry of the smaller table that block `block` meets when the eliminated variable is in `state`.
    pub(crate) fn base(&self, mut block: usize, state: usize) -> usize {
        let mut at = state * self.state_stride;
        for step in &self.outer {
            at += block % step.size * step.stride;
            block /= step.size;
        }
        at
    }

    /// Calls `run` on contiguous pieces of a block, with the matching piece of the smaller table: of the same
    /// length, or one entry for all; `single` where runs are too short for that.
    fn visit<R, S>(&self, length: usize, mut run: R, mut single: S)
    where
        R: FnMut(std::ops::Range<usize>, std::ops::Range<usize>),
        S: FnMut(&[u32]),
    {
        if !self.offsets.is_empty() {
            return single(&self.offsets);
        }
        let Some(first) = self.inner.first() else { return run(0..length, 0..1) };
        let width = if first.stride == 0 { 1 } else { first.size };
        for start in (0..length).step_by(first.size) {
            let (mut rest, mut at) = (start / first.size, 0);
            for step in &self.inner[1..] {
                at += rest % step.size * step.stride;
                rest /= step.size;
            }
            run(start..start + first.size, at..at + width);
        }
    }

    /// Adds the smaller table, from its `base` on, to a block.
    pub(crate) fn add(&self, block: &mut [f64], item: &[f64]) {
        self.combine(block, item, |x, y| *x += y);
    }

    /// Multiplies a block by the smaller table, from its `base` on.
    pub(crate) fn multiply(&self, block: &mut [f64], item: &[f64]) {
        self.combine(block, item, |x, y| *x *= y);
    }

    #[inline(always)]
    fn combine(&self, block: &mut [f64], item: &[f64], op: impl Fn(&mut f64, f64)) {
        // Both closures change the block: a cell of one owner lets them take turns.
        let length = block.len();
        let block = std::cell::RefCell::new(block);
        self.visit(
            length,
            |here, there| {
                let mut block = block.borrow_mut();
                match &item[there] {
                    [one] => block[here].iter_mut().for_each(|x| op(x, *one)),
                    many => block[here].iter_mut().zip(many).for_each(|(x, &y)| op(x, y)),
                }
            },
            |offsets| {
                let mut block = block.borrow_mut();
                block.iter_mut().zip(offsets).for_each(|(x, &o)| op(x, item[o as usize]));
            },
        );
    }

    /// Sums a block onto the smaller table, from its `base` on.
    pub(crate) fn fold(&self, block: &[f64], item: &mut [f64]) {
        let item = std::cell::RefCell::new(item);
        self.visit(
            block.len(),
            |here, there| {
                let mut item = item.borrow_mut();
                match &mut item[there] {
                    [one] => *one += sum(&block[here]),
                    many => many.iter_mut().zip(&block[here]).for_each(|(y, x)| *y += x),
                }
            },
            |offsets| {
                let mut item = item.borrow_mut();
                block.iter().zip(offsets).for_each(|(x, &o)| item[o as usize] += x);
            },
        );
    }
}

/// Appends a loop, merging it with the one before where the two are one longer loop.
fn push(loops: &mut Vec<Loop>, step: Loop) {
    if step.size == 1 {
        return;
    }
    match loops.last_mut() {
        Some(last) if last.stride * last.size == step.stride && (last.stride > 0 || step.stride == 0) => {
            last.size *= step.size;
        }
        _ => loops.push(step),
    }
}

/// Sum in eight lanes: vectorised, in an order of its own.
pub(crate) fn sum(values: &[f64]) -> f64 {
    let (whole, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for x in whole {
        lanes.iter_mut().zip(x).for_each(|(s, x)| *s += x);
    }
    lanes.iter().sum::<f64>() + rest.iter().sum::<f64>()
}
