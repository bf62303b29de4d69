//! Exact reductions before any order is sought: states that hard zeros rule out, variables with one state,
//! factors that are constant or do not depend on a variable, and variables that sum to nothing.

use crate::error::Result;
use crate::exact::rounding::U;
use crate::exact::vector::EXP_ULPS;
use crate::model::{FactorModel, FactorRef};
use crate::tables::propagate::Propagator;

/// Largest table that is summed out beforehand to see whether its message is constant.
const BARREN_ENTRIES: usize = 1 << 20;

/// A model over the states that are left, and where these were.
pub(crate) struct Reduction {
    pub(crate) model: FactorModel,
    /// Of every variable of the reduced model, the variable it was.
    pub(crate) variables: Vec<u32>,
    /// Of every variable of the given model, the states it has left, increasing; none at all when every
    /// state of the model is forbidden.
    pub(crate) states: Vec<Vec<u32>>,
}

impl Reduction {
    /// States of the given model from those of the reduced one.
    pub(crate) fn restore(&self, reduced: &[u32]) -> Vec<u32> {
        let mut out: Vec<u32> = self.states.iter().map(|s| s.first().copied().unwrap_or(0)).collect();
        for (&i, &s) in self.variables.iter().zip(reduced) {
            out[i as usize] = self.states[i as usize][s as usize];
        }
        out
    }

    /// An order of all variables: those with one state last.
    pub(crate) fn restore_order(&self, reduced: &[u32]) -> Vec<u32> {
        let single = (0..self.states.len() as u32).filter(|&i| self.states[i as usize].len() <= 1);
        reduced.iter().filter_map(|&v| self.variables.get(v as usize).copied()).chain(single).collect()
    }

    /// Laws of the given model's variables: states that are gone have probability `zero`, those left alone `one`.
    pub(crate) fn restore_laws<T: Copy>(
        &self,
        cardinalities: &[u32],
        reduced: &[Vec<T>],
        (zero, one): (T, T),
    ) -> Vec<Vec<T>> {
        let mut out: Vec<Vec<T>> = cardinalities.iter().map(|&q| vec![zero; q as usize]).collect();
        for (p, states) in out.iter_mut().zip(&self.states).filter(|(_, s)| s.len() == 1) {
            p[states[0] as usize] = one;
        }
        for (&i, p) in self.variables.iter().zip(reduced) {
            let to = &mut out[i as usize];
            self.states[i as usize].iter().zip(p).for_each(|(&s, &x)| to[s as usize] = x);
        }
        out
    }
}

/// Removes states that some factor rules out given what the others have left, then variables with a single
/// state, variables on which a factor does not depend, and constant factors.
///
/// **Cost** a few passes over the tables.
///
/// # Errors
/// None for models built by this library.
pub(crate) fn restrict(model: &FactorModel) -> Result<Reduction> {
    let states = supported(model);
    if states.iter().any(Vec::is_empty) {
        let mut empty = FactorModel::new(0);
        empty.add_constant(f64::NEG_INFINITY);
        return Ok(Reduction { model: empty, variables: Vec::new(), states });
    }
    let kept: Vec<u32> = (0..model.d() as u32).filter(|&i| states[i as usize].len() > 1).collect();
    let mut name = vec![usize::MAX; model.d()];
    kept.iter().enumerate().for_each(|(new, &i)| name[i as usize] = new);
    let sizes: Vec<usize> = kept.iter().map(|&i| states[i as usize].len()).collect();
    let mut out = FactorModel::with_cardinalities(&sizes)?;
    out.add_constant(model.constant());
    out.add_uncertainty(model.uncertainty());
    for factor in model.factors() {
        let table = selected(&factor, model.cardinalities(), &states);
        let scope = factor.scope.iter().map(|&i| name[i as usize]).filter(|&i| i != usize::MAX);
        push_reduced(&mut out, scope.collect(), table, 0.0)?;
    }
    Ok(Reduction { model: out, variables: kept, states })
}

