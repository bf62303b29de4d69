//! Decreasing lists of positions.

/// Number of joint states.
pub(super) fn entries(scope: &[u32], sizes: &[u32]) -> f64 {
    scope.iter().map(|&v| f64::from(sizes[v as usize])).product()
}

/// Joint states and number of nontrivial variables of the union of two decreasing lists.
pub(super) fn union_size(a: &[u32], b: &[u32], sizes: &[u32]) -> (f64, usize) {
    let (mut size, mut count) = (1.0, 0);
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let x = a.get(i).copied();
        let y = b.get(j).copied();
        let v = x.max(y).unwrap_or(0);
        i += usize::from(x == Some(v));
        j += usize::from(y == Some(v));
        let k = sizes[v as usize];
        size *= f64::from(k);
        count += usize::from(k > 1);
    }
    (size, count)
}

/// Merges the decreasing list `b` into the decreasing list `a`.
pub(super) fn unite(a: &mut Vec<u32>, b: &[u32]) {
    let old = a.len();
    a.extend_from_slice(b);
    if old > 0 && !b.is_empty() {
        a.sort_unstable_by(|x, y| y.cmp(x));
        a.dedup();
    }
}
