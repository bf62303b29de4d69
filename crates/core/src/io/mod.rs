//! Readers and writers, one file per format.
//!
//! | format | extension | `f(x)` |
//! |---|---|---|
//! | [`Format::Json`] | `.json` | `c + h.x + sum J_ij x_i x_j + sum v_A x^A` |
//! | [`Format::Uai`] | `.uai` | sum of the logarithms of the tables, last scope variable fastest |
//! | [`Format::LibDai`] | `.fg` | sum of the logarithms of the tables, first variable fastest |
//! | [`Format::Coo`], [`Format::DimodJson`] | `.coo`, `.json` | `-beta E` |
//! | [`Format::Rudy`] | `.mc`, `.rud`, `.txt`, `.dat`, none | the weight of a cut, `(W - sum w x_i x_j)/2` |
//! | [`Format::Qubo`], [`Format::Bq`] | `.qubo`, `.bq` | `-beta E` |
//!
//! Input is hostile: every refusal names file and line, nothing is allocated on the word of a
//! header alone, and nothing lossy is silent ([`crate::Model::warnings`]). A decimal number means
//! the nearest `f64`; every rounding after that (logarithms, sums, conversion from {0,1} to
//! spins) is bounded and joins the model's uncertainty.
//!
//! Writers write the model *on its free spins*: evidence is applied, fixed spins are gone, and
//! the free ones are renumbered in order. Energies are written for `beta = 1`, that is `E = -f`.

mod atomic;
mod coo;
mod dimod_json;
mod energy;
mod evidence;
mod fg;
mod format;
mod json;
mod json_factors;
mod qubo;
mod read;
mod rudy;
mod tables;
mod text;
mod uai;
mod write;

pub use atomic::{remove_stale, write_atomic};
pub use evidence::read_evidence;
pub use format::Format;
pub use read::{ReadOptions, read, read_bytes};
pub use write::{write, write_to};
