//! The certificate file: a magic line, a line of JSON, raw little-endian floats.

use crate::interval::{Interval, at};
use crate::json::Json;
use crate::model::Set;
use std::collections::BTreeMap;

/// What is proved, and with what.
pub(crate) struct Certificate {
    pub(crate) d: usize,
    pub(crate) eps: f64,
    pub(crate) evidence: Vec<(usize, i8)>,
    pub(crate) zero_floor: Option<f64>,
    pub(crate) phi_upper: Option<f64>,
    pub(crate) phi_lower: Option<f64>,
    pub(crate) log_z_upper: Option<f64>,
    pub(crate) log_z_lower: Option<f64>,
    pub(crate) cuts: Vec<Cut>,
    pub(crate) squares: Vec<Quadratic>,
    pub(crate) components: Vec<(f64, Form)>,
    pub(crate) witness: Option<Witness>,
}

/// `multiplier (k - 2 + sum_p signs_p z_p z_{p+1})` around a cycle of z = (1, x).
pub(crate) struct Cut {
    pub(crate) multiplier: f64,
    pub(crate) cycle: Vec<usize>,
    pub(crate) signs: Vec<i8>,
}

/// Column-major n x n entries.
pub(crate) struct Matrix {
    pub(crate) n: usize,
    pub(crate) data: Vec<f64>,
}

impl Matrix {
    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i + self.n * j]
    }

    pub(crate) fn column(&self, j: usize) -> &[f64] {
        &self.data[self.n * j..self.n * (j + 1)]
    }
}

/// Approximate eigenvalues and eigenvectors (columns).
pub(crate) struct Pairs {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Matrix,
}

/// `phi^T M phi` with approximate eigenpairs of M (or of what the form says).
pub(crate) struct Quadratic {
    pub(crate) features: Vec<Set>,
    pub(crate) matrix: Matrix,
    pub(crate) pairs: Pairs,
}

/// A polynomial whose coefficients are floats.
pub(crate) type Polynomial = BTreeMap<Set, Interval>;

pub(crate) enum Form {
    Spectral(Quadratic),
    Weighted { eta: Vec<f64>, quadratic: Quadratic },
    Elimination { polynomial: Polynomial, order: Vec<usize> },
    LogDet { lambda: Vec<f64>, quadratic: Quadratic },
    Tangent { eta: Vec<f64>, point: Pairs, quadratic: Quadratic },
    SparseDual { polynomial: Polynomial, diagonal: Vec<f64>, order: Vec<usize> },
    Constant(f64),
}

pub(crate) enum Witness {
    Product(Vec<f64>),
    Forest(Polynomial),
    Point(Vec<i8>),
    Elimination(Vec<usize>),
}

/// Reads a certificate; anything unexpected is an error.
pub(crate) fn parse(bytes: &[u8]) -> Result<Certificate, String> {
    let rest = bytes.strip_prefix(b"zbound-certificate 1\n").ok_or("not a certificate of format 1")?;
    let end = rest.iter().position(|&b| b == b'\n').ok_or("the header does not end")?;
    let header = std::str::from_utf8(&rest[..end]).map_err(|_| "the header is not UTF-8")?;
    let json = Json::parse(header)?;
    let raw = &rest[end + 1..];
    if raw.len() % 8 != 0 {
        return Err("the array section is not a whole number of floats".into());
    }
    let float = |chunk: &[u8]| f64::from_le_bytes(chunk.try_into().unwrap_or([0xff; 8]));
    let floats: Vec<f64> = raw.chunks_exact(8).map(float).collect();
    json.only(&[
        "d",
        "eps",
        "evidence",
        "zero_floor",
        "phi_upper",
        "phi_lower",
        "log_z_upper",
        "log_z_lower",
        "cuts",
        "squares",
        "components",
        "witness",
    ])?;
    let d = field(&json, "d")?.index()?;
    let mut floats = Floats { d, rest: &floats };
    let (cuts, components) = (field(&json, "cuts")?.list()?, field(&json, "components")?.list()?);
    let weights = floats.take(components.len())?;
    let multipliers = floats.take(cuts.len())?;
    let cuts = cuts.iter().zip(multipliers).map(|(c, m)| cut(c, m)).collect::<Result<_, _>>()?;
    let squares = field(&json, "squares")?.list()?.iter();
    let squares = squares.map(|s| floats.quadratic(s)).collect::<Result<_, _>>()?;
    let mut forms = Vec::new();
    for (c, &weight) in components.iter().zip(&weights) {
        forms.push((weight, form(c, &mut floats)?));
    }
    let witness = match field(&json, "witness")? {
        Json::Null => None,
        w => Some(witness(w, &mut floats)?),
    };
    if !floats.rest.is_empty() {
        return Err("there are floats left over".into());
    }
    let optional = |key: &str| match field(&json, key)? {
        Json::Null => Ok::<_, String>(None),
        v => Ok(Some(v.number()?)),
    };
    Ok(Certificate {
        d,
        eps: field(&json, "eps")?.number()?,
        evidence: field(&json, "evidence")?.list()?.iter().map(fixed).collect::<Result<_, _>>()?,
        zero_floor: optional("zero_floor")?,
        phi_upper: optional("phi_upper")?,
        phi_lower: optional("phi_lower")?,
        log_z_upper: optional("log_z_upper")?,
        log_z_lower: optional("log_z_lower")?,
        cuts,
        squares,
        components: forms,
        witness,
    })
}

