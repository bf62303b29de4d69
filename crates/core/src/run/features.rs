//! The features that a method gets: those asked for, in the numbers of the free spins.

use crate::error::{Error, Result};
use crate::features::{FeatureSpec, Features, MAX_FEATURES};
use crate::model::{Model, Polynomial, VarSet};
use crate::settings::Method;

/// The features of a method on f, the model's free spins.
///
/// # Errors
/// Features that are malformed; [`Error::NotApplicable`] when nobody asked for any and the model is too large for the
/// default.
pub(super) fn features(
    model: &Model,
    spec: &FeatureSpec,
    method: Method,
    f: &Polynomial,
) -> Result<Features> {
    match (method, spec) {
        // These have no moment matrix: n x n storage must not stand in the way of large models.
        (Method::Trw | Method::Bethe, _) => Features::new(f.d(), vec![VarSet::EMPTY]),
        (Method::Combined, FeatureSpec::Default) if f.d() >= MAX_FEATURES => {
            Features::new(f.d(), vec![VarSet::EMPTY])
        }
        (Method::LogDet, _) | (_, FeatureSpec::Default) => default_features(f),
        (_, FeatureSpec::Explicit(sets)) => FeatureSpec::Explicit(free_sets(model, sets)?).resolve(f),
        (_, spec) => spec.resolve(f),
    }
}

/// The features of a method when none are asked for. A model that is too large for them is not the user's mistake.
fn default_features(f: &Polynomial) -> Result<Features> {
    FeatureSpec::Default.resolve(f).map_err(|error| match error {
        Error::Features(_) => Error::NotApplicable(format!(
            "a moment matrix of this model has more than {MAX_FEATURES} rows; trw, wmb and auto take models of this size"
        )),
        other => other,
    })
}

/// Sets in file numbers as sets of free spins: a fixed spin is a constant and drops out of its
/// monomial, and monomials that become equal are one.
pub(crate) fn free_sets(model: &Model, sets: &[VarSet]) -> Result<Vec<VarSet>> {
    let variables = model.variables();
    let mut new_name = vec![None; variables];
    model.free_variables().into_iter().enumerate().for_each(|(k, i)| new_name[i] = Some(k));
    let mut seen = std::collections::HashSet::new();
    let mut out = Vec::new();
    for set in sets {
        if set.largest() >= Some(variables) {
            return Err(Error::Features(format!(
                "feature {set} is out of range: the model has {variables} variables"
            )));
        }
        let free: VarSet = set.iter().filter_map(|i| new_name[i]).collect();
        let is_new = seen.insert(free.clone());
        // Without evidence a repeat is the user's mistake and stays for `Features` to name.
        if is_new || model.d() == variables {
            out.push(free);
        }
    }
    Ok(out)
}
