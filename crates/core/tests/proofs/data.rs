//! Public instances, which are not part of the repository: where they are, and what their absence means.

use std::io::Write;
use std::path::PathBuf;

/// The folder of public instances: `$ZBOUND_DATA`, or `../shared/data` beside the repository.
///
/// `None`, which skips the test, only under `ZBOUND_SKIP_DATA=1`; the test's name is then appended to the
/// file `$ZBOUND_SKIP_LOG`, from which `scripts/test.sh` counts.
///
/// # Panics
/// When the folder is absent and nobody said that it may be.
pub fn public_data() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("ZBOUND_DATA").map_or(PathBuf::from(beside), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var("ZBOUND_SKIP_DATA").is_ok_and(|v| v == "1"),
        "no public instances at {}: name their folder in ZBOUND_DATA, or skip with ZBOUND_SKIP_DATA=1",
        folder.display()
    );
    log_skip();
    None
}

fn log_skip() {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    eprintln!("SKIPPED: {test}: no public instances");
    if let Some(path) = std::env::var_os("ZBOUND_SKIP_LOG") {
        let mut log = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(log, "{test}").unwrap();
    }
}
