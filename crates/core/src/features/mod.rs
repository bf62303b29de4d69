//! Feature vectors phi(x) = (x^A)_{A in I} and their classes under XOR.

mod classes;
mod spec;

pub use classes::Classes;
pub use spec::FeatureSpec;

use crate::error::{Error, Result};
use crate::model::VarSet;
use std::collections::HashMap;

/// An ordered set I of distinct monomials; `phi(x) = (x^A)_{A in I}`, `n = |I|`, `|phi|^2 = n`.
///
/// ```
/// use zbound::Features;
/// let phi = Features::degree(4, 1);
/// assert_eq!(phi.len(), 5);
/// assert!(phi.is_linear());
/// assert_eq!(Features::first(4, 6)?.sets()[5].to_string(), "[0, 1]");
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    sets: Vec<VarSet>,
    linear: bool,
}

/// Feature vectors larger than this are refused (an n x n matrix would need 2 GiB).
pub const MAX_FEATURES: usize = 1 << 14;

impl Features {
    /// The listed monomials.
    ///
    /// # Errors
    /// An empty list, a repeated set, or a variable `>= d`.
    pub fn new(d: usize, sets: Vec<VarSet>) -> Result<Self> {
        if sets.is_empty() {
            return Err(Error::Features("the list is empty".into()));
        }
        check_count(sets.len())?;
        let mut seen = HashMap::new();
        for (k, set) in sets.iter().enumerate() {
            if set.largest() >= Some(d) {
                return Err(Error::Features(format!("feature {set} is out of range for d = {d}")));
            }
            if let Some(first) = seen.insert(set, k) {
                return Err(Error::Features(format!(
                    "feature {set} is listed twice (positions {first} and {k})"
                )));
            }
        }
        let linear =
            sets.len() == d + 1 && sets[0].is_empty() && (0..d).all(|i| sets[i + 1] == VarSet::singleton(i));
        Ok(Features { sets, linear })
    }

    /// All monomials of degree at most `k`.
    ///
    /// # Panics
    /// When there are more than [`MAX_FEATURES`] of them; [`FeatureSpec`] reports that instead.
    pub fn degree(d: usize, k: usize) -> Self {
        FeatureSpec::Degree(k).resolve_count(d).expect("too many features: use FeatureSpec")
    }

    /// The first `n` monomials by increasing degree, lexicographic within a degree.
    ///
    /// # Errors
    /// `n` is zero or above `2^d`.
    pub fn first(d: usize, n: usize) -> Result<Self> {
        FeatureSpec::First(n).resolve_count(d)
    }

    /// The monomials in order.
    pub fn sets(&self) -> &[VarSet] {
        &self.sets
    }

    /// n, the number of features.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Never true for a feature set that was built.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Whether this is exactly `(1, x_0, ..., x_{d-1})`, for which V_perp is diagonal.
    pub fn is_linear(&self) -> bool {
        self.linear
    }

    /// This set with one more feature at the end.
    ///
    /// # Errors
    /// The feature is present already.
    pub fn with(&self, d: usize, set: VarSet) -> Result<Self> {
        let mut sets = self.sets.clone();
        sets.push(set);
        Features::new(d, sets)
    }

    /// phi(x).
    pub fn evaluate(&self, x: &[i8]) -> Vec<i8> {
        self.sets.iter().map(|set| set.monomial(x)).collect()
    }

    /// Classes `{(A, B): A xor B = C}` of matrix entries.
    ///
    /// **Cost** O(n^2) hash look-ups.
    pub fn classes(&self) -> Classes {
        Classes::new(&self.sets)
    }
}

fn check_count(n: usize) -> Result<()> {
    if n > MAX_FEATURES {
        return Err(Error::Features(format!(
            "more than {MAX_FEATURES} features; ask for fewer, e.g. first:{MAX_FEATURES}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumeration_matches_binomials() {
        assert_eq!(Features::degree(10, 2).len(), 56);
        assert_eq!(Features::degree(5, 9).len(), 32);
        assert_eq!(Features::degree(0, 1).len(), 1);
        let all = FeatureSpec::All.resolve_count(4).unwrap();
        assert!(all.sets().windows(2).all(|w| w[0] < w[1]) && all.len() == 16);
        assert!(Features::first(3, 9).is_err() && Features::first(3, 0).is_err());
    }
}
