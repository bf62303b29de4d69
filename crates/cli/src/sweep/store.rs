//! Records on disk: JSON lines, appended whole, that survive a kill at any point.

use anyhow::{Context as _, Result, bail};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use zbound::sweep::SweepRecord;

/// Name of the file in the output folder.
const FILE: &str = "records.jsonl";

/// Longest time an appended record may wait for the disk.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The open file of records, locked against a second sweep.
#[derive(Debug)]
pub(crate) struct Store {
    file: File,
    path: PathBuf,
    synced: Instant,
    records: HashMap<String, SweepRecord>,
}

impl Store {
    /// Opens (or begins) the records in `folder`. An existing file is refused unless `resume`; then its
    /// torn last line, if any, is cut off.
    pub(crate) fn open(folder: &Path, resume: bool) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let path = folder.join(FILE);
        let context = || path.display().to_string();
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(&path).with_context(context)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{}: another sweep is writing here", path.display()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(context),
        }
        zbound::io::remove_stale(folder);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(context)?;
        if !bytes.is_empty() && !resume {
            bail!("{} exists: continue it with --resume, or choose another --out", path.display());
        }
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).with_context(context)?;
            file.seek(SeekFrom::End(0)).with_context(context)?;
        }
        let records = parse_lines(&bytes[..whole]).into_iter().map(|r| (r.key.clone(), r)).collect();
        Ok(Store { file, path, synced: Instant::now(), records })
    }

    /// The record with this key, if it is there and need not be computed again.
    pub(crate) fn done(&self, key: &str) -> bool {
        self.records.get(key).is_some_and(SweepRecord::is_final)
    }

    /// The latest record with this key.
    pub(crate) fn get(&self, key: &str) -> Option<&SweepRecord> {
        self.records.get(key)
    }

    /// Appends records, each as one line in one write.
    pub(crate) fn append(&mut self, records: Vec<SweepRecord>) -> Result<()> {
        let mut lines = Vec::new();
        for record in &records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        let context = || self.path.display().to_string();
        self.file.write_all(&lines).with_context(context)?;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.file.sync_data().with_context(context)?;
            self.synced = Instant::now();
        }
        self.records.extend(records.into_iter().map(|r| (r.key.clone(), r)));
        Ok(())
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_all().with_context(|| self.path.display().to_string())
    }
}

/// Whole lines that are records; anything else (a line damaged by a failing disk) is computed again.
fn parse_lines(bytes: &[u8]) -> Vec<SweepRecord> {
    bytes.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// The records of a finished or running sweep, later ones replacing earlier ones, in file order.
pub(crate) fn read_lines(path: &Path) -> Result<Vec<SweepRecord>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let mut position = HashMap::new();
    let mut out: Vec<SweepRecord> = Vec::new();
    for record in parse_lines(&bytes) {
        match position.get(&record.key) {
            Some(&k) => out[k] = record,
            None => {
                position.insert(record.key.clone(), out.len());
                out.push(record);
            }
        }
    }
    if out.is_empty() {
        bail!("{}: no records of a sweep in it", path.display());
    }
    Ok(out)
}
