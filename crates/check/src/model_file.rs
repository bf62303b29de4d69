//! The model as its file has it: native JSON or UAI text, read anew.

use crate::interval::{Interval, at};
use crate::json::Json;
use crate::model::Set;
use crate::require;
use std::collections::BTreeSet;

/// What the file says.
pub(crate) struct File {
    /// Number of states of every variable.
    pub(crate) states: Vec<usize>,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    /// Coefficients of distinct sets.
    Coefficients(Vec<(Set, f64)>),
    /// A number, and log values over scopes, the last variable fastest; `-inf` is a zero.
    Tables(f64, Vec<(Vec<usize>, Vec<Interval>)>),
}

/// Reads native JSON or UAI text.
pub(crate) fn read(path: &str, text: &str) -> Result<File, String> {
    let text = text.trim_start_matches('\u{feff}');
    let extension = path.rsplit_once('.').map_or("", |(_, e)| e).to_ascii_lowercase();
    match extension.as_str() {
        "json" => native(text),
        "uai" => uai(text),
        _ => Err(format!("{path}: convert to native JSON first (zbound convert)")),
    }
}

fn native(text: &str) -> Result<File, String> {
    let json = Json::parse(text)?;
    if json.get("cardinalities").is_some() {
        return native_tables(&json, text);
    }
    json.only(&["d", "constant", "fields", "couplings", "terms"])?;
    let d = bounded(json.field("d")?.index()?, text)?;
    let mut seen = BTreeSet::new();
    let mut fresh = |mut set: Set, least: usize| {
        set.sort_unstable();
        let repeats = set.windows(2).any(|w| w[0] == w[1]) || set.last().is_some_and(|&i| i >= d);
        let wrong = set.len() < least || repeats || !seen.insert(set.clone());
        if wrong { Err(format!("the term {set:?} is malformed or given twice")) } else { Ok(set) }
    };
    let part = |key: &str| json.get(key).map_or(Ok(&[][..]), Json::list);
    let mut all = vec![(Set::new(), json.get("constant").map_or(Ok(0.0), Json::number)?)];
    let fields = part("fields")?;
    require(fields.is_empty() || fields.len() == d, "the number of fields is not d")?;
    for (i, h) in fields.iter().enumerate() {
        all.push((vec![i], h.number()?));
    }
    for coupling in part("couplings")? {
        let [i, j, v] = coupling.list()? else { return Err("a coupling is not [i, j, v]".into()) };
        all.push((fresh(vec![i.index()?, j.index()?], 2)?, v.number()?));
    }
    for term in part("terms")? {
        let [set, v] = term.list()? else { return Err("a term is not [[i, j, k], v]".into()) };
        all.push((fresh(set.indices()?, 3)?, v.number()?));
    }
    Ok(File { states: vec![2; d], content: Content::Coefficients(all) })
}

/// `{"cardinalities": [...], "constant": c, "factors": [{"scope": [...], "log": [...]}]}`, null for a zero.
fn native_tables(json: &Json, text: &str) -> Result<File, String> {
    json.only(&["cardinalities", "constant", "factors"])?;
    let states = json.field("cardinalities")?.indices()?;
    require(states.iter().all(|q| *q >= 1), "a variable has no state")?;
    let constant = json.get("constant").map_or(Ok(0.0), Json::number)?;
    let mut tables = Vec::new();
    for factor in json.get("factors").map_or(Ok(&[][..]), Json::list)? {
        factor.only(&["scope", "log"])?;
        let scope = factor.field("scope")?.indices()?;
        let entry = |v: &Json| match v {
            Json::Null => Ok(at(f64::NEG_INFINITY)),
            v => v.number().map(at),
        };
        let logs = factor.field("log")?.list()?.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        let size = table_size(&scope, &states, text)?;
        require(logs.len() == size, &format!("the table over {scope:?} has {} entries", logs.len()))?;
        tables.push((scope, logs));
    }
    Ok(File { states, content: Content::Tables(constant, tables) })
}

/// Entries of a table over `scope`, which must name distinct variables and fit into the file.
fn table_size(scope: &[usize], states: &[usize], text: &str) -> Result<usize, String> {
    let known = scope.iter().enumerate().all(|(p, i)| *i < states.len() && !scope[..p].contains(i));
    require(scope.len() <= 64 && known, &format!("the scope {scope:?} repeats or exceeds variables"))?;
    let size = scope.iter().fold(1.0, |size, &i| size * states[i] as f64);
    require(size <= text.len() as f64, &format!("the table over {scope:?} is larger than the file"))?;
    Ok(size as usize)
}

/// More variables than the file has bytes for is not a model; a lone `d` may be large, but not absurd.
fn bounded(variables: usize, text: &str) -> Result<usize, String> {
    let absurd = variables > text.len() + (1 << 20);
    if absurd { Err(format!("{variables} is out of proportion to the file")) } else { Ok(variables) }
}

fn uai(text: &str) -> Result<File, String> {
    let mut tokens = text.split_ascii_whitespace();
    let kind = tokens.next().unwrap_or("");
    let known = kind.eq_ignore_ascii_case("MARKOV") || kind.eq_ignore_ascii_case("BAYES");
    require(known, &format!("UAI: expected MARKOV or BAYES, found `{kind}`"))?;
    let mut whole = || -> Result<usize, String> {
        let token = tokens.next().ok_or("UAI: the file ends early")?;
        token.parse().map_err(|_| format!("UAI: expected a whole number, found `{token}`"))
    };
    let variables = bounded(whole()?, text)?;
    let states = (0..variables).map(|_| whole()).collect::<Result<Vec<_>, _>>()?;
    require(
        states.iter().all(|q| (1..=u32::MAX as usize).contains(q)),
        "UAI: a number of states is out of range",
    )?;
    let count = bounded(whole()?, text)?;
    let mut scopes = Vec::new();
    for _ in 0..count {
        let arity = whole()?;
        require(arity <= 64, &format!("UAI: a factor over {arity} variables"))?;
        let scope = (0..arity).map(|_| whole()).collect::<Result<Vec<_>, _>>()?;
        table_size(&scope, &states, text)?;
        scopes.push(scope);
    }
    let mut tables = Vec::new();
    for scope in scopes {
        let size = table_size(&scope, &states, text)?;
        let said = tokens.next().and_then(|t| t.parse::<usize>().ok());
        require(said == Some(size), &format!("UAI: the table of {scope:?} has a wrong size"))?;
        let mut logs = Vec::with_capacity(size);
        for _ in 0..size {
            let token = tokens.next().ok_or("UAI: the file ends early")?;
            match token.parse::<f64>() {
                Ok(0.0) => logs.push(at(f64::NEG_INFINITY)),
                Ok(p) if p > 0.0 && p.is_finite() => logs.push(at(p).log()),
                _ => return Err(format!("UAI: expected a number of at least 0, found `{token}`")),
            }
        }
        tables.push((scope, logs));
    }
    Ok(File { states, content: Content::Tables(0.0, tables) })
}
