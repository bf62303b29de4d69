//! Outward rounding for the few scalar operations between a proved sum and a printed enclosure.

/// Half a unit in the last place, `2^-53`.
pub(crate) const U: f64 = f64::EPSILON / 2.0;

/// Allowance for `libm::log`, whose documented error is below one unit in the last place.
const LOG_ULPS: f64 = 4.0;

/// A closed interval that holds the true value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Enclosure {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Enclosure {
    pub(crate) fn point(value: f64) -> Self {
        Enclosure { low: value, high: value }
    }

    /// Every `x + y`.
    pub(crate) fn plus(self, other: Enclosure) -> Self {
        Enclosure { low: down(self.low + other.low), high: up(self.high + other.high) }
    }

    /// Every `x - y`.
    pub(crate) fn minus(self, other: Enclosure) -> Self {
        Enclosure { low: down(self.low - other.high), high: up(self.high - other.low) }
    }

    /// Every `factor * x`, `factor > 0`.
    pub(crate) fn times(self, factor: f64) -> Self {
        Enclosure { low: down(self.low * factor), high: up(self.high * factor) }
    }

    /// Every point within `radius >= 0`.
    pub(crate) fn widened(self, radius: f64) -> Self {
        self.plus(Enclosure { low: -radius, high: radius })
    }

    /// `log x` of a positive float.
    pub(crate) fn log(x: f64) -> Self {
        let y = libm::log(x);
        Enclosure::point(y).widened(LOG_ULPS * f64::EPSILON * y.abs())
    }

    /// `sum_i log q_i`, numbers of states grouped; the double below log 2 and its successor hold log 2.
    pub(crate) fn log_states(cardinalities: &[u32]) -> Self {
        let mut sorted = cardinalities.to_vec();
        sorted.sort_unstable();
        let mut total = Enclosure::point(0.0);
        for group in sorted.chunk_by(|a, b| a == b).filter(|g| g[0] > 1) {
            let one = match group[0] {
                2 => {
                    let low = std::f64::consts::LN_2;
                    Enclosure { low, high: low.next_up() }
                }
                q => Enclosure::log(f64::from(q)),
            };
            total = total.plus(one.times(group.len() as f64));
        }
        total
    }
}

/// The next double up; infinities, which are exact, stay.
fn up(x: f64) -> f64 {
    if x.is_finite() { x.next_up() } else { x }
}

/// The next double down; infinities stay.
fn down(x: f64) -> f64 {
    if x.is_finite() { x.next_down() } else { x }
}

/// A running sum whose error is that of a handful of operations: Neumaier's compensation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompensatedSum {
    sum: f64,
    correction: f64,
}

impl CompensatedSum {
    /// Adds a finite value.
    pub(crate) fn add(&mut self, value: f64) {
        let total = self.sum + value;
        self.correction += if self.sum.abs() >= value.abs() {
            (self.sum - total) + value
        } else {
            (value - total) + self.sum
        };
        self.sum = total;
    }

    /// The sum, within `2 u |sum| + n^2 u^2 sum |terms|` of the truth (Neumaier 1974).
    pub(crate) fn value(self) -> f64 {
        self.sum + self.correction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enclosures_hold_the_truth_and_are_narrow() {
        let e = Enclosure::log(10.0).times(3.0).minus(Enclosure::log_states(&[2, 2]));
        let truth = 3.0 * 10f64.ln() - 4f64.ln();
        assert!(e.low < truth && truth < e.high && e.high - e.low < 1e-13);
        assert_eq!(Enclosure::point(f64::NEG_INFINITY).widened(1.0).high, f64::NEG_INFINITY);
    }

    #[test]
    fn compensated_sum_keeps_small_terms() {
        let mut sum = CompensatedSum::default();
        [1e16, 1.0, -1e16, 1.0].into_iter().for_each(|v| sum.add(v));
        assert_eq!(sum.value(), 2.0);
    }
}
