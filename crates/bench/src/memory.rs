//! Peak memory of this process, where the system tells.
//!
//! The C library keeps freed blocks, which would hide memory used again; with the environment variable
//! `MALLOC_MMAP_THRESHOLD_=65536` it returns them, so the peak is measured only then.

use std::fs;

/// Resident bytes when the measurement began.
pub(crate) struct PeakMemory {
    start: f64,
}

impl PeakMemory {
    /// Resets the peak; `None` where `/proc` does not allow it or the C library keeps freed blocks.
    pub(crate) fn start() -> Option<Self> {
        std::env::var_os("MALLOC_MMAP_THRESHOLD_")?;
        fs::write("/proc/self/clear_refs", "5").ok()?;
        Some(PeakMemory { start: field("VmRSS:")? })
    }

    /// Most bytes in use since the start, above those in use then.
    pub(crate) fn bytes(self) -> Option<f64> {
        Some(field("VmHWM:")? - self.start)
    }
}

/// A field of `/proc/self/status`, in bytes.
fn field(name: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0)
}
