//! Hashes that are the same on every machine: seeds of draws and keys of records.

/// A hash of `text` in 53 bits.
pub(super) fn short_hash(text: &str) -> u64 {
    let hash = fnv1a(text);
    // FNV leaves its last letters in the low bits: the finaliser of SplitMix64 spreads them. 53 bits
    // survive programs that read JSON numbers as doubles.
    let mut seed = hash as u64 ^ (hash >> 64) as u64;
    seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (seed ^ (seed >> 31)) >> 11
}

/// A hash of `text` as 32 hexadecimal digits.
pub fn hash(text: &str) -> String {
    format!("{:032x}", fnv1a(text))
}

/// FNV-1a, 128 bits.
fn fnv1a(text: &str) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}