/// Adds a factor without the variables on which it does not depend (up to `tolerance`, which then joins the
/// uncertainty); a constant joins the constant.
fn push_reduced(
    model: &mut FactorModel,
    mut scope: Vec<usize>,
    mut table: Vec<f64>,
    tolerance: f64,
) -> Result<()> {
    let mut k = 0;
    while k < scope.len() {
        let sizes: Vec<usize> = scope.iter().map(|&i| model.cardinalities()[i] as usize).collect();
        let stride: usize = sizes[..k].iter().product();
        let block = stride * sizes[k];
        let same = |a: f64, b: f64| a == b || (a - b).abs() <= tolerance;
        let alike = |rows: &[f64]| (stride..block).all(|n| same(rows[n], rows[n % stride]));
        if table.chunks_exact(block).all(alike) {
            table = table.chunks_exact(block).flat_map(|rows| rows[..stride].to_vec()).collect();
            scope.remove(k);
            // Every dropped entry is within the tolerance of the one that stays.
            model.add_uncertainty(tolerance);
        } else {
            k += 1;
        }
    }
    if !scope.is_empty() {
        return model.push(&scope, &table);
    }
    model.add_constant(table[0]);
    if model.constant().is_finite() {
        model.add_uncertainty(model.constant().abs() * f64::EPSILON);
    }
    Ok(())
}

/// A table's entries over the states that are left.
fn selected(factor: &FactorRef<'_>, cardinalities: &[u32], states: &[Vec<u32>]) -> Vec<f64> {
    let mut at = vec![0usize];
    let mut stride = 1;
    for &i in factor.scope {
        let i = i as usize;
        if states[i].len() == 1 {
            at.iter_mut().for_each(|k| *k += states[i][0] as usize * stride);
        } else {
            at = states[i].iter().flat_map(|&s| at.iter().map(move |k| k + s as usize * stride)).collect();
        }
        stride *= cardinalities[i] as usize;
    }
    at.into_iter().map(|k| factor.table[k]).collect()
}

/// By variable, the states that every factor supports by an entry over supported states.
fn supported(model: &FactorModel) -> Vec<Vec<u32>> {
    let mut propagator = Propagator::new(model, model.cardinalities());
    let _ = propagator.run(u64::MAX);
    (0..model.d()).map(|v| propagator.states(v).map(|s| s as u32).collect()).collect()
}

/// Sums out variables of a single factor wherever the result depends on fewer variables than it might: in a
/// Bayesian network, whatever is below all evidence. The model keeps its log Z and nothing else.
///
/// # Errors
/// None for models built by this library.
pub(crate) fn without_barren(model: FactorModel, eps: f64) -> Result<FactorModel> {
    let mut tables: Vec<Option<(Vec<usize>, Vec<f64>)>> = model
        .factors()
        .map(|f| Some((f.scope.iter().map(|&i| i as usize).collect(), f.table.to_vec())))
        .collect();
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); model.d()];
    for (k, factor) in model.factors().enumerate() {
        factor.scope.iter().for_each(|&i| near[i as usize].push(k));
    }
    let sizes: Vec<usize> = model.cardinalities().iter().map(|&q| q as usize).collect();
    let mut rest = FactorModel::with_cardinalities(&sizes)?;
    rest.add_constant(model.constant());
    rest.add_uncertainty(model.uncertainty());
    let mut gone = vec![false; model.d()];
    let mut stack: Vec<usize> = (0..model.d()).filter(|&v| near[v].len() == 1).collect();
    while let Some(v) = stack.pop() {
        let &[k] = near[v].as_slice() else { continue };
        let Some((scope, table)) = tables[k].as_ref().filter(|t| !gone[v] && t.1.len() <= BARREN_ENTRIES)
        else {
            continue;
        };
        let Some((message, error)) = summed(scope, table, v, model.cardinalities(), eps) else { continue };
        let others: Vec<usize> = scope.iter().copied().filter(|&i| i != v).collect();
        let sizes: Vec<usize> = others.iter().map(|&i| rest.cardinalities()[i] as usize).collect();
        let mut one = FactorModel::with_cardinalities(&sizes)?;
        push_reduced(&mut one, (0..others.len()).collect(), message, 4.0 * error)?;
        let left: Vec<usize> = one
            .factors()
            .next()
            .map_or_else(Vec::new, |f| f.scope.iter().map(|&i| others[i as usize]).collect());
        if left.len() == others.len() && !others.is_empty() {
            continue;
        }
        gone[v] = true;
        rest.add_constant(one.constant());
        rest.add_uncertainty(one.uncertainty() + error + rest.constant().abs() * f64::EPSILON);
        tables[k] = one.factors().next().map(|f| (left.clone(), f.table.to_vec()));
        for i in others.into_iter().filter(|i| !left.contains(i)) {
            near[i].retain(|&other| other != k);
            if near[i].len() == 1 {
                stack.push(i);
            }
        }
        stack.extend(left.into_iter().filter(|&i| near[i].len() == 1));
    }
    renumbered(&rest, &tables, &gone)
}

