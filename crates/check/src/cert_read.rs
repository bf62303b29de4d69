//! Reading a certificate: a magic line, a line of JSON, raw little-endian floats.

use crate::cert::{
    Bethe, Certificate, Form, Matrix, Pairs, Polynomial, Proof, Quadratic, Terms, Tree, Witness,
};
use crate::cert_tables::{elimination, lists, rows};
use crate::interval::at;
use crate::json::Json;
use crate::model::Set;
use crate::require;
use crate::tree::walk;
use std::collections::BTreeSet;

/// Reads a certificate; anything unexpected is an error.
pub(crate) fn parse(bytes: &[u8]) -> Result<Certificate, String> {
    let strip = |format: u32| {
        Some((bytes.strip_prefix(format!("zbound-certificate {format}\n").as_bytes())?, format))
    };
    let (rest, format) = strip(2).or_else(|| strip(1)).ok_or("not a certificate of format 1 or 2")?;
    let end = rest.iter().position(|&b| b == b'\n').ok_or("the header does not end")?;
    let header = std::str::from_utf8(&rest[..end]).map_err(|_| "the header is not UTF-8")?;
    let json = Json::parse(header)?;
    let raw = &rest[end + 1..];
    require(raw.len() % 8 == 0, "the array section is not a whole number of floats")?;
    let float = |chunk: &[u8]| f64::from_le_bytes(chunk.try_into().unwrap_or([0xff; 8]));
    let floats: Vec<f64> = raw.chunks_exact(8).map(float).collect();
    let d = json.field("d")?.index()?;
    let mut floats = Floats { d, rest: &floats, inside_tree: false };
    let proof = proof(&json, &mut floats)?;
    let witness = match json.field("witness")? {
        Json::Null => None,
        w => Some(witness(w, &mut floats)?),
    };
    require(floats.rest.is_empty(), "there are floats left over")?;
    let optional = |key: &str| match json.field(key)? {
        Json::Null => Ok::<_, String>(None),
        v => Ok(Some(v.number()?)),
    };
    let evidence = json.field("evidence")?.list()?.iter().map(|pair| match pair.list()? {
        [i, spin] if format == 1 => Ok((i.index()?, usize::from(spin.spin()? > 0))),
        [i, state] => Ok((i.index()?, state.index()?)),
        _ => Err("evidence is not [variable, state]".to_owned()),
    });
    Ok(Certificate {
        d,
        eps: json.field("eps")?.number()?,
        evidence: evidence.collect::<Result<_, _>>()?,
        zero_floor: optional("zero_floor")?,
        phi: [optional("phi_upper")?, optional("phi_lower")?],
        log_z: [optional("log_z_upper")?, optional("log_z_lower")?],
        proof,
        witness,
    })
}

/// Floats: weights, multipliers, squares, components.
fn proof(json: &Json, floats: &mut Floats<'_>) -> Result<Proof, String> {
    let (cuts, components) = (json.field("cuts")?.list()?, json.field("components")?.list()?);
    let weights = floats.take(components.len())?;
    let multipliers = floats.take(cuts.len())?;
    let cuts = cuts.iter().zip(multipliers);
    let cuts = cuts.map(|(cut, m)| Ok((m, cut.field("cycle")?.indices()?, cut.field("signs")?.spins()?)));
    let cuts = cuts.collect::<Result<_, String>>()?;
    let squares = json.field("squares")?.list()?.iter();
    let squares = squares.map(|s| floats.quadratic(s, false)).collect::<Result<_, _>>()?;
    let mut forms = Vec::new();
    for (c, &weight) in components.iter().zip(&weights) {
        forms.push((weight, form(c, floats)?));
    }
    Ok(Proof { cuts, squares, components: forms })
}