fn field<'a>(json: &'a Json, key: &str) -> Result<&'a Json, String> {
    json.get(key).ok_or_else(|| format!("the field `{key}` is missing"))
}

fn fixed(json: &Json) -> Result<(usize, i8), String> {
    match json.list()? {
        [i, s] => match Json::List(vec![s.clone()]).spins()?[..] {
            [spin] => Ok((i.index()?, spin)),
            _ => Err("evidence is not [variable, spin]".into()),
        },
        _ => Err("evidence is not [variable, spin]".into()),
    }
}

fn cut(json: &Json, multiplier: f64) -> Result<Cut, String> {
    json.only(&["cycle", "signs"])?;
    Ok(Cut { multiplier, cycle: field(json, "cycle")?.indices()?, signs: field(json, "signs")?.spins()? })
}

fn form(json: &Json, floats: &mut Floats<'_>) -> Result<Form, String> {
    let Json::Text(kind) = field(json, "form")? else { return Err("a form has no name".into()) };
    match kind.as_str() {
        "spectral" | "weighted-spectral" | "tangent" => json.only(&["form", "features"])?,
        "elimination" | "sparse-dual" => json.only(&["form", "polynomial", "order"])?,
        _ => json.only(&["form"])?,
    }
    Ok(match kind.as_str() {
        "spectral" => Form::Spectral(floats.quadratic(field(json, "features")?)?),
        "weighted-spectral" => {
            let (features, matrix) = floats.matrix(field(json, "features")?)?;
            let eta = floats.take(matrix.n)?;
            Form::Weighted { eta, quadratic: Quadratic { pairs: floats.pairs(matrix.n)?, features, matrix } }
        }
        "log-det" => {
            let (features, matrix) = floats.matrix(&Json::Null)?;
            let lambda = floats.take(matrix.n)?;
            Form::LogDet { lambda, quadratic: Quadratic { pairs: floats.pairs(matrix.n)?, features, matrix } }
        }
        "tangent" => {
            let (features, matrix) = floats.matrix(field(json, "features")?)?;
            let (eta, point) = (floats.take(matrix.n)?, floats.pairs(matrix.n)?);
            Form::Tangent {
                eta,
                point,
                quadratic: Quadratic { pairs: floats.pairs(matrix.n)?, features, matrix },
            }
        }
        "elimination" => {
            let polynomial = floats.polynomial(field(json, "polynomial")?)?;
            Form::Elimination { polynomial, order: field(json, "order")?.indices()? }
        }
        "sparse-dual" => {
            let polynomial = floats.polynomial(field(json, "polynomial")?)?;
            let diagonal = floats.take(floats.d + 1)?;
            Form::SparseDual { polynomial, diagonal, order: field(json, "order")?.indices()? }
        }
        "constant" => Form::Constant(floats.take(1)?[0]),
        other => return Err(format!("unknown form `{other}`")),
    })
}

