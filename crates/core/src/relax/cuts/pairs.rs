//! The pairs of vertices of z = (1, x) whose moments a method looks at, by number.

use std::collections::HashMap;

/// Pairs k < l.
#[derive(Default)]
pub(crate) struct Pairs {
    pub(crate) ends: Vec<[u32; 2]>,
    numbers: HashMap<[u32; 2], u32>,
}

impl Pairs {
    /// The means of d spins, which are the pairs (0, i + 1).
    pub(crate) fn means(d: usize) -> Self {
        let mut pairs = Pairs::default();
        (0..d as u32).for_each(|i| {
            let _ = pairs.number([0, i + 1]);
        });
        pairs
    }

    /// The number of a pair, a new one when it has none.
    pub(crate) fn number(&mut self, ends: [u32; 2]) -> u32 {
        let next = self.ends.len() as u32;
        *self.numbers.entry(ends).or_insert_with(|| {
            self.ends.push(ends);
            next
        })
    }
}
