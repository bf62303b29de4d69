//! What a check may take, and what it would take: known before any work.

/// Limits of a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of working memory beside the two files. Default 4 GB.
    pub memory: f64,
    /// Elementary operations. Default 1e12.
    pub work: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { memory: 4e9, work: 1e12 }
    }
}

/// Why a check ended without a verdict in favour of the certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A claim is not proved.
    Rejected(String),
    /// Nobody knows: it would take too much.
    Limit(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Self {
        Stop::Rejected(why)
    }
}

impl From<&str> for Stop {
    fn from(why: &str) -> Self {
        Stop::Rejected(why.to_owned())
    }
}

/// Operations, and bytes held at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) work: f64,
    pub(crate) memory: f64,
}

impl Cost {
    /// One piece of work after another.
    pub(crate) fn and(self, next: Cost) -> Cost {
        Cost { work: self.work + next.work, memory: self.memory.max(next.memory) }
    }
}

/// Operations that a leaf of a tree may take however many there are.
const LEAF_WORK: f64 = 1e7;

impl Limits {
    /// The limits of each of many proofs that are checked one after another.
    pub(crate) fn shared_by(&self, leaves: usize) -> Limits {
        Limits { work: (self.work / leaves.max(1) as f64).max(LEAF_WORK.min(self.work)), ..*self }
    }

    pub(crate) fn allow(&self, cost: Cost) -> Result<(), Stop> {
        if !(cost.memory <= self.memory) {
            let (needs, has) = (cost.memory / 1e9, self.memory / 1e9);
            return Err(Stop::Limit(format!(
                "checking would take {needs:.3} GB, above the limit of {has:.3} GB (--memory-limit)"
            )));
        }
        if !(cost.work <= self.work) {
            let (needs, has) = (cost.work, self.work);
            return Err(Stop::Limit(format!(
                "checking would take {needs:.1e} operations, above the limit of {has:.1e} (--work-limit)"
            )));
        }
        Ok(())
    }
}

/// Bytes in `4000000000`, `4G` or `512MiB`; units are powers of 1024.
pub fn parse_size(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let text = text.trim_end_matches("ib").trim_end_matches('b');
    let unit = "kmgt".find(|unit| text.ends_with(unit));
    let (number, exponent) = unit.map_or((text, 0), |at| (&text[..text.len() - 1], 10 * (at + 1)));
    number.parse::<f64>().ok().map(|x| x * 2f64.powi(exponent as i32)).filter(|x| *x >= 1.0 && x.is_finite())
}
