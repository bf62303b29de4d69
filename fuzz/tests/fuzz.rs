//! No input panics, hangs, or makes a verifier confirm what is false. One test a target, `ZBOUND_FUZZ_SECONDS` each.

use std::io::Write;
use std::time::Duration;
use zbound_fuzz::{Campaign, TARGETS};

/// Seconds a target when nothing else is asked for.
const SECONDS: f64 = 1.0;

fn fuzz(name: &str) {
    let target = TARGETS.into_iter().find(|t| t.name == name).unwrap();
    let number = |key: &str| std::env::var(key).ok().map(|v| v.parse::<f64>().expect(key));
    let seconds = number("ZBOUND_FUZZ_SECONDS").unwrap_or(SECONDS);
    // The clock makes every run another one; a seed that is given repeats one.
    let clock = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos() as u64);
    let seed = number("ZBOUND_FUZZ_SEED").map_or(clock, |v| v as u64);
    println!("fuzz {name}: seed {seed}");
    let done = Campaign::new(target, seed).run(Duration::from_secs_f64(seconds));
    println!("fuzz {name}: {} inputs, {} kinds of outcome, {:.1} s", done.inputs, done.kinds, done.seconds);
    assert!(done.kinds > 1, "{name}: every input ended the same way");
    if let Some(path) = std::env::var_os("ZBOUND_COUNTS") {
        let mut log = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        // One write, or lines of two targets mix.
        let line = format!("fuzz\t{name}\t{}\t{:.1}\n", done.inputs, done.seconds);
        log.write_all(line.as_bytes()).unwrap();
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            fuzz(stringify!($name));
        })*

        #[test]
        fn every_target_has_a_test() {
            assert_eq!(TARGETS.map(|t| t.name), [$(stringify!($name)),*]);
        }
    };
}

targets! { json uai fg coo dimod rudy qubo bq evidence certificate check_certificate check_model }
