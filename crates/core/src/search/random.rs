//! A small fast generator: one multiplication chain a draw, the same numbers on every platform.

/// SplitMix64. Moves are cheap, so that their random numbers must be too.
pub(super) struct Random(u64);

/// Entries of the table of logarithms: acceptance probabilities are resolved to 1/4096.
const LOGS: usize = 1 << 12;

impl Random {
    /// A stream of its own for each pair of numbers.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Random(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.bits();
        random
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n >= 1`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (((self.bits() >> 32) * n as u64) >> 32) as usize
    }
}

/// `log U` for uniform U, from a table.
pub(super) struct LogUniform(Vec<f64>);

impl LogUniform {
    pub(super) fn new() -> Self {
        LogUniform((0..LOGS).map(|k| libm::log((k as f64 + 0.5) / LOGS as f64)).collect())
    }

    pub(super) fn draw(&self, random: &mut Random) -> f64 {
        self.0[(random.bits() >> 52) as usize]
    }

    /// No draw is below this: a move that loses more than that many temperatures is never made.
    pub(super) fn least(&self) -> f64 {
        self.0[0]
    }
}
