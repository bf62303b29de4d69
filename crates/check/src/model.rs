//! What a certificate is about: coefficients or tables of the file, and what is left of them under evidence.

use crate::interval::{Interval, ZERO, at};
use crate::model_file::{Content, File};
use crate::require;
use std::collections::BTreeMap;

/// A set of spins in increasing order, the exponent of a monomial.
pub(crate) type Set = Vec<usize>;

/// A polynomial with interval coefficients.
pub(crate) type Terms = BTreeMap<Set, Interval>;

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
