//! Independent blocks, each an exact model of bounded width: `q = prod_b q_b`, `q_b ~ exp((f_b + fields_b)/eps)` with `f_b` the
//! factors inside block b. `eps log Z >= E_q f + eps H(q) = sum_b (eps log Z_b - E fields_b) + sum over factors between blocks of E_q`.

use super::domain::Domains;
use super::moments::{Law, Piece, cliques};
use super::states::expectation;
use crate::certify::interval::Interval;
use crate::certify::limits::Cost;
use crate::error::{Error, Result};
use crate::model::FactorModel;
use std::collections::HashMap;

/// Which block each variable is in.
fn block_of(model: &FactorModel, blocks: &[Vec<u32>]) -> Result<Vec<u32>> {
    let mut of = vec![u32::MAX; model.d()];
    for (b, block) in blocks.iter().enumerate() {
        for &v in block {
            match of.get_mut(v as usize) {
                Some(slot) if *slot == u32::MAX => *slot = b as u32,
                _ => {
                    return Err(Error::Certificate(format!(
                        "variable {v} is repeated or unknown in a block"
                    )));
                }
            }
        }
    }
    match of.iter().position(|b| *b == u32::MAX) {
        Some(v) => Err(Error::Certificate(format!("variable {v} is in no block"))),
        None => Ok(of),
    }
}

/// The part of a scope in each block it touches, blocks in order of appearance.
fn parts(scope: &[u32], of: &[u32]) -> Vec<(u32, Vec<u32>)> {
    let mut out: Vec<(u32, Vec<u32>)> = Vec::new();
    for &v in scope {
        let b = of[v as usize];
        match out.iter_mut().find(|(other, _)| *other == b) {
            Some((_, part)) => part.push(v),
            None => out.push((b, vec![v])),
        }
    }
    out
}

/// Scopes that meet inside each block: of its factors, and the parts of factors between blocks.
fn meetings(model: &FactorModel, of: &[u32], count: usize) -> Vec<Vec<(usize, Vec<u32>)>> {
    let mut out: Vec<Vec<(usize, Vec<u32>)>> = vec![Vec::new(); count];
    for (k, factor) in model.factors().enumerate() {
        for (b, part) in parts(factor.scope, of) {
            out[b as usize].push((k, part));
        }
    }
    out
}

/// What verification takes, from shapes alone.
///
/// # Errors
/// Blocks that are no partition.
pub(in crate::certify) fn cost(model: &FactorModel, blocks: &[Vec<u32>]) -> Result<Cost> {
    let of = block_of(model, blocks)?;
    let domains = Domains::full(model);
    let mut total = Cost::default();
    for (block, met) in blocks.iter().zip(meetings(model, &of, blocks.len())) {
        let joint = cliques(block, met.into_iter().map(|(_, scope)| scope))?;
        let entries: f64 = joint.iter().map(|clique| domains.entries(clique)).sum();
        total = total.then(Cost { operations: 128.0 * entries, bytes: 40.0 * entries });
    }
    let between = model.factors().filter(|f| parts(f.scope, &of).len() > 1).map(|f| f.table.len() as f64);
    Ok(total.then(Cost { operations: 32.0 * between.sum::<f64>(), bytes: 0.0 }))
}

/// Encloses the value of the witness.
///
/// # Errors
/// [`Error::Certificate`] when the blocks or fields do not fit the model, or a state of positive probability has no weight.
pub(in crate::certify) fn blocks(
    model: &FactorModel,
    blocks: &[Vec<u32>],
    fields: &[Vec<f64>],
    eps: f64,
) -> Result<Interval> {
    let of = block_of(model, blocks)?;
    let fits = |(row, q): (&Vec<f64>, &u32)| row.len() == *q as usize && row.iter().all(|v| v.is_finite());
    if !(eps > 0.0) || fields.len() != model.d() || !fields.iter().zip(model.cardinalities()).all(fits) {
        return Err(Error::Certificate("the fields of the blocks do not fit the model".into()));
    }
    let domains = Domains::full(model);
    let met = meetings(model, &of, blocks.len());
    let between: Vec<bool> = model.factors().map(|f| parts(f.scope, &of).len() > 1).collect();
    let mut value = Interval::point(model.constant());
    for factor in model.factors().filter(|f| f.scope.is_empty()) {
        value = value + Interval::point(factor.table[0]);
    }
    // Marginals of the parts of factors between blocks, in the order in which `parts` lists them.
    let mut shares: Vec<Vec<Vec<Interval>>> = vec![Vec::new(); model.len()];
    for (b, block) in blocks.iter().enumerate() {
        let inside = met[b].iter().map(|(k, scope)| {
            let values = if between[*k] { &[][..] } else { model.factor(*k).table };
            Piece { scope: scope.clone(), values }
        });
        let own = block.iter().map(|&v| Piece { scope: vec![v], values: &fields[v as usize] });
        let pieces: Vec<Piece<'_>> = inside.chain(own).collect();
        let law = Law::new(block, &pieces, &domains, eps)?;
        value = value + law.log_z();
        // On dense graphs a variable is part of many factors between blocks: its marginal is summed once.
        let mut known: HashMap<Vec<u32>, Vec<Interval>> = HashMap::new();
        for &v in block {
            let marginal = law.marginal(&[v], eps)?;
            value = value - expectation(&fields[v as usize], &[&marginal])?;
            known.insert(vec![v], marginal);
        }
        for (k, scope) in met[b].iter().filter(|(k, _)| between[*k]) {
            let share = match known.get(scope) {
                Some(marginal) => marginal.clone(),
                None => law.marginal(scope, eps)?,
            };
            shares[*k].push(share);
        }
    }
    for (k, factor) in model.factors().enumerate().filter(|(k, _)| between[*k]) {
        value = value + crossing(model, factor.scope, factor.table, &of, &shares[k])?;
    }
    Ok(value)
}

/// `E_q` of a factor between blocks. Its parts are independent: the table is read with one index per part.
fn crossing(
    model: &FactorModel,
    scope: &[u32],
    table: &[f64],
    of: &[u32],
    shares: &[Vec<Interval>],
) -> Result<Interval> {
    // Shares come block by block, parts in order of appearance.
    let mut parts = parts(scope, of);
    parts.sort_by_key(|(b, _)| *b);
    let mut strides = HashMap::new();
    let mut stride = 1;
    for &v in scope {
        strides.insert(v, stride);
        stride *= model.cardinalities()[v as usize] as usize;
    }
    let mut offsets = vec![0usize];
    for (_, part) in &parts {
        for v in part {
            let q = model.cardinalities()[*v as usize] as usize;
            offsets = (0..q)
                .flat_map(|s| offsets.iter().map(move |o| (o, s)))
                .map(|(o, s)| o + s * strides[v])
                .collect();
        }
    }
    let sorted: Vec<f64> = offsets.into_iter().map(|o| table[o]).collect();
    let marginals: Vec<&[Interval]> = shares.iter().map(|s| &s[..]).collect();
    expectation(&sorted, &marginals)
}
