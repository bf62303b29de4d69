//! Certified brackets on the log-partition function of Ising models and Markov random fields.
//!
//! For a function `f` of finitely many discrete variables and a temperature `eps` this crate proves numbers
//! ```text
//! lower <= eps log Z <= upper,    Z = sum over all states x of exp(f(x) / eps),
//! ```
//! and hands out the proof. With `Phi(f) = eps log E_x[exp(f(x)/eps)]`, x uniform, an upper bound is data for one identity,
//! ```text
//! f + (something nonnegative) = sum_k w_k f_k + (a small defect),   so   Phi(f) <= sum_k w_k Phi(f_k) + |defect|,
//! ```
//! with a closed form for every `Phi(f_k)`; a lower bound is a distribution or a sum over some of the states. Whatever finds the
//! data may be wrong, stop early or be interrupted: [`certify`] derives the number again in outward-rounded
//! arithmetic, and only that number is called a bound.
//!
//! ```
//! use zbound::run::{BoundRequest, MethodChoice, bound};
//! use zbound::{Ising, Method, Model, Silent};
//!
//! // Three spins of which no two want to agree.
//! let model = Model::from(Ising::new(3, &[0.1, 0.0, 0.0], &[(0, 1, -1.0), (0, 2, -1.0), (1, 2, -1.0)])?);
//! let mut request = BoundRequest::default();
//! request.methods = MethodChoice::List(vec![Method::Trw, Method::Combined, Method::MeanField]);
//! let report = bound(&model, &request, &mut Silent)?;
//!
//! let log_z = report.record.best.log_z;
//! let (lower, upper) = (log_z.lower.unwrap(), log_z.upper.unwrap());
//! assert!(lower <= 2.8029 && 2.8028 <= upper && upper - lower < 0.5);
//! let proof = report.best_certificate().unwrap();
//! assert!(proof.verify(&model.polynomial()?)?.phi() < 0.9);
//! # Ok::<(), zbound::Error>(())
//! ```
//!
//! # Map
//! | module | holds |
//! |---|---|
//! | [`Ising`], [`Polynomial`], [`FactorModel`], [`Model`], [`generate`] | what is bounded: f in three forms, evidence, random models |
//! | [`io`] | one file per format; input is hostile |
//! | [`Features`], [`Problem`], [`Settings`], [`Solution`], [`Choice`] | what is asked and what comes back |
//! | [`relax`] | one folder per bound |
//! | [`exact`] | enumeration and elimination: the oracles |
//! | [`search`] | good assignments |
//! | [`query`] | maxima, branching, divergences, marginals, samples, estimates |
//! | [`run`], [`record`] | the driver that the command line and Python call, and its one result document |
//! | [`sweep`] | grids of random instances and methods |
//! | [`certify`] | **the trusted part**: interval arithmetic, one file per closed form, the file format |
//! | [`linalg`] | linear algebra that several methods share; not trusted |

mod aside;
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
    Adjacency, Alphabet, FactorModel, FactorRef, Ising, Model, Polynomial, Source, Units, VarSet, generate,
};
pub use observer::{Flow, Observer, Progress, Silent};
pub use problem::{EPS_RANGE, Problem};
pub use settings::{Greedy, Method, Pairwise, Rho, Settings, Solver};
pub use solution::{GreedyStep, Sampling, Solution, StopReason, TracePoint};
