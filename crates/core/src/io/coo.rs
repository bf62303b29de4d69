//! dimod's coordinate list: `i j bias` lines under a `# vartype=` comment.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::energy::{BinaryForm, Energy, Vartype};
use super::fg::renumbering;
use super::text::{Line, Text};
use super::write::Real;
use crate::error::{Error, Result};
use crate::model::{Model, Polynomial};

/// Reads `f = -beta E`. `i i bias` is the linear term; repeats are summed, with a warning.
///
/// As in dimod, variables are those the file names: labels with gaps are renumbered in
/// increasing order, with a warning.
pub(super) fn read(text: &Text<'_>, beta: f64) -> Result<Model> {
    let mut vartype = None;
    let mut entries = Vec::new();
    for line in text.lines() {
        if line.text.starts_with('#') {
            read_vartype(&line, &mut vartype, entries.is_empty())?;
            continue;
        }
        if vartype.is_none() {
            return Err(
                line.error("expected a line `# vartype=SPIN` or `# vartype=BINARY` before the entries")
            );
        }
        let [i, j, bias] = line.fields("an entry `i j bias`")?;
        entries.push((line.line, i.integer("a variable")?, j.integer("a variable")?, bias.number("a bias")?));
    }
    let Some(vartype) = vartype else {
        return Err(text.error(1, "expected a line `# vartype=SPIN` or `# vartype=BINARY`"));
    };
    let mut names: BTreeMap<usize, usize> = BTreeMap::new();
    names.extend(entries.iter().flat_map(|&(_, i, j, _)| [(i, 0), (j, 0)]));
    for (next, name) in names.values_mut().enumerate() {
        *name = next;
    }
    let mut energy = Energy::new(names.len(), vartype, 0.0);
    for (line, i, j, bias) in entries {
        energy.add(line, names[&i], names[&j], bias);
    }
    let mut model =
        energy.into_model(beta, text.name, "line").map_err(|e| text.locate(text.last_line(), e))?;
    model.warnings.extend(renumbering(text.name, &names));
    Ok(model)
}

/// Takes the vartype from a comment such as `# vartype=SPIN`; other comments say nothing.
fn read_vartype(line: &Line<'_>, vartype: &mut Option<Vartype>, is_header: bool) -> Result<()> {
    let Some((_, after)) = line.text.split_once("vartype") else { return Ok(()) };
    let Some(value) = after.trim_start().strip_prefix(['=', ':']) else { return Ok(()) };
    let name = value.split_ascii_whitespace().next().unwrap_or("");
    let found = Vartype::from_name(name).ok_or_else(|| line.expected("vartype SPIN or BINARY"))?;
    if vartype.replace(found).is_some_and(|old| old != found) || !is_header {
        return Err(line.error("the vartype is given a second time"));
    }
    Ok(())
}

/// What a `.coo` file can hold: no offset, so spins when `f` has no constant, else bits.
pub(super) enum Entries {
    Spin(Polynomial),
    Binary(BinaryForm),
}

impl Entries {
    /// # Errors
    /// [`Error::NotApplicable`] when both forms need an offset, or a coefficient is out of range.
    pub(super) fn new(f: Polynomial) -> Result<Self> {
        if f.pairwise_part().constant() == 0.0 {
            return Ok(Entries::Spin(f));
        }
        let bits = BinaryForm::new(f.pairwise_part())?;
        if bits.has_no_offset(f.uncertainty()) {
            Ok(Entries::Binary(bits))
        } else {
            Err(Error::NotApplicable(
                "the coo format has no offset and this model needs one; dimod JSON (--format dimod) has"
                    .into(),
            ))
        }
    }
}

/// Writes `E = -f`; every variable gets a linear entry, so that none is lost on reading.
pub(super) fn write(entries: &Entries, out: &mut dyn Write) -> io::Result<()> {
    match entries {
        Entries::Spin(f) => {
            writeln!(out, "# vartype=SPIN")?;
            let fields = f.pairwise_part().fields().iter().map(|h| -h);
            write_entries(fields, f.pairwise_part().triples().map(|(i, j, v)| (i, j, -v)), out)
        }
        Entries::Binary(bits) => {
            writeln!(out, "# vartype=BINARY")?;
            write_entries(bits.linear.iter().copied(), bits.quadratic.iter().copied(), out)
        }
    }
}

fn write_entries(
    linear: impl Iterator<Item = f64>,
    quadratic: impl Iterator<Item = (usize, usize, f64)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (i, a) in linear.enumerate() {
        writeln!(out, "{i} {i} {}", Real(a))?;
    }
    for (i, j, q) in quadratic {
        writeln!(out, "{i} {j} {}", Real(q))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, beta: f64) -> Result<Model> {
        read(&Text::decode("m.coo", text.as_bytes())?, beta)
    }

    #[test]
    fn spins_and_bits_are_minimised() {
        let spin = parse("# vartype=SPIN\n0 0 1.5\n0 1 -1e0\n", 2.0).unwrap().polynomial().unwrap();
        assert_eq!((spin.value(&[1, 1]), spin.value(&[-1, 1])), (-1.0, 1.0));
        let bits = parse("# a comment\n# vartype: binary\n0 0 1\n1 0 -4\n", 1.0).unwrap();
        let bits = bits.polynomial().unwrap();
        assert_eq!([[-1, -1], [1, -1], [-1, 1], [1, 1]].map(|x| bits.value(&x)), [0.0, -1.0, 0.0, 3.0]);
    }

    #[test]
    fn repeats_and_gaps_are_warnings() {
        let model = parse("# vartype=SPIN\n2 7 1\n7 2 1\n", 1.0).unwrap();
        assert_eq!((model.d(), model.warnings.len()), (2, 2));
        assert_eq!(model.polynomial().unwrap().value(&[1, 1]), -2.0);
    }

    #[test]
    fn errors_name_their_line() {
        for (text, line) in [
            ("0 1 1\n", 1),
            ("", 1),
            ("# vartype=INTEGER\n", 1),
            ("# vartype=SPIN\n0 1\n", 2),
            ("# vartype=SPIN\n0 1 1 1\n", 2),
            ("# vartype=SPIN\n0 a 1\n", 2),
            ("# vartype=SPIN\n\n0 1 inf\n", 3),
            ("# vartype=SPIN\n0 1 1\n# vartype=BINARY\n", 3),
            ("# vartype=SPIN\n0 1 1e308\n0 1 1e308\n", 3),
        ] {
            let message = parse(text, 1.0).unwrap_err().to_string();
            assert!(message.starts_with(&format!("m.coo:{line}: ")), "{message}");
        }
    }
}
