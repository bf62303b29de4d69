//! The exact answer with a certificate, where one can be checked.

use crate::certify::{Certificate, CertifiedBound, Component, Form, Slack, Witness};
use crate::error::Result;
use crate::exact::{self, Exact};
use crate::model::{FactorModel, Model, Polynomial, Source};
use crate::settings::Method;
use crate::solution::Solution;

/// The exact answer with a certificate, where one can be checked.
pub(crate) fn certified_exact(model: &Model, eps: f64, exact: &Exact) -> Result<Option<Solution>> {
    Ok(match model.source() {
        Source::Polynomial(_) => certified(&model.polynomial()?, eps, exact),
        Source::Factors(_) => certified_tables(&model.factors()?, eps, exact),
    })
}

/// The exact answer with a certificate: the model itself, summed along an order. `None` when the order
/// is too wide to be checked.
fn certified(f: &Polynomial, eps: f64, exact: &Exact) -> Option<Solution> {
    let order = exact.order.clone().unwrap_or_else(|| (0..f.d() as u32).collect());
    let certificate = Certificate {
        eps,
        slack: Slack::default(),
        components: vec![Component {
            weight: 1.0,
            form: Form::Elimination { polynomial: f.clone(), order: order.clone() },
        }],
        witness: Some(Witness::Elimination { order }),
    };
    let bounds = (certificate.verify(f).ok()?, certificate.verify_lower(f).ok()?);
    Some(proved(exact, certificate, bounds))
}

/// The same over tables: elimination with one mini-bucket per variable proves both sides.
fn certified_tables(tables: &FactorModel, eps: f64, exact: &Exact) -> Option<Solution> {
    let order = match &exact.order {
        Some(order) => order.clone(),
        None if exact.algorithm == exact::Algorithm::Enumeration => (0..tables.d() as u32).collect(),
        None => return None,
    };
    let elimination = exact::proof(tables, &order);
    let certificate = Certificate {
        eps,
        slack: Slack::default(),
        components: vec![Component { weight: 1.0, form: Form::Tables(elimination.clone()) }],
        witness: Some(Witness::Tables { elimination, allowed: None }),
    };
    let bounds = (certificate.verify_tables(tables).ok()?, certificate.verify_lower_tables(tables).ok()?);
    Some(proved(exact, certificate, bounds))
}

fn proved(exact: &Exact, certificate: Certificate, bounds: (CertifiedBound, CertifiedBound)) -> Solution {
    Solution {
        upper: Some(bounds.0),
        lower: Some(bounds.1),
        estimate: exact.phi,
        seconds: exact.seconds,
        means: Some(exact.means.clone()).filter(|means| !means.is_empty()),
        certificate: Some(certificate),
        ..Solution::new(Method::Exact, exact.stop)
    }
}