/// Leaves are read over the variables that the nodes above them leave free; none of them is a tree again.
fn tree<T>(
    json: &Json,
    floats: &mut Floats<'_>,
    read: impl Fn(&Json, &mut Floats<'_>) -> Result<T, String>,
) -> Result<Tree<T>, String> {
    require(!floats.inside_tree, "a leaf of a tree is a tree")?;
    let node = |json: &Json| match json {
        Json::Null => Ok(None),
        pair => match &pair.indices()?[..] {
            &[variable, states] => Ok(Some((variable, states))),
            _ => Err("a node is neither null nor [variable, states]".to_owned()),
        },
    };
    let nodes = json.field("nodes")?.list()?.iter().map(node).collect::<Result<Vec<_>, _>>()?;
    let leaves = json.field("leaves")?.list()?;
    let (d, mut depths) = (floats.d, Vec::new());
    walk(&nodes, |path| {
        depths.push(path.len());
        Ok(())
    })?;
    require(depths.len() == leaves.len(), "a tree does not have one proof per leaf")?;
    floats.inside_tree = true;
    let mut proofs = Vec::new();
    for (leaf, depth) in leaves.iter().zip(depths) {
        floats.d = d.checked_sub(depth).ok_or("a tree fixes too many variables")?;
        proofs.push(read(leaf, floats)?);
    }
    (floats.d, floats.inside_tree) = (d, false);
    Ok(Tree { nodes, leaves: proofs })
}

fn name<'a>(json: &'a Json, key: &str) -> Result<&'a str, String> {
    if let Json::Text(name) = json.field(key)? { Ok(name) } else { Err(format!("`{key}` is not a name")) }
}

fn form(json: &Json, floats: &mut Floats<'_>) -> Result<Form, String> {
    let sets = json.get("features").unwrap_or(&Json::Null);
    Ok(match name(json, "form")? {
        "spectral" => Form::Spectral(floats.quadratic(sets, false)?),
        "weighted-spectral" => Form::Weighted(floats.quadratic(sets, true)?),
        "log-det" => {
            let quadratic = floats.quadratic(&Json::Null, true)?;
            let bins = json.get("bins").map_or(Ok(1), Json::index)?;
            Form::LogDet(quadratic, if bins == 1 { vec![1.0] } else { floats.take(bins)? })
        }
        "tangent" => {
            let mut quadratic = floats.quadratic(sets, true)?;
            // The point comes before the eigenpairs.
            let pairs = floats.pairs(quadratic.matrix.n)?;
            let point = std::mem::replace(&mut quadratic.pairs, pairs);
            Form::Tangent(quadratic, point)
        }
        "elimination" => Form::Elimination(floats.polynomial(json)?, json.field("order")?.indices()?),
        "weighted-elimination" => Form::WeightedElimination(floats.terms(json)?, elimination(json, floats)?),
        "sparse-dual" => {
            let polynomial = floats.polynomial(json)?;
            Form::SparseDual(polynomial, floats.take(floats.d + 1)?, json.field("order")?.indices()?)
        }
        "constant" => Form::Constant(floats.take(1)?[0]),
        "tables" => Form::Tables(elimination(json, floats)?),
        "tree" => Form::Tree(tree(json, floats, proof)?),
        other => return Err(format!("unknown form `{other}`")),
    })
}

fn witness(json: &Json, floats: &mut Floats<'_>) -> Result<Witness, String> {
    Ok(match name(json, "witness")? {
        "product" => Witness::Product(floats.take(floats.d)?),
        "forest" => Witness::Forest(floats.polynomial(json)?),
        "point" => Witness::Point(json.field("spins")?.spins()?),
        "elimination" => Witness::Elimination(json.field("order")?.indices()?),
        "tables" => {
            let elimination = elimination(json, floats)?;
            let allowed = json.field("allowed")?;
            Witness::Tables(elimination, if *allowed == Json::Null { None } else { Some(lists(allowed)?) })
        }
        "states" => Witness::States(json.field("states")?.indices()?),
        "state-product" => Witness::StateProduct(rows(json, floats)?),
        "bethe" => {
            let (edges, flips) = (lists(json.field("edges")?)?, json.field("flips")?.spins()?);
            let means = floats.take(floats.d)?;
            Witness::Bethe(Bethe { means, correlations: floats.take(edges.len())?, edges, flips })
        }
        "layer" => {
            let summed = json.field("summed")?.indices()?;
            let kept = floats.d.checked_sub(summed.len()).ok_or("a layer has too many spins")?;
            Witness::Layer(floats.take(kept)?, summed)
        }
        "blocks" => Witness::Blocks(lists(json.field("blocks")?)?, rows(json, floats)?),
        "tree" => Witness::Tree(tree(json, floats, |leaf, floats| match leaf {
            Json::Null => Ok(None),
            leaf => witness(leaf, floats).map(Some),
        })?),
        other => return Err(format!("unknown witness `{other}`")),
    })
}

