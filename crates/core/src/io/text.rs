//! Decoding of bytes and tokens that know their line.

use std::borrow::Cow;

use crate::error::{Error, Result};

/// A decoded file with the name that error messages carry.
pub(super) struct Text<'a> {
    pub(super) name: &'a str,
    pub(super) text: Cow<'a, str>,
}

impl<'a> Text<'a> {
    /// UTF-8 with or without byte order mark (borrowed), or UTF-16 with one (copied).
    pub(super) fn decode(name: &'a str, bytes: &'a [u8]) -> Result<Self> {
        let text = match bytes {
            [0xff, 0xfe, rest @ ..] => Cow::Owned(decode_utf16(name, rest, u16::from_le_bytes)?),
            [0xfe, 0xff, rest @ ..] => Cow::Owned(decode_utf16(name, rest, u16::from_be_bytes)?),
            [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Borrowed(decode_utf8(name, rest)?),
            rest => Cow::Borrowed(decode_utf8(name, rest)?),
        };
        Ok(Text { name, text })
    }

    /// How many spins or table entries a file may announce without listing them: isolated spins
    /// and absent (zero) entries are legal, an allocation of terabytes from one line is not.
    pub(super) fn unlisted_limit(&self) -> usize {
        (1usize << 20).saturating_add(16 * self.text.len()).min(1 << 31)
    }

    /// All tokens of the file; `#` starts a comment when `comments` is set.
    pub(super) fn tokens(&self, comments: bool) -> Tokens<'_> {
        Tokens { name: self.name, rest: &self.text, line: 1, comments }
    }

    /// Lines that hold at least one token, as tokens.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let numbered = self.text.split('\n').zip(1..);
        let lines = numbered.map(|(text, line)| Line { name: self.name, text: text.trim_ascii(), line });
        lines.filter(|line| !line.text.is_empty())
    }

    /// Number of the last line, where missing data is reported.
    pub(super) fn last_line(&self) -> usize {
        let text = self.text.trim_ascii_end();
        1 + text.bytes().filter(|&b| b == b'\n').count()
    }

    /// An error at `line`.
    pub(super) fn error(&self, line: usize, message: impl Into<String>) -> Error {
        Error::parse(self.name, line, message)
    }

    /// Gives an error about the model as a whole the place where the file was found wanting.
    pub(super) fn locate(&self, line: usize, error: Error) -> Error {
        match error {
            Error::Model(message) => self.error(line, message),
            other => other,
        }
    }
}

fn decode_utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        Error::parse(name, line, "not UTF-8 text (UTF-16 needs a byte order mark)")
    })
}

fn decode_utf16(name: &str, bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(pairs.len());
    let mut line = 1;
    for decoded in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        let c = decoded.map_err(|_| Error::parse(name, line, "not UTF-16 text (unpaired surrogate)"))?;
        line += usize::from(c == '\n');
        text.push(c);
    }
    match odd {
        [] => Ok(text),
        _ => Err(Error::parse(name, line, "UTF-16 text ends in the middle of a character")),
    }
}

/// A word of the file and its line, 1-based.
#[derive(Clone, Copy)]
pub(super) struct Token<'t> {
    name: &'t str,
    pub(super) text: &'t str,
    pub(super) line: usize,
}

impl Token<'_> {
    /// An error about this token: what was expected, and what it is.
    pub(super) fn expected(&self, what: &str) -> Error {
        Error::parse(self.name, self.line, format!("expected {what}, found {}", quote(self.text)))
    }

    /// An error at this token's line.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        Error::parse(self.name, self.line, message)
    }

    /// A count or index: decimal digits only.
    pub(super) fn integer(&self, what: &str) -> Result<usize> {
        if self.text.bytes().all(|b| b.is_ascii_digit()) {
            self.text.parse().map_err(|_| self.expected(&format!("{what} below 2^64")))
        } else {
            Err(self.expected(&format!("{what} (an integer >= 0)")))
        }
    }

    /// A finite number, exponents included.
    pub(super) fn number(&self, what: &str) -> Result<f64> {
        match self.text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(self.expected(&format!("{what} (a finite number)"))),
        }
    }

    /// A table entry: a finite number >= 0. One that floating point would round to zero is refused: a zero entry
    /// forbids a state, which the file does not say.
    pub(super) fn weight(&self) -> Result<f64> {
        let value = self.number("a table entry")?;
        if value < 0.0 {
            return Err(self.expected("a table entry >= 0"));
        }
        let mantissa = self.text.split(['e', 'E']).next().unwrap_or_default();
        if value == 0.0 && mantissa.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
            return Err(self.error(format!(
                "the table entry {} is below the smallest number of double precision, and zero would forbid the state",
                quote(self.text)
            )));
        }
        Ok(value)
    }
}

