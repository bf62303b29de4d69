//! The model as its file has it: coefficients or tables, and what is left of them under evidence.

use crate::interval::{Interval, ZERO, at};
use crate::json::Json;
use crate::require;
use std::collections::{BTreeMap, BTreeSet};

/// A set of spins in increasing order, the exponent of a monomial.
pub(crate) type Set = Vec<usize>;

/// A polynomial with interval coefficients.
pub(crate) type Terms = BTreeMap<Set, Interval>;

/// What the file says.
pub(crate) struct File {
    /// Number of states of every variable.
    pub(crate) states: Vec<usize>,
    content: Content,
}

enum Content {
    /// Coefficients of distinct sets.
    Coefficients(Vec<(Set, f64)>),
    /// A number, and log values over scopes, the last variable fastest; `-inf` is a zero.
    Tables(f64, Vec<(Vec<usize>, Vec<Interval>)>),
}

/// A table over free variables, first variable fastest.
pub(crate) struct Factor {
    pub(crate) scope: Vec<u32>,
    /// Middle of what is known of every log value; `-inf` is exact.
    pub(crate) values: Vec<f64>,
    /// Largest distance to the true values.
    pub(crate) error: f64,
}

/// What a certificate is about: the file under evidence, free variables numbered in order.
pub(crate) struct Subject<'a> {
    file: &'a File,
    names: Vec<Name>,
    /// Number of states of every free variable.
    pub(crate) states: Vec<usize>,
}

/// What a variable of the file is.
#[derive(Clone, Copy)]
enum Name {
    Free(usize),
    Fixed(usize),
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

impl<'a> Subject<'a> {
    /// `evidence` is sorted and fits the file.
    pub(crate) fn new(file: &'a File, evidence: &[(usize, usize)]) -> Result<Self, String> {
        let mut names = Vec::with_capacity(file.states.len());
        let (mut states, mut next) = (Vec::new(), evidence.iter().peekable());
        for (i, &q) in file.states.iter().enumerate() {
            match next.next_if(|(j, _)| *j == i) {
                Some((_, state)) => names.push(Name::Fixed(*state)),
                None => {
                    names.push(Name::Free(states.len()));
                    states.push(q);
                }
            }
        }
        require(next.next().is_none(), "the evidence does not fit the model")?;
        Ok(Subject { file, names, states })
    }

    /// The same with some of its free variables fixed to states they have.
    pub(crate) fn fixed(&self, path: &[(usize, usize)]) -> Self {
        let mut state = vec![None; self.states.len()];
        path.iter().for_each(|&(variable, s)| state[variable] = Some(s));
        let mut states = Vec::new();
        let mut rename = |name: &Name| match *name {
            Name::Fixed(s) => Name::Fixed(s),
            Name::Free(j) => state[j].map_or_else(
                || {
                    states.push(self.states[j]);
                    Name::Free(states.len() - 1)
                },
                Name::Fixed,
            ),
        };
        let names = self.names.iter().map(&mut rename).collect();
        Subject { file: self.file, names, states }
    }

    /// Coefficients or table entries of the file: what it takes to look at all of it.
    pub(crate) fn size(&self) -> usize {
        self.names.len()
            + match &self.file.content {
                Content::Coefficients(all) => all.len(),
                Content::Tables(_, tables) => tables.iter().map(|(_, logs)| logs.len()).sum(),
            }
    }

    /// f as a polynomial; `floor` stands for log 0, which is refused without it.
    pub(crate) fn polynomial(&self, floor: Option<f64>) -> Result<Terms, String> {
        require(self.states.iter().all(|q| *q == 2), "a variable does not have two states: no polynomial")?;
        let mut terms = Terms::new();
        let mut add = |set: Set, value: Interval| {
            let entry = terms.entry(set).or_insert(ZERO);
            *entry = *entry + value;
        };
        match &self.file.content {
            Content::Coefficients(all) => all.iter().for_each(|(set, v)| {
                let (set, value) = self.restricted_term(set, *v);
                add(set, at(value));
            }),
            Content::Tables(constant, tables) => {
                add(Set::new(), at(*constant));
                for (scope, logs) in tables {
                    walsh(&self.restricted(scope, logs), floor, &mut add)?;
                }
            }
        }
        Ok(terms)
    }

