//! libDAI's factor graphs: sparse tables, first variable fastest.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::tables::{LinearTables, forbids_all, push_linear};
use super::text::{Text, Token, Tokens};
use super::uai::cardinality;
use super::write::Real;
use crate::error::Result;
use crate::model::{FactorModel, Model, Source};

/// Reads `.fg`: entries not listed are zero, `#` starts a comment.
///
/// A variable is what some factor names, as in libDAI. Labels with gaps are renumbered in
/// increasing order, with a warning: a label that no factor names must not add ln 2 to log Z.
pub(super) fn read(text: &Text<'_>) -> Result<Model> {
    let mut tokens = text.tokens(true);
    let count = tokens.integer("the number of factors")?;
    let mut entries_left = text.unlisted_limit();
    let (mut factors, mut impossible) = (Vec::new(), Vec::new());
    let mut states = BTreeMap::new();
    let mut states_left = text.unlisted_limit();
    for _ in 0..count {
        let head = tokens.expect("the number of variables of a factor")?;
        let (scope, size) =
            read_scope(&mut tokens, &head, &mut states, (&mut states_left, &mut entries_left))?;
        let table = read_table(&mut tokens, size)?;
        if scope.is_empty() && table[0] == 0.0 {
            impossible.push(forbids_all(text.name, head.line, factors.len()));
        }
        factors.push((scope, table));
    }
    if let Some(extra) = tokens.next() {
        return Err(extra.expected(&format!("the end of the file after {count} factors")));
    }
    let names: BTreeMap<usize, usize> = states.keys().copied().zip(0..).collect();
    let cardinalities: Vec<usize> = states.into_values().collect();
    let mut model = FactorModel::with_cardinalities(&cardinalities)?;
    for (mut scope, mut table) in factors {
        scope.iter_mut().for_each(|label| *label = names[label]);
        push_linear(&mut model, &scope, &mut table)?;
    }
    let mut model = Model::new(Source::Factors(model));
    model.warnings.extend(renumbering(text.name, &names));
    model.warnings.extend(impossible);
    Ok(model)
}

/// The warning that labels have gaps, if they have.
pub(super) fn renumbering(name: &str, names: &BTreeMap<usize, usize>) -> Option<String> {
    let d = names.len();
    let (largest, _) = names.last_key_value()?;
    (*largest >= d).then(|| {
        format!(
            "{name}: variables 0 to {largest} are not all used; the {d} used ones are renumbered in order"
        )
    })
}

/// The scope of a factor and the number of its joint states; `states` remembers every variable's cardinality.
fn read_scope(
    tokens: &mut Tokens<'_>,
    head: &Token<'_>,
    states: &mut BTreeMap<usize, usize>,
    (states_left, entries_left): (&mut usize, &mut usize),
) -> Result<(Vec<usize>, usize)> {
    let arity = head.integer("the number of variables of a factor")?;
    let mut scope = Vec::new();
    for _ in 0..arity {
        let token = tokens.expect("a variable")?;
        let label = token.integer("a variable")?;
        if scope.contains(&label) {
            return Err(token.error(format!("the factor names variable {label} twice")));
        }
        scope.push(label);
    }
    let mut size = 1usize;
    for &label in &scope {
        let token = tokens.expect("a cardinality")?;
        // A label that was seen before announces nothing new.
        let mut known_left = *states_left;
        let q = cardinality(label, &token, &mut known_left)?;
        if !states.contains_key(&label) {
            *states_left = known_left;
        }
        let known = *states.entry(label).or_insert(q);
        if known != q {
            return Err(token.error(format!("variable {label} has cardinality {q} here and {known} before")));
        }
        size = size.saturating_mul(q);
    }
    match entries_left.checked_sub(size) {
        Some(left) => *entries_left = left,
        None => {
            return Err(head.error(format!("tables up to this one, with {arity} variables, are too large")));
        }
    }
    Ok((scope, size))
}

fn read_table(tokens: &mut Tokens<'_>, size: usize) -> Result<Vec<f64>> {
    let head = tokens.expect("the number of table entries")?;
    let listed = head.integer("the number of table entries")?;
    if listed > size {
        return Err(head.error(format!("{listed} entries listed for a table of {size}")));
    }
    let mut table = vec![None; size];
    for _ in 0..listed {
        let token = tokens.expect("the index of an entry")?;
        let index = token.integer("the index of an entry")?;
        let Some(slot) = table.get_mut(index) else {
            return Err(token.error(format!("entry {index} is outside a table of {size}")));
        };
        let value_token = tokens.expect("a table entry")?;
        let value = value_token.weight()?;
        if slot.replace(value).is_some() {
            return Err(token.error(format!("entry {index} is given twice")));
        }
    }
    Ok(table.into_iter().map(|value| value.unwrap_or(0.0)).collect())
}

/// Writes every nonzero entry of every table.
pub(super) fn write(model: &LinearTables, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", model.factors.len())?;
    for (scope, table) in &model.factors {
        writeln!(out, "\n{}", scope.len())?;
        let labels: Vec<String> = scope.iter().map(u32::to_string).collect();
        let states: Vec<String> =
            scope.iter().map(|&i| model.cardinalities[i as usize].to_string()).collect();
        writeln!(out, "{}\n{}", labels.join(" "), states.join(" "))?;
        let nonzero = table.iter().enumerate().filter(|(_, v)| **v != 0.0);
        writeln!(out, "{}", nonzero.clone().count())?;
        for (index, &value) in nonzero {
            writeln!(out, "{index} {}", Real(value))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Model> {
        read(&Text::decode("m.fg", text.as_bytes())?)
    }

    #[test]
    fn the_first_variable_is_fastest_and_missing_entries_are_zero() {
        let model = parse("# made by hand\n1\n\n2\n3 7\n2 2\n2\n1 2.0 # x3 = +1\n2 3e0\n").unwrap();
        let Source::Factors(f) = model.source() else { panic!("factors expected") };
        assert_eq!(f.d(), 2);
        assert_eq!(f.value(&[1, -1]), libm::log(2.0));
        assert_eq!(f.value(&[-1, 1]), libm::log(3.0));
        assert_eq!(f.value(&[1, 1]), f64::NEG_INFINITY);
        assert!(model.warnings[0].contains("renumbered"));
    }

    #[test]
    fn errors_name_line_and_expectation() {
        for (text, line, words) in [
            ("", 1, "number of factors"),
            ("1\n\n1\n0\n0\n1\n0 1", 5, "cardinality 0"),
            ("2\n\n1\n0\n3\n1\n0 1\n\n1\n0\n2\n1\n0 1", 11, "cardinality 2 here and 3 before"),
            ("1\n\n2\n0 0\n2 2\n1\n0 1", 4, "twice"),
            ("1\n\n1\n0\n2\n3\n0 1", 6, "3 entries"),
            ("1\n\n1\n0\n2\n2\n0 1\n2 1", 8, "outside"),
            ("1\n\n1\n0\n2\n2\n0 1\n0 1", 8, "twice"),
            ("1\n\n1\n0\n2\n2\n0 1\n1 -1", 8, ">= 0"),
            ("2\n\n1\n0\n2\n2\n0 1\n1 1", 8, "end of the file"),
            ("1\n\n1\n0\n2\n1\n0 1\n1 1", 8, "after 1 factors"),
            ("1\n60\n0 1", 3, "end of the file"),
            ("1\n2\n0 1\n100000 100000", 2, "too large"),
            ("1000000000000\n", 1, "end of the file"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("m.fg:{line}: ")) && message.contains(words), "{message}");
        }
    }
}
