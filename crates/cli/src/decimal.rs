//! Decimal numbers rounded outward: what is printed as a bound is one.

/// Which way a printed number may differ from the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toward {
    /// Printed number <= value.
    Down,
    /// Printed number >= value.
    Up,
}

/// `x` with `decimals` digits after the point (in scientific notation from 1e15 on), never below x.
pub(crate) fn round_up_display(x: f64, decimals: usize) -> String {
    display(x, decimals, Toward::Up)
}

/// As [`round_up_display`], never above x.
pub(crate) fn round_down_display(x: f64, decimals: usize) -> String {
    display(x, decimals, Toward::Down)
}

/// Decimals that show about nine significant digits of the largest of `values`.
pub(crate) fn decimals_for(values: impl IntoIterator<Item = f64>) -> usize {
    let top = values.into_iter().filter(|v| v.is_finite()).fold(0.0, |top: f64, v| top.max(v.abs()));
    if top == 0.0 {
        return 8;
    }
    (8 - top.log10().floor() as i64).clamp(2, 12) as usize
}

/// From here on numbers are printed in scientific notation.
const LARGE: f64 = 1e15;
/// Most digits after the point for which `x 10^digits` is exact in 128 bits: 53 bits times 10^22.
const MOST_DECIMALS: usize = 22;

fn display(x: f64, decimals: usize, toward: Toward) -> String {
    if !x.is_finite() {
        return x.to_string();
    }
    let away = (toward == Toward::Up) == (x > 0.0);
    if x.abs() >= LARGE {
        return scientific(x, decimals, away);
    }
    let decimals = decimals.min(MOST_DECIMALS);
    let units = units(x.abs(), decimals, away);
    let sign = if x < 0.0 && units > 0 { "-" } else { "" };
    if decimals == 0 {
        return format!("{sign}{units}");
    }
    let one = 10u128.pow(decimals as u32);
    format!("{sign}{}.{:0decimals$}", units / one, units % one)
}

/// `x` in units of the last digit, `0 <= x < 2^53`: an exact product, cut or stepped away from zero.
fn units(x: f64, decimals: usize, away: bool) -> u128 {
    // x = mantissa / 2^shift.
    let exponent = (x.to_bits() >> 52) as u32;
    let fraction = u128::from(x.to_bits() & ((1 << 52) - 1));
    let (mantissa, shift) =
        if exponent == 0 { (fraction, 1074) } else { (fraction | 1 << 52, 1075 - exponent) };
    let product = mantissa * 10u128.pow(decimals as u32);
    let (whole, is_cut) = match (product.checked_shr(shift), 1u128.checked_shl(shift)) {
        (Some(whole), Some(one)) => (whole, product & (one - 1) != 0),
        _ => (0, product != 0),
    };
    whole + u128::from(away && is_cut)
}

/// One digit before the point, `decimals` after it, and an exponent.
fn scientific(x: f64, decimals: usize, away: bool) -> String {
    // Rust prints exact decimal expansions, and no double has more than 767 significant digits.
    let text = format!("{:.800e}", x.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    let (digits, carry) = cut(&digits, decimals + 1, away);
    let tail: String = digits[1..=decimals].iter().map(|d| char::from(b'0' + d)).collect();
    let sign = if x < 0.0 { "-" } else { "" };
    format!("{sign}{}.{tail}e{}", digits[0], exponent + i64::from(carry))
}

/// The first `keep` digits, stepped away from zero if asked and if anything is cut off. The flag says
/// that the step carried into a new leading digit.
fn cut(digits: &[u8], keep: usize, away: bool) -> (Vec<u8>, bool) {
    let mut kept: Vec<u8> = digits.iter().copied().chain(std::iter::repeat(0)).take(keep).collect();
    if !away || digits.iter().skip(keep).all(|&d| d == 0) {
        return (kept, false);
    }
    for digit in kept.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return (kept, false);
        }
        *digit = 0;
    }
    kept.insert(0, 1);
    (kept, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_numbers_are_on_the_right_side() {
        for (x, decimals, down, up) in [
            (1.0, 3, "1.000", "1.000"),
            (0.1, 3, "0.100", "0.101"), // 0.1 as a double is above 1/10
            (0.3, 3, "0.299", "0.300"), // 0.3 as a double is below 3/10
            (-0.1, 2, "-0.11", "-0.10"),
            (9.9999, 2, "9.99", "10.00"),
            (-9.9999, 2, "-10.00", "-9.99"),
            (99.5, 0, "99", "100"),
            (1e-20, 4, "0.0000", "0.0001"),
            (-1e-20, 4, "-0.0001", "0.0000"),
            (0.0, 2, "0.00", "0.00"),
            (-0.0, 2, "0.00", "0.00"),
            (1.25, 1, "1.2", "1.3"),
            (12345.678, 1, "12345.6", "12345.7"),
            (9.999e15, 2, "9.99e15", "1.00e16"),
            (-1.5e300, 1, "-1.6e300", "-1.5e300"), // the double is 1.5000000000000000788e300
            (f64::NEG_INFINITY, 3, "-inf", "-inf"),
        ] {
            assert_eq!(round_down_display(x, decimals), down, "{x} down");
            assert_eq!(round_up_display(x, decimals), up, "{x} up");
        }
    }

    #[test]
    fn parsing_back_never_crosses_the_value() {
        let mut state = 1u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = f64::from_bits(state);
            if !x.is_finite() {
                continue;
            }
            for decimals in [0, 1, 6, 12] {
                let (down, up) = (round_down_display(x, decimals), round_up_display(x, decimals));
                // Parsing rounds to nearest, which is monotone: it can meet x but not cross it.
                assert!(down.parse::<f64>().unwrap() <= x && x <= up.parse::<f64>().unwrap(), "{x:e}");
            }
        }
    }

    #[test]
    fn decimals_follow_the_size() {
        assert_eq!((decimals_for([1.5]), decimals_for([123.0, -4.0])), (8, 6));
        assert_eq!((decimals_for([1e-30]), decimals_for([1e20]), decimals_for([0.0])), (12, 2, 8));
    }
}