/// A token for messages: escaped and shortened.
fn quote(token: &str) -> String {
    match token.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}...", &token[..end]),
        None => format!("{token:?}"),
    }
}

/// White space separated tokens in order, lines being of no account.
pub(super) struct Tokens<'t> {
    name: &'t str,
    rest: &'t str,
    line: usize,
    comments: bool,
}

impl<'t> Tokens<'t> {
    /// Bytes not yet read: an upper bound on twice the number of tokens still to come.
    pub(super) fn remaining_bytes(&self) -> usize {
        self.rest.len()
    }

    /// The next token, which must exist.
    pub(super) fn expect(&mut self, what: &str) -> Result<Token<'t>> {
        let at = self.line;
        self.next()
            .ok_or_else(|| Error::parse(self.name, at, format!("expected {what}, found the end of the file")))
    }

    /// The next token as a count or index.
    pub(super) fn integer(&mut self, what: &str) -> Result<usize> {
        self.expect(what)?.integer(what)
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let start = self.rest.bytes().position(|b| !b.is_ascii_whitespace())?;
            self.line += self.rest[..start].bytes().filter(|&b| b == b'\n').count();
            self.rest = &self.rest[start..];
            if !(self.comments && self.rest.starts_with('#')) {
                break;
            }
            self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
        }
        let end = self.rest.bytes().position(|b| b.is_ascii_whitespace()).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Token { name: self.name, text, line: self.line })
    }
}

/// A line with at least one token.
pub(super) struct Line<'t> {
    name: &'t str,
    pub(super) text: &'t str,
    pub(super) line: usize,
}

impl<'t> Line<'t> {
    /// The tokens of the line, exactly `N` of them; `what` lists them for the message.
    pub(super) fn fields<const N: usize>(&self, what: &str) -> Result<[Token<'t>; N]> {
        let mut words = self.text.split_ascii_whitespace();
        let mut out = [Token { name: self.name, text: "", line: self.line }; N];
        for slot in &mut out {
            slot.text = words.next().ok_or_else(|| self.expected(what))?;
        }
        match words.next() {
            None => Ok(out),
            Some(_) => Err(self.expected(what)),
        }
    }

    /// An error about the line: what was expected, and what it is.
    pub(super) fn expected(&self, what: &str) -> Error {
        Error::parse(self.name, self.line, format!("expected {what}, found {}", quote(self.text)))
    }

    /// An error at this line.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        Error::parse(self.name, self.line, message)
    }

    /// The tokens of the line.
    pub(super) fn tokens(&self) -> Tokens<'t> {
        Tokens { name: self.name, rest: self.text, line: self.line, comments: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<(String, usize)> {
        let text = Text::decode("t", bytes).unwrap();
        text.tokens(true).map(|t| (t.text.to_owned(), t.line)).collect()
    }

    #[test]
    fn tokens_know_their_line_in_every_encoding() {
        let plain = "12 # a comment\n\n\t3e-4\r\n x";
        let expected = [("12".to_owned(), 1), ("3e-4".to_owned(), 3), ("x".to_owned(), 4)];
        let utf16 = |bom: [u8; 2], unit: fn(u16) -> [u8; 2]| {
            bom.into_iter().chain(plain.encode_utf16().flat_map(unit)).collect::<Vec<u8>>()
        };
        assert_eq!(words(plain.as_bytes()), expected);
        assert_eq!(words(&[b"\xef\xbb\xbf", plain.as_bytes()].concat()), expected);
        assert_eq!(words(&utf16([0xff, 0xfe], u16::to_le_bytes)), expected);
        assert_eq!(words(&utf16([0xfe, 0xff], u16::to_be_bytes)), expected);
    }

    #[test]
    fn undecodable_text_is_refused_with_its_line() {
        let refused = |bytes: &[u8]| Text::decode("t", bytes).err().unwrap().to_string();
        assert!(refused(b"1\n2\n\xff\xff").starts_with("t:3: "));
        assert!(refused(b"\xff\xfe1\0\n\0\x00\xd8").starts_with("t:2: "));
        assert!(refused(b"\xff\xfe1\0\n").starts_with("t:1: "));
    }

    #[test]
    fn numbers_are_finite_and_indices_are_digits() {
        let token = |text| Token { name: "t", text, line: 7 };
        assert_eq!(token("-1.5e+3").number("w").unwrap(), -1500.0);
        for bad in ["nan", "inf", "1e999", "x", "1,5", "0x1"] {
            assert!(token(bad).number("w").unwrap_err().to_string().starts_with("t:7: expected w"), "{bad}");
        }
        for bad in ["-1", "+1", "1.0", "1e3", "99999999999999999999999", "\u{0661}"] {
            assert!(token(bad).integer("i").is_err(), "{bad}");
        }
    }
}
