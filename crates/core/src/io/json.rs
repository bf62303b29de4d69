//! The native format: the coefficients of `f` as JSON.

use std::collections::HashSet;
use std::io::{self, Write};

use serde::Deserialize;

use super::text::Text;
use super::write::Real;
use crate::error::{Error, Result};
use crate::model::{Ising, Model, Polynomial, VarSet};

/// The file, key by key; serde refuses unknown and repeated keys and reads as a stream.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Native {
    d: usize,
    #[serde(default)]
    constant: f64,
    fields: Option<Vec<f64>>,
    #[serde(default)]
    couplings: Vec<(usize, usize, f64)>,
    #[serde(default)]
    terms: Vec<(Vec<usize>, f64)>,
}

/// Reads `{"d", "constant", "fields", "couplings", "terms"}`, all but `d` optional.
pub(super) fn read(text: &Text<'_>) -> Result<Model> {
    let native: Native = serde_json::from_str(&text.text).map_err(|e| syntax_error(text, &e))?;
    let d = native.d;
    let at = |key, element, message: String| text.error(line_of(&text.text, key, element), message);
    if d > text.unlisted_limit() {
        return Err(at("d", None, format!("d = {d} is more spins than a file of this size can describe")));
    }
    let fields = native.fields.unwrap_or_else(|| vec![0.0; d]);
    if fields.len() != d {
        return Err(at("fields", None, format!("{} fields given for d = {d} spins", fields.len())));
    }
    for (k, &(i, j, _)) in native.couplings.iter().enumerate() {
        let problem = if i == j {
            "joins a spin to itself"
        } else if i.max(j) >= d {
            "names a spin that d excludes"
        } else {
            continue;
        };
        return Err(at("couplings", Some(k), format!("coupling [{i},{j}] {problem} (d = {d})")));
    }
    if let Some(k) = first_repeat(&native.couplings) {
        let (i, j, _) = native.couplings[k];
        return Err(at("couplings", Some(k), format!("coupling [{i},{j}] is given twice (d = {d})")));
    }
    let mut sets = HashSet::new();
    for (k, (members, _)) in native.terms.iter().enumerate() {
        let problem = match term_set(members, d).map(|set| sets.insert(set)) {
            Err(problem) => problem,
            Ok(false) => "is given twice",
            Ok(true) => continue,
        };
        return Err(at("terms", Some(k), format!("term {members:?} {problem} (d = {d})")));
    }
    let terms = native.terms.into_iter().map(|(members, v)| (VarSet::from_iter(members), v)).collect();
    let ising =
        Ising::new(d, &fields, &native.couplings).and_then(|ising| ising.with_constant(native.constant));
    let f = ising.and_then(|ising| Polynomial::new(ising, terms));
    Ok(Model::from(f.map_err(|e| text.locate(1, e))?))
}

/// The first coupling whose pair was there before. Most files list their pairs in order, and then one look is enough.
fn first_repeat(couplings: &[(usize, usize, f64)]) -> Option<usize> {
    let pair = |k: usize| (couplings[k].0.min(couplings[k].1), couplings[k].0.max(couplings[k].1));
    if (1..couplings.len()).all(|k| pair(k - 1) < pair(k)) {
        return None;
    }
    let mut order: Vec<usize> = (0..couplings.len()).collect();
    order.sort_unstable_by_key(|&k| (pair(k), k));
    order.windows(2).filter(|w| pair(w[0]) == pair(w[1])).map(|w| w[1]).min()
}

/// The set a term is on, or what is wrong with it. Checked against `d` first: a set takes
/// memory in proportion to its largest member.
fn term_set(members: &[usize], d: usize) -> Result<VarSet, &'static str> {
    if members.len() < 3 {
        return Err("has fewer than three spins: use couplings, fields or constant");
    }
    if members.iter().any(|&i| i >= d) {
        return Err("names a spin that d excludes");
    }
    let set = VarSet::from_iter(members.iter().copied());
    if set.len() == members.len() { Ok(set) } else { Err("names a spin twice") }
}

/// serde's message with its line in the place where ours have it, in words for people who do not write Rust.
pub(super) fn syntax_error(text: &Text<'_>, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    let plain = match message {
        _ if text.text.trim().is_empty() => "the file is empty".to_owned(),
        m if m.starts_with("EOF") => {
            "the JSON ends too early: a bracket, quote or value is missing".to_owned()
        }
        "expected value" => "not JSON: expected a number, text, list or `{`".to_owned(),
        "trailing characters" => "trailing characters after the end of the JSON".to_owned(),
        m => m
            .replace("expected usize", "expected a whole number, at least 0")
            .replace("expected f64", "expected a number")
            .replace("floating point `", "`")
            .replace("integer `", "`")
            .replace("expected a tuple of size 3", "expected [i, j, value]")
            .replace("expected a tuple of size 2", "expected [[i, j, k, ...], value]")
            .replace("a sequence", "a list")
            .replace("sequence", "list")
            .replace("struct Native", "an object with the keys of a model")
            .replace("struct Factor", "an object with scope and log")
            .replace("map,", "an object,"),
    };
    text.error(error.line().max(1), plain)
}

