//! Balance: whether a change of signs makes every coupling at least zero.

use crate::model::Ising;

/// Signs `s` with `J_ij s_i s_j >= 0` on every edge, or an edge that closes a cycle of negative product.
///
/// **Cost** O(d + m): signs along a spanning forest, then one look at every edge.
pub(crate) fn balance(ising: &Ising) -> Result<Vec<i8>, [u32; 2]> {
    let (adjacency, couplings) = (ising.adjacency(), ising.couplings());
    let mut signs = vec![0i8; ising.d()];
    let mut stack = Vec::new();
    for root in 0..ising.d() {
        if signs[root] != 0 {
            continue;
        }
        signs[root] = 1;
        stack.push(root);
        while let Some(i) = stack.pop() {
            for &(j, e) in adjacency.of(i) {
                let v = couplings[e as usize];
                if v != 0.0 && signs[j as usize] == 0 {
                    signs[j as usize] = if v > 0.0 { signs[i] } else { -signs[i] };
                    stack.push(j as usize);
                }
            }
        }
    }
    let is_frustrated = |&(i, j, v): &(usize, usize, f64)| v != 0.0 && (v > 0.0) != (signs[i] == signs[j]);
    match ising.triples().find(is_frustrated) {
        Some((i, j, _)) => Err([i as u32, j as u32]),
        None => Ok(signs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_balanced_when_its_product_is_positive() {
        let ring =
            |last: f64| Ising::new(4, &[0.0; 4], &[(0, 1, -1.0), (1, 2, 2.0), (2, 3, -0.5), (0, 3, last)]);
        let model = ring(1.0).unwrap();
        let signs = balance(&model).unwrap();
        assert!(model.triples().all(|(i, j, v)| v * f64::from(signs[i] * signs[j]) >= 0.0));
        assert!(balance(&ring(-1.0).unwrap()).is_err());
        assert!(balance(&ring(0.0).unwrap()).is_ok());
    }
}
