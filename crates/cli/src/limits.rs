//! Limits of a run: seconds, bytes, threads, iterations, and the seed.

use crate::numbers;
use anyhow::Result;
use std::time::Instant;
use zbound::{Deadline, Settings};

/// The options every command that solves something shares.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// Seconds for the whole run, reading included, at least 0; what is proved by then is printed
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = numbers::real)]
    pub(crate) time_limit: Option<f64>,
    /// Memory for working data: bytes, or a number with K, M, G or T [default: 3/4 of what is available]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory_limit: Option<u64>,
    /// Threads for independent sub-problems, 1 to 1024; results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = numbers::count)]
    pub(crate) threads: usize,
    /// Most iterations of the outermost loop of a method, at least 1 [default: as many as it needs]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::count)]
    pub(crate) max_iterations: Option<usize>,
    /// Seed of randomised orders, starts and restarts
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub(crate) seed: u64,
}

impl LimitArgs {
    /// The settings they stand for, in a run that began at `start`.
    ///
    /// # Errors
    /// A limit outside its range.
    pub(crate) fn settings(&self, start: Instant) -> Result<Settings> {
        let settings = Settings::default()
            .with_time_limit(self.time_limit)
            .with_deadline(Deadline::after(start, self.time_limit))
            .with_threads(self.threads)
            .with_max_iterations(self.max_iterations)
            .with_seed(self.seed)
            .with_memory_limit(self.memory_limit.unwrap_or_else(default_memory));
        settings.validate()?;
        Ok(settings)
    }
}

/// Bytes in `512M`, `4GiB`, `1e9`; units are powers of 1024.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let bad = || "expected bytes, or a number with K, M, G or T, such as 4G".to_owned();
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.trim_end_matches("ib").trim_end_matches('b');
    let (digits, shift) = match digits.char_indices().last() {
        Some((at, 'k')) => (&digits[..at], 10),
        Some((at, 'm')) => (&digits[..at], 20),
        Some((at, 'g')) => (&digits[..at], 30),
        Some((at, 't')) => (&digits[..at], 40),
        _ => (digits, 0),
    };
    let number: f64 = digits.trim().parse().map_err(|_| bad())?;
    let bytes = number * f64::from(shift).exp2();
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(bad()) }
}

/// Three quarters of what the machine, the control group and the shell's limits leave; the library's default where
/// none of them says.
pub(crate) fn default_memory() -> u64 {
    let known = [machine_bytes(), group_bytes(), address_space_bytes()].into_iter().flatten().min();
    known.map_or(Settings::default().memory_limit, |bytes| bytes / 4 * 3)
}

/// `MemAvailable` of the kernel.
fn machine_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// What the control group of a container leaves.
fn group_bytes() -> Option<u64> {
    let read =
        |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok();
    let (most, used): (u64, u64) = (read("memory.max")?, read("memory.current")?);
    Some(most.saturating_sub(used))
}

/// `ulimit -v`.
fn address_space_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_powers_of_1024() {
        for (text, bytes) in [
            ("1000", 1000),
            ("2k", 2048),
            ("512M", 512 << 20),
            ("4GiB", 4 << 30),
            ("1.5gb", 3 << 29),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1G", "0", "4X", "nan", "inf", "1e300"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