/// `eps log sum_{x_v} exp(table/eps)` and a bound on its error; `None` when it spans too much for numbers.
fn summed(
    scope: &[usize],
    table: &[f64],
    v: usize,
    cardinalities: &[u32],
    eps: f64,
) -> Option<(Vec<f64>, f64)> {
    let size = |i: usize| cardinalities[i] as usize;
    let stride: usize = scope.iter().take_while(|&&i| i != v).map(|&i| size(i)).product();
    let (mut out, mut error) = (Vec::with_capacity(table.len() / size(v)), 0.0f64);
    for block in table.chunks_exact(stride * size(v)) {
        for n in 0..stride {
            let column = || (0..size(v)).map(|s| block[s * stride + n]);
            let top = column().fold(f64::NEG_INFINITY, f64::max);
            if top == f64::NEG_INFINITY {
                out.push(top);
                continue;
            }
            let finite = || column().filter(|x| *x > f64::NEG_INFINITY);
            let range = finite().map(|x| (top - x) / eps).fold(0.0, f64::max);
            if range > super::table::SAFE {
                return None;
            }
            let total: f64 = finite().map(|x| libm::exp((x - top) / eps)).sum();
            let value = top + eps * libm::log(total);
            // Difference, quotient and exponential of every entry, the sum, the logarithm of a number
            // between 1 and the states, and the last two operations.
            let relative = 2.0 * range + EXP_ULPS + size(v) as f64 + 8.0 * (1.0 + (size(v) as f64).ln());
            error = error.max(2.0 * U * (eps * relative + top.abs() + value.abs()));
            out.push(value);
        }
    }
    Some((out, error))
}

/// The model of what is left, variables without a place gone and the others renumbered.
fn renumbered(
    rest: &FactorModel,
    tables: &[Option<(Vec<usize>, Vec<f64>)>],
    gone: &[bool],
) -> Result<FactorModel> {
    let kept: Vec<usize> = (0..gone.len()).filter(|&i| !gone[i]).collect();
    let mut name = vec![0; gone.len()];
    kept.iter().enumerate().for_each(|(new, &i)| name[i] = new);
    let sizes: Vec<usize> = kept.iter().map(|&i| rest.cardinalities()[i] as usize).collect();
    let mut out = FactorModel::with_cardinalities(&sizes)?;
    out.add_constant(rest.constant());
    out.add_uncertainty(rest.uncertainty());
    for (scope, table) in tables.iter().flatten() {
        let scope: Vec<usize> = scope.iter().map(|&i| name[i]).collect();
        out.push(&scope, table)?;
    }
    Ok(out)
}
