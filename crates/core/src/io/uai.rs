//! The UAI competition format: tables of numbers `>= 0`, last scope variable fastest.

use std::io::{self, Write};

use super::tables::{LinearTables, forbids_all, push_linear};
use super::text::{Text, Token, Tokens};
use super::write::Real;
use crate::error::Result;
use crate::model::{FactorModel, Model, Source};

/// Reads MARKOV and BAYES files: `f = sum_k log table_k`, state 1 being spin +1.
///
/// Tokens may be split over lines at will. Tokens after the last table are a warning.
pub(super) fn read(text: &Text<'_>) -> Result<Model> {
    let mut tokens = text.tokens(false);
    let kind = tokens.expect("MARKOV or BAYES")?;
    if !["MARKOV", "BAYES"].iter().any(|k| kind.text.eq_ignore_ascii_case(k)) {
        return Err(kind.expected("MARKOV or BAYES"));
    }
    let d = tokens.integer("the number of variables")?;
    let mut cardinalities = Vec::new();
    let mut states_left = text.unlisted_limit();
    for i in 0..d {
        let token = tokens.expect("a cardinality")?;
        cardinalities.push(cardinality(i, &token, &mut states_left)?);
    }
    let scopes = read_scopes(&mut tokens, &cardinalities)?;
    let mut model = FactorModel::with_cardinalities(&cardinalities)?;
    let (mut table, mut impossible) = (Vec::new(), Vec::new());
    for (k, scope) in scopes.iter().enumerate() {
        let line = read_table(&mut tokens, k, model.table_size(scope), &mut table)?;
        if scope.is_empty() && table[0] == 0.0 {
            impossible.push(forbids_all(text.name, line, k));
        }
        push_linear(&mut model, scope, &mut table)?;
    }
    let mut model = Model::new(Source::Factors(model));
    model.warnings.extend(impossible);
    if let Some(extra) = tokens.next() {
        let warning = format!("{}:{}: ignored what follows the last table", text.name, extra.line);
        model.warnings.push(warning);
    }
    Ok(model)
}

/// A number of states: at least one; all variables together have no more than a file of this size may announce.
pub(super) fn cardinality(variable: usize, token: &Token<'_>, states_left: &mut usize) -> Result<usize> {
    let states = token.integer("a cardinality")?;
    let left = states_left.checked_sub(states).filter(|_| states > 0);
    *states_left = left.ok_or_else(|| {
        token.error(format!(
            "variable {variable} has cardinality {states}, expected at least 1 and no more states than a file of this size can describe"
        ))
    })?;
    Ok(states)
}

/// Scopes in our order, first variable fastest: the file's order reversed.
fn read_scopes(tokens: &mut Tokens<'_>, cardinalities: &[usize]) -> Result<Vec<Vec<usize>>> {
    let d = cardinalities.len();
    let count = tokens.integer("the number of factors")?;
    let mut scopes: Vec<Vec<usize>> = Vec::new();
    for k in 0..count {
        let head = tokens.expect("the size of a scope")?;
        let arity = head.integer("the size of a scope")?;
        let mut scope = Vec::new();
        let mut entries = 1usize;
        for _ in 0..arity {
            let token = tokens.expect("a variable")?;
            let i = token.integer("a variable")?;
            if i >= d {
                return Err(token.error(format!("factor {k} names variable {i}, the model has {d}")));
            }
            if scope.contains(&i) {
                return Err(token.error(format!("factor {k} names variable {i} twice")));
            }
            scope.push(i);
            // The table must still follow, two bytes an entry but for the last.
            entries = entries.saturating_mul(cardinalities[i]);
            if entries > tokens.remaining_bytes().div_ceil(2) {
                return Err(token.error(format!(
                    "factor {k} over {arity} variables: the file is too short for its table of {entries} entries or more"
                )));
            }
        }
        scope.reverse();
        scopes.push(scope);
    }
    Ok(scopes)
}

/// Reads the table of factor `k`; the line of its last entry.
fn read_table(
    tokens: &mut Tokens<'_>,
    k: usize,
    expected: Option<usize>,
    table: &mut Vec<f64>,
) -> Result<usize> {
    let head = tokens.expect("the size of a table")?;
    let mut line = head.line;
    let size = head.integer("the size of a table")?;
    if expected != Some(size) {
        let expected = expected.unwrap_or(usize::MAX);
        return Err(head.error(format!(
            "the table of factor {k} has {size} entries, expected {expected} for the states of its variables"
        )));
    }
    table.clear();
    for _ in 0..size {
        let token = tokens.expect("a table entry")?;
        table.push(token.weight()?);
        line = token.line;
    }
    Ok(line)
}

