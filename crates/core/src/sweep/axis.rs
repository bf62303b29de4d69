//! The values one key of a configuration may take: a scalar, a list, or a range.

use serde::Deserialize;

/// `5`, `[5, 10]`, `{ from = 0.0, to = 0.5, points = 10 }` or `{ from = 10, to = 100, step = 10 }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Axis<T> {
    /// One value.
    One(T),
    /// These values.
    Many(Vec<T>),
    /// Evenly spaced values, both ends included.
    Points(#[doc(hidden)] Points),
    /// From `from` in steps of `step` while at most `to`.
    Steps(#[doc(hidden)] Steps),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[doc(hidden)]
pub struct Points {
    from: f64,
    to: f64,
    points: usize,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[doc(hidden)]
pub struct Steps {
    from: f64,
    to: f64,
    step: f64,
}

/// Most values on one axis.
const MAX_VALUES: usize = 100_000;

/// What an axis can hold. Ranges are of numbers; words only come in lists.
pub trait AxisValue: Clone {
    /// The value closest to `x`, if this kind of value can be one.
    fn from_number(x: f64) -> Option<Self>;
}

impl AxisValue for f64 {
    fn from_number(x: f64) -> Option<Self> {
        Some(x)
    }
}

impl AxisValue for usize {
    fn from_number(x: f64) -> Option<Self> {
        ((0.0..1e9).contains(&x) && x.fract() == 0.0).then_some(x as usize)
    }
}

impl AxisValue for String {
    fn from_number(_: f64) -> Option<Self> {
        None
    }
}

impl<T: AxisValue> Axis<T> {
    /// The values in order.
    ///
    /// # Errors
    /// An empty or endless axis, a range of words, a fraction where a whole number is expected.
    pub(super) fn values(&self, key: &str) -> Result<Vec<T>, String> {
        let numbers = match self {
            Axis::One(value) => return Ok(vec![value.clone()]),
            Axis::Many(values) if values.is_empty() => return Err(format!("{key}: the list is empty")),
            Axis::Many(values) => return Ok(values.clone()),
            Axis::Points(range) => range.numbers(),
            Axis::Steps(range) => range.numbers(),
        };
        let numbers = numbers.ok_or_else(|| {
            format!("{key}: expected finite numbers from <= to, points >= 1 or step > 0, and at most {MAX_VALUES} values")
        })?;
        let convert = |&x: &f64| T::from_number(x).ok_or_else(|| format!("{key}: {x} is not allowed here"));
        numbers.iter().map(convert).collect()
    }
}

impl Points {
    fn numbers(self) -> Option<Vec<f64>> {
        let Points { from, to, points } = self;
        let fine = from.is_finite() && to.is_finite() && (1..=MAX_VALUES).contains(&points);
        let at = |k: usize| match k {
            0 => from,
            // The last point is `to` itself, not a rounded sum.
            _ if k + 1 == points => to,
            _ => from + (to - from) * k as f64 / (points - 1) as f64,
        };
        fine.then(|| (0..points).map(at).collect())
    }
}

impl Steps {
    fn numbers(self) -> Option<Vec<f64>> {
        let Steps { from, to, step } = self;
        // A hair of slack, so that 0.1 steps reach their end.
        let count = ((to - from) / step + 1e-9).floor();
        let fine = from.is_finite() && step > 0.0 && count >= 0.0 && count < MAX_VALUES as f64;
        fine.then(|| (0..=count as usize).map(|k| from + step * k as f64).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<T: AxisValue + serde::de::DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
        #[derive(Deserialize)]
        struct Holder<T> {
            a: Axis<T>,
        }
        let holder = serde_json::from_str::<Holder<T>>(&format!("{{\"a\": {text}}}"));
        holder.map_err(|e| e.to_string())?.a.values("a")
    }

    #[test]
    fn ranges_hold_both_ends() {
        let w: Vec<f64> = values(r#"{ "from": 0.0, "to": 0.5, "points": 10 }"#).unwrap();
        assert_eq!((w.len(), w[0], w[9]), (10, 0.0, 0.5));
        let d: Vec<usize> = values(r#"{ "from": 10, "to": 100, "step": 10 }"#).unwrap();
        assert_eq!((d.len(), d[0], d[9]), (10, 10, 100));
        assert_eq!(values::<f64>(r#"{ "from": 0.1, "to": 0.3, "step": 0.1 }"#).unwrap().len(), 3);
        assert_eq!(values::<String>("\"trw\"").unwrap(), ["trw"]);
    }

    #[test]
    fn impossible_ranges_are_refused() {
        for bad in [
            "[]",
            r#"{ "from": 1, "to": 0, "step": 1 }"#,
            r#"{ "from": 0, "to": 1, "step": 0 }"#,
            r#"{ "from": 0, "to": 1, "points": 0 }"#,
            r#"{ "from": 0, "to": 1e9, "step": 1 }"#,
            r#"{ "from": 0, "to": 1, "points": 3 }"#,
        ] {
            assert!(values::<usize>(bad).is_err(), "{bad}");
        }
        assert!(values::<String>(r#"{ "from": 0, "to": 1, "points": 2 }"#).is_err());
    }
}
