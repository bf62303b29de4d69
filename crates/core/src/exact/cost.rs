//! How exact inference goes about its work, what is wanted of it, and what that takes.

use crate::settings::Settings;

/// How an exact answer is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// All 2^d states.
    Enumeration,
    /// One variable after another.
    Elimination,
}

impl Algorithm {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Enumeration => "enumeration",
            Algorithm::Elimination => "elimination",
        }
    }
}

/// What is wanted besides log Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// Marginals, moments of pairs and the entropy: a second sweep, with all messages kept.
    pub marginals: bool,
    /// The largest value of f and a state that has it: a sweep of its own.
    pub maximum: bool,
}

impl Wanted {
    /// Everything.
    pub const ALL: Wanted = Wanted { marginals: true, maximum: true };
    /// The marginals with log Z.
    pub const MARGINALS: Wanted = Wanted { marginals: true, maximum: false };
    /// The maximum with log Z.
    pub const MAXIMUM: Wanted = Wanted { marginals: false, maximum: true };
    /// log Z alone: no message is kept longer than it is needed.
    pub const LOG_Z: Wanted = Wanted { marginals: false, maximum: false };
}

/// What [`super::exact`] would do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// The cheaper algorithm.
    pub algorithm: Algorithm,
    /// Work in units of ten nanoseconds of one core.
    pub operations: f64,
    /// Seconds on one core, within a factor of about three; infinite when no plan is possible.
    pub seconds: f64,
    /// Table entries of one sweep: `sum over variables of the joint states of its clique`, or all states.
    pub entries: f64,
    /// Bytes at the peak.
    pub bytes: u64,
    /// Induced width of the elimination order; d - 1 for enumeration.
    pub width: usize,
}

impl Cost {
    /// The seconds on this machine, where the time limit of `settings` calls for them.
    pub(super) fn here(self, settings: &Settings) -> Self {
        Cost { seconds: settings.ends().speed().table_seconds(self.seconds), ..self }
    }

    /// What it will take, in a sentence.
    pub(crate) fn warning(&self) -> String {
        let (name, width) = (self.algorithm.name(), self.width);
        if !self.seconds.is_finite() {
            return format!("exact inference by {name} is out of reach: the order found has width {width}");
        }
        let (time, memory) = (time_in_words(self.seconds), memory_in_words(self.bytes));
        format!("exact inference by {name} (width {width}) is expected to take {time} and {memory}, roughly")
    }
}

/// So many seconds, for people.
pub(crate) fn time_in_words(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 6e3 => format!("{:.0} minutes", s / 60.0),
        s if s < 3e5 => format!("{:.0} hours", s / 3600.0),
        s if s < 3e8 => format!("{:.0} days", s / 86_400.0),
        _ => "longer than anybody waits".into(),
    }
}

/// So many bytes, for people.
pub(crate) fn memory_in_words(bytes: u64) -> String {
    match bytes >> 20 {
        mib if mib < 1 << 10 => format!("{} MB", mib.max(1)),
        mib if mib < 1 << 30 => format!("{} GB", mib >> 10),
        _ => "more memory than any machine has".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_reach_is_said_in_words() {
        let of = |seconds: f64, bytes: u64| {
            let algorithm = Algorithm::Elimination;
            Cost { algorithm, operations: 0.0, seconds, entries: 0.0, bytes, width: 77 }.warning()
        };
        assert!(of(f64::INFINITY, u64::MAX).ends_with("is out of reach: the order found has width 77"));
        assert!(
            of(1e30, u64::MAX)
                .ends_with("longer than anybody waits and more memory than any machine has, roughly")
        );
        assert!(of(7200.0, 8 << 30).ends_with("(width 77) is expected to take 2 hours and 8 GB, roughly"));
    }
}
