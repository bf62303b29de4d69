//! One target for a stretch of time.

use crate::{Mutator, Target};
use std::collections::HashMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// An input of 4 kB that takes longer than this hangs. A thousand times what the slowest takes on an idle machine.
const HANG: Duration = Duration::from_secs(30);
/// Inputs kept for further changes, beside the seeds.
const KEPT: usize = 4096;
/// Letters of an outcome by which it is told from others.
const KIND_LENGTH: usize = 80;

/// A target with its inputs.
#[derive(Debug)]
pub struct Campaign {
    target: Target,
    seed: u64,
    inputs: Vec<Vec<u8>>,
}

/// What a campaign did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Inputs that were run.
    pub inputs: u64,
    /// Different ways in which they ended.
    pub kinds: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The input that is running, for the watch.
type Current = Arc<Mutex<(Instant, Vec<u8>)>>;

impl Campaign {
    /// Starts from the seeds of a target and from everything that was ever found with it.
    ///
    /// # Panics
    /// When the target has no seeds.
    #[must_use]
    pub fn new(target: Target, seed: u64) -> Self {
        let inputs: Vec<_> = stored(target.name).into_iter().map(|(_, data)| data).collect();
        assert!(!inputs.is_empty(), "no seeds for {}", target.name);
        Self { target, seed, inputs }
    }

    /// Runs changed inputs until the time is over; every stored input first, as it is.
    ///
    /// # Panics
    /// At the first input that breaks a promise; it is then in `found/`.
    pub fn run(mut self, time: Duration) -> Summary {
        let current: Current = Arc::new(Mutex::new((Instant::now(), Vec::new())));
        let watch = Watch::start(self.target.name, &current);
        let (start, mut random, mut summary) = (Instant::now(), Mutator::new(self.seed), Summary::default());
        let (mut kinds, seeds) = (HashMap::new(), self.inputs.len());
        while summary.inputs < seeds as u64 || start.elapsed() < time {
            let next = summary.inputs as usize;
            let data = if next < seeds {
                self.inputs[next].clone()
            } else {
                let (one, two) = (random.below(self.inputs.len()), random.below(self.inputs.len()));
                random.change(&self.inputs[one], &self.inputs[two])
            };
            let kind = self.try_one(&data, &current);
            summary.inputs += 1;
            let count = kinds.len();
            kinds.entry(kind).or_insert(());
            if kinds.len() > count && self.inputs.len() < seeds + KEPT {
                self.inputs.push(data);
            }
        }
        watch.stop();
        Summary { kinds: kinds.len(), seconds: start.elapsed().as_secs_f64(), ..summary }
    }

    fn try_one(&self, data: &[u8], current: &Current) -> String {
        *current.lock().expect("the watch does not panic") = (Instant::now(), data.to_vec());
        match catch_unwind(|| (self.target.run)(data)) {
            Ok(outcome) => kind_of(&outcome),
            Err(_) => {
                let path = keep(self.target.name, data);
                panic!("{}: broken by {} (seed {})", self.target.name, path.display(), self.seed)
            }
        }
    }
}

/// Ends the process when one input takes too long, after writing it down.
struct Watch(Arc<AtomicBool>);

impl Watch {
    fn start(name: &'static str, current: &Current) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (current, seen) = (Arc::clone(current), Arc::clone(&over));
        std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(500));
                let Ok(current) = current.lock() else { return };
                if current.0.elapsed() > HANG && !seen.load(Ordering::Relaxed) {
                    let path = keep(name, &current.1);
                    eprintln!("{name}: no end after {HANG:?} on {}", path.display());
                    std::process::abort();
                }
            }
        });
        Watch(over)
    }

    fn stop(self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An outcome without what the input put into it: letters up to the first quotation.
fn kind_of(outcome: &str) -> String {
    let said = outcome.split(['`', '"', '\'']).next().unwrap_or_default();
    said.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(KIND_LENGTH).collect()
}

/// Writes an input to `found/NAME/`, from where every later run takes it.
fn keep(name: &str, data: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found").join(name);
    let hash = data.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder.join(format!("{hash:016x}"));
    if let Err(error) = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, data)) {
        eprintln!("{}: {error}; the input: {data:?}", path.display());
    }
    path
}

/// Seeds and found inputs of a target, in the order of their names.
fn stored(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["seeds", "found"].map(|kind| root.join(kind).join(name));
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut paths: Vec<PathBuf> = files.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths.into_iter().filter_map(|path| Some((path.clone(), std::fs::read(&path).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_forget_what_the_input_says() {
        assert_eq!(kind_of("m:3: expected 17, not `abc`"), kind_of("m:4: expected 2, not `x`"));
        assert_ne!(kind_of("m:3: too large"), kind_of("m:3: too small"));
    }

    #[test]
    fn a_campaign_finds_a_panic_behind_two_conditions() {
        let run = |data: &[u8]| {
            let text = String::from_utf8_lossy(data).into_owned();
            let large = text.split_whitespace().any(|t| t.parse::<f64>().is_ok_and(|v| v > 1e300));
            match (text.lines().count() > 3, large) {
                (true, true) => panic!("found"),
                (lines, large) => {
                    format!("{}{}", if lines { "lines" } else { "" }, if large { "large" } else { "" })
                }
            }
        };
        let target = Target { name: "self_test", run };
        let campaign = Campaign { target, seed: 1, inputs: vec![b"1 2\n3 4\n".to_vec()] };
        let found = catch_unwind(|| campaign.run(Duration::from_secs(20)));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found/self_test");
        let kept = std::fs::read_dir(&folder).map(Iterator::count);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(found.is_err() && kept.unwrap() == 1);
    }
}
