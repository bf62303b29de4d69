//! Max-cut edge lists: rudy, Gset, Biq Mac.

use std::collections::HashMap;
use std::io::{self, Write};

use super::energy::Rounding;
use super::text::{Line, Text};
use super::write::Real;
use crate::error::{Error, Result};
use crate::model::{Ising, Model, Polynomial, Units};

/// Reads a header `n m`, then `m` lines `i j w`, 1-based: `f = (W - sum w x_i x_j)/2`.
///
/// `#` lines may come before the header only, as max-cut solvers read them;
/// weights are required and may be zero; loops and repeated edges are errors.
pub(super) fn read(text: &Text<'_>) -> Result<Model> {
    let (d, m, lines) = read_header(text, "the header `vertices edges`")?;
    let mut round = Rounding::default();
    let mut couplings = Vec::new();
    let mut first_line = HashMap::new();
    for line in lines {
        let (i, j, weight) = read_entry(&line, d, couplings.len(), m, "an edge `i j weight`")?;
        if i == j {
            return Err(line.error(format!("edge {i} {i} joins a vertex to itself")));
        }
        if let Some(first) = first_line.insert((i.min(j), i.max(j)), line.line) {
            return Err(line.error(format!("edge {i} {j} is given twice, first on line {first}")));
        }
        couplings.push((i - 1, j - 1, -round.scale(weight, 0.5)));
    }
    check_count(text, couplings.len(), m)?;
    let constant = round.total(couplings.iter().map(|(_, _, coupling)| -coupling));
    let ising = Ising::new(d, &vec![0.0; d], &couplings).and_then(|f| f.with_constant(constant));
    let ising = ising.map_err(|e| text.locate(text.last_line(), e))?;
    let mut model = Model::from(Polynomial::from(ising).with_uncertainty(round.total_up)?);
    model.units = Units::Cut;
    Ok(model)
}

/// The header `n m` of an edge or entry list and the lines after it.
pub(super) fn read_header<'t>(
    text: &'t Text<'_>,
    what: &str,
) -> Result<(usize, usize, impl Iterator<Item = Line<'t>>)> {
    let mut lines = text.lines().skip_while(|line| line.text.starts_with('#'));
    let Some(header) = lines.next() else {
        return Err(text.error(text.last_line(), format!("expected {what}, found the end of the file")));
    };
    let [n, m] = header.fields(what)?;
    let d = n.integer("the number of vertices")?;
    if d > text.unlisted_limit() {
        return Err(n.error(format!("{d} vertices are more than a file of this size can describe")));
    }
    Ok((d, m.integer("the number of lines that follow")?, lines))
}

/// One line `i j w` with 1-based `i` and `j`, the one after `done` of `m`.
pub(super) fn read_entry(
    line: &Line<'_>,
    d: usize,
    done: usize,
    m: usize,
    what: &str,
) -> Result<(usize, usize, f64)> {
    if line.text.starts_with('#') {
        return Err(line.error("a comment after the header; comments go before it"));
    }
    if done == m {
        return Err(line.expected(&format!("the end of the file after the announced {m} lines")));
    }
    let [i, j, weight] = line.fields(what)?;
    let index = |token: super::text::Token<'_>| match token.integer("an index")? {
        i if (1..=d).contains(&i) => Ok(i),
        _ => Err(token.expected(&format!("an index from 1 to {d}"))),
    };
    Ok((index(i)?, index(j)?, weight.number("a weight")?))
}

/// Refuses a file shorter than its header says.
pub(super) fn check_count(text: &Text<'_>, found: usize, announced: usize) -> Result<()> {
    if found == announced {
        Ok(())
    } else {
        let message = format!("the header announces {announced} lines, the file ends after {found}");
        Err(text.error(text.last_line(), message))
    }
}

/// Checks that `f` is a cut weight: no field, and the constant `W/2` with `w = -2 J`.
///
/// # Errors
/// [`Error::NotApplicable`] otherwise.
pub(super) fn check_is_cut(f: &Polynomial) -> Result<()> {
    let ising = f.pairwise_part();
    if let Some(i) = ising.fields().iter().position(|&h| h != 0.0) {
        return Err(Error::NotApplicable(format!(
            "spin {i} has a field, and a max-cut file holds couplings only"
        )));
    }
    let mut round = Rounding::default();
    let rest = round.total(std::iter::once(ising.constant()).chain(ising.couplings().iter().copied()));
    if rest.abs() > round.total_up + f.uncertainty() {
        return Err(Error::NotApplicable(format!(
            "f is a cut weight plus the constant {rest}, and a max-cut file has no constant"
        )));
    }
    Ok(())
}

/// Writes the graph with weights `-2 J`.
pub(super) fn write(ising: &Ising, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {}", ising.d(), ising.couplings().len())?;
    for (i, j, v) in ising.triples() {
        writeln!(out, "{} {} {}", i + 1, j + 1, Real(-2.0 * v))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Model> {
        read(&Text::decode("g.mc", text.as_bytes())?)
    }

    #[test]
    fn f_is_the_cut_weight() {
        let model = parse("# a triangle\n3 3\n1 2 -1\n2\t3 2\n3 1 -6e-1").unwrap();
        assert_eq!(model.units, Units::Cut);
        let f = model.polynomial().unwrap();
        assert!((f.value(&[1, 1, -1]) - 1.4).abs() < 1e-15 && f.value(&[1, 1, 1]).abs() < 1e-15);
        assert!((f.value(&[-1, 1, -1]) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn weights_are_added_up_whatever_their_order() {
        for text in ["4 3\n1 2 1e308\n2 3 -1e308\n4 1 1e308\n", "4 3\n1 2 1e308\n1 4 1e308\n2 3 -1e308\n"] {
            let model = parse(text).unwrap();
            assert_eq!(model.polynomial().unwrap().pairwise_part().constant(), 5e307);
        }
    }

    #[test]
    fn errors_name_line_and_expectation() {
        for (text, line, words) in [
            ("", 1, "header"),
            ("1 2 1\n2 3 1\n", 1, "header"),
            ("3 1\n1 1 1\n", 2, "itself"),
            ("3 2\n1 2 1\n2 1 1\n", 3, "first on line 2"),
            ("3 1\n1 2\n", 2, "weight"),
            ("3 1\n0 2 1\n", 2, "from 1 to 3"),
            ("3 1\n4 2 1\n", 2, "from 1 to 3"),
            ("3 1\n1 2 1\n2 3 1\n", 3, "announced 1"),
            ("3 2\n1 2 1\n\n", 2, "announces 2"),
            ("3 1\n# late\n1 2 1\n", 2, "comment"),
            ("1000000000000 1\n1 2 1\n", 1, "more than a file"),
            ("3 1000000000000\n1 2 1\n", 2, "announces"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("g.mc:{line}: ")) && message.contains(words), "{message}");
        }
    }
}
