//! Memory of tables that are no longer needed, given to those that come: fresh pages cost as much as the
//! arithmetic on them.

/// Entries from which on memory is worth keeping.
const WORTH: usize = 1 << 12;
/// Blocks kept at most, and one alone when it has more than `LARGE` entries (128 MiB): memory that waits
/// must not count beside the tables in use.
const BLOCKS: usize = 4;
/// Entries of such a block.
const LARGE: usize = 1 << 24;

/// Memory that waits to be used again.
#[derive(Default)]
pub(crate) struct Spare {
    blocks: Vec<Vec<f64>>,
}

impl Spare {
    /// Memory for `size` entries, of any content and length.
    fn take(&mut self, size: usize) -> Vec<f64> {
        let fits = |block: &&Vec<f64>| block.capacity() >= size;
        let found = self.blocks.iter().filter(fits).map(Vec::capacity).min();
        match found.and_then(|capacity| self.blocks.iter().position(|b| b.capacity() == capacity)) {
            Some(k) if size >= WORTH => self.blocks.swap_remove(k),
            None if size > LARGE => {
                self.blocks.clear();
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// `size` entries of any content.
    pub(crate) fn entries(&mut self, size: usize) -> Vec<f64> {
        let mut block = self.take(size);
        if block.capacity() == 0 {
            // Fresh pages are zero: nothing is written.
            return vec![0.0; size];
        }
        block.resize(size, 0.0);
        block
    }

    /// Keeps memory for later, the largest blocks first.
    pub(crate) fn give(&mut self, block: Vec<f64>) {
        if block.capacity() < WORTH {
            return;
        }
        if block.capacity() > LARGE {
            self.blocks.clear();
        }
        self.blocks.push(block);
        if self.blocks.len() > BLOCKS {
            self.blocks.sort_by_key(|b| std::cmp::Reverse(b.capacity()));
            self.blocks.pop();
        }
    }

    /// Zeros over each of `scopes`.
    pub(crate) fn zeros(&mut self, scopes: &[Vec<u32>], states: &[u32]) -> Vec<Vec<f64>> {
        let size = |scope: &Vec<u32>| scope.iter().map(|&q| states[q as usize] as usize).product();
        let mut table = |size: usize| {
            let mut block = self.take(size);
            if block.capacity() == 0 {
                return vec![0.0; size];
            }
            block.clear();
            block.resize(size, 0.0);
            block
        };
        scopes.iter().map(|scope| table(size(scope))).collect()
    }
}
