//! dimod's JSON: `bqm.to_serializable()`, schema 3.

use std::io::{self, Write};

use serde::Deserialize;

use super::energy::{Energy, Vartype};
use super::json::{line_of, syntax_error};
use super::text::Text;
use super::write::Real;
use crate::error::Result;
use crate::model::{Ising, Model};

/// What decides whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    use_bytes: bool,
    variable_type: String,
}

#[derive(Deserialize)]
struct Bqm {
    num_variables: Option<usize>,
    variable_labels: Option<Vec<serde_json::Value>>,
    offset: f64,
    linear_biases: Vec<f64>,
    quadratic_biases: Vec<f64>,
    quadratic_head: Vec<usize>,
    quadratic_tail: Vec<usize>,
}

/// Whether JSON text is dimod's: native JSON has no string value and no such key.
pub(super) fn is_dimod(text: &Text<'_>) -> bool {
    text.text.contains("\"BinaryQuadraticModel\"") || text.text.contains("\"bqm_schema\"")
}

/// Reads `f = -beta E`, variables in the file's order; repeats are summed, with a warning.
pub(super) fn read(text: &Text<'_>, beta: f64) -> Result<Model> {
    let head: Head = serde_json::from_str(&text.text).map_err(|e| syntax_error(text, &e))?;
    let at = |key, element, message: String| text.error(line_of(&text.text, key, element), message);
    if head.use_bytes {
        let hint = "binary arrays (use_bytes) are not supported: write bqm.to_serializable(use_bytes=False)";
        return Err(at("use_bytes", None, hint.into()));
    }
    let Some(vartype) = Vartype::from_name(&head.variable_type) else {
        let message = format!("variable_type is {:?}, expected SPIN or BINARY", head.variable_type);
        return Err(at("variable_type", None, message));
    };
    let bqm: Bqm = serde_json::from_str(&text.text).map_err(|e| syntax_error(text, &e))?;
    let labels = bqm.variable_labels.as_ref().map(Vec::len);
    // A variable without a bias is a variable all the same.
    let d = bqm.num_variables.or(labels).unwrap_or(bqm.linear_biases.len());
    if labels.is_some_and(|labels| labels != d) || bqm.linear_biases.len() > d {
        let (labels, biases) = (labels.unwrap_or(d), bqm.linear_biases.len());
        let message = format!("{d} variables are declared, with {labels} labels and {biases} linear biases");
        return Err(at("linear_biases", None, message));
    }
    if d > bqm.linear_biases.len() + text.text.len() {
        return Err(at("num_variables", None, format!("{d} variables are more than the file can name")));
    }
    let m = bqm.quadratic_biases.len();
    for (key, found) in
        [("quadratic_head", bqm.quadratic_head.len()), ("quadratic_tail", bqm.quadratic_tail.len())]
    {
        if found != m {
            return Err(at(key, None, format!("{key} has {found} entries, quadratic_biases {m}")));
        }
    }
    let mut energy = Energy::new(d, vartype, bqm.offset);
    for (i, &bias) in bqm.linear_biases.iter().enumerate() {
        energy.add(i, i, i, bias);
    }
    let pairs = bqm.quadratic_head.iter().zip(&bqm.quadratic_tail);
    for (k, ((&i, &j), &bias)) in pairs.zip(&bqm.quadratic_biases).enumerate() {
        if i.max(j) >= d || i == j {
            let message = format!("interaction {k} joins variables {i} and {j}, expected two of {d}");
            return Err(at("quadratic_head", Some(k), message));
        }
        energy.add(k, i, j, bias);
    }
    energy.into_model(beta, text.name, "interaction").map_err(|e| text.locate(1, e))
}

/// Writes `E = -f` over spins labelled `0..d`.
pub(super) fn write(ising: &Ising, out: &mut dyn Write) -> io::Result<()> {
    let (d, m) = (ising.d(), ising.couplings().len());
    writeln!(out, "{{\"type\":\"BinaryQuadraticModel\",\"version\":{{\"bqm_schema\":\"3.0.0\"}},")?;
    writeln!(out, "\"use_bytes\":false,\"index_type\":\"int32\",\"bias_type\":\"float64\",")?;
    writeln!(out, "\"num_variables\":{d},\"num_interactions\":{m},\"variable_type\":\"SPIN\",")?;
    writeln!(out, "\"offset\":{},\"info\":{{}},", Real(-ising.constant()))?;
    write_array("variable_labels", 0..d, out)?;
    write_array("linear_biases", ising.fields().iter().map(|h| Real(-h)), out)?;
    write_array("quadratic_biases", ising.couplings().iter().map(|v| Real(-v)), out)?;
    write_array("quadratic_head", ising.edges().iter().map(|e| e[0]), out)?;
    write_array("quadratic_tail", ising.edges().iter().map(|e| e[1]), out)
}

/// One key; `quadratic_tail` is the last.
fn write_array<T: ToString>(
    key: &str,
    items: impl Iterator<Item = T>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    let end = if key == "quadratic_tail" { "}" } else { "," };
    writeln!(out, "\"{key}\":[{}]{end}", items.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BQM: &str = r#"{"type": "BinaryQuadraticModel", "version": {"bqm_schema": "3.0.0"},
 "use_bytes": false, "index_type": "uint16", "bias_type": "float32", "num_variables": 2,
 "num_interactions": 1, "variable_labels": ["a", "b"], "variable_type": "BINARY", "offset": 0.5,
 "info": {}, "linear_biases": [1.0, -1.0], "quadratic_biases": [2.0],
 "quadratic_head": [0], "quadratic_tail": [1]}"#;

    fn parse(text: &str) -> Result<Model> {
        read(&Text::decode("m.json", text.as_bytes())?, 1.0)
    }

    #[test]
    fn the_current_schema_is_read() {
        let f = parse(BQM).unwrap().polynomial().unwrap();
        assert_eq!([[-1, -1], [1, -1], [-1, 1], [1, 1]].map(|x| f.value(&x)), [-0.5, -1.5, 0.5, -2.5]);
    }

    #[test]
    fn variables_without_a_bias_count() {
        let bare = BQM.replace("[1.0, -1.0]", "[1.0]");
        assert_eq!(parse(&bare).unwrap().d(), 2);
        let f = parse(&bare).unwrap().polynomial().unwrap();
        assert_eq!([[1, -1], [-1, 1], [1, 1]].map(|x| f.value(&x)), [-1.5, -0.5, -3.5]);
        let message = parse(&BQM.replace("\"b\"]", "\"b\", \"c\"]")).unwrap_err().to_string();
        assert!(message.contains("2 variables are declared, with 3 labels"), "{message}");
    }

    #[test]
    fn other_schemas_are_refused_with_a_hint() {
        for (from, to, line, words) in [
            ("false", "true", 2, "use_bytes=False"),
            ("BINARY", "INTEGER", 3, "expected SPIN or BINARY"),
            ("\"quadratic_tail\": [1]", "\"quadratic_tail\": []", 5, "has 0 entries"),
            ("\"quadratic_tail\": [1]", "\"quadratic_tail\": [2]", 5, "joins variables 0 and 2"),
            ("\"linear_biases\"", "\"linear_terms\"", 5, "missing field `linear_biases`"),
        ] {
            let message = parse(&BQM.replace(from, to)).unwrap_err().to_string();
            assert!(message.starts_with(&format!("m.json:{line}: ")) && message.contains(words), "{message}");
        }
    }
}
