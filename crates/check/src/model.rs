//! The model as its file has it: a polynomial whose coefficients are intervals.

use crate::interval::{Interval, ZERO, at};
use crate::json::Json;
use crate::require;
use std::collections::BTreeMap;

/// A set of spins in increasing order, the exponent of a monomial.
pub(crate) type Set = Vec<usize>;

/// `f(x) = sum_A theta_A x^A` over the free spins.
pub(crate) struct Model {
    pub(crate) d: usize,
    pub(crate) terms: BTreeMap<Set, Interval>,
}

/// Fixed variables of the file and their spins.
pub(crate) type Evidence = [(usize, i8)];

/// Reads native JSON or UAI text; `floor` stands for log 0, which is refused without it.
pub(crate) fn read(path: &str, text: &str, evidence: &Evidence, floor: Option<f64>) -> Result<Model, String> {
    let text = text.trim_start_matches('\u{feff}');
    let extension = path.rsplit_once('.').map_or("", |(_, e)| e).to_ascii_lowercase();
    match extension.as_str() {
        "json" => native(text, evidence),
        "uai" => uai(text, evidence, floor),
        _ => Err(format!("{path}: convert to native JSON first (zbound convert)")),
    }
}

/// What a variable of the file is: a free spin with a number, or a fixed one with a value.
#[derive(Clone, Copy)]
enum Name {
    Free(usize),
    Fixed(i8),
}

fn names(variables: usize, evidence: &Evidence) -> Result<(Vec<Name>, usize), String> {
    let mut spin = vec![0; variables];
    for &(i, s) in evidence {
        match spin.get_mut(i) {
            Some(slot) if *slot == 0 || *slot == s => *slot = s,
            _ => return Err(format!("the evidence on variable {i} does not fit the model")),
        }
    }
    let mut d = 0;
    let name = |s: i8| {
        d += usize::from(s == 0);
        if s == 0 { Name::Free(d - 1) } else { Name::Fixed(s) }
    };
    Ok((spin.into_iter().map(name).collect(), d))
}

impl Model {
    fn add(&mut self, mut set: Set, value: Interval) {
        set.sort_unstable();
        let entry = self.terms.entry(set).or_insert(ZERO);
        *entry = *entry + value;
    }

    /// Adds `value x^A` for distinct variables of the file.
    fn add_term(&mut self, variables: &[usize], value: f64, names: &[Name]) -> Result<(), String> {
        let (mut set, mut signed) = (Set::new(), value);
        for &i in variables {
            match names.get(i) {
                None => return Err(format!("variable {i} is out of range")),
                Some(Name::Free(j)) => set.push(*j),
                Some(Name::Fixed(s)) => signed *= f64::from(*s),
            }
        }
        self.add(set, at(signed));
        Ok(())
    }
}

fn native(text: &str, evidence: &Evidence) -> Result<Model, String> {
    let json = Json::parse(text)?;
    json.only(&["d", "constant", "fields", "couplings", "terms"])?;
    let variables = json.field("d")?.index()?;
    let (names, d) = names(bounded(variables, text)?, evidence)?;
    let mut model = Model { d, terms: BTreeMap::new() };
    let mut seen = std::collections::BTreeSet::new();
    let mut fresh = |mut set: Set, least: usize| {
        set.sort_unstable();
        let repeats = set.windows(2).any(|w| w[0] == w[1]);
        let wrong = set.len() < least || repeats || !seen.insert(set.clone());
        if wrong { Err(format!("the term {set:?} is malformed or given twice")) } else { Ok(set) }
    };
    let part = |key: &str| json.get(key).map_or(Ok(&[][..]), Json::list);
    model.add(Set::new(), at(json.get("constant").map_or(Ok(0.0), Json::number)?));
    let fields = part("fields")?;
    require(fields.is_empty() || fields.len() == variables, "the number of fields is not d")?;
    for (i, h) in fields.iter().enumerate() {
        model.add_term(&[i], h.number()?, &names)?;
    }
    for coupling in part("couplings")? {
        let [i, j, v] = coupling.list()? else { return Err("a coupling is not [i, j, v]".into()) };
        model.add_term(&fresh(vec![i.index()?, j.index()?], 2)?, v.number()?, &names)?;
    }
    for term in part("terms")? {
        let [set, v] = term.list()? else { return Err("a term is not [[i, j, k], v]".into()) };
        model.add_term(&fresh(set.indices()?, 3)?, v.number()?, &names)?;
    }
    Ok(model)
}

