//! From a model to a file.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use super::tables::LinearTables;
use super::{Format, atomic, coo, dimod_json, fg, json, json_factors, qubo, rudy, uai};
use crate::error::{Error, Result};
use crate::model::{Model, Polynomial};

/// Writes a model to a file, atomically; see [`write_to`].
///
/// # Errors
/// As [`write_to`]; nothing is written then.
pub fn write(model: &Model, path: &Path, format: Format) -> Result<()> {
    let mut refusal = None;
    let written = atomic::write_atomic(path, |out| match write_to(model, format, out) {
        Ok(()) => Ok(()),
        Err(Error::Io { source, .. }) => Err(source),
        Err(other) => {
            refusal = Some(other);
            Err(io::Error::other("the model cannot be written"))
        }
    });
    match refusal {
        Some(error) => Err(error),
        None => written,
    }
}

/// Writes a model on its free spins: evidence is applied and fixed spins are gone.
///
/// Floats read back bit for bit. Native JSON and dimod JSON hold the coefficients of `f` as they
/// are; tables are rounded once by the exponential; QUBO files by sums of coefficients. The
/// uncertainty of the model is not part of any format: the file is a definition of its own. Nor
/// are [`crate::Units`], unless the format implies them.
///
/// # Errors
/// [`Error::NotApplicable`] when the format cannot hold the model: hard zeros outside UAI and
/// libDAI, terms of arity three and more outside native JSON, UAI and libDAI, fields in a max-cut
/// file, an offset in COO and QUBO. [`Error::Io`] when `out` fails.
///
/// ```
/// use zbound::{Ising, Model, io};
/// let model = Model::from(Ising::new(2, &[0.5, 0.0], &[(0, 1, 1.0)])?);
/// let mut json = Vec::new();
/// io::write_to(&model, io::Format::Json, &mut json)?;
/// let again = io::read_bytes("memory", &json, io::Format::Json, &io::ReadOptions::default())?;
/// assert_eq!(again, model);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn write_to(model: &Model, format: Format, out: &mut dyn Write) -> Result<()> {
    let written = match format {
        Format::Json if model.free_cardinalities().iter().any(|&q| q != 2) => {
            json_factors::write(&model.factors()?, out)
        }
        Format::Json => json::write(&model.polynomial()?, out),
        Format::Uai => uai::write(&LinearTables::new(&model.factors()?)?, out),
        Format::LibDai => fg::write(&LinearTables::new(&model.factors()?)?, out),
        Format::Coo => coo::write(&coo::Entries::new(pairwise(model, format)?)?, out),
        Format::DimodJson => dimod_json::write(pairwise(model, format)?.pairwise_part(), out),
        Format::Rudy => {
            let f = pairwise(model, format)?;
            rudy::check_is_cut(&f)?;
            rudy::write(f.pairwise_part(), out)
        }
        Format::Qubo => qubo::write(&qubo::without_offset(&pairwise(model, format)?)?, out),
        Format::Bq => qubo::write_bq(&qubo::without_offset(&pairwise(model, format)?)?, out),
    };
    written.and_then(|()| out.flush()).map_err(|e| Error::io("-", e))
}

fn pairwise(model: &Model, format: Format) -> Result<Polynomial> {
    let f = model.polynomial()?;
    match f.terms().first() {
        None => Ok(f),
        Some((set, _)) => Err(Error::NotApplicable(format!(
            "the term on {set} has arity {}, and the {format} format is pairwise; json and uai are not",
            set.len()
        ))),
    }
}

/// A float in the fewest digits that read back bit for bit, with an exponent when that is shorter.
pub(super) struct Real(pub(super) f64);

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.fract() == 0.0 && self.0.abs() < 1e15 {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_back_bit_for_bit() {
        let hard = [0.1, -0.0, 1.0, 1e300, 5e-324, 123456789012345.0, 1e15, 1e17, -2.5e-7, f64::MAX];
        for value in hard {
            let text = Real(value).to_string();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
            assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), value.to_bits(), "{text}");
            assert!(text.len() < 26, "{text}");
        }
    }
}
