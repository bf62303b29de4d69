//! Evidence files of the UAI competitions, in all three dialects.

use std::collections::HashMap;

use super::text::{Line, Text, Token};
use crate::error::Result;

/// Pairs `(variable, state)`.
type Pairs = Vec<(usize, u32)>;

/// Reads evidence as pairs `(variable, state)`, with warnings; `cardinalities` are those of the model.
///
/// Three dialects are told apart by their lines: `k v x v x ...` (2014); `S` alone, then `S`
/// lines of that form (2010), recognised by an odd number of tokens; `k` alone, then one pair a
/// line (2006). An empty file and a count of zero mean no evidence, whatever follows the zero.
/// Of several 2010 samples the first is used. All of this is said in a warning.
///
/// # Errors
/// Missing or malformed tokens, an unknown variable, a state it does not have, two states for
/// one variable; the message names the line.
///
/// ```
/// let (pairs, warnings) = zbound::io::read_evidence("e", b"2 0 1 3 2", &[2, 2, 2, 3])?;
/// assert_eq!((pairs, warnings.len()), (vec![(0, 1), (3, 2)], 0));
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn read_evidence(name: &str, bytes: &[u8], cardinalities: &[u32]) -> Result<(Pairs, Vec<String>)> {
    let text = Text::decode(name, bytes)?;
    let mut reader = Reader {
        text: &text,
        cardinalities,
        pairs: Vec::new(),
        states: HashMap::new(),
        warnings: Vec::new(),
    };
    let mut lines = text.lines();
    let Some(first) = lines.next() else { return Ok((Vec::new(), Vec::new())) };
    let is_alone = first.tokens().nth(1).is_none();
    let count = first.tokens().expect("a count")?.integer("the number of evidence variables")?;
    match lines.next() {
        Some(second) if is_alone && count > 0 && second.tokens().count() % 2 == 1 => {
            reader.sample(&second)?;
            reader.other_samples(count, lines)?;
        }
        _ => reader.flat(count)?,
    }
    Ok((reader.pairs, reader.warnings))
}

struct Reader<'a> {
    text: &'a Text<'a>,
    cardinalities: &'a [u32],
    pairs: Pairs,
    states: HashMap<usize, u32>,
    warnings: Vec<String>,
}

impl Reader<'_> {
    /// A count and its pairs, however split over lines: the dialects of 2014 and 2006.
    fn flat(&mut self, count: usize) -> Result<()> {
        let mut tokens = self.text.tokens(false).skip(1);
        for _ in 0..count {
            let (Some(variable), Some(state)) = (tokens.next(), tokens.next()) else {
                let found = self.pairs.len();
                let message = format!("expected {count} pairs `variable state`, found {found}");
                return Err(self.text.error(self.text.last_line(), message));
            };
            self.pair(variable, state)?;
        }
        if let Some(extra) = tokens.next() {
            let warning =
                format!("{}:{}: ignored what follows the {count} pairs", self.text.name, extra.line);
            self.warnings.push(warning);
        }
        Ok(())
    }

    /// One line `k v x v x ...` of the dialect of 2010.
    fn sample(&mut self, line: &Line<'_>) -> Result<()> {
        let mut tokens = line.tokens();
        let count = tokens.integer("the number of evidence variables")?;
        if (line.tokens().count() - 1) / 2 != count {
            return Err(line.expected(&format!("{count} pairs `variable state` after the count")));
        }
        while let (Some(variable), Some(state)) = (tokens.next(), tokens.next()) {
            self.pair(variable, state)?;
        }
        Ok(())
    }

    /// Checks what follows the first of `count` samples.
    fn other_samples<'t>(&mut self, count: usize, rest: impl Iterator<Item = Line<'t>>) -> Result<()> {
        let found = 1 + rest.count();
        let name = self.text.name;
        if found < count {
            let message = format!("expected {count} evidence samples, found {found}");
            return Err(self.text.error(self.text.last_line(), message));
        }
        if count > 1 {
            self.warnings.push(format!("{name}: used the first of {count} evidence samples"));
        }
        if found > count {
            self.warnings.push(format!("{name}: ignored what follows the {count} evidence samples"));
        }
        Ok(())
    }

    fn pair(&mut self, variable: Token<'_>, state: Token<'_>) -> Result<()> {
        let i = variable.integer("a variable")?;
        let Some(&q) = self.cardinalities.get(i) else {
            let d = self.cardinalities.len();
            return Err(variable.error(format!("evidence names variable {i}, the model has {d}")));
        };
        let found = u32::try_from(state.integer("a state")?).ok().filter(|&s| s < q);
        let Some(found) = found else {
            return Err(state.expected(&format!("a state of variable {i}, 0 to {}", q - 1)));
        };
        if self.states.insert(i, found).is_some_and(|old| old != found) {
            return Err(state.error(format!("evidence gives variable {i} two states")));
        }
        self.pairs.push((i, found));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(Pairs, Vec<String>)> {
        read_evidence("e", text.as_bytes(), &[2; 9])
    }

    #[test]
    fn the_three_dialects_say_the_same() {
        let expected = vec![(2, 1), (4, 0)];
        for text in ["2 2 1 4 0\r\n", "1\n2 2 1 4 0\n", "2\n2 1\n4 0\n\n", "2\n\n2 1 4 0", "2 2 1\n4 0"] {
            assert_eq!(parse(text).unwrap(), (expected.clone(), vec![]), "{text:?}");
        }
        for text in ["", "\n", "0", "0\n", "1\n0\n"] {
            assert_eq!(parse(text).unwrap(), (vec![], vec![]), "{text:?}");
        }
    }

    #[test]
    fn what_is_ignored_is_said() {
        for (text, pairs) in [
            ("0\n2 0\n\n", vec![]),
            ("1 3 1\nmore", vec![(3, 1)]),
            ("2\n1 3 1\n1 3 0\n", vec![(3, 1)]),
            ("1\n1 3 1\n1 3 0\n", vec![(3, 1)]),
            ("1\n3 1\n4 0\n", vec![(3, 1)]),
        ] {
            let (found, warnings) = parse(text).unwrap();
            assert_eq!((found, warnings.len()), (pairs, 1), "{text:?}");
        }
    }

    #[test]
    fn malformed_evidence_is_refused_with_its_line() {
        for (text, line) in [
            ("x", 1),
            ("2 1 1", 1),
            ("1\n", 1),
            ("2\n1 1\n", 2),
            ("1\n9 1\n", 2),
            ("1 1 2", 1),
            ("2\n1 1\n1 0\n", 3),
            ("1\n2 1 1\n", 2),
            ("3\n1 1 1\n1 2 1\n", 3),
            ("1000000000000 1 1", 1),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("e:{line}: ")), "{text:?}: {message}");
        }
    }
}
