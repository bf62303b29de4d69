//! Independent blocks with exact laws: `eps log Z >= sum_b (eps log Z_b - E fields_b) + sum over factors between blocks of E_q`.
//!
//! A block is eliminated up and down in the log domain; every step is nonexpansive, so that absolute errors add up.

use crate::interval::{Interval, ONE, ZERO, at};
use crate::limits::{Cost, Limits, Stop};
use crate::require;
use crate::soft::{Rule, exp_fast, largest, log_fast, soft, soft_error};
use crate::states::{expectation, nonnegative};
use crate::table::{Sum, Table, accumulate, entries, shape, size_of, sum_roundings};
use crate::weighted::Tables;
use std::collections::BTreeMap;

/// A clique of a block: the variable summed out first, log beliefs and their error.
struct Clique {
    scope: Vec<u32>,
    belief: Vec<f64>,
    error: f64,
    /// The message it sent up.
    message: Table,
}

/// A factor and its variables in one block.
type Meeting = (usize, Vec<u32>);

/// A block eliminated both ways.
struct Law<'a> {
    cliques: Vec<Clique>,
    /// Place in the order of the block.
    place: &'a [usize],
    states: &'a [Vec<u32>],
    log_z: Interval,
    tops: crate::interval::Sum,
    eps: f64,
}

/// The value of the witness.
pub(crate) fn value(
    model: &Tables<'_>,
    blocks: &[Vec<usize>],
    fields: &[Vec<f64>],
    eps: f64,
    limits: &Limits,
) -> Result<Interval, Stop> {
    let d = model.states.len();
    let (mut block_of, mut place) = (vec![usize::MAX; d], vec![0; d]);
    for (b, block) in blocks.iter().enumerate() {
        for (p, &v) in block.iter().enumerate() {
            require(v < d && block_of[v] == usize::MAX, "a variable is repeated or unknown in a block")?;
            (block_of[v], place[v]) = (b, p);
        }
    }
    let rows = fields.len() == d && fields.iter().zip(model.states).all(|(row, q)| row.len() == *q);
    let fits =
        rows && fields.iter().flatten().all(|v| v.is_finite()) && block_of.iter().all(|b| *b < blocks.len());
    require(fits && eps > 0.0, "the blocks or their fields do not fit the model")?;
    let states: Vec<Vec<u32>> = model.states.iter().map(|&q| (0..q as u32).collect()).collect();
    // What meets inside each block: factor, and its variables there.
    let mut met: Vec<Vec<Meeting>> = vec![Vec::new(); blocks.len()];
    let mut crosses = vec![false; model.factors.len()];
    for (k, factor) in model.factors.iter().enumerate() {
        crosses[k] = factor.scope.iter().any(|&v| block_of[v as usize] != block_of[factor.scope[0] as usize]);
        for &v in &factor.scope {
            let own = &mut met[block_of[v as usize]];
            match own.last_mut() {
                Some((last, part)) if *last == k => part.push(v),
                _ => own.push((k, vec![v])),
            }
        }
    }
    let mut value = model.constant;
    let mut marginals: Vec<Vec<Vec<Interval>>> = vec![Vec::new(); model.factors.len()];
    for (block, met) in blocks.iter().zip(&met) {
        let scopes = cliques(block, met, &place)?;
        let all: f64 = scopes.iter().map(|scope| entries(scope, &states)).sum();
        limits.allow(Cost { work: 150.0 * all, memory: 48.0 * all })?;
        let law = Law::new(model, fields, block, (met, &crosses, scopes), (&place, &states, eps))?;
        value = value + law.log_z + law.tops.total();
        // Summed once: on dense graphs a variable has many factors that cross.
        let mut singles: BTreeMap<u32, Vec<Interval>> = BTreeMap::new();
        for &v in block {
            let marginal = law.marginal(&[v as u32])?;
            value = value - expectation(&fields[v], &[&marginal])?;
            singles.insert(v as u32, marginal);
        }
        for (k, scope) in met.iter().filter(|(k, _)| crosses[*k]) {
            let marginal = match scope[..] {
                [v] => singles[&v].clone(),
                _ => law.marginal(scope)?,
            };
            marginals[*k].push(marginal);
        }
    }
    for (k, factor) in model.factors.iter().enumerate() {
        value = value + Interval { lo: -factor.error, hi: factor.error };
        if crosses[k] {
            // The table with the variables of each block next to each other, blocks in order.
            let mut scope = factor.scope.clone();
            scope.sort_by_key(|&v| block_of[v as usize]);
            let mut sorted = vec![0.0; factor.values.len()];
            accumulate(&mut sorted, &scope, &states, (&factor.scope, &factor.values, 1.0));
            let laws: Vec<&[Interval]> = marginals[k].iter().map(|m| &m[..]).collect();
            value = value + expectation(&sorted, &laws)?;
        }
    }
    Ok(value)
}

