//! Certificates whose floats are at the ends of floating point.

use super::Random;

/// Values at which products lose their sign, their size or their meaning.
pub const EXTREMES: [f64; 14] = [
    5e-324,
    -5e-324,
    1e-308,
    1e-175,
    1e-16,
    0.0,
    -0.0,
    3.0,
    1e150,
    1e153,
    5e307,
    1.7e308,
    f64::INFINITY,
    f64::NAN,
];

/// Start of the array section of a certificate file.
pub fn floats_at(bytes: &[u8]) -> usize {
    let mut ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(k, _)| k + 1);
    ends.nth(1).expect("a certificate has two lines")
}

/// The file with one to three of its floats replaced by extremes; `which` runs over every pair (float, extreme) first.
pub fn with_extremes(random: &mut Random, bytes: &[u8], which: usize) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let start = floats_at(bytes);
    let count = (bytes.len() - start) / 8;
    let mut put = |at: usize, value: f64| {
        out[start + 8 * at..start + 8 * at + 8].copy_from_slice(&value.to_le_bytes());
    };
    put(which / EXTREMES.len() % count, EXTREMES[which % EXTREMES.len()]);
    if which >= EXTREMES.len() * count {
        for _ in 0..1 + random.below(2) {
            put(random.below(count), EXTREMES[random.below(EXTREMES.len())]);
        }
    }
    out
}

/// The file with another temperature in its header.
pub fn with_eps(bytes: &[u8], eps: &str) -> Vec<u8> {
    let start = floats_at(bytes);
    let text = std::str::from_utf8(&bytes[..start]).expect("the header is text");
    let (before, rest) = text.split_once("\"eps\":").expect("a certificate has a temperature");
    let after = &rest[rest.find(',').expect("the temperature is not the last field")..];
    let mut out = format!("{before}\"eps\":{eps}{after}").into_bytes();
    out.extend(&bytes[start..]);
    out
}
