//! Files that appear whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Writes a file atomically: to a temporary file in the same folder, synced, then renamed.
///
/// After a crash or an error at any point the old content (or absence) of `path` is intact. A
/// symbolic link is followed, permissions of an existing file are kept, and what is not a regular
/// file (a pipe, `/dev/stdout`) is written in place.
///
/// # Errors
/// [`Error::Io`] with `path`, also for errors returned by `write`.
///
/// ```
/// # let folder = std::env::temp_dir();
/// # let path = folder.join(format!("zbound-doc-{}", std::process::id()));
/// zbound::io::write_atomic(&path, |out| out.write_all(b"whole\n"))?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"whole\n");
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    replace(path, write).map_err(|e| Error::io(path, e))
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|m| !m.is_file()) {
        let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    // Renaming onto a link would replace the link, not the file behind it.
    let target = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let (file, temporary) = Temporary::create(&target)?;
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(metadata) = old {
        file.set_permissions(metadata.permissions())?;
    }
    file.sync_all()?;
    drop(file);
    temporary.rename(&target)?;
    sync_folder(&target)
}

/// Removes the temporary files that killed processes left in `folder`; those of living ones stay. What cannot be read
/// or removed is left alone, and where the system does not list its processes nothing is.
pub fn remove_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(writer) else { continue };
        if process != std::process::id() && is_dead(process) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process that made a temporary file of this name.
fn writer(name: &str) -> Option<u32> {
    let mut parts = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplitn(3, '.');
    parts.next()?.parse::<u32>().ok()?;
    parts.next()?.parse().ok().filter(|_| parts.next().is_some_and(|name| !name.is_empty()))
}

/// Whether the system, which lists its living processes, does not list this one.
fn is_dead(process: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists()
}

/// A temporary file that disappears unless renamed.
struct Temporary(Option<PathBuf>);

impl Temporary {
    fn create(target: &Path) -> io::Result<(File, Self)> {
        let Some(name) = target.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file name"));
        };
        let mut attempt = 0;
        loop {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}.{attempt}.tmp", std::process::id()));
            let path = target.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, Temporary(Some(path)))),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
                Err(e) => return Err(e),
            }
        }
    }

    fn rename(mut self, target: &Path) -> io::Result<()> {
        let Some(path) = self.0.as_ref() else { return Ok(()) };
        fs::rename(path, target)?;
        self.0 = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Nothing can be done about a leftover here, and the first error is the one to report.
            let _ = fs::remove_file(path);
        }
    }
}

/// Makes the rename itself durable; only Unix can open a folder.
fn sync_folder(target: &Path) -> io::Result<()> {
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.json");
        write_atomic(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_atomic(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(error.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_leftovers_of_dead_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        // Process numbers end at 2^22 on Linux.
        let own = format!(".records.csv.{}.0.tmp", std::process::id());
        let names =
            [".records.csv.4194999.0.tmp", &own, ".records.csv.1.7.tmp", ".other.tmp", "x.4194999.0.tmp"];
        names.iter().for_each(|name| fs::write(folder.path().join(name), "half").unwrap());
        remove_stale(folder.path());
        let left = |name: &&&str| folder.path().join(name).exists();
        assert_eq!(names.iter().filter(left).collect::<Vec<_>>(), names[1..].iter().collect::<Vec<_>>());
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices_survive() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&file, &link).unwrap();
        write_atomic(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        write_atomic(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
