//! How long a sweep will still take, from what its parts took so far.

use std::collections::HashMap;

/// Times of tasks by kind: a mean over all of them would call a sweep half done when only its cheap
/// half is.
#[derive(Debug)]
pub(super) struct Eta {
    kinds: HashMap<String, Kind>,
    workers: f64,
}

#[derive(Debug, Default)]
struct Kind {
    left: usize,
    done: usize,
    seconds: f64,
}

impl Eta {
    /// Tasks of the given kinds, spread over `workers`.
    pub(super) fn new(tasks: impl Iterator<Item = String>, workers: usize) -> Self {
        let mut kinds: HashMap<String, Kind> = HashMap::new();
        tasks.for_each(|kind| kinds.entry(kind).or_default().left += 1);
        Eta { kinds, workers: workers as f64 }
    }

    /// A task of `kind` is done.
    pub(super) fn finish(&mut self, kind: &str, seconds: f64) {
        let kind = self.kinds.entry(kind.to_owned()).or_default();
        kind.left = kind.left.saturating_sub(1);
        kind.done += 1;
        kind.seconds += seconds;
    }

    /// Seconds left for the kinds that were seen, and whether others are still to come.
    pub(super) fn left(&self) -> (f64, bool) {
        let known = self.kinds.values().filter(|k| k.done > 0);
        let seconds: f64 = known.map(|k| k.seconds / k.done as f64 * k.left as f64).sum();
        (seconds / self.workers, self.kinds.values().any(|k| k.done == 0 && k.left > 0))
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let (seconds, unknown) = self.left();
        let minutes = (seconds / 60.0).floor();
        let text = format!("{minutes:.0}:{:02.0} left", (seconds - 60.0 * minutes).floor());
        if unknown { format!("at least {text}") } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_estimated_apart() {
        let tasks = ["small", "small", "large", "large", "large"].map(String::from);
        let mut eta = Eta::new(tasks.into_iter(), 2);
        eta.finish("small", 1.0);
        assert_eq!(eta.left(), (0.5, true));
        assert_eq!(eta.text(), "at least 0:00 left");
        eta.finish("large", 100.0);
        assert_eq!(eta.left(), (100.5, false));
        assert_eq!(eta.text(), "1:40 left");
    }
}
