//! Tables of nonnegative numbers, as UAI and libDAI hold them, to and from the log domain.

use crate::error::{Error, Result};
use crate::model::FactorModel;

/// Relative error allowed for a logarithm: `libm::log` documents less than one ulp.
const LOG_ULPS: f64 = 4.0;

/// Beyond this the exponential leaves the normal range of `f64`.
const EXP_RANGE: f64 = 700.0;

/// Adds the factor whose *linear* values are `table`, first variable of `scope` fastest; zeros
/// become `-inf`. The rounding of the logarithms joins the uncertainty of the model.
pub(super) fn push_linear(model: &mut FactorModel, scope: &[usize], table: &mut [f64]) -> Result<()> {
    let mut radius: f64 = 0.0;
    for value in table.iter_mut() {
        *value = logarithm(*value);
        if value.is_finite() {
            radius = radius.max(LOG_ULPS * f64::EPSILON * value.abs());
        }
    }
    model.add_uncertainty(radius);
    if !scope.is_empty() {
        return model.push(scope, table);
    }
    model.add_constant(table[0]);
    if model.constant().is_finite() {
        // One rounded addition.
        model.add_uncertainty(f64::EPSILON * model.constant().abs());
    }
    Ok(())
}

/// The warning that factor `k`, which has no variables, is zero.
pub(super) fn forbids_all(name: &str, line: usize, k: usize) -> String {
    format!("{name}:{line}: factor {k} has no variables and the value 0: no state has positive weight")
}

fn logarithm(value: f64) -> f64 {
    match value {
        0.0 => f64::NEG_INFINITY,
        1.0 => 0.0,
        _ => libm::log(value),
    }
}

/// A model as a product of nonnegative tables, first variable of a scope fastest.
pub(super) struct LinearTables {
    pub(super) cardinalities: Vec<u32>,
    pub(super) factors: Vec<(Vec<u32>, Vec<f64>)>,
}

impl LinearTables {
    /// Exponentiates every table. The constant is spread evenly over the factors, and a variable in
    /// no factor gets a table of ones: neither format has another place for them.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when a value does not fit into an `f64`.
    pub(super) fn new(model: &FactorModel) -> Result<Self> {
        let d = model.d();
        let mut factors: Vec<(Vec<u32>, Vec<f64>)> =
            model.factors().map(|f| (f.scope.to_vec(), f.table.to_vec())).collect();
        let mut covered = vec![false; d];
        for &i in factors.iter().flat_map(|(scope, _)| scope) {
            covered[i as usize] = true;
        }
        let bare = (0..d).filter(|&i| !covered[i]);
        factors.extend(bare.map(|i| (vec![i as u32], vec![0.0; model.cardinalities()[i] as usize])));
        if factors.is_empty() {
            factors.push((Vec::new(), vec![0.0]));
        }
        let share = model.constant() / factors.len() as f64;
        for (scope, table) in &mut factors {
            for value in table {
                *value += share;
                if value.is_finite() && value.abs() > EXP_RANGE {
                    return Err(Error::NotApplicable(format!(
                        "the factor on {scope:?} has the log value {value}, and its exponential does not fit \
                         into a table of floating-point numbers; native JSON holds log values"
                    )));
                }
                *value = libm::exp(*value);
            }
        }
        Ok(LinearTables { cardinalities: model.cardinalities().to_vec(), factors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_ones_and_constants_are_handled_exactly() {
        let mut model = FactorModel::new(1);
        push_linear(&mut model, &[0], &mut [0.0, 1.0]).unwrap();
        assert_eq!((model.factor(0).table, model.uncertainty()), (&[f64::NEG_INFINITY, 0.0][..], 0.0));
        push_linear(&mut model, &[], &mut [2.0]).unwrap();
        assert!((model.constant() - 2f64.ln()).abs() <= model.uncertainty());
    }

    #[test]
    fn values_beyond_the_range_of_floats_are_refused() {
        let mut model = FactorModel::new(2);
        model.push(&[1], &[0.0, 800.0]).unwrap();
        assert!(LinearTables::new(&model).err().unwrap().to_string().contains("800"));
        model.add_constant(-300.0);
        let tables = LinearTables::new(&model).unwrap();
        assert_eq!(tables.factors[1].0, [0]);
        model.add_constant(f64::NEG_INFINITY);
        let impossible = LinearTables::new(&model).unwrap();
        assert!(impossible.factors.iter().all(|(_, table)| table.iter().all(|v| *v == 0.0)));
    }
}
