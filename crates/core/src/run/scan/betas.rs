//! Inverse temperatures, and how a user writes them.

use crate::error::{Error, Result};
use crate::problem::EPS_RANGE;

/// Points of a scan at most.
const MAX_POINTS: usize = 100_000;

/// Inverse temperatures, as `a:b:n` (n points from a to b) or `b1,b2,...`.
///
/// ```
/// use zbound::run::Betas;
/// assert_eq!("0:1:3".parse::<Betas>()?.values(), [0.0, 0.5, 1.0]);
/// assert_eq!("2,0.5".parse::<Betas>()?.values(), [2.0, 0.5]);
/// assert!("1:2".parse::<Betas>().is_err());
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Betas(Vec<f64>);

impl Betas {
    /// The values, in the order in which they are to be reported.
    ///
    /// # Errors
    /// None at all or too many; a value that is neither 0 nor between 1e-12 and 1e12.
    pub fn new(values: Vec<f64>) -> Result<Self> {
        let (low, high) = (1.0 / EPS_RANGE.end(), 1.0 / EPS_RANGE.start());
        let is_legal = |beta: &f64| *beta == 0.0 || (low..=high).contains(beta);
        if let Some(beta) = values.iter().find(|beta| !is_legal(beta)) {
            return Err(Error::Setting(format!(
                "beta = {beta:?}: expected an inverse temperature, 0 or between {low:e} and {high:e}"
            )));
        }
        if !(1..=MAX_POINTS).contains(&values.len()) {
            return Err(Error::Setting(format!(
                "{} inverse temperatures: expected 1 to {MAX_POINTS}",
                values.len()
            )));
        }
        Ok(Betas(values))
    }

    /// The values.
    pub fn values(&self) -> &[f64] {
        &self.0
    }
}

impl std::str::FromStr for Betas {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || {
            Error::Setting(format!(
                "`{text}`: expected a:b:n, n points from a to b, or a list such as 0.5,1,2"
            ))
        };
        let number = |word: &str| word.trim().parse::<f64>().map_err(|_| bad());
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            [from, to, count] => {
                let (from, to) = (number(from)?, number(to)?);
                let count: usize = count.trim().parse().map_err(|_| bad())?;
                if count > MAX_POINTS {
                    return Err(Error::Setting(format!(
                        "{count} inverse temperatures: expected 1 to {MAX_POINTS}"
                    )));
                }
                let last = count.saturating_sub(1).max(1) as f64;
                let at = |k: usize| {
                    if k + 1 == count && k > 0 { to } else { from + (to - from) * (k as f64 / last) }
                };
                Betas::new((0..count).map(at).collect())
            }
            [list] => Betas::new(list.split(',').map(number).collect::<Result<_>>()?),
            _ => Err(bad()),
        }
    }
}
