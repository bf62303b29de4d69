//! Moments of all pairs among z = (1, x_0, ..., x_{d-1}), numbered (0,1), (0,2), (1,2), (0,3), ...

/// Number of the pair `k < l`.
pub(super) fn pair(k: usize, l: usize) -> usize {
    let (k, l) = if k < l { (k, l) } else { (l, k) };
    l * (l - 1) / 2 + k
}

/// All pairs `[k, l]`, `k < l < n`, in order.
pub(super) fn all_pairs(n: usize) -> Vec<[u32; 2]> {
    (0..n as u32).flat_map(|l| (0..l).map(move |k| [k, l])).collect()
}

/// The four triangle inequalities `1 + s m_kl + t m_km + st m_lm >= 0` of a triple of vertices; a
/// triple through vertex 0 is the pairwise consistency of two spins.
pub(super) const SIGNS: [[f64; 3]; 4] =
    [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];

/// Pair numbers of a triple `k < l < m`: (k,l), (k,m), (l,m).
pub(super) fn sides([k, l, m]: [u32; 3]) -> [usize; 3] {
    let (k, l, m) = (k as usize, l as usize, m as usize);
    [pair(k, l), pair(k, m), pair(l, m)]
}

/// Left sides of the four inequalities.
pub(super) fn slacks(moments: &[f64], triple: [u32; 3]) -> [f64; 4] {
    let at = sides(triple).map(|p| moments[p]);
    SIGNS.map(|s| 1.0 + s[0] * at[0] + s[1] * at[1] + s[2] * at[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_matches_the_list() {
        for (number, [k, l]) in all_pairs(7).into_iter().enumerate() {
            assert_eq!(pair(k as usize, l as usize), number);
            assert_eq!(pair(l as usize, k as usize), number);
        }
    }

    #[test]
    fn inequalities_hold_at_every_vertex_of_the_cube() {
        for bits in 0..8 {
            let z: Vec<f64> = (0..3).map(|i| if bits >> i & 1 == 1 { 1.0 } else { -1.0 }).collect();
            let moments: Vec<f64> =
                all_pairs(3).iter().map(|&[k, l]| z[k as usize] * z[l as usize]).collect();
            assert!(slacks(&moments, [0, 1, 2]).iter().all(|g| *g >= 0.0));
        }
    }
}
