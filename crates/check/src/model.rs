//! The model as its file has it: a polynomial whose coefficients are intervals.

use crate::interval::{Interval, ZERO, at};
use crate::json::Json;
use std::collections::BTreeMap;

/// A set of spins in increasing order, the exponent of a monomial.
pub(crate) type Set = Vec<usize>;

/// `f(x) = sum_A theta_A x^A` over the free spins.
pub(crate) struct Model {
    pub(crate) d: usize,
    pub(crate) terms: BTreeMap<Set, Interval>,
}

/// Evidence and the treatment of zero table entries, as the certificate records them.
pub(crate) struct Reading<'a> {
    pub(crate) evidence: &'a [(usize, i8)],
    /// Log value that stands for log 0; `None` refuses zeros.
    pub(crate) zero_floor: Option<f64>,
}

/// Reads native JSON or UAI text.
pub(crate) fn read(path: &str, text: &str, reading: &Reading<'_>) -> Result<Model, String> {
    let text = text.trim_start_matches('\u{feff}');
    let extension = path.rsplit_once('.').map_or("", |(_, e)| e).to_ascii_lowercase();
    match extension.as_str() {
        "json" => native(text, reading),
        "uai" => uai(text, reading),
        _ => Err(format!("{path}: convert to native JSON first (zbound convert)")),
    }
}

/// Names of the free spins and values of the fixed ones.
struct Names {
    free: Vec<Option<usize>>,
    spin: Vec<i8>,
    d: usize,
}

impl Names {
    fn new(variables: usize, evidence: &[(usize, i8)]) -> Result<Names, String> {
        let mut spin = vec![0; variables];
        for &(i, s) in evidence {
            match spin.get_mut(i) {
                Some(slot) if *slot == 0 || *slot == s => *slot = s,
                Some(_) => return Err(format!("the evidence gives variable {i} two values")),
                None => return Err(format!("the evidence names variable {i}, the model has {variables}")),
            }
        }
        let mut d = 0;
        let mut name = |s: &i8| {
            d += usize::from(*s == 0);
            (*s == 0).then(|| d - 1)
        };
        let free = spin.iter().map(&mut name).collect();
        Ok(Names { free, spin, d })
    }
}

impl Model {
    fn add(&mut self, set: Set, value: Interval) {
        let entry = self.terms.entry(set).or_insert(ZERO);
        *entry = *entry + value;
    }

    /// Adds `value x^A` for a set of the file's variables.
    fn add_fixed(&mut self, variables: &[usize], value: f64, names: &Names) -> Result<(), String> {
        let mut set = Set::new();
        let mut signed = value;
        for &i in variables {
            match names.free.get(i) {
                None => return Err(format!("variable {i} is out of range")),
                Some(Some(j)) => set.push(*j),
                Some(None) => signed *= f64::from(names.spin[i]),
            }
        }
        set.sort_unstable();
        if set.windows(2).any(|w| w[0] == w[1]) {
            return Err(format!("a term repeats a variable: {variables:?}"));
        }
        self.add(set, at(signed));
        Ok(())
    }
}

fn native(text: &str, reading: &Reading<'_>) -> Result<Model, String> {
    let json = Json::parse(text)?;
    json.only(&["d", "constant", "fields", "couplings", "terms"])?;
    let variables = json.get("d").ok_or("the model has no `d`")?.index()?;
    let names = Names::new(bounded(variables, text)?, reading.evidence)?;
    let mut model = Model { d: names.d, terms: BTreeMap::new() };
    let mut seen = std::collections::BTreeSet::new();
    if let Some(c) = json.get("constant") {
        model.add(Set::new(), at(c.number()?));
    }
    let fields = json.get("fields").map_or(Ok(&[][..]), Json::list)?;
    if !fields.is_empty() && fields.len() != variables {
        return Err(format!("{} fields for d = {variables}", fields.len()));
    }
    for (i, h) in fields.iter().enumerate() {
        model.add_fixed(&[i], h.number()?, &names)?;
    }
    for coupling in json.get("couplings").map_or(Ok(&[][..]), Json::list)? {
        let [i, j, v] = coupling.list()? else { return Err("a coupling is not [i, j, v]".into()) };
        let (i, j) = (i.index()?, j.index()?);
        if i == j || !seen.insert(vec![i.min(j), i.max(j)]) {
            return Err(format!("coupling ({i}, {j}) is a loop or given twice"));
        }
        model.add_fixed(&[i, j], v.number()?, &names)?;
    }
    for term in json.get("terms").map_or(Ok(&[][..]), Json::list)? {
        let [set, v] = term.list()? else { return Err("a term is not [[i, j, k], v]".into()) };
        let mut set = set.indices()?;
        set.sort_unstable();
        if set.len() < 3 || !seen.insert(set.clone()) {
            return Err(format!("term {set:?} has fewer than three variables or is given twice"));
        }
        model.add_fixed(&set, v.number()?, &names)?;
    }
    Ok(model)
}

