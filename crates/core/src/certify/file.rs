//! Certificates on disk: a magic line, one line of JSON, then raw little-endian floats.
//!
//! `docs/certificate-format.md` describes every field. Integers and shapes are in the header, every
//! float of the proof in the array section, in the order in which this file writes them.

use super::certificate::Certificate;
use super::claim::Claim;
use super::header::Header;
use crate::error::{Error, Result};
use std::io::Write;
use std::path::Path;

/// First line of every certificate; the number is the version of the format.
pub(crate) const MAGIC: &str = "zbound-certificate 2\n";

/// Format 1 names evidence by spins and knows no proofs about tables; it is still read.
const OLD_MAGIC: &str = "zbound-certificate 1\n";

impl Certificate {
    /// Writes the certificate with what it claims. The file appears whole or not at all: it is written under
    /// another name in the same folder, flushed to disk and renamed.
    ///
    /// **Cost** 12 n^2 bytes per dense matrix with its eigenvectors.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, path: &Path, claim: &Claim) -> Result<()> {
        let bytes = self.to_bytes(claim);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let written = write_flushed(&temporary, &bytes).and_then(|()| std::fs::rename(&temporary, path));
        if let Err(source) = written {
            // The half-written file is of no use; the first error is the one to report.
            let _ = std::fs::remove_file(&temporary);
            return Err(Error::io(path, source));
        }
        if let Some(Ok(folder)) = path.parent().map(std::fs::File::open) {
            // Not every file system lets a folder be flushed, and the data are safe already.
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Reads a certificate and its claim. Nothing is believed: the claim is the file's word until
    /// [`Claim::confirm`].
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Certificate`] for anything but a well-formed certificate.
    pub fn read(path: &Path) -> Result<(Certificate, Claim)> {
        let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
        Certificate::from_bytes(&bytes)
    }

    /// The bytes [`Certificate::write`] puts on disk.
    pub fn to_bytes(&self, claim: &Claim) -> Vec<u8> {
        let mut floats = Vec::new();
        let header = Header::new(self, claim, &mut floats);
        let mut bytes = MAGIC.as_bytes().to_vec();
        bytes.extend(header.to_line().into_bytes());
        bytes.extend(floats.iter().flat_map(|v: &f64| v.to_le_bytes()));
        bytes
    }

    /// Reads what [`Certificate::to_bytes`] made. Memory use is a small multiple of the input's length.
    ///
    /// # Errors
    /// [`Error::Certificate`] for anything but a well-formed certificate.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Certificate, Claim)> {
        let known = [(MAGIC, 2), (OLD_MAGIC, 1)].into_iter();
        let mut known =
            known.filter_map(|(magic, format)| Some((bytes.strip_prefix(magic.as_bytes())?, format)));
        let Some((rest, format)) = known.next() else {
            return Err(malformed("the first line is not `zbound-certificate 2`"));
        };
        let Some(end) = rest.iter().position(|&b| b == b'\n') else {
            return Err(malformed("the header line does not end"));
        };
        let (line, raw) = (&rest[..end], &rest[end + 1..]);
        let (chunks, []) = raw.as_chunks::<8>() else {
            return Err(malformed("the array section is not a whole number of floats"));
        };
        let header: Header = serde_json::from_slice(line).map_err(|e| malformed(&e.to_string()))?;
        let floats: Vec<f64> = chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
        header.into_certificate(&floats, format)
    }
}

pub(super) fn malformed(what: &str) -> Error {
    Error::Certificate(format!("malformed file: {what}"))
}

fn write_flushed(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