/// The line of `key`, or of element `k` of the array under it, in valid JSON; for messages only.
pub(super) fn line_of(json: &str, key: &str, element: Option<usize>) -> usize {
    let start = json.find(&format!("\"{key}\"")).unwrap_or(0);
    let (mut depth, mut current) = (0, 0);
    let mut is_found = |b: u8| {
        let is_inside = depth > 0;
        depth += i32::from(b == b'[') - i32::from(b == b']');
        current += usize::from(b == b',' && depth == 1);
        is_inside && Some(current) == element && b != b',' && !b.is_ascii_whitespace()
    };
    let bytes = json.as_bytes();
    let offset = match element {
        Some(_) => bytes[start..].iter().position(|&b| is_found(b)).unwrap_or(0),
        None => 0,
    };
    1 + bytes[..start + offset].iter().filter(|&&b| b == b'\n').count()
}

/// Writes all five keys, one coupling or term a line; numbers read back bit for bit.
pub(super) fn write(f: &Polynomial, out: &mut dyn Write) -> io::Result<()> {
    let ising = f.pairwise_part();
    write!(out, "{{\"d\":{},\n\"constant\":{},\n\"fields\":[", f.d(), Real(ising.constant()))?;
    for (i, &h) in ising.fields().iter().enumerate() {
        write!(out, "{}{}", if i == 0 { "" } else { "," }, Real(h))?;
    }
    write!(out, "],\n\"couplings\":[")?;
    for (k, (i, j, v)) in ising.triples().enumerate() {
        write!(out, "{}[{i},{j},{}]", if k == 0 { "" } else { ",\n" }, Real(v))?;
    }
    write!(out, "],\n\"terms\":[")?;
    for (k, (set, v)) in f.terms().iter().enumerate() {
        let members: Vec<String> = set.iter().map(|i| i.to_string()).collect();
        write!(out, "{}[[{}],{}]", if k == 0 { "" } else { ",\n" }, members.join(","), Real(*v))?;
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
    fn all_keys_but_d_are_optional_and_any_order_of_i_and_j_will_do() {
        assert_eq!(parse("{\"d\":3}").unwrap().polynomial().unwrap().value(&[1, 1, 1]), 0.0);
        let f = parse(
            "{\"terms\":[[[2,0,1],1e-1]],\"couplings\":[[2,0,-1]],\"fields\":[1,2,4],\"constant\":8,\"d\":3}",
        );
        let f = f.unwrap().polynomial().unwrap();
        assert_eq!(f.value(&[1, -1, 1]), 8.0 + 1.0 - 2.0 + 4.0 - 1.0 - 0.1);
    }

    #[test]
    fn errors_name_line_and_entry() {
        for (text, line, words) in [
            ("", 1, "empty"),
            ("{\"d\":2", 1, "ends too early"),
            ("{\"d\":2.5}", 1, "expected a whole number"),
            ("{\"d\":1,\"fields\":[\"a\"]}", 1, "expected a number"),
            ("hello", 1, "not JSON"),
            ("{}", 1, "missing field `d`"),
            ("{\"d\":2,\n\"field\":[]}", 2, "unknown field `field`"),
            ("{\"d\":2,\n\"d\":3}", 2, "duplicate field `d`"),
            ("{\"d\":-1}", 1, "invalid value"),
            ("{\"d\":2}\nx", 2, "trailing"),
            ("{\"d\":2,\n\"fields\":[1]}", 2, "1 fields"),
            ("{\"d\":2,\"fields\":[1,\n1e999]}", 2, "out of range"),
            ("{\"d\":2,\"couplings\":[[0,1,1],\n[1,0,2]]}", 2, "[1,0] is given twice"),
            ("{\"d\":2,\"couplings\":[\n[0,0,1]]}", 2, "[0,0] joins"),
            ("{\"d\":2,\"couplings\":[[0,1,1],\n[0,2,1]]}", 2, "[0,2] names"),
            ("{\"d\":2,\"couplings\":[[0,1]]}", 1, "invalid length 2"),
            ("{\"d\":4,\"terms\":[[[0,1,2],1],\n[[2,1,0],1]]}", 2, "given twice"),
            ("{\"d\":4,\"terms\":[[[0,1],1]]}", 1, "fewer than three"),
            ("{\"d\":4,\"terms\":[[[0,1,1],1]]}", 1, "twice"),
            ("{\"d\":4,\"terms\":[[[0,1,1000000000000],1]]}", 1, "excludes"),
            ("{\"d\":1000000000000}", 1, "more spins"),
            ("[1]", 1, "expected"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("m.json:{line}: ")) && message.contains(words), "{message}");
        }
    }
}
