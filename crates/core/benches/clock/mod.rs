//! A stopwatch for benches: the fastest of several runs, which is what a busy machine disturbs least.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Runs of every operation.
const RUNS: usize = 15;
/// An operation is repeated no longer than this.
const LONGEST: Duration = Duration::from_secs(2);

/// Times `job`, once before it counts, and prints its name with the fastest time.
///
/// Names that do not contain the first argument of the command line are left out; under `cargo test --benches` every
/// job runs once.
pub(crate) fn time<T>(name: &str, mut job: impl FnMut() -> T) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.iter().find(|a| !a.starts_with("--"));
    if wanted.is_some_and(|part| !name.contains(part.as_str())) {
        return;
    }
    black_box(job());
    if !arguments.iter().any(|a| a == "--bench") {
        return println!("{name:48} ran");
    }
    let (start, mut best) = (Instant::now(), Duration::MAX);
    for _ in 0..RUNS {
        let run = Instant::now();
        black_box(job());
        best = best.min(run.elapsed());
        if start.elapsed() > LONGEST {
            break;
        }
    }
    println!("{name:48} {best:>12.1?}");
}