/// Floats not read yet.
pub(crate) struct Floats<'a> {
    d: usize,
    rest: &'a [f64],
    inside_tree: bool,
}

impl Floats<'_> {
    pub(crate) fn take(&mut self, count: usize) -> Result<Vec<f64>, String> {
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
        for (i, j) in (0..n).flat_map(|j| (0..=j).map(move |i| (i, j))) {
            matrix.data[i + n * j] = packed[j * (j + 1) / 2 + i];
            matrix.data[j + n * i] = packed[j * (j + 1) / 2 + i];
        }
        let features = match listed {
            None => (0..n).map(|k| if k == 0 { Set::new() } else { vec![k - 1] }).collect(),
            Some(list) => list.iter().map(|s| self.set(s)).collect::<Result<Vec<_>, _>>()?,
        };
        let mut sorted = features.clone();
        sorted.sort_unstable();
        require(n > 0 && sorted.windows(2).all(|w| w[0] != w[1]), "features are missing or repeated")?;
        Ok((features, matrix))
    }

    fn set(&self, json: &Json) -> Result<Set, String> {
        let mut set = json.indices()?;
        set.sort_unstable();
        let fits = set.windows(2).all(|w| w[0] < w[1]) && set.last().is_none_or(|&i| i < self.d);
        if fits { Ok(set) } else { Err(format!("the set {set:?} repeats or exceeds variables")) }
    }

    fn pairs(&mut self, n: usize) -> Result<Pairs, String> {
        let values = self.take(n)?;
        let data = self.take(n.checked_mul(n).ok_or("a matrix is too large")?)?;
        Ok(Pairs { values, vectors: Matrix { n, data } })
    }

    fn quadratic(&mut self, features: &Json, parametric: bool) -> Result<Quadratic, String> {
        let (features, matrix) = self.matrix(features)?;
        let parameters = self.take(if parametric { matrix.n } else { 0 })?;
        Ok(Quadratic { pairs: self.pairs(matrix.n)?, features, matrix, parameters })
    }

    fn polynomial(&mut self, json: &Json) -> Result<Polynomial, String> {
        Ok(self.terms(json)?.into_iter().collect())
    }

    /// Floats: constant, d fields, one per edge, one per term.
    fn terms(&mut self, json: &Json) -> Result<Terms, String> {
        let json = json.field("polynomial")?;
        let (edges, terms) = (json.field("edges")?.list()?, json.field("terms")?.list()?);
        let mut sets: Vec<Set> = vec![Set::new()];
        let values = self.take(1 + self.d + edges.len() + terms.len())?;
        sets.extend((0..self.d).map(|i| vec![i]));
        let named = edges.iter().chain(terms).map(|json| self.set(json));
        sets.extend(named.collect::<Result<Vec<_>, _>>()?);
        let mut seen = BTreeSet::new();
        let mut terms = Terms::new();
        for (set, v) in sets.into_iter().zip(values).filter(|(_, v)| *v != 0.0) {
            require(v.is_finite(), "a coefficient is not finite")?;
            require(seen.insert(set.clone()), "a coefficient is given twice")?;
            terms.push((set, at(v)));
        }
        Ok(terms)
    }
}
