//! QUBO files: qbsolv's `.qubo` and the sparse matrix `.bq`.

use std::collections::HashMap;
use std::io::{self, Write};

use super::energy::{BinaryForm, Energy, Vartype};
use super::rudy::{check_count, read_entry, read_header};
use super::text::{Line, Text, Token};
use super::write::Real;
use crate::error::{Error, Result};
use crate::model::{Model, Polynomial};

/// Reads `.qubo`: lines `c ...` are comments, `p qubo topology maxNodes nNodes nCouplers` is the
/// header, then `i j w` with 0-based `i` and `j`, `i = j` being the linear term.
///
/// `E = sum w b_i b_j` is minimised, `f = -beta E`. Entries may come in any order; repeats are
/// summed, with a warning; `#` starts a comment line too.
pub(super) fn read(text: &Text<'_>, beta: f64) -> Result<Model> {
    let mut lines = text.lines().filter(|line| !is_comment(line));
    let Some(header) = lines.next() else {
        return Err(text.error(text.last_line(), "expected the header `p qubo 0 maxNodes nNodes nCouplers`"));
    };
    let [p, kind, _, d, nodes, couplers] =
        header.fields("the header `p qubo 0 maxNodes nNodes nCouplers`")?;
    if (p.text, kind.text) != ("p", "qubo") {
        return Err(header.expected("the header `p qubo 0 maxNodes nNodes nCouplers`"));
    }
    let (nodes, couplers) = (nodes.integer("nNodes")?, couplers.integer("nCouplers")?);
    let size = d.integer("maxNodes")?;
    if size > text.unlisted_limit() {
        return Err(d.error(format!("{size} nodes are more than a file of this size can describe")));
    }
    let mut energy = Energy::new(size, Vartype::Binary, 0.0);
    let mut found = (0, 0);
    for line in lines {
        let [i, j, weight] = line.fields("an entry `i j weight`")?;
        let index = |token: Token<'_>| match token.integer("a node")? {
            i if i < size => Ok(i),
            _ => Err(token.expected(&format!("a node below maxNodes = {size}"))),
        };
        let (i, j) = (index(i)?, index(j)?);
        energy.add(line.line, i, j, weight.number("a weight")?);
        let counter = if i == j { &mut found.0 } else { &mut found.1 };
        *counter += 1;
    }
    if found != (nodes, couplers) {
        let message = format!(
            "the header announces {nodes} nodes and {couplers} couplers, the file has {} and {}",
            found.0, found.1
        );
        return Err(text.error(text.last_line(), message));
    }
    energy.into_model(beta, text.name, "line").map_err(|e| text.locate(text.last_line(), e))
}

fn is_comment(line: &Line<'_>) -> bool {
    line.text.starts_with('#') || line.text.split_ascii_whitespace().next() == Some("c")
}

/// Reads `.bq`: a header `n m`, then `m` cells `i j q` of a matrix, 1-based, `i = j` being the
/// linear term. `E = b^T Q b` over the listed cells is minimised, `f = -beta E`.
///
/// A cell given twice is an error, as solvers of such files have it; cells `i j`
/// and `j i` are two cells, summed with a warning. `#` lines may come before the header only.
pub(super) fn read_bq(text: &Text<'_>, beta: f64) -> Result<Model> {
    let (d, m, lines) = read_header(text, "the header `variables entries`")?;
    let mut energy = Energy::new(d, Vartype::Binary, 0.0);
    let mut first_line = HashMap::new();
    for line in lines {
        let (i, j, value) = read_entry(&line, d, first_line.len(), m, "an entry `i j value`")?;
        if let Some(first) = first_line.insert((i, j), line.line) {
            return Err(line.error(format!("entry {i} {j} is given twice, first on line {first}")));
        }
        energy.add(line.line, i - 1, j - 1, value);
    }
    check_count(text, first_line.len(), m)?;
    energy.into_model(beta, text.name, "line").map_err(|e| text.locate(text.last_line(), e))
}

