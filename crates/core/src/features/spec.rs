//! How features are asked for.

use super::{Features, check_count};
use crate::error::{Error, Result};
use crate::model::{Polynomial, VarSet};

/// How a user asks for features; resolved against a model by [`FeatureSpec::resolve`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FeatureSpec {
    /// `(1, x)` plus what the model's higher terms need.
    #[default]
    Default,
    /// All monomials of degree at most K.
    Degree(usize),
    /// The first N monomials by increasing degree, lexicographic within a degree.
    First(usize),
    /// All `2^d`.
    All,
    /// 1, x, and `x_i x_j` on the model's edges.
    Edges,
    /// The listed sets.
    Explicit(Vec<VarSet>),
}

impl FeatureSpec {
    /// The features for model `f`.
    ///
    /// # Errors
    /// Too many features (the message says how many), or an invalid explicit list.
    pub fn resolve(&self, f: &Polynomial) -> Result<Features> {
        let d = f.d();
        match self {
            FeatureSpec::Default => with_needed(d, f),
            FeatureSpec::Edges => {
                let edges = f.pairwise_part().edges().iter();
                let mut sets = linear_sets(d);
                sets.extend(edges.map(|&[i, j]| VarSet::pair(i as usize, j as usize)));
                Features::new(d, sets)
            }
            FeatureSpec::Explicit(sets) => Features::new(d, sets.clone()),
            _ => self.resolve_count(d),
        }
    }

    pub(super) fn resolve_count(&self, d: usize) -> Result<Features> {
        let (wanted, top_degree) = match self {
            FeatureSpec::Degree(k) => (usize::MAX, (*k).min(d)),
            FeatureSpec::First(n) => (*n, d),
            _ => (usize::MAX, d),
        };
        if wanted == 0 {
            return Err(Error::Features("first:N needs N >= 1".into()));
        }
        let mut sets = Vec::new();
        for degree in 0..=top_degree {
            let mut members: Vec<usize> = (0..degree).collect();
            loop {
                if sets.len() == wanted {
                    return Features::new(d, sets);
                }
                sets.push(members.iter().copied().collect());
                check_count(sets.len())?;
                if !next_combination(&mut members, d) {
                    break;
                }
            }
        }
        if wanted != usize::MAX && sets.len() < wanted {
            return Err(Error::Features(format!(
                "first:{wanted} asks for more than the 2^{d} monomials there are"
            )));
        }
        Features::new(d, sets)
    }
}

impl std::str::FromStr for FeatureSpec {
    type Err = Error;

    /// Reads `degree:K`, `first:N`, `all`, `edges` or a JSON list of variable sets.
    fn from_str(text: &str) -> Result<Self> {
        let count = |digits: &str| {
            digits
                .parse::<usize>()
                .map_err(|_| Error::Features(format!("`{text}`: expected a whole number after the colon")))
        };
        match text.trim() {
            "all" => Ok(FeatureSpec::All),
            "edges" => Ok(FeatureSpec::Edges),
            "default" => Ok(FeatureSpec::Default),
            t if t.starts_with("degree:") => Ok(FeatureSpec::Degree(count(&t[7..])?)),
            t if t.starts_with("first:") => Ok(FeatureSpec::First(count(&t[6..])?)),
            t if t.starts_with('[') => {
                let lists: Vec<Vec<usize>> = serde_json::from_str(t).map_err(|e| {
                    Error::Features(format!("`{t}` is not a JSON list of variable sets: {e}"))
                })?;
                let sets = lists.into_iter().map(|list| {
                    if list.iter().any(|&i| i > u32::MAX as usize) {
                        return Err(Error::Features(format!("feature {list:?} has a variable out of range")));
                    }
                    let set: VarSet = list.iter().copied().collect();
                    if set.len() != list.len() {
                        return Err(Error::Features(format!("feature {list:?} repeats a variable")));
                    }
                    Ok(set)
                });
                Ok(FeatureSpec::Explicit(sets.collect::<Result<_>>()?))
            }
            _ => Err(Error::Features(format!(
                "`{text}`: expected degree:K, first:N, all, edges or a JSON list such as [[],[0],[1],[0,1]]"
            ))),
        }
    }
}

fn linear_sets(d: usize) -> Vec<VarSet> {
    std::iter::once(VarSet::EMPTY).chain((0..d).map(VarSet::singleton)).collect()
}

/// `(1, x)`, and for every term of arity three or more the monomial of its smallest half (as
/// index order has it) and the rest, so that their product is the term.
fn with_needed(d: usize, f: &Polynomial) -> Result<Features> {
    let mut sets = linear_sets(d);
    let mut have: std::collections::HashSet<VarSet> = sets.iter().cloned().collect();
    for (term, _) in f.terms() {
        let members: Vec<usize> = term.iter().collect();
        let (low, high) = members.split_at(members.len() / 2);
        for half in [low, high] {
            let set: VarSet = half.iter().copied().collect();
            if have.insert(set.clone()) {
                sets.push(set);
            }
        }
    }
    Features::new(d, sets)
}

/// Steps `members` (increasing, below `d`) to the lexicographically next subset of its size.
fn next_combination(members: &mut [usize], d: usize) -> bool {
    let k = members.len();
    for p in (0..k).rev() {
        if members[p] < d - k + p {
            members[p] += 1;
            for q in p + 1..k {
                members[q] = members[q - 1] + 1;
            }
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_read_or_refused_with_a_hint() {
        assert_eq!("degree:2".parse::<FeatureSpec>().unwrap(), FeatureSpec::Degree(2));
        assert_eq!(
            "[[],[1,0]]".parse::<FeatureSpec>().unwrap(),
            FeatureSpec::Explicit(vec![VarSet::EMPTY, VarSet::pair(0, 1)])
        );
        for bad in ["degree:x", "nonsense", "[[0,0]]", "[1]", "first:-1"] {
            assert!(bad.parse::<FeatureSpec>().is_err(), "{bad}");
        }
    }
}
