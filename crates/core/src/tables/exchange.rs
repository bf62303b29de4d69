//! Classes of interchangeable variables: a state of a class counts only by how many of its variables are in each state.
//!
//! In a model of factors of one or two variables, let every variable of a class have the same factors of its own, every
//! pair from two classes (or within one) the same factors between them, or none. Then f is a function of the counts,
//! and `sum_x exp(f(x)/eps) = sum_c prod_C multinomial(c_C) exp(f(c)/eps)`: a model with one variable per class.

use crate::error::Result;
use crate::exact::rounding::U;
use crate::model::FactorModel;
use crate::tables::alike::Parts;

/// Most states of a variable of counts.
const MOST_COUNTS: usize = 1 << 16;
/// Most entries of a table of counts.
const MOST_ENTRIES: usize = 1 << 26;

/// Most factors of a model that is looked at: half a second.
const MOST_FACTORS: usize = 1 << 18;

/// All ways to put `n` variables into `q` states, the first state fastest; `None` when there are too many.
fn counts(n: usize, q: usize) -> Option<Vec<Vec<f64>>> {
    let mut ways = 1f64;
    (1..q).for_each(|k| ways *= (n + k) as f64 / k as f64);
    if ways > MOST_COUNTS as f64 {
        return None;
    }
    let mut out = vec![(Vec::new(), n)];
    for state in 0..q {
        let last = state + 1 == q;
        out = out
            .into_iter()
            .flat_map(|(head, left): (Vec<f64>, usize)| {
                let least = if last { left } else { 0 };
                (least..=left).rev().map(move |k| ([head.as_slice(), &[k as f64]].concat(), left - k))
            })
            .collect();
    }
    Some(out.into_iter().map(|(list, _)| list).collect())
}

/// A sum of products and a bound on what rounding did to it.
#[derive(Clone, Copy, Default)]
struct Sum {
    value: f64,
    size: f64,
    terms: f64,
}

impl Sum {
    /// Adds `count * x`, where no variable in a forbidden state forbids nothing.
    fn add(&mut self, count: f64, x: f64) {
        if count != 0.0 {
            self.value += count * x;
            self.size += (count * x).abs();
            self.terms += 2.0;
        }
    }

    /// Every term and every partial sum is at most the size.
    fn error(&self) -> f64 {
        if self.size.is_finite() { 1.01 * U * (self.terms + 1.0) * self.size } else { 0.0 }
    }
}

/// `log k!` for k up to n.
fn log_factorials(n: usize) -> Vec<f64> {
    let mut sum = crate::exact::rounding::CompensatedSum::default();
    let mut out = vec![0.0];
    for k in 1..=n {
        sum.add(libm::log(k as f64));
        out.push(sum.value());
    }
    out
}

/// The model over counts of interchangeable variables, with the same log Z at temperature eps up to its uncertainty;
/// `None` where no variables are interchangeable, or tables of counts are too large.
///
/// **Cost** a few passes over the factors, and the tables of the result.
///
/// # Errors
/// None for models built by this library.
pub(crate) fn counted(model: &FactorModel, eps: f64) -> Result<Option<FactorModel>> {
    if model.len() > MOST_FACTORS {
        return Ok(None);
    }
    let Some(parts) = Parts::new(model) else { return Ok(None) };
    let classes = parts.classes(model);
    if classes.len() == model.d() {
        return Ok(None);
    }
    let states = |c: &Vec<u32>| model.cardinalities()[c[0] as usize] as usize;
    let Some(counts) =
        classes.iter().map(|c| counts(c.len(), states(c))).collect::<Option<Vec<Vec<Vec<f64>>>>>()
    else {
        return Ok(None);
    };
    let mut out = FactorModel::with_cardinalities(&counts.iter().map(Vec::len).collect::<Vec<_>>())?;
    out.add_constant(model.constant());
    out.add_uncertainty(model.uncertainty());
    let logs = log_factorials(model.d());
    for (c, class) in classes.iter().enumerate() {
        let (table, error) = within(&parts, class, &counts[c], eps, &logs);
        out.push(&[c], &table)?;
        out.add_uncertainty(error);
        for other in c + 1..classes.len() {
            let Some(tables) = parts.near[class[0] as usize].get(&classes[other][0]) else { continue };
            if counts[c].len().saturating_mul(counts[other].len()) > MOST_ENTRIES {
                return Ok(None);
            }
            let (table, error) = between(&parts, tables, &counts[c], &counts[other]);
            out.push(&[c, other], &table)?;
            out.add_uncertainty(error);
        }
    }
    Ok(Some(out))
}

/// Own factors, pairs within the class, and the logarithm of the number of states with these counts.
fn within(parts: &Parts, class: &[u32], counts: &[Vec<f64>], eps: f64, logs: &[f64]) -> (Vec<f64>, f64) {
    let own = &parts.own[class[0] as usize];
    let pairs = class.get(1).and_then(|v| parts.near[class[0] as usize].get(v));
    let mut worst = 0.0f64;
    let entry = |count: &Vec<f64>| {
        let (mut sum, q) = (Sum::default(), count.len());
        for table in own.iter().map(|&k| &parts.tables[k as usize]) {
            count.iter().zip(table).for_each(|(&n, &x)| sum.add(n, x));
        }
        for table in pairs.into_iter().flatten().map(|&k| &parts.tables[k as usize]) {
            for s in 0..q {
                sum.add(0.5 * count[s] * (count[s] - 1.0), table[s + q * s]);
                (0..s).for_each(|t| sum.add(count[s] * count[t], table[s + q * t]));
            }
        }
        // Logarithms of factorials err by two roundings of their size, and of one more in every sum.
        let (mut ways, mut size) = (logs[class.len()], logs[class.len()]);
        for &n in count {
            ways -= logs[n as usize];
            size += logs[n as usize];
        }
        let error =
            sum.error() + eps * U * size * (q as f64 + 8.0) + U * (sum.value.abs() + 2.0 * eps * ways);
        worst = if error > worst && error.is_finite() { error } else { worst };
        sum.value + eps * ways
    };
    let table = counts.iter().map(entry).collect();
    (table, 2.0 * worst)
}