/// `-f` over bits, when it has no offset.
///
/// # Errors
/// [`Error::NotApplicable`] with the offset.
pub(super) fn without_offset(f: &Polynomial) -> Result<BinaryForm> {
    let bits = BinaryForm::new(f.pairwise_part())?;
    if bits.has_no_offset(f.uncertainty()) {
        Ok(bits)
    } else {
        Err(Error::NotApplicable(format!(
            "a QUBO file has no offset and this model needs {}; dimod JSON (--format dimod) has",
            bits.offset
        )))
    }
}

/// Writes `.qubo` with a linear entry for every variable.
pub(super) fn write(bits: &BinaryForm, out: &mut dyn Write) -> io::Result<()> {
    let (d, m) = (bits.linear.len(), bits.quadratic.len());
    writeln!(out, "p qubo 0 {d} {d} {m}")?;
    write_entries(bits, 0, |_| true, out)
}

/// Writes `.bq`; zero entries are left out.
pub(super) fn write_bq(bits: &BinaryForm, out: &mut dyn Write) -> io::Result<()> {
    let nonzero = |v: f64| v != 0.0;
    let linear = bits.linear.iter().filter(|&&v| nonzero(v)).count();
    let quadratic = bits.quadratic.iter().filter(|&&(_, _, v)| nonzero(v)).count();
    writeln!(out, "{} {}", bits.linear.len(), linear + quadratic)?;
    write_entries(bits, 1, nonzero, out)
}

fn write_entries(
    bits: &BinaryForm,
    base: usize,
    is_kept: fn(f64) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let linear = bits.linear.iter().enumerate().map(|(i, &v)| (i, i, v));
    for (i, j, v) in linear.chain(bits.quadratic.iter().copied()).filter(|&(_, _, v)| is_kept(v)) {
        writeln!(out, "{} {} {}", i + base, j + base, Real(v))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &str) -> Text<'_> {
        Text::decode("m", text.as_bytes()).unwrap()
    }

    #[test]
    fn both_formats_are_minimised() {
        let qubo = read(&decode("c made by hand\np qubo 0 3 1 1\n0 0 -1\n0 2 3e0\n"), 1.0).unwrap();
        let bq = read_bq(&decode("# made by hand\n3 2\n1 1 -1\n3\t1 3\n"), 1.0).unwrap();
        for f in [qubo, bq].map(|model| model.polynomial().unwrap()) {
            assert_eq!(f.d(), 3);
            assert_eq!(
                [[-1, 1, -1], [1, 1, -1], [-1, 1, 1], [1, -1, 1]].map(|x| f.value(&x)),
                [0.0, 1.0, 0.0, -2.0]
            );
        }
    }

    #[test]
    fn repeats_are_summed_or_refused() {
        let qubo = read(&decode("p qubo unconstrained 2 0 2\n0 1 1\n0 1 1\n"), 1.0).unwrap();
        assert_eq!(qubo.polynomial().unwrap().value(&[1, 1]), -2.0);
        assert_eq!(qubo.warnings.len(), 1);
        let both = read_bq(&decode("2 2\n1 2 1\n2 1 1\n"), 1.0).unwrap();
        assert_eq!((both.polynomial().unwrap().value(&[1, 1]), both.warnings.len()), (-2.0, 1));
        let twice = read_bq(&decode("2 2\n1 2 1\n1 2 1\n"), 1.0).unwrap_err().to_string();
        assert!(twice.starts_with("m:3: entry 1 2 is given twice"), "{twice}");
    }

    #[test]
    fn errors_name_their_line() {
        for (text, line) in [
            ("c\n", 1),
            ("0 0 1\n", 1),
            ("p qubo 0 2 1\n", 1),
            ("p qubo 0 2 1 0\n0 0 1\n1 1 1\n", 3),
            ("p qubo 0 2 0 1\n0 2 1\n", 2),
            ("p qubo 0 1000000000000 0 0\n", 1),
            ("p qubo 0 2 1000000000000 0\n", 1),
        ] {
            let message = read(&decode(text), 1.0).unwrap_err().to_string();
            assert!(message.starts_with(&format!("m:{line}: ")), "{message}");
        }
    }
}
