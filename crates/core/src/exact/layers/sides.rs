//! The two layers of a bipartite pairwise model.

use crate::model::Ising;

/// Whether each spin is in the smaller side of its component, so that every coupling joins different sides; `None` when some
/// component has an odd cycle.
///
/// **Cost** O(d + m).
pub(crate) fn smaller_side(f: &Ising) -> Option<Vec<bool>> {
    let adjacency = f.adjacency();
    let mut side: Vec<Option<bool>> = vec![None; f.d()];
    let mut in_small = vec![false; f.d()];
    for start in 0..f.d() {
        if side[start].is_some() {
            continue;
        }
        let (mut component, mut next) = (vec![start], 0);
        side[start] = Some(false);
        while let Some(&i) = component.get(next) {
            next += 1;
            for &(j, _) in adjacency.of(i).iter().filter(|(_, e)| f.couplings()[*e as usize] != 0.0) {
                match (side[i], side[j as usize]) {
                    (mine, None) => {
                        side[j as usize] = mine.map(|s| !s);
                        component.push(j as usize);
                    }
                    (mine, theirs) if mine == theirs => return None,
                    _ => {}
                }
            }
        }
        let marked = component.iter().filter(|&&i| side[i] == Some(true)).count();
        let small = Some(2 * marked <= component.len());
        component.iter().for_each(|&i| in_small[i] = side[i] == small);
    }
    Some(in_small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_choose_their_sides_one_by_one_and_zero_couplings_do_not_count() {
        let stars = [(0, 1, 1.0), (0, 2, 1.0), (5, 3, 1.0), (5, 4, 1.0), (1, 2, 0.0)];
        let stars = Ising::new(6, &[0.0; 6], &stars.map(|(i, j, v)| (i.min(j), i.max(j), v))).unwrap();
        assert_eq!(smaller_side(&stars).unwrap(), [true, false, false, false, false, true]);
        let triangle = Ising::new(3, &[0.0; 3], &[(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)]).unwrap();
        assert!(smaller_side(&triangle).is_none());
    }
}
