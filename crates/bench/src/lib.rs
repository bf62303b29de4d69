//! Comparisons behind `zbound bench`: every method side by side, the quantum relaxation in units of one
//! eigendecomposition, the combined bound against its parts, a folder of models under a limit.
//!
//! Nothing here prints: a comparison is a value that can be written as JSON or as a table, and what is worth saying
//! on the way is handed to the caller. Times of single operations are the business of `crates/core/benches`.

pub mod combined;
mod memory;
pub mod methods;
mod qics;
pub mod quantum;
pub mod suite;

/// Version in every document.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Seconds in a unit that suits them.
#[must_use]
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.2} s"),
        s if s < 6e3 => format!("{:.0} minutes", s / 60.0),
        s if s < 3e5 => format!("{:.0} hours", s / 3600.0),
        s if s < 3e8 => format!("{:.0} days", s / 86_400.0),
        _ => "longer than anybody waits".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_naturally() {
        assert_eq!([2e-5, 0.0123, 7.0].map(duration), ["20 us", "12.3 ms", "7.00 s"]);
        assert_eq!([1100.0, 1e4, 1e6, 1e12].map(duration)[..3], ["18 minutes", "3 hours", "12 days"]);
    }
}
