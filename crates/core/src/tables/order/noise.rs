//! Cheap reproducible noise for greedy runs: quality matters little, speed does.

/// A SplitMix64 generator and a table of Gumbel quantiles.
pub(crate) struct Noise {
    state: u64,
    gumbel: Vec<f64>,
}

/// Quantiles in the table.
const QUANTILES: usize = 1024;

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        let quantile = |k: usize| -libm::log(-libm::log((k as f64 + 0.5) / QUANTILES as f64));
        Noise { state: seed, gumbel: (0..QUANTILES).map(quantile).collect() }
    }

    /// 32 random bits.
    pub(crate) fn next(&mut self) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n.max(1)
    }

    /// A draw from the Gumbel law, to the resolution of the table.
    pub(crate) fn gumbel(&mut self) -> f64 {
        let k = self.next() as usize % QUANTILES;
        self.gumbel[k]
    }
}
