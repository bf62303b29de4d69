//! The paper's figures: sweeps with a fixed configuration, a plot, and the claims made about it.

mod build;
mod checks;
mod data;
mod statements;

pub use build::chart;
pub use checks::{Evidence, Finding, Verdict};
pub use data::{FigureData, deviation, mean};
pub use statements::findings;

use crate::spec::{Config, parse};
use anyhow::{Context as _, Result};

/// A figure of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The paper's label.
    pub id: &'static str,
    text: &'static str,
}

macro_rules! figures {
    ($($id:literal),* $(,)?) => {
        /// Every figure, in the order of the paper.
        pub const FIGURES: &[Figure] = &[
            $(Figure { id: $id, text: include_str!(concat!("../../experiments/", $id, ".toml")) }),*
        ];
    };
}

figures!(
    "logp_1",
    "comp_2",
    "comp_rho_fixed_2",
    "KL_1",
    "comp_1",
    "comp_rho_fixed_1",
    "comp_3",
    "hierarchies_greedy_1",
    "hierarchies_greedy_2a",
    "hierarchies_greedy_2b",
    "comp_large_d",
    "CP_gap_iter",
    "CP_iter_d",
    "CP_gap_iter_ho",
    "CP_iter_n",
);

impl Figure {
    /// Its sweep.
    ///
    /// # Errors
    /// None, while the configuration that is part of the program is one.
    pub fn config(&self) -> Result<Config> {
        parse(self.text).with_context(|| format!("experiments/{}.toml", self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zbound::sweep::{Overrides, Plan};

    #[test]
    fn every_configuration_is_a_plan_with_a_figure() {
        assert_eq!(FIGURES.len(), 15);
        for figure in FIGURES {
            let config = figure.config().unwrap();
            let plan = Plan::new(&config, &Overrides::default()).unwrap();
            let spec = config.figure.unwrap();
            assert!(!plan.jobs.is_empty() && !spec.title.is_empty(), "{}", figure.id);
            let optional =
                Overrides { with: vec!["combined".into(), "greedy-large".into()], ..Overrides::default() };
            let all = Plan::new(&figure.config().unwrap(), &optional).unwrap();
            for curve in spec.panels.iter().flat_map(|p| p.curves.iter().flatten()) {
                assert!(all.jobs.iter().any(|job| job.curve == *curve), "{}: {curve}", figure.id);
            }
        }
    }
}
