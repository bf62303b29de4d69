//! Counts against sums over all states.

use super::*;
use crate::exact::exact;
use crate::observer::Silent;
use crate::tables::order::Noise;

/// A random model with zeros: `weighted` in four tables has weights of its own.
fn model(noise: &mut Noise, d: usize, tables: usize, zeros: usize, weighted: usize) -> Model {
    let sizes: Vec<usize> = (0..d).map(|_| if noise.below(12) == 0 { 1 } else { 2 }).collect();
    let mut out = FactorModel::with_cardinalities(&sizes).unwrap();
    out.add_constant(0.25);
    for _ in 0..tables {
        let arity = 1 + noise.below(4).min(d - 1);
        let mut scope: Vec<usize> = Vec::new();
        while scope.len() < arity {
            let v = noise.below(d);
            if !scope.contains(&v) {
                scope.push(v);
            }
        }
        let size: usize = scope.iter().map(|&v| sizes[v]).product();
        let is_weighted = noise.below(4) < weighted;
        let mut table: Vec<f64> = (0..size)
            .map(|_| if is_weighted { noise.below(1000) as f64 / 300.0 - 1.5 } else { 0.7 })
            .collect();
        // Parities leave every variable both states and contradict each other all the same.
        if size == 1 << arity && arity > 1 && noise.below(3) == 0 {
            let odd = noise.below(2) as u32;
            let forbidden = (0..size).filter(|k| k.count_ones() % 2 == odd);
            forbidden.for_each(|k| table[k] = f64::NEG_INFINITY);
        } else {
            (0..zeros).for_each(|_| table[noise.below(size)] = f64::NEG_INFINITY);
        }
        out.push(&scope, &table).unwrap();
    }
    Model::new(crate::model::Source::Factors(out))
}

#[test]
fn the_enclosure_holds_the_sum_over_all_states() {
    let mut noise = Noise::new(5);
    let (mut counted, mut impossible) = (0, 0);
    for case in 0..6000 {
        let d = 2 + noise.below(11);
        let tables = 1 + noise.below(2 * d);
        let zeros = 1 + case % 2;
        let weighted = [0, 1, 4][case % 3];
        let model = model(&mut noise, d, tables, zeros, weighted);
        let eps = [1.0, 0.4, 3.0][case / 3 % 3];
        let Some(counting) = Counting::of(&model) else { continue };
        let found = counting.solve(eps, &Settings::default(), &mut Silent).unwrap();
        let truth = exact(&model, eps, &Settings::default(), &mut Silent).unwrap();
        if truth.log_z == f64::NEG_INFINITY {
            assert_eq!(found.log_z_bounds.1, f64::NEG_INFINITY, "case {case}");
            impossible += 1;
            continue;
        }
        counted += 1;
        assert!(found.log_z_bounds.0 <= truth.log_z_bounds.1, "case {case}: {found:?} {truth:?}");
        assert!(found.log_z_bounds.1 >= truth.log_z_bounds.0, "case {case}: {found:?} {truth:?}");
        let width = found.log_z_bounds.1 - found.log_z_bounds.0;
        assert!(width < 1e-11 * truth.log_z.abs().max(1.0), "case {case}: {width:e}");
    }
    assert!(counted > 1000 && impossible > 30, "{counted} {impossible}");
}

#[test]
fn larger_formulas_with_many_conflicts_agree_with_elimination() {
    let mut noise = Noise::new(17);
    for case in 0..60 {
        let d = 22 + noise.below(10);
        let tables = 2 * d + noise.below(2 * d);
        let model = model(&mut noise, d, tables, 1, case % 3);
        let Some(counting) = Counting::of(&model) else { continue };
        let found = counting.solve(1.0, &Settings::default(), &mut Silent).unwrap();
        let truth = exact(&model, 1.0, &Settings::default(), &mut Silent).unwrap();
        assert!(found.log_z_bounds.0 <= truth.log_z_bounds.1, "case {case}: {found:?} {truth:?}");
        assert!(found.log_z_bounds.1 >= truth.log_z_bounds.0, "case {case}: {found:?} {truth:?}");
    }
}
