//! What a verification may cost, known before it starts.

use crate::error::{Error, Result};

/// Limits of a verification. A proof that would exceed them is refused before any work, with what it would take.
///
/// Operations are counted from the shapes of the proof, so that verdicts do not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of working memory beside the model and the certificate. Default 4 GB.
    pub memory: u64,
    /// Elementary operations, of the order of a nanosecond each. Default 1e12.
    pub operations: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { memory: 4_000_000_000, operations: 1e12 }
    }
}

/// What some work takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Elementary operations.
    pub(crate) operations: f64,
    /// Bytes held at once.
    pub(crate) bytes: f64,
}

impl Cost {
    /// Of two pieces of work done one after the other.
    pub(crate) fn then(self, next: Cost) -> Cost {
        Cost { operations: self.operations + next.operations, bytes: self.bytes.max(next.bytes) }
    }
}

/// Operations that a leaf of a tree may take however many there are: a hundredth of a second.
const LEAF_OPERATIONS: f64 = 1e7;

impl Limits {
    /// The limits of each of `leaves` proofs that are checked one after another.
    pub(super) fn shared_by(&self, leaves: usize) -> Limits {
        let operations = (self.operations / leaves.max(1) as f64).max(LEAF_OPERATIONS.min(self.operations));
        Limits { operations, ..*self }
    }

    /// # Errors
    /// [`Error::Memory`] or [`Error::Setting`] with the estimate.
    pub(crate) fn allow(&self, cost: Cost) -> Result<()> {
        if !(cost.bytes <= self.memory as f64) {
            return Err(Error::Memory {
                what: "verifying this certificate".into(),
                needed: cost.bytes as u64,
                limit: self.memory,
                hint: "raise the memory limit of the verification".into(),
            });
        }
        if !(cost.operations <= self.operations) {
            return Err(Error::Setting(format!(
                "verifying this certificate takes about {:.1e} operations, above the limit of {:.1e}; raise the work limit",
                cost.operations, self.operations
            )));
        }
        Ok(())
    }
}
