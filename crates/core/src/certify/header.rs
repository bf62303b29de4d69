//! The header of a certificate file, and the order of its floats.

use super::certificate::{Certificate, Component, Cut, Slack, SumOfSquares};
use super::claim::Claim;
use super::file::malformed;
use super::header_forms::{FormHeader, WitnessHeader};
use super::header_source::{Sets, Source, push_eigen, push_symmetric, sets};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Everything but the floats. `features: null` stands for (1, x).
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    d: usize,
    eps: f64,
    /// `[variable, state]`; spins -1 and +1 in format 1.
    evidence: Vec<(usize, i64)>,
    zero_floor: Option<f64>,
    phi_upper: Option<f64>,
    phi_lower: Option<f64>,
    log_z_upper: Option<f64>,
    log_z_lower: Option<f64>,
    cuts: Vec<CutHeader>,
    squares: Vec<Sets>,
    components: Vec<FormHeader>,
    witness: Option<WitnessHeader>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CutHeader {
    cycle: Vec<u32>,
    signs: Vec<i8>,
}

/// What proves an upper bound: the whole certificate's, or that of a leaf of a tree.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Body {
    cuts: Vec<CutHeader>,
    squares: Vec<Sets>,
    components: Vec<FormHeader>,
}

impl Body {
    /// Floats: weights, multipliers, squares, components.
    pub(super) fn new(certificate: &Certificate, floats: &mut Vec<f64>) -> Self {
        floats.extend(certificate.components.iter().map(|c| c.weight));
        floats.extend(certificate.slack.cuts.iter().map(|c| c.multiplier));
        let cut = |c: &Cut| CutHeader { cycle: c.cycle.clone(), signs: c.signs.clone() };
        let mut squares = Vec::new();
        for square in &certificate.slack.squares {
            push_symmetric(&square.matrix, floats);
            push_eigen(&square.eigen, floats);
            squares.push(sets(&square.features));
        }
        let components = certificate.components.iter().map(|c| FormHeader::new(&c.form, floats)).collect();
        Body { cuts: certificate.slack.cuts.iter().map(cut).collect(), squares, components }
    }

    /// Itself, unless a component is a tree again.
    pub(super) fn flat(self) -> Result<Self> {
        if self.components.iter().any(FormHeader::is_tree) {
            return Err(malformed("a leaf of a tree is a tree"));
        }
        Ok(self)
    }

    /// The temperature of what is read is that of the whole.
    pub(super) fn read(self, source: &mut Source<'_>) -> Result<Certificate> {
        let weights = source.take(self.components.len())?;
        let multipliers = source.take(self.cuts.len())?;
        let cut = |(c, m): (CutHeader, &f64)| Cut { multiplier: *m, cycle: c.cycle, signs: c.signs };
        let cuts = self.cuts.into_iter().zip(multipliers).map(cut).collect();
        let square = |sets: Sets| -> Result<SumOfSquares> {
            let (features, matrix) = source.features_and_matrix(sets)?;
            Ok(SumOfSquares { eigen: source.eigen(matrix.n())?, features, matrix })
        };
        let squares = self.squares.into_iter().map(square).collect::<Result<_>>()?;
        let component = |(form, &weight): (FormHeader, &f64)| -> Result<Component> {
            Ok(Component { weight, form: form.read(source)? })
        };
        let components = self.components.into_iter().zip(weights).map(component).collect::<Result<_>>()?;
        Ok(Certificate { eps: source.eps, slack: Slack { cuts, squares }, components, witness: None })
    }
}

impl Header {
    /// Describes `certificate` and appends its floats: those of the upper bound, then the witness's.
    pub(super) fn new(certificate: &Certificate, claim: &Claim, floats: &mut Vec<f64>) -> Self {
        let Body { cuts, squares, components } = Body::new(certificate, floats);
        Header {
            d: claim.d,
            eps: certificate.eps,
            evidence: claim.evidence.iter().map(|&(i, state)| (i, i64::from(state))).collect(),
            zero_floor: claim.zero_floor,
            phi_upper: claim.phi_upper,
            phi_lower: claim.phi_lower,
            log_z_upper: claim.log_z_upper,
            log_z_lower: claim.log_z_lower,
            cuts,
            squares,
            components,
            witness: certificate.witness.as_ref().map(|w| WitnessHeader::new(w, floats)),
        }
    }

    /// One line of JSON. Serialisation of plain data cannot fail.
    pub(super) fn to_line(&self) -> String {
        serde_json::to_string(self).expect("the header has no map and no custom serializer") + "\n"
    }

    /// Rebuilds the certificate; every float must be used.
    pub(super) fn into_certificate(self, floats: &[f64], format: u32) -> Result<(Certificate, Claim)> {
        let state = |&(i, value): &(usize, i64)| match (format, value) {
            (1, -1) => Ok((i, 0)),
            (1, 1) => Ok((i, 1)),
            (2, _) if (0..=i64::from(u32::MAX)).contains(&value) => Ok((i, value as u32)),
            _ => Err(malformed("evidence is not [variable, state]")),
        };
        let evidence = self.evidence.iter().map(state).collect::<Result<_>>()?;
        let mut source = Source { d: self.d, eps: self.eps, rest: floats, words: 8 * floats.len() + 1024 };
        let body = Body { cuts: self.cuts, squares: self.squares, components: self.components };
        let certificate = body.read(&mut source)?;
        let witness = self.witness.map(|w| w.read(&mut source)).transpose()?;
        if !source.rest.is_empty() {
            return Err(malformed("there are floats left over"));
        }
        let claim = Claim {
            d: self.d,
            evidence,
            zero_floor: self.zero_floor,
            phi_upper: self.phi_upper,
            phi_lower: self.phi_lower,
            log_z_upper: self.log_z_upper,
            log_z_lower: self.log_z_lower,
        };
        Ok((Certificate { witness, ..certificate }, claim))
    }
}
