//! The last share of the time: better lower bounds of the parts that weigh most.
//!
//! While the tree grows a part gets the mean field of a moment. What is worth more, a mixture of blocks over disjoint parts,
//! takes a tenth of a second, and is for the parts that are there at the end. A mixture splits its part by itself, so that
//! nodes above leaves are as good: as many are chosen as there is time for.

use super::grow::{Growth, watched};
use super::leaf::{Bounder, Known};
use crate::error::{Error, Result};
use crate::observer::{Monitor, Silent};
use crate::relax::{MeanField, TableBound};
use rayon::prelude::*;

/// Share of the time that is kept for it.
pub(super) const SHARE: f64 = 0.2;

/// Seconds that one part gets at least.
const SLOT: f64 = 0.1;

/// Longest time that is given to one part, in units of the shortest.
const LONGEST: f64 = 20.0;

impl Growth<'_> {
    /// Raises lower bounds until the time is up.
    pub(super) fn polish(&mut self, monitor: &mut Monitor<'_>) -> Result<()> {
        let Some(left) = monitor.seconds_left().filter(|left| *left > SLOT) else { return Ok(()) };
        self.bounder.settings.deadline = monitor.deadline().clone();
        let hands = self.hands();
        let nodes = self.tree.heaviest((hands as f64 * left / SLOT) as usize);
        if nodes.is_empty() {
            return Ok(());
        }
        // Those at the end are begun when others are done, and must find time left.
        let rounds = nodes.len().div_ceil(hands) as f64;
        let slot = (left / rounds).min(LONGEST * SLOT);
        let (bounder, tree) = (&self.bounder, &self.tree);
        let work = |&node: &u32| bounder.mixed(&tree.path(node), slot);
        let found = watched(&self.pool, monitor, || match &self.pool {
            Some(_) => nodes.par_iter().map(work).collect::<Vec<_>>(),
            None => nodes.iter().map(work).collect(),
        });
        for (&node, known) in nodes.iter().zip(found) {
            match known {
                Ok(known) => self.tree.raise(node, known),
                Err(Error::Interrupted(_) | Error::NotApplicable(_) | Error::Memory { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Bounder<'_> {
    /// The lower bound of mixtures of blocks for the part below a path.
    fn mixed(&self, path: &[(u32, u32)], seconds: f64) -> Result<Known> {
        if let Some(stop) = self.settings.deadline.stop() {
            return Err(Error::Interrupted(stop));
        }
        let mut settings = self.settings.clone().with_time_limit(Some(seconds));
        settings.trace = false;
        let mut known = Known::unknown();
        let part = self.part(path)?;
        known.take(MeanField.solve_tables(&part.factors()?, self.eps, &settings, &mut Silent)?, self.keep);
        Ok(known)
    }
}