/// More variables than the file has bytes for is not a model; a lone `d` may be large, but not absurd.
fn bounded(variables: usize, text: &str) -> Result<usize, String> {
    if variables > text.len() + (1 << 20) {
        return Err(format!("d = {variables} is out of proportion to the file"));
    }
    Ok(variables)
}

fn uai(text: &str, reading: &Reading<'_>) -> Result<Model, String> {
    let mut tokens = text.split_ascii_whitespace();
    let kind = tokens.next().unwrap_or("");
    if !kind.eq_ignore_ascii_case("MARKOV") && !kind.eq_ignore_ascii_case("BAYES") {
        return Err(format!("UAI: expected MARKOV or BAYES, found `{kind}`"));
    }
    let mut whole = || -> Result<usize, String> {
        let token = tokens.next().ok_or("UAI: the file ends early")?;
        token.parse().map_err(|_| format!("UAI: expected a whole number, found `{token}`"))
    };
    let variables = bounded(whole()?, text)?;
    for _ in 0..variables {
        if whole()? != 2 {
            return Err("UAI: only binary variables are supported".into());
        }
    }
    let names = Names::new(variables, reading.evidence)?;
    let count = bounded(whole()?, text)?;
    let mut scopes = Vec::new();
    for _ in 0..count {
        let arity = whole()?;
        if arity > 40 {
            return Err(format!("UAI: a factor over {arity} variables"));
        }
        let scope = (0..arity).map(|_| whole()).collect::<Result<Vec<_>, _>>()?;
        if scope.iter().enumerate().any(|(p, i)| *i >= variables || scope[..p].contains(i)) {
            return Err(format!("UAI: scope {scope:?} repeats or exceeds variables"));
        }
        scopes.push(scope);
    }
    let mut model = Model { d: names.d, terms: BTreeMap::new() };
    for scope in scopes {
        let size = tokens.next().and_then(|t| t.parse::<usize>().ok());
        if size != Some(1 << scope.len()) {
            return Err(format!("UAI: the table of {scope:?} does not have 2^{} entries", scope.len()));
        }
        let mut table = Vec::new();
        for _ in 0..1usize << scope.len() {
            let token = tokens.next().ok_or("UAI: the file ends early")?;
            match token.parse::<f64>() {
                Ok(p) if p >= 0.0 && p.is_finite() => table.push(p),
                _ => return Err(format!("UAI: expected a number of at least 0, found `{token}`")),
            }
        }
        add_table(&mut model, &scope, &table, &names, reading)?;
    }
    Ok(model)
}

/// Adds the logarithm of a table restricted to the evidence, by its Walsh-Hadamard transform.
fn add_table(
    model: &mut Model,
    scope: &[usize],
    table: &[f64],
    names: &Names,
    reading: &Reading<'_>,
) -> Result<(), String> {
    let arity = scope.len();
    let free: Vec<usize> = (0..arity).filter(|&p| names.free[scope[p]].is_some()).collect();
    let mut values = Vec::with_capacity(1 << free.len());
    for k in 0..1usize << free.len() {
        // The last variable of the scope is the fastest; state 1 is spin +1.
        let mut index = 0;
        for (p, i) in scope.iter().enumerate() {
            let up = match free.iter().position(|&q| q == p) {
                Some(q) => k >> q & 1 == 1,
                None => names.spin[*i] > 0,
            };
            index |= usize::from(up) << (arity - 1 - p);
        }
        values.push(match (table[index], reading.zero_floor) {
            (0.0, Some(floor)) => at(floor),
            (0.0, None) => return Err("a table entry is zero: no polynomial has that value".into()),
            (p, _) => at(p).log(),
        });
    }
    let size = values.len();
    for q in 0..free.len() {
        for k in (0..size).filter(|k| k >> q & 1 == 0) {
            let (low, high) = (values[k], values[k | 1 << q]);
            values[k] = low + high;
            values[k | 1 << q] = high - low;
        }
    }
    for (k, value) in values.into_iter().enumerate() {
        let mut set: Set =
            (0..free.len()).filter(|q| k >> q & 1 == 1).filter_map(|q| names.free[scope[free[q]]]).collect();
        set.sort_unstable();
        model.add(set, value / at(size as f64));
    }
    Ok(())
}