/// More variables than the file has bytes for is not a model; a lone `d` may be large, but not absurd.
fn bounded(variables: usize, text: &str) -> Result<usize, String> {
    let absurd = variables > text.len() + (1 << 20);
    if absurd { Err(format!("{variables} is out of proportion to the file")) } else { Ok(variables) }
}

fn uai(text: &str, evidence: &Evidence, floor: Option<f64>) -> Result<Model, String> {
    let mut tokens = text.split_ascii_whitespace();
    let kind = tokens.next().unwrap_or("");
    let known = kind.eq_ignore_ascii_case("MARKOV") || kind.eq_ignore_ascii_case("BAYES");
    require(known, &format!("UAI: expected MARKOV or BAYES, found `{kind}`"))?;
    let mut whole = || -> Result<usize, String> {
        let token = tokens.next().ok_or("UAI: the file ends early")?;
        token.parse().map_err(|_| format!("UAI: expected a whole number, found `{token}`"))
    };
    let variables = bounded(whole()?, text)?;
    for _ in 0..variables {
        require(whole()? == 2, "UAI: only binary variables are supported")?;
    }
    let (names, d) = names(variables, evidence)?;
    let count = bounded(whole()?, text)?;
    let mut scopes = Vec::new();
    for _ in 0..count {
        let arity = whole()?;
        require(arity <= 40, &format!("UAI: a factor over {arity} variables"))?;
        let scope = (0..arity).map(|_| whole()).collect::<Result<Vec<_>, _>>()?;
        let wrong = scope.iter().enumerate().any(|(p, i)| *i >= variables || scope[..p].contains(i));
        require(!wrong, &format!("UAI: scope {scope:?} repeats or exceeds variables"))?;
        scopes.push(scope);
    }
    let mut model = Model { d, terms: BTreeMap::new() };
    for scope in scopes {
        let size = tokens.next().and_then(|t| t.parse::<usize>().ok());
        require(size == Some(1 << scope.len()), &format!("UAI: the table of {scope:?} has a wrong size"))?;
        let mut table = Vec::new();
        for _ in 0..1usize << scope.len() {
            let token = tokens.next().ok_or("UAI: the file ends early")?;
            match token.parse::<f64>() {
                Ok(p) if p >= 0.0 && p.is_finite() => table.push(p),
                _ => return Err(format!("UAI: expected a number of at least 0, found `{token}`")),
            }
        }
        add_table((&mut model, &names), (&scope, &table), floor)?;
    }
    Ok(model)
}

/// Adds the logarithm of a table restricted to the evidence, by its Walsh-Hadamard transform.
fn add_table(
    (model, names): (&mut Model, &[Name]),
    (scope, table): (&[usize], &[f64]),
    floor: Option<f64>,
) -> Result<(), String> {
    let arity = scope.len();
    let free: Vec<(usize, usize)> = (0..arity)
        .filter_map(|p| if let Name::Free(j) = names[scope[p]] { Some((p, j)) } else { None })
        .collect();
    // The last variable of the scope is the fastest; state 1 is spin +1.
    let bit = |p: usize| 1usize << (arity - 1 - p);
    let fixed: usize = (0..arity).filter(|&p| matches!(names[scope[p]], Name::Fixed(1))).map(bit).sum();
    let size = 1usize << free.len();
    let mut values = Vec::with_capacity(size);
    for k in 0..size {
        let index =
            fixed + (0..free.len()).filter(|q| k >> q & 1 == 1).map(|q| bit(free[q].0)).sum::<usize>();
        values.push(match (table[index], floor) {
            (0.0, Some(raised)) => at(raised),
            (0.0, None) => return Err("a table entry is zero: no polynomial has that value".into()),
            (p, _) => at(p).log(),
        });
    }
    for q in 0..free.len() {
        for k in (0..size).filter(|k| k >> q & 1 == 0) {
            let (low, high) = (values[k], values[k | 1 << q]);
            (values[k], values[k | 1 << q]) = (low + high, high - low);
        }
    }
    for (k, value) in values.into_iter().enumerate() {
        let set = (0..free.len()).filter(|q| k >> q & 1 == 1).map(|q| free[q].1).collect();
        model.add(set, value / at(size as f64));
    }
    Ok(())
}