    fn restricted_term(&self, set: &[usize], value: f64) -> (Set, f64) {
        let (mut free, mut signed) = (Set::new(), value);
        for &i in set {
            match self.names[i] {
                Name::Free(j) => free.push(j),
                Name::Fixed(state) => signed = if state == 1 { signed } else { -signed },
            }
        }
        (free, signed)
    }

    /// A table under the evidence: free variables, the last of the file's scope first and fastest, and its values.
    fn restricted(&self, scope: &[usize], logs: &[Interval]) -> (Vec<u32>, Vec<Interval>) {
        let (mut free, mut offsets, mut stride) = (Vec::new(), vec![0usize], 1);
        for &i in scope.iter().rev() {
            let q = self.file.states[i];
            match self.names[i] {
                Name::Fixed(state) => offsets.iter_mut().for_each(|o| *o += state * stride),
                Name::Free(j) => {
                    free.push(j as u32);
                    let lower = std::mem::take(&mut offsets);
                    (0..q).for_each(|s| offsets.extend(lower.iter().map(|o| o + s * stride)));
                }
            }
            stride *= q;
        }
        (free, offsets.into_iter().map(|o| logs[o]).collect())
    }

    /// f as tables over free variables and a number, in the order of the file; a polynomial has one table per
    /// coefficient that is not zero, by degree and then lexicographically.
    pub(crate) fn tables(&self) -> Result<(Interval, Vec<Factor>), String> {
        let mut factors = Vec::new();
        let mut constant = ZERO;
        match &self.file.content {
            Content::Coefficients(_) => {
                let terms = self.polynomial(None)?;
                let mut sorted: Vec<(&Set, &Interval)> = terms.iter().filter(|(_, v)| **v != ZERO).collect();
                sorted.sort_by_key(|(set, _)| (set.len(), *set));
                for (set, &theta) in sorted {
                    require(set.len() <= 30, "a term has more than 30 spins")?;
                    let odd = |k: usize| (set.len() - k.count_ones() as usize) % 2 == 1;
                    let values = (0..1usize << set.len()).map(|k| if odd(k) { -theta } else { theta });
                    let scope: Vec<u32> = set.iter().map(|i| *i as u32).collect();
                    collect(scope, values.collect(), &mut constant, &mut factors);
                }
            }
            Content::Tables(own, tables) => {
                constant = at(*own);
                for (scope, logs) in tables {
                    let (scope, values) = self.restricted(scope, logs);
                    collect(scope, values, &mut constant, &mut factors);
                }
            }
        }
        Ok((constant, factors))
    }
}

fn collect(scope: Vec<u32>, values: Vec<Interval>, constant: &mut Interval, factors: &mut Vec<Factor>) {
    if scope.is_empty() {
        *constant = *constant + values[0];
        return;
    }
    let mut error = 0.0f64;
    let middle = |v: Interval| {
        if v.lo == f64::NEG_INFINITY {
            return v.lo;
        }
        let (middle, radius) = v.middle();
        // NaN stays where a comparison would drop it.
        error = if radius <= error { error } else { radius };
        middle
    };
    let values = values.into_iter().map(middle).collect();
    factors.push(Factor { scope, values, error });
}

/// Adds a table to a polynomial, by its Walsh-Hadamard transform.
fn walsh(
    (scope, logs): &(Vec<u32>, Vec<Interval>),
    floor: Option<f64>,
    add: &mut impl FnMut(Set, Interval),
) -> Result<(), String> {
    let mut values = Vec::with_capacity(logs.len());
    for v in logs {
        values.push(match (v.lo == f64::NEG_INFINITY, floor) {
            (true, Some(raised)) => at(raised),
            (true, None) => return Err("a table entry is zero: no polynomial has that value".into()),
            (false, _) => *v,
        });
    }
    for q in 0..scope.len() {
        for k in (0..values.len()).filter(|k| k >> q & 1 == 0) {
            let (low, high) = (values[k], values[k | 1 << q]);
            (values[k], values[k | 1 << q]) = (low + high, high - low);
        }
    }
    let size = at(values.len() as f64);
    for (k, value) in values.into_iter().enumerate() {
        let mut set: Set = (0..scope.len()).filter(|q| k >> q & 1 == 1).map(|q| scope[q] as usize).collect();
        set.sort_unstable();
        add(set, value / size);
    }
    Ok(())
}
