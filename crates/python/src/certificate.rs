//! Certificates as Python objects.

use crate::enter::briefly;
use crate::model::Model;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::path::PathBuf;
use std::sync::Arc;
use zbound::Result;
use zbound::certify::{Claim, Limits};

/// Both sides of phi and of log Z, as far as they are proved: `(eps, phi, log_z)`.
type Proved = (f64, (Option<f64>, Option<f64>), (Option<f64>, Option<f64>));

/// The proof behind a bound: enough data to re-derive it from the model alone.
#[pyclass(frozen, module = "zbound._zbound")]
pub(crate) struct Certificate {
    certificate: Arc<zbound::certify::Certificate>,
    origin: Origin,
}

/// Where the claim comes from.
enum Origin {
    /// A solve: the model says what the certificate proves.
    Solved(Arc<zbound::Model>, Option<f64>),
    /// A file: only its word.
    Read(Box<Claim>),
}

impl Certificate {
    /// `floor`: to what zero table entries were raised, `None` for what suits the temperature.
    pub(crate) fn solved(
        certificate: zbound::certify::Certificate,
        model: &Arc<zbound::Model>,
        floor: Option<f64>,
    ) -> Self {
        let origin = Origin::Solved(Arc::clone(model), floor);
        Certificate { certificate: Arc::new(certificate), origin }
    }

    fn claim(&self) -> Result<Claim> {
        let (model, floor) = match &self.origin {
            Origin::Solved(model, floor) => (model, *floor),
            Origin::Read(claim) => return Ok(claim.as_ref().clone()),
        };
        self.certificate.verify_model_within(model, floor, &Limits::default())
    }

    fn confirm(&self, model: &zbound::Model) -> Result<Proved> {
        let proved = self.claim()?.confirm_model(&self.certificate, model, &Limits::default())?;
        Ok((
            self.certificate.eps,
            (proved.phi_lower, proved.phi_upper),
            (proved.log_z_lower, proved.log_z_upper),
        ))
    }
}

#[pymethods]
impl Certificate {
    /// Reads a certificate file; nothing is believed until `verify`.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        briefly(py, || zbound::certify::Certificate::read(&path)).map(from_file)
    }

    /// Reads what `to_bytes` made.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        briefly(py, || zbound::certify::Certificate::from_bytes(data)).map(from_file)
    }

    /// The temperature the certificate is for.
    #[getter]
    fn eps(&self) -> f64 {
        self.certificate.eps
    }

    /// Writes the certificate and what it claims; `zbound verify` and `zbound-check` read it.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        briefly(py, || self.certificate.write(&path, &self.claim()?))
    }

    /// The bytes of the file that `save` writes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = briefly(py, || Ok(self.certificate.to_bytes(&self.claim()?)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Re-derives every bound for `model`; `zbound.verify` gives the answer a name.
    fn _verify(&self, py: Python<'_>, model: &Model) -> PyResult<Proved> {
        briefly(py, || self.confirm(&model.inner))
    }

    /// Re-derives every bound for `model` in outward-rounded arithmetic, or raises `CertificateError`.
    fn verify<'py>(slf: &Bound<'py, Self>, model: &Bound<'py, Model>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("zbound")?.getattr("verify")?.call1((model, slf))
    }

    fn __repr__(&self) -> String {
        let (parts, witness) = (self.certificate.components.len(), self.certificate.witness.is_some());
        let lower = if witness { ", with a lower bound" } else { "" };
        format!("<Certificate at eps={}, {parts} component(s){lower}>", self.certificate.eps)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = slf.get_type().getattr("from_bytes")?;
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((restore, (bytes,).into_pyobject(slf.py())?))
    }
}

fn from_file((certificate, claim): (zbound::certify::Certificate, Claim)) -> Certificate {
    Certificate { certificate: Arc::new(certificate), origin: Origin::Read(Box::new(claim)) }
}
