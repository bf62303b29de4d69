//! Ctrl-C and SIGTERM: the first asks the work to end, the second ends the process.

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What a shell adds to the number of a signal to make an exit code.
const SHELL_OFFSET: i32 = 128;

/// The signals caught since they were taken over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    /// Number of the last signal, 0 for none.
    caught: Arc<AtomicUsize>,
    /// When it was first seen.
    seen: Arc<OnceLock<Instant>>,
}

impl Signals {
    /// Takes over SIGINT and SIGTERM.
    pub(crate) fn take_over() -> Result<Self> {
        let signals = Signals::default();
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Actions run in the order of registration: the flag is not yet set at the first signal.
            flag::register_conditional_shutdown(signal, SHELL_OFFSET + signal, Arc::clone(&again))
                .and_then(|_| flag::register(signal, Arc::clone(&again)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&signals.caught), signal as usize))
                .context("cannot take over SIGINT and SIGTERM")?;
        }
        Ok(signals)
    }

    /// The exit code that the signal caught asks for: 130 for SIGINT, 143 for SIGTERM.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match self.caught.load(Ordering::SeqCst) {
            0 => None,
            signal => u8::try_from(SHELL_OFFSET as usize + signal).ok(),
        }
    }

    /// Whether a signal was caught.
    pub(crate) fn is_caught(&self) -> bool {
        self.exit_code().is_some()
    }

    /// Seconds since this was first asked after a signal.
    pub(crate) fn seconds_since_caught(&self) -> Option<f64> {
        self.is_caught().then(|| self.seen.get_or_init(Instant::now).elapsed().as_secs_f64())
    }
}
