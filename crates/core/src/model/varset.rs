//! Sets of variables as bit sets of any size.

use std::cmp::Ordering;
use std::fmt;

/// A set `A` of variables, the exponent of the monomial `x^A = prod_{i in A} x_i`.
///
/// Sets below 64 variables are held inline; larger ones on the heap, so `d` is not capped.
/// The order is by degree first and lexicographic within a degree, as the paper lists features.
///
/// ```
/// use zbound::VarSet;
/// let a = VarSet::from_iter([0, 2]);
/// let b = VarSet::from_iter([2, 5]);
/// assert_eq!(a.xor(&b), VarSet::from_iter([0, 5]));
/// assert!(VarSet::from_iter([7]) < a);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct VarSet(Words);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Words {
    Inline(u64),
    /// At least two words and a nonzero last one, so that equal sets are equal values.
    Heap(Box<[u64]>),
}

impl VarSet {
    /// The empty set, exponent of the constant monomial 1.
    pub const EMPTY: VarSet = VarSet(Words::Inline(0));

    /// The set `{i}`.
    pub fn singleton(i: usize) -> Self {
        Self::from_iter([i])
    }

    /// The set `{i, j}`; empty when `i == j`.
    pub fn pair(i: usize, j: usize) -> Self {
        Self::singleton(i).xor(&Self::singleton(j))
    }

    /// The set whose members are the set bits of `bits`.
    pub fn from_bits(bits: u64) -> Self {
        VarSet(Words::Inline(bits))
    }

    fn from_words(mut words: Vec<u64>) -> Self {
        while words.len() > 1 && words.last() == Some(&0) {
            words.pop();
        }
        match words.as_slice() {
            [] => Self::EMPTY,
            [w] => VarSet(Words::Inline(*w)),
            _ => VarSet(Words::Heap(words.into_boxed_slice())),
        }
    }

    fn words(&self) -> &[u64] {
        match &self.0 {
            Words::Inline(w) => std::slice::from_ref(w),
            Words::Heap(ws) => ws,
        }
    }

    /// The low 64 bits, when the set has no member above 63.
    pub fn as_bits(&self) -> Option<u64> {
        match &self.0 {
            Words::Inline(w) => Some(*w),
            Words::Heap(_) => None,
        }
    }

    /// Symmetric difference: `x^A x^B = x^(A xor B)` on the cube.
    pub fn xor(&self, other: &VarSet) -> VarSet {
        if let (Words::Inline(a), Words::Inline(b)) = (&self.0, &other.0) {
            return VarSet(Words::Inline(a ^ b));
        }
        let (a, b) = (self.words(), other.words());
        let at = |w: &[u64], k: usize| w.get(k).copied().unwrap_or(0);
        Self::from_words((0..a.len().max(b.len())).map(|k| at(a, k) ^ at(b, k)).collect())
    }

    /// Number of members, the degree of the monomial.
    pub fn len(&self) -> usize {
        self.words().iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words() == [0]
    }

    /// Whether `i` is a member.
    pub fn contains(&self, i: usize) -> bool {
        self.words().get(i / 64).is_some_and(|w| w >> (i % 64) & 1 == 1)
    }

    /// Largest member.
    pub fn largest(&self) -> Option<usize> {
        self.iter().last()
    }

    /// Members in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().iter().enumerate().flat_map(|(k, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    64 * k + bit
                })
            })
        })
    }

    /// Value of the monomial `x^A` at spins `x` in {-1, +1}.
    pub fn monomial(&self, x: &[i8]) -> i8 {
        self.iter().map(|i| x[i]).product()
    }
}

impl FromIterator<usize> for VarSet {
    /// Collects members; a member listed twice is one member.
    fn from_iter<I: IntoIterator<Item = usize>>(members: I) -> Self {
        let mut words = vec![0u64];
        for i in members {
            if words.len() <= i / 64 {
                words.resize(i / 64 + 1, 0);
            }
            words[i / 64] |= 1 << (i % 64);
        }
        Self::from_words(words)
    }
}

impl Ord for VarSet {
    fn cmp(&self, other: &Self) -> Ordering {
        self.len().cmp(&other.len()).then_with(|| self.iter().cmp(other.iter()))
    }
}

impl PartialOrd for VarSet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for VarSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Display for VarSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_above_64_variables_behave_like_small_ones() {
        let a = VarSet::from_iter([3, 70, 200]);
        assert_eq!(a.iter().collect::<Vec<_>>(), [3, 70, 200]);
        assert_eq!((a.len(), a.largest(), a.contains(70), a.contains(71)), (3, Some(200), true, false));
        let b = VarSet::from_iter([70, 200]);
        assert_eq!(a.xor(&b), VarSet::singleton(3));
        assert_eq!(a.xor(&b).as_bits(), Some(8));
    }

    #[test]
    fn order_is_by_degree_then_lexicographic() {
        let mut sets = [[1, 2], [0, 3], [0, 1]].map(VarSet::from_iter).to_vec();
        sets.push(VarSet::singleton(9));
        sets.push(VarSet::EMPTY);
        sets.sort();
        let listed: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
        assert_eq!(listed, ["[]", "[9]", "[0, 1]", "[0, 3]", "[1, 2]"]);
    }
}
