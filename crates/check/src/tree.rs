//! Disjoint parts of the state space: Z is the sum of theirs.

use crate::bounds;
use crate::cert::{Proof, Tree, Witness};
use crate::interval::{ZERO, at};
use crate::limits::{Cost, Limits, Stop};
use crate::model::Subject;
use crate::require;

/// Calls `visit` with the states above each leaf. Every node must be reached exactly once.
pub(crate) fn walk(
    nodes: &[Option<(usize, usize)>],
    mut visit: impl FnMut(&[(usize, usize)]) -> Result<(), String>,
) -> Result<(), String> {
    // One entry per node above: its variable, the state the walk is in and how many there are.
    let (mut path, mut counts): (Vec<(usize, usize)>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut complete = false;
    for node in nodes {
        require(!complete, "a tree has nodes left over")?;
        if let &Some((variable, states)) = node {
            require(states > 0, "a node has no states")?;
            path.push((variable, 0));
            counts.push(states);
            continue;
        }
        visit(&path)?;
        while let Some(last) = path.last_mut() {
            last.1 += 1;
            if last.1 < counts[counts.len() - 1] {
                break;
            }
            path.pop();
            counts.pop();
        }
        complete = path.is_empty();
    }
    require(complete, "a tree lacks leaves")
}

/// The value of every leaf, after it is sure that the tree is one of this model.
fn values<T>(
    tree: &Tree<T>,
    subject: &Subject<'_>,
    limits: &Limits,
    mut value: impl FnMut(&T, &Subject<'_>, &Limits) -> Result<f64, Stop>,
) -> Result<Vec<f64>, Stop> {
    let work = tree.leaves.len() as f64 * subject.size() as f64;
    limits.allow(Cost { work, memory: 0.0 })?;
    let share = limits.shared_by(tree.leaves.len());
    let mut paths = Vec::new();
    let mut on_path = vec![usize::MAX; subject.states.len()];
    walk(&tree.nodes, |path| {
        for &(variable, _) in path {
            require(variable < on_path.len(), "a node splits a variable that the model does not have")?;
            require(on_path[variable] != paths.len(), "a path fixes a variable twice")?;
            on_path[variable] = paths.len();
        }
        paths.push(path.to_vec());
        Ok(())
    })?;
    let fits = |&(variable, states): &(usize, usize)| subject.states.get(variable) == Some(&states);
    require(tree.nodes.iter().flatten().all(fits), "a node does not have all states of its variable")?;
    require(paths.len() == tree.leaves.len(), "a tree does not have one proof per leaf")?;
    let mut out = Vec::new();
    for (path, leaf) in paths.iter().zip(&tree.leaves) {
        let v = value(leaf, &subject.fixed(path), &share)?;
        // NaN fails as well.
        require(v < f64::INFINITY, "a leaf proves nothing")?;
        out.push(v);
    }
    Ok(out)
}

/// Encloses `eps log sum exp(v/eps)`, or the largest value when eps is 0.
fn total(values: &[f64], eps: f64) -> [f64; 2] {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if eps == 0.0 || !top.is_finite() {
        return [top, top];
    }
    // The weight of a leaf of value -inf is exactly 0.
    let finite = values.iter().filter(|v| v.is_finite());
    let sum = finite.fold(ZERO, |sum, &v| sum + ((at(v) - at(top)) / at(eps)).exp());
    let value = at(top) + at(eps) * sum.log();
    [value.lo, value.hi]
}

/// Upper bound on eps log Z.
pub(crate) fn upper(
    tree: &Tree<Proof>,
    subject: &Subject<'_>,
    eps: f64,
    limits: &Limits,
) -> Result<f64, Stop> {
    let leaf = |proof: &Proof, part: &Subject<'_>, share: &Limits| {
        let bound = bounds::upper(proof, part, (eps, None), share)?;
        Ok(bound.log_z(bounds::entropy(eps, &part.states)).hi)
    };
    Ok(total(&values(tree, subject, limits, leaf)?, eps)[1])
}

/// Lower bound on eps log Z.
pub(crate) fn lower(
    tree: &Tree<Option<Witness>>,
    subject: &Subject<'_>,
    eps: f64,
    limits: &Limits,
) -> Result<f64, Stop> {
    let leaf = |witness: &Option<Witness>, part: &Subject<'_>, share: &Limits| match witness {
        None => Ok(f64::NEG_INFINITY),
        Some(witness) => {
            let bound = bounds::lower(witness, part, eps, share)?;
            Ok(bound.log_z(bounds::entropy(eps, &part.states)).lo)
        }
    };
    Ok(total(&values(tree, subject, limits, leaf)?, eps)[0])
}
