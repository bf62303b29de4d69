//! The nearest assignment that no single flip improves.

use crate::model::Ising;

/// Flips the spin that gains most until none gains.
///
/// **Cost** O(m) and O(d) plus its degree per flip.
pub(super) fn improved(ising: &Ising, mut x: Vec<i8>) -> Vec<i8> {
    let d = ising.d();
    let mut arcs: Vec<Vec<(usize, f64)>> = vec![Vec::new(); d];
    for (i, j, v) in ising.triples() {
        arcs[i].push((j, v));
        arcs[j].push((i, v));
    }
    let spin = |s: i8| f64::from(s);
    let mut pull: Vec<f64> = ising.fields().to_vec();
    for (i, arcs) in arcs.iter().enumerate() {
        pull[i] += arcs.iter().map(|&(j, v)| v * spin(x[j])).sum::<f64>();
    }
    // What counts as a gain: rounding must not keep it going.
    let least = 1e-12 * ising.fields().iter().chain(&pull).fold(0.0f64, |m, v| m.max(v.abs()));
    // Every flip gains, so that the bound on their number is for rounding only.
    for _ in 0..100 * d {
        let gain = |i: usize| -pull[i] * spin(x[i]);
        let Some(best) = (0..d).max_by(|&a, &b| gain(a).total_cmp(&gain(b))) else { break };
        if gain(best) <= least {
            break;
        }
        x[best] = -x[best];
        arcs[best].iter().for_each(|&(j, v)| pull[j] += 2.0 * v * spin(x[best]));
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Polynomial;

    #[test]
    fn no_flip_of_an_improved_assignment_gains() {
        for seed in 0..50usize {
            let wave = |k: usize| ((seed * 7919 + 31 * k + k * k) as f64 * 0.61).sin();
            let d = 1 + seed % 9;
            let fields: Vec<f64> = (0..d).map(wave).collect();
            let pairs = (0..d).flat_map(|j| (0..j).map(move |i| (i, j)));
            let couplings: Vec<_> = pairs.map(|(i, j)| (i, j, wave(100 + i * d + j))).collect();
            let ising = Ising::new(d, &fields, &couplings).unwrap();
            let f = Polynomial::from(ising.clone());
            let start: Vec<i8> = (0..d).map(|i| if wave(500 + i) > 0.0 { 1 } else { -1 }).collect();
            let end = improved(&ising, start.clone());
            assert!(f.value(&end) >= f.value(&start));
            for i in 0..d {
                let mut other = end.clone();
                other[i] = -other[i];
                assert!(f.value(&other) <= f.value(&end) + 1e-9, "seed {seed}, spin {i}");
            }
        }
    }
}
