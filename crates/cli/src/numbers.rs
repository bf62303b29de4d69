//! Numbers as people type and read them.

use std::str::FromStr;
use zbound::Error;

/// A number, with a message that says so.
pub(crate) fn real(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| "expected a number, such as 0.5 or 1e-6".to_owned())
}

/// A whole number from `least` on.
fn whole_from(text: &str, least: usize) -> Result<usize, String> {
    let value = text.trim().parse::<usize>().ok().filter(|v| *v >= least);
    value.ok_or_else(|| format!("expected a whole number, at least {least}"))
}

/// A whole number, 0 included.
pub(crate) fn whole(text: &str) -> Result<usize, String> {
    whole_from(text, 0)
}

/// A whole number that counts something.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    whole_from(text, 1)
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| "expected a whole number, at least 0".to_owned())
}

/// Anything the library reads from text, with its message alone: the option's name says what is wrong.
pub(crate) fn read<T: FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| match error {
        Error::Setting(message) | Error::Features(message) => message,
        other => other.to_string(),
    })
}

/// A number in a few characters; scientific notation only where decimals would hide it.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.1e}");
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_have_no_needless_exponent() {
        for (value, text) in [
            (0.0, "0"),
            (8.193, "8.193"),
            (0.05, "0.05"),
            (1.0, "1"),
            (123456.7, "123457"),
            (2.5e-9, "2.5e-9"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn refusals_say_what_was_expected() {
        assert!(real("abc").unwrap_err().contains("a number"));
        assert!(count("0").unwrap_err().contains("at least 1"));
        assert!(whole("-3").unwrap_err().contains("at least 0"));
        assert!(seed("1.5").unwrap_err().contains("whole number"));
        assert!(!read::<zbound::FeatureSpec>("deg:3").unwrap_err().contains("invalid"));
        assert_eq!((real("1e-3"), whole("0"), count("7")), (Ok(1e-3), Ok(0), Ok(7)));
    }
}
