//! One layer of a bipartite model summed out, independent spins for the other (docs/certificate-format.md, section 6).

use crate::interval::{Interval, ONE, ZERO, at};
use crate::model::Terms;
use crate::require;

/// The bound on phi: kept spins have the given means, in order.
pub(crate) fn value(
    means: &[f64],
    summed: &[usize],
    terms: &Terms,
    d: usize,
    eps: f64,
) -> Result<Interval, String> {
    require(eps > 0.0, "a layer needs eps > 0")?;
    let increasing = summed.windows(2).all(|w| w[0] < w[1]) && summed.last().is_none_or(|&i| i < d);
    require(increasing && means.len() + summed.len() == d, "a layer does not fit the model")?;
    require(means.iter().all(|m| m.abs() <= 1.0), "a mean is outside [-1, 1]")?;
    let mut next = means.iter();
    let mean: Vec<Option<f64>> =
        (0..d).map(|i| if summed.binary_search(&i).is_ok() { None } else { next.next().copied() }).collect();
    let part = |p: Interval| if p.hi <= 0.0 { ZERO } else { p * p.log() };
    let divergence = means.iter().fold(ZERO, |sum, m| sum + part(ONE + at(*m)) + part(ONE - at(*m)));
    let mut value = -(at(0.5) * at(eps) * divergence);
    // Mean, second and third central moment, fourth cumulant of the field on each spin, in units of eps.
    let mut law = vec![[ZERO; 4]; d];
    for (set, &theta) in terms {
        match set[..] {
            [] => value = value + theta,
            [i] => match mean[i] {
                Some(m) => value = value + theta * at(m),
                None => law[i][0] = law[i][0] + theta / at(eps),
            },
            [i, j] => match (mean[i], mean[j]) {
                (Some(a), Some(b)) => value = value + theta * at(a) * at(b),
                (Some(m), None) => couple(&mut law[j], theta / at(eps), m),
                (None, Some(m)) => couple(&mut law[i], theta / at(eps), m),
                (None, None) => require(theta == ZERO, "a layer has couplings inside")?,
            },
            _ => return Err("a layer is for pairwise models".into()),
        }
    }
    Ok(value + at(eps) * summed.iter().fold(ZERO, |sum, &j| sum + at(log_cosh(&law[j]))))
}

/// Adds w x to a field, x a spin of mean m.
fn couple(law: &mut [Interval; 4], w: Interval, m: f64) {
    let (m, v) = (at(m), ONE - at(m) * at(m));
    law[0] = law[0] + w * m;
    law[1] = law[1] + w * w * v;
    law[2] = law[2] - at(2.0) * w * w * w * m * v;
    law[3] = law[3] + w * w * w * w * v * (at(6.0) * m * m - at(2.0));
}

/// At most the expectation of log cosh: Jensen's inequality, or Taylor's with the fourth derivative at least -2.
fn log_cosh(&[mean, second, third, cumulant]: &[Interval; 4]) -> f64 {
    let negative = mean.lo < 0.0;
    let size = if negative { -mean } else { mean };
    let e = (at(-2.0) * size).exp();
    let least = size + (at(0.5) * (ONE + e)).log();
    let t = (ONE - e) / (ONE + e);
    let t = if negative { -t } else { t };
    let s = at(4.0) * e / ((ONE + e) * (ONE + e));
    let fourth = cumulant + at(3.0) * second * second;
    let more = at(0.5) * s * second - t * s * third / at(3.0) - fourth / at(12.0);
    // NaN is not above 0.
    if more.lo > 0.0 { (least + more).lo } else { least.lo }
}
