//! The native format for factor tables: variables of any number of states, log values, hard zeros.

use std::io::{self, Write};

use serde::Deserialize;

use super::json::{line_of, syntax_error};
use super::text::Text;
use super::write::Real;
use crate::error::Result;
use crate::model::{FactorModel, Model, Source};

/// The file, key by key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Native {
    cardinalities: Vec<usize>,
    #[serde(default)]
    constant: f64,
    #[serde(default)]
    factors: Vec<Factor>,
}

/// One table; `null` is log 0.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Factor {
    scope: Vec<usize>,
    log: Vec<Option<f64>>,
}

/// Whether a native file holds tables: then it has cardinalities and nothing of a polynomial.
pub(super) fn is_factors(text: &Text<'_>) -> bool {
    text.text.contains("\"cardinalities\"")
}

/// Reads `{"cardinalities", "constant", "factors": [{"scope", "log"}]}`, the last variable of a scope fastest.
pub(super) fn read(text: &Text<'_>) -> Result<Model> {
    let native: Native = serde_json::from_str(&text.text).map_err(|e| syntax_error(text, &e))?;
    let at = |key, element| line_of(&text.text, key, element);
    let states = native.cardinalities.iter().fold(0usize, |sum, &q| sum.saturating_add(q));
    if states > text.unlisted_limit() {
        let message = format!("{states} states in all are more than a file of this size can describe");
        return Err(text.error(at("cardinalities", None), message));
    }
    let model = FactorModel::with_cardinalities(&native.cardinalities);
    let mut model = model.map_err(|e| text.locate(at("cardinalities", None), e))?;
    model.add_constant(native.constant);
    for (k, mut factor) in native.factors.into_iter().enumerate() {
        factor.scope.reverse();
        let table: Vec<f64> = factor.log.into_iter().map(|v| v.unwrap_or(f64::NEG_INFINITY)).collect();
        model.push(&factor.scope, &table).map_err(|e| text.locate(at("factors", Some(k)), e))?;
    }
    Ok(Model::new(Source::Factors(model)))
}

/// Writes one factor a line; numbers read back bit for bit.
pub(super) fn write(model: &FactorModel, out: &mut dyn Write) -> io::Result<()> {
    let cardinalities: Vec<String> = model.cardinalities().iter().map(u32::to_string).collect();
    write!(
        out,
        "{{\"cardinalities\":[{}],\n\"constant\":{}",
        cardinalities.join(","),
        Real(model.constant())
    )?;
    write!(out, ",\n\"factors\":[")?;
    for (k, factor) in model.factors().enumerate() {
        let scope: Vec<String> = factor.scope.iter().rev().map(u32::to_string).collect();
        let start = if k == 0 { "" } else { ",\n" };
        write!(out, "{start}{{\"scope\":[{}],\"log\":[", scope.join(","))?;
        for (p, &value) in factor.table.iter().enumerate() {
            let comma = if p == 0 { "" } else { "," };
            if value == f64::NEG_INFINITY {
                write!(out, "{comma}null")?;
            } else {
                write!(out, "{comma}{}", Real(value))?;
            }
        }
        write!(out, "]}}")?;
    }
    writeln!(out, "]}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Model> {
        read(&Text::decode("m.json", text.as_bytes())?)
    }

    #[test]
    fn tables_read_back_bit_for_bit() {
        let text = "{\"cardinalities\":[2,3],\"constant\":0.1,\"factors\":[{\"scope\":[0,1],\"log\":[0,1,2,3,null,5]},\n{\"scope\":[1],\"log\":[0.3,0,-1e-3]}]}";
        let model = parse(text).unwrap();
        let Source::Factors(f) = model.source() else { panic!("factors expected") };
        // The last variable of the scope is the fastest.
        assert_eq!(f.value_of(&[1, 2]), 0.1 + 5.0 - 1e-3);
        assert_eq!(f.value_of(&[1, 1]), f64::NEG_INFINITY);
        let mut out = Vec::new();
        write(f, &mut out).unwrap();
        assert_eq!(parse(std::str::from_utf8(&out).unwrap()).unwrap(), model);
    }

    #[test]
    fn errors_name_line_and_factor() {
        for (text, line, words) in [
            ("{\"cardinalities\":[2,0]}", 1, "variable 1 has 0 states"),
            ("{\"cardinalities\":[2],\n\"d\":1}", 2, "unknown field `d`"),
            ("{\"cardinalities\":[2],\"factors\":[\n{\"scope\":[0],\"log\":[1]}]}", 2, "1 entries"),
            ("{\"cardinalities\":[2],\"factors\":[\n{\"scope\":[1],\"log\":[1,2]}]}", 2, "out of range"),
            ("{\"cardinalities\":[2],\"factors\":[{\"scope\":[0],\"log\":[1,\n1e999]}]}", 2, "out of range"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("m.json:{line}: ")) && message.contains(words), "{message}");
        }
    }
}