/// Factors between two classes.
fn between(parts: &Parts, tables: &[u32], ours: &[Vec<f64>], theirs: &[Vec<f64>]) -> (Vec<f64>, f64) {
    let mut worst = 0.0f64;
    let mut out = Vec::with_capacity(ours.len() * theirs.len());
    for right in theirs {
        for left in ours {
            let mut sum = Sum::default();
            for table in tables.iter().map(|&k| &parts.tables[k as usize]) {
                for (t, &b) in right.iter().enumerate() {
                    left.iter().enumerate().for_each(|(s, &a)| sum.add(a * b, table[s + left.len() * t]));
                }
            }
            worst = worst.max(sum.error());
            out.push(sum.value);
        }
    }
    (out, 1.01 * worst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::order::Noise;

    /// `eps log sum_x exp(f/eps)` state by state.
    fn log_z(model: &FactorModel, eps: f64) -> f64 {
        let cards = model.cardinalities();
        let all: usize = cards.iter().map(|&q| q as usize).product();
        let value = |k: usize| {
            let mut rest = k;
            let mut state = |&q: &u32| {
                let state = rest % q as usize;
                rest /= q as usize;
                state as u32
            };
            let states: Vec<u32> = cards.iter().map(&mut state).collect();
            model.value_of(&states)
        };
        let values: Vec<f64> = (0..all).map(value).collect();
        let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return top;
        }
        top + eps * values.iter().map(|v| ((v - top) / eps).exp()).sum::<f64>().ln()
    }

    /// Variables of a few classes in random places, with hard zeros at times.
    fn symmetric(noise: &mut Noise) -> FactorModel {
        let kinds = 1 + noise.below(3);
        let states: Vec<usize> = (0..kinds).map(|_| 1 + noise.below(3)).collect();
        let d = 1 + noise.below(7);
        let kind: Vec<usize> = (0..d).map(|_| noise.below(kinds)).collect();
        let zeros = [0, 8][noise.below(2)];
        let entry = |noise: &mut Noise| {
            if zeros > 0 && noise.below(zeros) == 0 { f64::NEG_INFINITY } else { noise.gumbel() }
        };
        let cards: Vec<usize> = kind.iter().map(|&k| states[k]).collect();
        let mut model = FactorModel::with_cardinalities(&cards).unwrap();
        model.add_constant(noise.gumbel());
        let own: Vec<Vec<f64>> = states.iter().map(|&q| (0..q).map(|_| entry(noise)).collect()).collect();
        for i in 0..d {
            model.push(&[i], &own[kind[i]]).unwrap();
        }
        for a in 0..kinds {
            for b in a..kinds {
                if noise.below(3) == 0 {
                    continue;
                }
                let mut table: Vec<f64> = (0..states[a] * states[b]).map(|_| entry(noise)).collect();
                if a == b {
                    let q = states[a];
                    (0..q * q).for_each(|k| table[k] = table[(k % q).min(k / q) + q * (k % q).max(k / q)]);
                }
                let turned: Vec<f64> = (0..states[a] * states[b])
                    .map(|k| table[k / states[b] + k % states[b] * states[a]])
                    .collect();
                for i in 0..d {
                    for j in i + 1..d {
                        // Either way round, as files have them.
                        match (kind[i], kind[j]) {
                            pair if pair == (a, b) => model.push(&[i, j], &table).unwrap(),
                            pair if pair == (b, a) => model.push(&[i, j], &turned).unwrap(),
                            _ => {}
                        }
                    }
                }
            }
        }
        model
    }

    #[test]
    fn counts_have_the_log_z_of_all_states() {
        let (mut noise, mut counted_at_all) = (Noise::new(9), 0);
        for trial in 0..600 {
            let mut model = symmetric(&mut noise);
            if trial % 5 == 4 && model.d() > 1 {
                // One pair apart: fewer variables are alike.
                let (i, j) = (noise.below(model.d()), noise.below(model.d()));
                if i != j {
                    let size = model.table_size(&[i, j]).unwrap();
                    let table: Vec<f64> = (0..size).map(|_| noise.gumbel()).collect();
                    model.push(&[i, j], &table).unwrap();
                }
            }
            let eps = [0.3, 1.0, 20.0][trial % 3];
            let Some(counts) = counted(&model, eps).unwrap() else { continue };
            counted_at_all += 1;
            assert!(counts.d() < model.d());
            let (whole, found) = (log_z(&model, eps), log_z(&counts, eps));
            let tolerance = 1e-11 * (1.0 + whole.abs()) + counts.uncertainty();
            assert!(whole == found || (whole - found).abs() <= tolerance, "{trial}: {whole} {found}");
            assert!(counts.uncertainty() < 1e-10 * (100.0 + eps), "{trial}: {}", counts.uncertainty());
        }
        assert!(counted_at_all > 200, "{counted_at_all}");
    }

    #[test]
    fn a_ring_is_alike_everywhere_and_still_not_counted() {
        let mut ring = FactorModel::new(6);
        for i in 0..6 {
            ring.push(&[i, (i + 1) % 6], &[0.5, -0.5, -0.5, 0.5]).unwrap();
        }
        assert!(counted(&ring, 1.0).unwrap().is_none());
    }
}
