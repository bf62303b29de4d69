//! Proofs about tables in the certificate file.

use crate::cert_read::Floats;
use crate::json::Json;
use crate::require;

/// A state ruled out by one factor.
pub(crate) struct Removal {
    pub(crate) variable: usize,
    pub(crate) state: usize,
    pub(crate) factor: usize,
}

/// A table added to one mini-bucket and subtracted from another.
pub(crate) struct Shift {
    pub(crate) to: usize,
    pub(crate) from: usize,
    pub(crate) scope: Vec<u32>,
    pub(crate) table: Vec<f64>,
}

/// A weighted elimination; positions, weights and messages are per mini-bucket.
pub(crate) struct Elimination {
    pub(crate) removals: Vec<Removal>,
    pub(crate) order: Vec<usize>,
    pub(crate) positions: Vec<usize>,
    pub(crate) weights: Vec<f64>,
    pub(crate) message_home: Vec<Option<usize>>,
    pub(crate) factor_home: Vec<usize>,
    pub(crate) shifts: Vec<Shift>,
}

/// Floats: one weight per mini-bucket, then the tables of the shifts.
pub(crate) fn elimination(json: &Json, floats: &mut Floats<'_>) -> Result<Elimination, String> {
    let json = json.field("elimination")?;
    json.only(&["removals", "order", "positions", "message_home", "factor_home", "shifts"])?;
    let positions = json.field("positions")?.indices()?;
    let home = |j: &Json| if *j == Json::Null { Ok(None) } else { j.index().map(Some) };
    let message_home: Vec<Option<usize>> =
        json.field("message_home")?.list()?.iter().map(home).collect::<Result<_, _>>()?;
    require(positions.len() == message_home.len(), "mini-buckets do not have one message each")?;
    let weights = floats.take(positions.len())?;
    let mut removals = Vec::new();
    for removal in json.field("removals")?.list()? {
        let [variable, state, factor] = removal.indices()?[..] else {
            return Err("a removal is not three numbers".into());
        };
        removals.push(Removal { variable, state, factor });
    }
    let mut shifts = Vec::new();
    for shift in json.field("shifts")?.list()? {
        let scope = shift.field("scope")?.indices()?.into_iter().map(|v| v as u32).collect();
        let table = floats.take(shift.field("size")?.index()?)?;
        shifts.push(Shift {
            to: shift.field("to")?.index()?,
            from: shift.field("from")?.index()?,
            scope,
            table,
        });
    }
    let (order, factor_home) = (json.field("order")?.indices()?, json.field("factor_home")?.indices()?);
    Ok(Elimination { removals, order, positions, weights, message_home, factor_home, shifts })
}

/// Lists of indices.
pub(crate) fn lists(json: &Json) -> Result<Vec<Vec<usize>>, String> {
    json.list()?.iter().map(Json::indices).collect()
}

/// Rows of the lengths that `sizes` gives.
pub(crate) fn rows(json: &Json, floats: &mut Floats<'_>) -> Result<Vec<Vec<f64>>, String> {
    json.field("sizes")?.indices()?.into_iter().map(|n| floats.take(n)).collect()
}