/// Writes a MARKOV file; scopes are reversed so that tables keep their order.
pub(super) fn write(model: &LinearTables, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "MARKOV\n{}", model.cardinalities.len())?;
    let cardinalities: Vec<String> = model.cardinalities.iter().map(u32::to_string).collect();
    writeln!(out, "{}", cardinalities.join(" "))?;
    writeln!(out, "{}", model.factors.len())?;
    for (scope, _) in &model.factors {
        write!(out, "{}", scope.len())?;
        for i in scope.iter().rev() {
            write!(out, " {i}")?;
        }
        writeln!(out)?;
    }
    for (_, table) in &model.factors {
        writeln!(out, "\n{}", table.len())?;
        for &value in table {
            write!(out, " {}", Real(value))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Model> {
        read(&Text::decode("m.uai", text.as_bytes())?)
    }

    #[test]
    fn the_last_scope_variable_is_fastest() {
        let model = parse("MARKOV 2 2 2 1 2 0 1 4 1 2 3e0 0").unwrap();
        let Source::Factors(f) = model.source() else { panic!("factors expected") };
        let value = |x: [i8; 2]| f.value(&x);
        assert_eq!(value([-1, -1]), 0.0);
        assert_eq!(value([-1, 1]), libm::log(2.0));
        assert_eq!(value([1, -1]), libm::log(3.0));
        assert_eq!(value([1, 1]), f64::NEG_INFINITY);
        assert!(f.uncertainty() > 0.0 && f.uncertainty() < 1e-14);
    }

    #[test]
    fn any_number_of_states_is_read_and_written() {
        let text = "MARKOV 3 3 1 2 2 3 0 1 2 1 0 6 1 2 3 4 5 6 3 0.5 0 2";
        let model = parse(text).unwrap();
        let Source::Factors(f) = model.source() else { panic!("factors expected") };
        assert_eq!(f.cardinalities(), [3, 1, 2]);
        // The last variable of the scope is the fastest: entry (2, 0, 1) is the sixth.
        assert_eq!(f.value_of(&[2, 0, 1]), libm::log(6.0) + libm::log(2.0));
        assert_eq!(f.value_of(&[1, 0, 1]), f64::NEG_INFINITY);
        let mut out = Vec::new();
        write(&LinearTables::new(f).unwrap(), &mut out).unwrap();
        let again = parse(std::str::from_utf8(&out).unwrap()).unwrap();
        let Source::Factors(g) = again.source() else { panic!("factors expected") };
        assert_eq!(g.cardinalities(), f.cardinalities());
        assert!((g.value_of(&[2, 0, 1]) - f.value_of(&[2, 0, 1])).abs() < 1e-14);
    }

    #[test]
    fn errors_name_line_and_expectation() {
        let refused = |text: &str| parse(text).unwrap_err().to_string();
        for (text, line, words) in [
            ("", 1, "MARKOV"),
            ("GRAPH\n1\n2\n0", 1, "MARKOV"),
            ("MARKOV\n2\n2 0\n0", 3, "variable 1 has cardinality 0"),
            ("MARKOV\n2\n2 4294967296\n0", 3, "variable 1 has cardinality 4294967296"),
            ("MARKOV\n2\n2 3\n1\n2 0 1\n\n4 1 1 1 1", 7, "expected 6"),
            ("MARKOV\n2\n2 100000\n1\n2 0 1\n\n4 1 1 1 1", 5, "too short"),
            ("MARKOV\n1\n2\n1\n1 1\n\n2 1 1", 5, "names variable 1"),
            ("MARKOV\n1\n2\n1\n2 0 0\n\n4 1 1 1 1", 5, "twice"),
            ("MARKOV\n1\n2\n1\n1 0\n\n3 1 1 1", 7, "expected 2"),
            ("MARKOV\n1\n2\n1\n1 0\n\n2\n1\n-0.5", 9, ">= 0"),
            ("MARKOV\n1\n2\n1\n1 0\n\n2\n1\nnan", 9, "finite"),
            ("MARKOV\n1\n2\n1\n1 0\n\n2\n1\n", 8, "end of the file"),
            ("MARKOV\n1000000000000\n2 2", 3, "end of the file"),
            ("MARKOV\n1\n2\n1\n40 0", 5, "too short"),
            ("MARKOV\n1\n2\n1\n400000000000 0", 5, "too short"),
        ] {
            let message = refused(text);
            assert!(message.starts_with(&format!("m.uai:{line}: ")) && message.contains(words), "{message}");
        }
    }

    #[test]
    fn trailing_tokens_are_a_warning() {
        let model = parse("BAYES\n1\n2\n1\n1 0\n\n2 0.25 0.75\n\n17 junk").unwrap();
        assert_eq!(model.warnings, ["m.uai:9: ignored what follows the last table"]);
    }
}
