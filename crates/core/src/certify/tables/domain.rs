//! Which states of which variables are left.

use super::Removal;
use crate::error::{Error, Result};
use crate::model::FactorModel;

/// The remaining states of every variable, in increasing order, at least one each.
pub(super) struct Domains {
    start: Vec<usize>,
    states: Vec<u32>,
}

impl Domains {
    /// All states of all variables.
    pub(super) fn full(model: &FactorModel) -> Self {
        let start = starts(model);
        let states = (0..model.d()).flat_map(|v| 0..(start[v + 1] - start[v]) as u32).collect();
        Domains { start, states }
    }

    /// Replays `removals` and keeps of the rest what `allowed` lists; `None` when a variable is left without a state.
    ///
    /// # Errors
    /// A removal that its factor does not justify, a list of states out of order.
    pub(super) fn after(
        model: &FactorModel,
        removals: &[Removal],
        allowed: Option<&[Vec<u32>]>,
    ) -> Result<Option<Self>> {
        if removals.is_empty() && allowed.is_none() {
            return Ok(Some(Domains::full(model)));
        }
        let start = starts(model);
        let mut alive = vec![true; start[model.d()]];
        for removal in removals {
            remove(model, removal, &start, &mut alive)?;
        }
        if let Some(lists) = allowed {
            restrict(lists, &start, &mut alive)?;
        }
        let mut out = Domains { start: vec![0], states: Vec::new() };
        for v in 0..model.d() {
            let left = (start[v]..start[v + 1]).filter(|&k| alive[k]).map(|k| (k - start[v]) as u32);
            out.states.extend(left);
            if out.states.len() == out.start[v] {
                return Ok(None);
            }
            out.start.push(out.states.len());
        }
        Ok(Some(out))
    }

    /// Remaining states of a variable.
    pub(super) fn of(&self, variable: u32) -> &[u32] {
        &self.states[self.start[variable as usize]..self.start[variable as usize + 1]]
    }

    /// How many states of a variable remain.
    pub(super) fn size(&self, variable: u32) -> usize {
        self.of(variable).len()
    }

    /// Entries of a table over `scope`, as a float that cannot overflow.
    pub(super) fn entries(&self, scope: &[u32]) -> f64 {
        scope.iter().map(|&v| self.size(v) as f64).product()
    }
}

/// Where the states of each variable start in a flat array.
fn starts(model: &FactorModel) -> Vec<usize> {
    let mut start = vec![0];
    let mut total = 0;
    for &q in model.cardinalities() {
        total += q as usize;
        start.push(total);
    }
    start
}

fn remove(model: &FactorModel, removal: &Removal, start: &[usize], alive: &mut [bool]) -> Result<()> {
    let Removal { variable, state, factor } = *removal;
    let wrong = |what: &str| {
        Error::Certificate(format!(
            "removal of state {state} of variable {variable} by factor {factor}: {what}"
        ))
    };
    if factor as usize >= model.len() {
        return Err(wrong("there is no such factor"));
    }
    let factor = model.factor(factor as usize);
    if !factor.scope.contains(&variable) || state >= model.cardinalities()[variable as usize] {
        return Err(wrong("the factor does not know that state"));
    }
    let (mut offsets, mut stride) = (vec![0usize], 1);
    for &v in factor.scope {
        let q = model.cardinalities()[v as usize] as usize;
        let first = start[v as usize];
        let kept: Vec<usize> =
            if v == variable { vec![state as usize] } else { (0..q).filter(|&s| alive[first + s]).collect() };
        offsets = kept.iter().flat_map(|s| offsets.iter().map(move |o| o + s * stride)).collect();
        stride *= q;
    }
    if !offsets.iter().all(|&o| factor.table[o] == f64::NEG_INFINITY) {
        return Err(wrong("it has positive weight"));
    }
    let slot = &mut alive[start[variable as usize] + state as usize];
    if !std::mem::replace(slot, false) {
        return Err(wrong("it is removed already"));
    }
    Ok(())
}

fn restrict(lists: &[Vec<u32>], start: &[usize], alive: &mut [bool]) -> Result<()> {
    if lists.len() + 1 != start.len() {
        return Err(Error::Certificate("the allowed states are not those of the model's variables".into()));
    }
    for (v, list) in lists.iter().enumerate() {
        let own = &mut alive[start[v]..start[v + 1]];
        if list.windows(2).any(|w| w[0] >= w[1]) || list.last().is_some_and(|&s| s as usize >= own.len()) {
            return Err(Error::Certificate(format!("the allowed states of variable {v} are not in order")));
        }
        let mut next = list.iter().peekable();
        for (s, slot) in own.iter_mut().enumerate() {
            *slot &= next.next_if(|&&allowed| allowed as usize == s).is_some();
        }
    }
    Ok(())
}
