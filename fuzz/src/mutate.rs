//! Changes of inputs: bytes, numbers, lines, and pieces of other inputs.

/// Numbers where arithmetic and allocation go wrong.
const NUMBERS: [&str; 26] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "63",
    "64",
    "65",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1e400",
    "-1e400",
    "1e308",
    "1e-308",
    "5e-324",
    "-1e-400",
    "inf",
    "nan",
    "0x10",
    "1_000",
];

/// Bytes that mean something to one of the formats.
const MARKS: [&str; 24] = [
    "{", "}", "[", "]", "\"", ":", ",", "\n", "\r\n", "#", " ", "\t", "null", "true", "MARKOV", "BAYES",
    "\u{feff}", "\\u0000", "[[", "]]", "\"d\"", "\"eps\"", ".", "-",
];

/// Largest input that is made; larger ones find nothing that these do not.
const MAX_LENGTH: usize = 4096;

/// A seeded source of changed inputs (SplitMix64).
#[derive(Clone, Debug)]
pub struct Mutator(u64);

impl Mutator {
    /// The same seed makes the same changes.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 when there is none.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// One to six changes of `input`; `other` lends a piece now and then.
    #[must_use]
    pub fn change(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut data = input.to_vec();
        // Mostly one or two: more, and nearly every input dies at its first line.
        for _ in 0..=self.below(6).min(self.below(6)) {
            self.change_once(&mut data, other);
            data.truncate(MAX_LENGTH);
        }
        data
    }

    fn change_once(&mut self, data: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(data.len() + 1);
        match self.below(11) {
            0 if at < data.len() => data[at] ^= 1 << self.below(8),
            1 if at < data.len() => data[at] = self.bits() as u8,
            2 => insert(data, at, MARKS[self.below(MARKS.len())].as_bytes()),
            3 => data.truncate(at),
            4 | 5 => self.replace_number(data),
            6 => self.remove_or_repeat_line(data),
            7 => {
                let (from, length) = (self.below(other.len() + 1), self.below(64));
                let piece = &other[from..other.len().min(from + length)];
                insert(data, at, piece);
            }
            8 => {
                let end = data.len().min(at + 1 + self.below(16));
                data.drain(at..end);
            }
            9 => self.change_double(data),
            _ => {
                let end = data.len().min(at + 1 + self.below(32));
                let piece = data[at..end].to_vec();
                insert(data, at, &piece);
            }
        }
    }

    /// Puts another number, an extreme or a neighbour, in place of one that is written out.
    fn replace_number(&mut self, data: &mut Vec<u8>) {
        let digit = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E');
        let starts = (0..data.len()).filter(|&k| digit(&data[k]) && (k == 0 || !digit(&data[k - 1])));
        let starts: Vec<usize> = starts.collect();
        if starts.is_empty() {
            return;
        }
        let start = starts[self.below(starts.len())];
        let end = (start..data.len()).find(|&k| !digit(&data[k])).unwrap_or(data.len());
        let old: Option<i64> = std::str::from_utf8(&data[start..end]).ok().and_then(|t| t.parse().ok());
        let new = match old {
            Some(n) if self.below(2) == 0 => n.wrapping_add(self.below(5) as i64 - 2).to_string(),
            _ => NUMBERS[self.below(NUMBERS.len())].to_owned(),
        };
        data.splice(start..end, new.into_bytes());
    }

    fn remove_or_repeat_line(&mut self, data: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = data.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        let at = self.below(lines.len());
        match self.below(3) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            _ => {
                let to = self.below(lines.len());
                lines.swap(at, to);
            }
        }
        *data = lines.join(&b'\n');
    }

    /// Certificates end in raw little-endian doubles.
    fn change_double(&mut self, data: &mut [u8]) {
        let Some(start) = data.len().checked_sub(8 * (1 + self.below(32))) else { return };
        let extreme = [0.0, -0.0, 5e-324, 1e-308, 1e308, -1e308, f64::INFINITY, f64::NAN, 1.0, -1.0];
        let value = extreme[self.below(extreme.len())];
        data[start..start + 8].copy_from_slice(&f64::to_le_bytes(value));
    }
}

fn insert(data: &mut Vec<u8>, at: usize, piece: &[u8]) {
    data.splice(at..at, piece.iter().copied());
}
