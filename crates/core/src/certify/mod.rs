//! Proofs: the certificate every method returns, and the rigorous arithmetic that checks it.
//!
//! Every upper bound of this crate is data for one identity,
//! `f + cuts + phi^T S phi = sum_k w_k f_k + defect`, in which the left side is at least f on the
//! cube, Phi is convex, and each `Phi(f_k)` has a closed form; or it is a weighted elimination of the model's tables
//! (`Form::Tables`), which needs no polynomial, or a sum over parts of the state space (`Form::Tree`) with
//! such a proof for each.

// `!(x < limit)` is how a test rejects NaN; that is the point of it.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

mod bound;
mod certificate;
mod claim;
mod defect;
mod elimination;
mod enclosure;
pub(crate) mod exp_log;
mod file;
mod forest;
mod header;
mod header_forms;
mod header_source;
mod header_tables;
pub(crate) mod interval;
mod layer;
mod limits;
mod logdet;
mod noise;
mod slack;
mod sparse;
mod spectral;
mod subject;
mod tables;
mod tangent;
mod tree;
mod verify;
mod weighted;
mod witness;

pub use bound::CertifiedBound;
pub(crate) use bound::Side;
pub use certificate::{Certificate, Component, Cut, Form, Slack, SumOfSquares, Witness};
pub use claim::Claim;
pub use interval::Interval;
pub use limits::Limits;
pub use noise::Noise;
pub use tables::{MiniBucket, Removal, Shift, WeightedElimination};
pub use tree::Tree;
pub(crate) use tree::sum as sum_of_parts;