/// Cliques of a block in its order of elimination.
fn cliques(block: &[usize], met: &[Meeting], place: &[usize]) -> Result<Vec<Vec<u32>>, String> {
    let mut together: Vec<Vec<usize>> = (0..block.len()).map(|p| vec![p]).collect();
    for (_, scope) in met {
        let places: Vec<usize> = scope.iter().map(|&v| place[v as usize]).collect();
        let first = places.iter().copied().min().unwrap_or(0);
        together[first].extend(places);
    }
    let mut out = Vec::with_capacity(block.len());
    for p in 0..block.len() {
        let mut list = std::mem::take(&mut together[p]);
        list.sort_unstable();
        list.dedup();
        require(list.len() <= 60, "a clique of a block is too large")?;
        if let Some(&up) = list.get(1) {
            together[up].extend(&list[1..]);
        }
        out.push(list.into_iter().map(|q| block[q] as u32).collect());
    }
    Ok(out)
}

impl<'a> Law<'a> {
    fn new(
        model: &Tables<'_>,
        fields: &[Vec<f64>],
        block: &[usize],
        (met, crosses, scopes): (&[Meeting], &[bool], Vec<Vec<u32>>),
        (place, states, eps): (&'a [usize], &'a [Vec<u32>], f64),
    ) -> Result<Law<'a>, String> {
        let mut law =
            Law { cliques: Vec::new(), place, states, log_z: ZERO, tops: crate::interval::Sum::EMPTY, eps };
        let mut inside: Vec<Vec<usize>> = vec![Vec::new(); block.len()];
        for (k, scope) in met.iter().filter(|(k, _)| !crosses[*k]) {
            let first = scope.iter().map(|&v| place[v as usize]).min().unwrap_or(0);
            inside[first].push(*k);
        }
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); block.len()];
        for (p, scope) in scopes.into_iter().enumerate() {
            let sizes = shape(&scope, states);
            let many = inside[p].len() + children[p].len() + 1;
            let mut theta = Sum::new(sizes.iter().product(), many);
            let own = [(vec![scope[0]], &fields[block[p]])];
            let factors =
                inside[p].iter().map(|&k| (model.factors[k].scope.clone(), &model.factors[k].values));
            let (mut error, mut size) = (0.0, 0.0);
            for (names, values) in own.into_iter().chain(factors) {
                theta.add(&scope, states, (&names, values, 1.0));
                size += size_of(values);
            }
            for &c in &children[p] {
                let message: &Table = &law.cliques[c].message;
                theta.add(&scope, states, (&message.scope, &message.values, 1.0));
                error += message.error;
                size += message.size;
            }
            require(size <= 1e290, "table values are out of range")?;
            let theta = theta.total();
            error += f64::EPSILON * (sum_roundings(many) + 3.0) * size;
            let rule = Rule::Weight(eps);
            let mut sent: Vec<f64> = theta.chunks_exact(sizes[0]).map(|x| soft(x, rule)).collect();
            let top = largest(&sent);
            require(top > f64::NEG_INFINITY, "a block has no state of positive weight")?;
            sent.iter_mut().for_each(|v| *v -= top);
            let sent_error = error + soft_error(sizes[0], rule, size) + f64::EPSILON * size_of(&sent);
            law.tops.add(top);
            match scope.get(1) {
                Some(&up) => children[place[up as usize]].push(p),
                None => law.log_z = law.log_z + Interval { lo: -2.0 * sent_error, hi: 2.0 * sent_error },
            }
            let message = Table::new(scope[1..].to_vec(), sent, sent_error);
            law.cliques.push(Clique { scope, belief: theta, error, message });
        }
        for p in (0..law.cliques.len()).rev() {
            law.receive(p)?;
        }
        Ok(law)
    }

    /// Adds to the belief of a clique what the one it sent to knows from elsewhere.
    fn receive(&mut self, p: usize) -> Result<(), String> {
        let Some(&up) = self.cliques[p].scope.get(1) else { return Ok(()) };
        let shared = self.cliques[p].scope[1..].to_vec();
        let (mut from_above, mut error) = self.sum_to(self.place[up as usize], &shared)?;
        let clique = &mut self.cliques[p];
        for (v, own) in from_above.iter_mut().zip(&clique.message.values) {
            // Where the own message is zero the belief is zero whatever comes from above.
            *v = if *own == f64::NEG_INFINITY { 0.0 } else { *v - own };
        }
        error += clique.message.error + 2.0 * f64::EPSILON * (size_of(&from_above) + clique.message.size);
        let top = largest(&from_above);
        from_above.iter_mut().for_each(|v| *v -= top);
        accumulate(&mut clique.belief, &clique.scope, self.states, (&shared, &from_above, 1.0));
        clique.error += error + 4.0 * f64::EPSILON * (size_of(&clique.belief) + size_of(&from_above));
        Ok(())
    }

    /// `eps log sum exp(B / eps)` over everything in a clique but `kept`, with its error.
    fn sum_to(&self, p: usize, kept: &[u32]) -> Result<(Vec<f64>, f64), String> {
        let (clique, states) = (&self.cliques[p], self.states);
        // Kept variables last, so that what is summed is contiguous.
        let mut order: Vec<u32> = clique.scope.iter().copied().filter(|v| !kept.contains(v)).collect();
        let summed = entries(&order, states) as usize;
        order.extend(kept);
        let mut sorted = vec![0.0; clique.belief.len()];
        accumulate(&mut sorted, &order, states, (&clique.scope, &clique.belief, 1.0));
        let eps = self.eps;
        let log_sum = |x: &[f64]| {
            let m = largest(x);
            if m == f64::NEG_INFINITY {
                return m;
            }
            m + eps * log_fast(x.iter().fold(0.0, |sum, v| sum + exp_fast((v - m) / eps)))
        };
        let out: Vec<f64> = sorted.chunks_exact(summed).map(log_sum).collect();
        let error = clique.error + soft_error(summed.max(2), Rule::Weight(eps), size_of(&clique.belief));
        require(error.is_finite(), "the errors of a block are out of range")?;
        Ok((out, error))
    }

    /// Enclosed probabilities of the states of `scope`, first variable fastest; zeros are exact.
    fn marginal(&self, scope: &[u32]) -> Result<Vec<Interval>, String> {
        let p = scope.iter().map(|&v| self.place[v as usize]).min().unwrap_or(0);
        let (logs, error) = self.sum_to(p, scope)?;
        let top = largest(&logs);
        let weights: Vec<Interval> = logs
            .iter()
            .map(|v| if *v == f64::NEG_INFINITY { ZERO } else { ((at(*v) - at(top)) / at(self.eps)).exp() })
            .collect();
        let total = weights.iter().fold(ZERO, |sum, w| sum + *w);
        // Both a weight and the total err by a factor exp(E/eps); exp(2x) <= 1 + 3x for x < 0.1.
        let relative = (at(3.0 * error) / at(self.eps)).hi;
        require(relative < 0.3, "the marginals of a block are lost in rounding")?;
        let factor = ONE + Interval { lo: -relative, hi: relative };
        Ok(weights.iter().map(|w| if *w == ZERO { ZERO } else { nonnegative(*w / total * factor) }).collect())
    }
}
