//! Certified bounds on the log-partition function of Ising models and binary Markov random fields.
//!
//! For `f` on the cube {-1,+1}^d and a temperature eps this crate bounds
//! `Phi(f) = eps log E_x[exp(f(x)/eps)]` (x uniform; `eps log Z = Phi + eps d log 2`) from above by
//! writing `f + (something nonnegative) = sum_k w_k f_k` with closed forms for each `Phi(f_k)`.
//! Every printed bound is re-derived from such a certificate in outward-rounded arithmetic.

pub mod certify;
mod choice;
mod deadline;
mod error;
pub mod exact;
mod features;
pub mod io;
pub mod linalg;
mod model;
mod observer;
mod problem;
pub mod query;
pub mod record;
pub mod relax;
pub mod run;
pub mod search;
mod settings;
mod solution;
pub mod sweep;
mod tables;

pub use choice::Choice;
pub use deadline::Deadline;
pub use error::{Error, Result};
pub use features::{Classes, FeatureSpec, Features, MAX_FEATURES};
pub use model::{
    Adjacency, FactorModel, FactorRef, Ising, Model, Polynomial, Source, Units, VarSet, generate,
};
pub use observer::{Flow, Observer, Progress, Silent};
pub use problem::{EPS_RANGE, Problem};
pub use settings::{Greedy, Method, Pairwise, Rho, Settings, Solver};
pub use solution::{GreedyStep, Sampling, Solution, StopReason, TracePoint};