fn witness(json: &Json, floats: &mut Floats<'_>) -> Result<Witness, String> {
    let Json::Text(kind) = field(json, "witness")? else { return Err("a witness has no name".into()) };
    json.only(&["witness", "polynomial", "spins", "order"])?;
    Ok(match kind.as_str() {
        "product" => Witness::Product(floats.take(floats.d)?),
        "forest" => Witness::Forest(floats.polynomial(field(json, "polynomial")?)?),
        "point" => Witness::Point(field(json, "spins")?.spins()?),
        "elimination" => Witness::Elimination(field(json, "order")?.indices()?),
        other => return Err(format!("unknown witness `{other}`")),
    })
}

/// Floats not read yet.
struct Floats<'a> {
    d: usize,
    rest: &'a [f64],
}

impl Floats<'_> {
    fn take(&mut self, count: usize) -> Result<Vec<f64>, String> {
        let (head, tail) = self.rest.split_at_checked(count).ok_or("there are too few floats")?;
        self.rest = tail;
        Ok(head.to_vec())
    }

    /// Features (`null` is (1, x)) and a symmetric matrix over them, stored as its upper triangle by columns.
    fn matrix(&mut self, features: &Json) -> Result<(Vec<Set>, Matrix), String> {
        let listed = if *features == Json::Null { None } else { Some(features.list()?) };
        let n = listed.map_or(self.d + 1, <[Json]>::len);
        let packed = self.take(n.checked_mul(n + 1).ok_or("a matrix is too large")? / 2)?;
        let mut matrix = Matrix { n, data: vec![0.0; n * n] };
        for j in 0..n {
            for i in 0..=j {
                let v = packed[j * (j + 1) / 2 + i];
                matrix.data[i + n * j] = v;
                matrix.data[j + n * i] = v;
            }
        }
        let features = match listed {
            None => (0..n).map(|k| if k == 0 { Set::new() } else { vec![k - 1] }).collect(),
            Some(list) => list.iter().map(|s| self.set(s)).collect::<Result<Vec<_>, _>>()?,
        };
        let mut sorted = features.clone();
        sorted.sort_unstable();
        if n == 0 || sorted.windows(2).any(|w| w[0] == w[1]) {
            return Err("features are missing or repeated".into());
        }
        Ok((features, matrix))
    }

    fn set(&self, json: &Json) -> Result<Set, String> {
        let mut set = json.indices()?;
        set.sort_unstable();
        if set.windows(2).any(|w| w[0] == w[1]) || set.last().is_some_and(|&i| i >= self.d) {
            return Err(format!("the set {set:?} repeats or exceeds variables"));
        }
        Ok(set)
    }

    fn pairs(&mut self, n: usize) -> Result<Pairs, String> {
        let values = self.take(n)?;
        let data = self.take(n.checked_mul(n).ok_or("a matrix is too large")?)?;
        Ok(Pairs { values, vectors: Matrix { n, data } })
    }

    fn quadratic(&mut self, features: &Json) -> Result<Quadratic, String> {
        let (features, matrix) = self.matrix(features)?;
        Ok(Quadratic { pairs: self.pairs(matrix.n)?, features, matrix })
    }

    /// Floats: constant, d fields, one per edge, one per term.
    fn polynomial(&mut self, json: &Json) -> Result<Polynomial, String> {
        json.only(&["edges", "terms"])?;
        let (edges, terms) = (field(json, "edges")?.list()?, field(json, "terms")?.list()?);
        let mut sets: Vec<Set> = vec![Set::new()];
        let mut values = self.take(1)?;
        values.extend(self.take(self.d)?);
        sets.extend((0..self.d).map(|i| vec![i]));
        values.extend(self.take(edges.len())?);
        values.extend(self.take(terms.len())?);
        for (json, least) in edges.iter().map(|e| (e, 2)).chain(terms.iter().map(|t| (t, 3))) {
            let set = self.set(json)?;
            if set.len() < least || (least == 2 && set.len() != 2) {
                return Err(format!("the set {set:?} is not an edge or a higher term"));
            }
            sets.push(set);
        }
        let mut polynomial = Polynomial::new();
        for (set, v) in sets.into_iter().zip(values) {
            if !v.is_finite() {
                return Err("a coefficient is not finite".into());
            }
            if v != 0.0 && polynomial.insert(set, at(v)).is_some() {
                return Err("a coefficient is given twice".into());
            }
        }
        Ok(polynomial)
    }
}
