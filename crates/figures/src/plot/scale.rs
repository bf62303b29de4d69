//! From values to positions, and where the ticks stand.

/// A linear or logarithmic axis.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    /// Positions of `low` and `high`.
    from: f64,
    to: f64,
}

/// Decades shown on a logarithmic axis at most: below lies rounding.
const DECADES: f64 = 16.0;

impl Scale {
    /// An axis that holds `values`, drawn between positions `from` and `to`.
    pub(crate) fn new(values: impl Iterator<Item = f64>, log: bool, from: f64, to: f64, margin: f64) -> Self {
        let usable = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let (mut low, mut high) = values
            .filter(usable)
            .map(|v| if log { v.log10() } else { v })
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if !(low <= high) {
            (low, high) = (0.0, 1.0);
        }
        if high - low < 1e-12 * high.abs().max(1e-3) {
            let pad = if log { 0.5 } else { 0.5 * high.abs().max(1e-3) };
            (low, high) = (low - pad, high + pad);
        }
        if log {
            low = low.max(high - DECADES);
        }
        let pad = margin * (high - low);
        Scale { low: low - pad, high: high + pad, log, from, to }
    }

    /// Position of a value; values a logarithm cannot show lie at the low end.
    pub(crate) fn position(&self, value: f64) -> f64 {
        let value = if !self.log {
            value
        } else if value > 0.0 {
            value.log10().max(self.low)
        } else {
            self.low
        };
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Ticks and their labels, about `count` of them.
    pub(crate) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        if self.log && self.high - self.low > 1.0 { self.decades(count) } else { self.round_numbers(count) }
    }

    fn decades(&self, count: usize) -> Vec<(f64, String)> {
        let (first, last) = (self.low.ceil() as i32, self.high.floor() as i32);
        let step = ((last - first) as f64 / count as f64).ceil().max(1.0) as i32;
        // Few decades around 1 are read faster as decimals.
        let plain = first >= -2 && last <= 3;
        let label = |e: i32| if plain { 10f64.powi(e).to_string() } else { power_of_ten(e) };
        (first..=last).filter(|e| e.rem_euclid(step) == 0).map(|e| (10f64.powi(e), label(e))).collect()
    }

    fn round_numbers(&self, count: usize) -> Vec<(f64, String)> {
        let (low, high) =
            if self.log { (10f64.powf(self.low), 10f64.powf(self.high)) } else { (self.low, self.high) };
        let rough = (high - low) / count.max(1) as f64;
        let unit = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|s| s * unit).find(|s| *s >= rough * 0.999);
        let step = step.unwrap_or(10.0 * unit);
        let decimals = (0..12).find(|&k| is_whole(step * 10f64.powi(k))).unwrap_or(12) as usize;
        let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
        let label = |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value:.decimals$}") };
        (first..=last).map(|k| k as f64 * step).map(|v| (v, label(v))).collect()
    }
}

fn is_whole(x: f64) -> bool {
    (x - x.round()).abs() < 1e-6 * x.abs().max(1.0)
}

/// `10` with a raised exponent.
fn power_of_ten(exponent: i32) -> String {
    let raised = |c: char| match c {
        '-' => '\u{207b}',
        '1' => '\u{b9}',
        '2' => '\u{b2}',
        '3' => '\u{b3}',
        digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    match exponent {
        0 => "1".into(),
        1 => "10".into(),
        _ => format!("10{}", exponent.to_string().chars().map(raised).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], log: bool) -> Vec<String> {
        let scale = Scale::new(values.iter().copied(), log, 0.0, 100.0, 0.0);
        scale.ticks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&[0.0, 0.5], false), ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(&[-1.3, 1.2], false), ["-1.0", "-0.5", "0", "0.5", "1.0"]);
        assert_eq!(labels(&[10.0, 100.0], false), ["20", "40", "60", "80", "100"]);
        assert_eq!(
            labels(&[1e-10, 100.0], true),
            ["10\u{207b}\u{2079}", "10\u{207b}\u{2076}", "10\u{207b}\u{b3}", "1"]
        );
        assert_eq!(labels(&[0.02, 60.0], true), ["0.1", "1", "10"]);
    }

    #[test]
    fn nothing_and_one_value_still_have_an_axis() {
        for values in [&[][..], &[0.0], &[5.0], &[f64::NAN, 2.0]] {
            let scale = Scale::new(values.iter().copied(), false, 0.0, 100.0, 0.05);
            assert!(scale.ticks(4).len() >= 2 && scale.position(2.0).is_finite());
        }
    }
}
