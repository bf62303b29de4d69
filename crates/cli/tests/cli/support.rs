//! Running the binary and writing small models.

use assert_cmd::Command;
use std::path::PathBuf;
use tempfile::TempDir;

/// The binary, outside any terminal.
pub(crate) fn zbound() -> Command {
    Command::cargo_bin("zbound").expect("the binary is built")
}

/// A folder of models that disappears at the end of the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a writable folder");
        path
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a readable folder");
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    /// Two spins with coupling 1: Z = 2e + 2/e.
    pub(crate) fn pair(&self) -> PathBuf {
        self.write("pair.json", r#"{"d":2,"couplings":[[0,1,1.0]]}"#)
    }

    /// A complete graph on `d` spins, drawn by the program itself.
    pub(crate) fn complete(&self, d: usize) -> PathBuf {
        let path = self.path(&format!("complete{d}.json"));
        let size = d.to_string();
        let args = ["generate", "--family", "gaussian", "--graph", "complete", "--seed", "1", "--d", &size];
        zbound().args(args).arg("--out").arg(&path).assert().success();
        path
    }
}

/// Runs the command, checks its exit code, and reads standard output as one JSON document.
pub(crate) fn json(command: &mut Command, code: i32) -> serde_json::Value {
    let output = command.assert().code(code).get_output().stdout.clone();
    serde_json::from_slice(&output).expect("one JSON document on standard output")
}

/// log(2e + 2/e), the log-partition function of [`Folder::pair`].
pub(crate) const PAIR_LOG_Z: f64 = 1.8200751916029179;
