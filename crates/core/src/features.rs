//! Feature vectors phi(x) = (x^A)_{A in I} and their classes under XOR.

use crate::error::{Error, Result};
use crate::model::{Polynomial, VarSet};
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
        let n = self.len();
        let mut names: HashMap<VarSet, u32> = HashMap::new();
        let mut sets = Vec::new();
        let mut of = vec![0u32; n * n];
        // Column by column, so that class 0 is the empty set and the order is reproducible.
        for b in 0..n {
            for a in 0..=b {
                let set = self.sets[a].xor(&self.sets[b]);
                let id = *names.entry(set).or_insert_with_key(|set| {
                    sets.push(set.clone());
                    sets.len() as u32 - 1
                });
                of[a + n * b] = id;
                of[b + n * a] = id;
            }
        }
        let mut size = vec![0u32; sets.len()];
        of.iter().for_each(|&c| size[c as usize] += 1);
        Classes { n, of, size, sets, names }
    }
}

/// The partition of the n x n entries by the value of `A xor B`: V is the matrices constant on
/// every class, V_perp those whose entries sum to zero over every class.
#[derive(Clone, Debug)]
pub struct Classes {
    n: usize,
    of: Vec<u32>,
    size: Vec<u32>,
    sets: Vec<VarSet>,
    names: HashMap<VarSet, u32>,
}

impl Classes {
    /// Number of classes; class 0 is the diagonal.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Never true.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Number of features.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Class of every entry, column-major.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// Number of entries (both triangles) in every class.
    pub fn sizes(&self) -> &[u32] {
        &self.size
    }

    /// The monomial `C = A xor B` of every class.
    pub fn sets(&self) -> &[VarSet] {
        &self.sets
    }

    /// The class of monomial `set`, if any pair of features represents it.
    pub fn find(&self, set: &VarSet) -> Option<usize> {
        self.names.get(set).map(|&c| c as usize)
    }

    /// Sums of entries over every class: the polynomial `phi^T M phi`, coefficient by class.
    pub fn sums(&self, matrix: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.len()];
        for (&c, &v) in self.of.iter().zip(matrix) {
            sums[c as usize] += v;
        }
        sums
    }

    /// Means of entries over every class: `proj_V(matrix)`, by class.
    pub fn means(&self, matrix: &[f64]) -> Vec<f64> {
        let mut means = self.sums(matrix);
        means.iter_mut().zip(&self.size).for_each(|(m, &s)| *m /= f64::from(s));
        means
    }

    /// `matrix <- proj_V(matrix)`: every entry becomes its class's mean.
    pub fn project(&self, matrix: &mut [f64]) {
        self.fill(&self.means(matrix), matrix);
    }

    /// `matrix <- matrix - proj_V(matrix)`.
    pub fn project_perp(&self, matrix: &mut [f64]) {
        let mean = self.means(matrix);
        for (&c, v) in self.of.iter().zip(matrix) {
            *v -= mean[c as usize];
        }
    }

    /// Writes `values[class]` into every entry: the matrix `sum_C values_C A_C`.
    pub fn fill(&self, values: &[f64], matrix: &mut [f64]) {
        for (&c, v) in self.of.iter().zip(matrix) {
            *v = values[c as usize];
        }
    }

    /// The spread representation of f: coefficient `theta_C / |class C|` per class, so that
    /// `phi^T F phi = f` and F lies in V.
    ///
    /// # Errors
    /// A term of f that no pair of features represents; the message names it.
    pub fn represent(&self, f: &Polynomial) -> Result<Vec<f64>> {
        let mut values = vec![0.0; self.len()];
        for (set, theta) in f.coefficients().filter(|(_, v)| *v != 0.0) {
            let Some(class) = self.find(&set) else {
                return Err(Error::Features(format!(
                    "the features cannot represent the term {set}: add two features whose symmetric difference it is"
                )));
            };
            values[class] = theta / f64::from(self.size[class]);
        }
        Ok(values)
    }
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

    fn resolve_count(&self, d: usize) -> Result<Features> {
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

fn check_count(n: usize) -> Result<()> {
    if n > MAX_FEATURES {
        return Err(Error::Features(format!(
            "more than {MAX_FEATURES} features; ask for fewer, e.g. first:{MAX_FEATURES}"
        )));
    }
    Ok(())
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
    use crate::model::Ising;

    #[test]
    fn enumeration_matches_binomials() {
        assert_eq!(Features::degree(10, 2).len(), 56);
        assert_eq!(Features::degree(5, 9).len(), 32);
        assert_eq!(Features::degree(0, 1).len(), 1);
        let all = FeatureSpec::All.resolve_count(4).unwrap();
        assert!(all.sets().windows(2).all(|w| w[0] < w[1]) && all.len() == 16);
        assert!(Features::first(3, 9).is_err() && Features::first(3, 0).is_err());
    }

    #[test]
    fn projections_are_complementary_and_represent_f() {
        let features = Features::first(5, 13).unwrap();
        let classes = features.classes();
        let n = features.len();
        let f: Polynomial =
            Ising::new(5, &[1.0, 2.0, 0.0, 0.0, -1.0], &[(0, 1, 3.0), (2, 4, 0.5)]).unwrap().into();
        let values = classes.represent(&f).unwrap();
        let mut matrix = vec![0.0; n * n];
        classes.fill(&values, &mut matrix);
        for bits in 0..32u32 {
            let x: Vec<i8> = (0..5).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect();
            let phi = features.evaluate(&x);
            let quadratic: f64 = (0..n * n).map(|k| matrix[k] * f64::from(phi[k % n] * phi[k / n])).sum();
            assert!((quadratic - f.value(&x)).abs() < 1e-12);
        }
        let mut perp: Vec<f64> = (0..n * n).map(|k| ((k % n) * (k / n)) as f64).collect();
        classes.project_perp(&mut perp);
        assert!(classes.sums(&perp).iter().all(|s| s.abs() < 1e-10));
    }

    #[test]
    fn a_term_without_representation_is_named() {
        let pairs = Ising::new(4, &[0.0; 4], &[]).unwrap();
        let f = Polynomial::new(pairs, vec![(VarSet::from_iter([0, 1, 3]), 1.0)]).unwrap();
        let message = Features::degree(4, 1).classes().represent(&f).unwrap_err().to_string();
        assert!(message.contains("[0, 1, 3]"), "{message}");
        let enough = FeatureSpec::Default.resolve(&f).unwrap();
        assert!(enough.classes().represent(&f).is_ok());
    }

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
