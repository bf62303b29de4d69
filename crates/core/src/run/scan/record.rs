//! The document of a scan.

use crate::record::{ModelRecord, Sides, Status};
use crate::settings::Method;
use serde::{Deserialize, Serialize};

/// Value of [`ScanRecord::schema`].
pub const SCAN_SCHEMA: &str = "zbound.scan/1";

/// The document `zbound.scan/1`: brackets of one model over inverse temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScanRecord {
    /// Always [`SCAN_SCHEMA`].
    pub schema: String,
    /// Version of this library.
    pub version: String,
    /// The model.
    pub model: ModelRecord,
    /// One entry per inverse temperature, in the order asked for.
    pub points: Vec<ScanPoint>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// What is proved at one inverse temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScanPoint {
    /// Inverse temperature: the factor of f.
    pub beta: f64,
    /// Bounds on `log Z(beta) = log sum_x exp(beta f(x))`.
    pub log_z: Sides,
    /// The method behind the lower bound; null when it follows from other points.
    pub lower_method: Option<Method>,
    /// The method behind the upper bound; null when it follows from other points.
    pub upper_method: Option<Method>,
    /// Whether the lower bound follows from other points, because log Z is convex in beta.
    pub lower_from_others: bool,
    /// Whether the upper bound follows from other points, because log Z is convex in beta.
    pub upper_from_others: bool,
    /// `converged` when the bracket is closed or every method ended by itself.
    pub status: Status,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
}

impl ScanPoint {
    /// A point that the run has not come to yet.
    pub(super) fn unreached(beta: f64) -> Self {
        ScanPoint {
            beta,
            log_z: Sides::default(),
            lower_method: None,
            upper_method: None,
            lower_from_others: false,
            upper_from_others: false,
            status: Status::Skipped,
            seconds: 0.0,
            reason: Some("the run ended before this point".into()),
        }
    }
}
