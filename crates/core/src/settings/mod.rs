//! Every knob, its default and its legal range.

mod choices;

pub use choices::{Greedy, Method, Pairwise, Rho, Solver};

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use std::fmt::Display;

/// Tolerances, limits and choices of a solve; see each field for its default.
///
/// ```
/// use zbound::Settings;
/// let settings = Settings::default().with_tol(1e-6).with_time_limit(Some(10.0));
/// settings.validate()?;
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Relative relaxation gap at which a solve stops, in [1e-15, 1]. Default 1e-8.
    pub tol: f64,
    /// Iteration cap of the outermost loop; `None` lets each algorithm use its own.
    pub max_iterations: Option<usize>,
    /// Wall-clock limit in seconds, >= 0, from the start of the solve; never beyond [`Settings::deadline`].
    pub time_limit_secs: Option<f64>,
    /// When the run that this solve is part of has to end, and the flag that cancels it. Default none.
    pub deadline: Deadline,
    /// Threads for independent sub-problems (candidates, blocks of states). Default 1.
    pub threads: usize,
    /// Algorithm. Default `Auto`.
    pub solver: Solver,
    /// Edge appearance probabilities of TRW.
    pub rho: Rho,
    /// Pairwise constraints of log-det.
    pub pairwise: Pairwise,
    /// Greedy features. Default 3.
    pub greedy: Greedy,
    /// Features that greedy selection adds per round, at least 1. Default 1, as in the paper.
    pub greedy_batch: usize,
    /// Memory limit in bytes for one solve. Default 8 GiB.
    pub memory_limit: u64,
    /// Variables, besides the one summed out, that a mini-bucket of `wmb` or a clique of a block of `mean-field` may have; `None` lets
    /// memory and time decide.
    pub ibound: Option<usize>,
    /// Seed of randomised orders and restarts. Default 0.
    pub seed: u64,
    /// Keep the trace of gaps. Default true.
    pub trace: bool,
    /// Chambolle-Pock primal step, > 0. Default 3.
    pub cp_tau: f64,
    /// Chambolle-Pock dual step, > 0, `tau sigma < 1`. Default 0.3.
    pub cp_sigma: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            tol: 1e-8,
            max_iterations: None,
            time_limit_secs: None,
            deadline: Deadline::default(),
            threads: 1,
            solver: Solver::Auto,
            rho: Rho::Optimized,
            pairwise: Pairwise::All,
            greedy: Greedy::Count(3),
            greedy_batch: 1,
            memory_limit: 8 << 30,
            ibound: None,
            seed: 0,
            trace: true,
            cp_tau: 3.0,
            cp_sigma: 0.3,
        }
    }
}

macro_rules! with {
    ($($(#[$doc:meta])* $name:ident: $field:ident $kind:ty;)*) => {
        impl Settings {
            $($(#[$doc])* #[must_use]
            pub fn $name(mut self, value: $kind) -> Self {
                self.$field = value;
                self
            })*
        }
    };
}

with! {
    /// Sets [`Settings::tol`].
    with_tol: tol f64;
    /// Sets [`Settings::max_iterations`].
    with_max_iterations: max_iterations Option<usize>;
    /// Sets [`Settings::time_limit_secs`].
    with_time_limit: time_limit_secs Option<f64>;
    /// Sets [`Settings::deadline`].
    with_deadline: deadline Deadline;
    /// Sets [`Settings::threads`].
    with_threads: threads usize;
    /// Sets [`Settings::solver`].
    with_solver: solver Solver;
    /// Sets [`Settings::rho`].
    with_rho: rho Rho;
    /// Sets [`Settings::pairwise`].
    with_pairwise: pairwise Pairwise;
    /// Sets [`Settings::greedy`].
    with_greedy: greedy Greedy;
    /// Sets [`Settings::greedy_batch`].
    with_greedy_batch: greedy_batch usize;
    /// Sets [`Settings::memory_limit`].
    with_memory_limit: memory_limit u64;
    /// Sets [`Settings::ibound`].
    with_ibound: ibound Option<usize>;
    /// Sets [`Settings::seed`].
    with_seed: seed u64;
}

impl Settings {
    /// When a solve that starts now has to end.
    pub(crate) fn ends(&self) -> Deadline {
        self.deadline.within(self.time_limit_secs)
    }

    /// The same settings for a part of a solve, which may take `seconds` and ends with the whole.
    pub(crate) fn for_part(&self, whole: &Deadline, seconds: Option<f64>) -> Self {
        Settings { deadline: whole.clone(), time_limit_secs: seconds, ..self.clone() }
    }

    /// Refuses what needs more than the memory limit, saying what it is and what to do.
    pub(crate) fn require_memory(&self, bytes: u64, what: impl Display, hint: &str) -> Result<()> {
        if bytes <= self.memory_limit {
            return Ok(());
        }
        let limit = self.memory_limit;
        Err(Error::Memory { what: what.to_string(), needed: bytes, limit, hint: hint.into() })
    }

    /// Checks every value; each solve calls this first.
    ///
    /// # Errors
    /// Names the first setting outside its range, and the range.
    pub fn validate(&self) -> Result<()> {
        let bad = |what: String| Err(Error::Setting(what));
        if !(1e-15..=1.0).contains(&self.tol) {
            return bad(format!("tol = {:?}: expected a number between 1e-15 and 1", self.tol));
        }
        if let Some(seconds) = self.time_limit_secs.filter(|t| !(*t >= 0.0)) {
            return bad(format!("time limit = {seconds:?}: expected a number of seconds, at least 0"));
        }
        if !(1..=1024).contains(&self.threads) {
            return bad(format!("threads = {}: expected 1 to 1024", self.threads));
        }
        if self.greedy_batch == 0 {
            return bad("greedy batch = 0: expected at least 1 feature per round".into());
        }
        if self.max_iterations == Some(0) {
            return bad("max iterations = 0: expected at least 1".into());
        }
        let (tau, sigma) = (self.cp_tau, self.cp_sigma);
        if !(tau > 0.0 && sigma > 0.0 && tau.is_finite() && tau * sigma <= 1.0) {
            return bad(format!(
                "Chambolle-Pock steps tau = {tau}, sigma = {sigma}: expected tau, sigma > 0 with tau sigma <= 1"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_setting_is_named() {
        let base = Settings::default;
        for (settings, name) in [
            (base().with_tol(f64::NAN), "tol"),
            (base().with_tol(0.0), "tol"),
            (base().with_time_limit(Some(-1.0)), "time"),
            (base().with_time_limit(Some(f64::NAN)), "time"),
            (base().with_threads(0), "threads"),
            (base().with_max_iterations(Some(0)), "iterations"),
            (Settings { greedy_batch: 0, ..base() }, "batch"),
            (Settings { cp_tau: f64::INFINITY, ..base() }, "Chambolle"),
            (Settings { cp_sigma: f64::NAN, ..base() }, "Chambolle"),
        ] {
            assert!(settings.validate().unwrap_err().to_string().contains(name), "{name}");
        }
        assert!(base().validate().is_ok());
    }
}
