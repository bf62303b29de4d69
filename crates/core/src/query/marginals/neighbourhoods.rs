//! The first cut of every law, from what is round its variable: cheap, and independent of the size of the model.

use super::cells::{Cells, UNKNOWN};
use super::local::Local;
use super::walks::{Extent, Walks};
use crate::certify::Interval;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::exact::{Shares, pool, shares};
use crate::model::Model;
use crate::observer::{Flow, Observer, Progress};
use rayon::prelude::*;
use std::time::Instant;

/// Walks of round r end where their influence is below this to the power r.
const INFLUENCE: f64 = 0.5;
/// Edges looked at from one root, at most: some milliseconds.
const STEPS: usize = 1 << 16;
/// Roots between two looks at the observer, per thread: walks at full length take a tenth of a second then.
const BATCH: usize = 32;
/// Fewest gained on average per law by a round after which the next is worth its time, which is twice as long.
const LEAST_GAIN: f64 = 1e-4;

/// What a stage needs to know of the run.
pub(super) struct Stage<'a> {
    pub(super) model: &'a Model,
    pub(super) eps: f64,
    pub(super) threads: usize,
    pub(super) ends: Deadline,
    pub(super) start: Instant,
}

impl Stage<'_> {
    /// Cuts the laws of single variables; says whether the observer asked for an end.
    pub(super) fn run(&self, cells: &mut Cells<'_>, observer: &mut dyn Observer) -> Result<bool> {
        let mut place = vec![usize::MAX; self.model.variables()];
        self.model.free_variables().into_iter().enumerate().for_each(|(k, i)| place[i] = k);
        let spins = if self.model.is_binary() { self.model.polynomial().ok() } else { None };
        if let Some(walks) = spins.as_ref().and_then(|f| Walks::new(f, self.eps)) {
            return self.walk(&walks, &place, cells, observer);
        }
        let local = Local::new(&self.model.factors()?, self.eps);
        for cell in cells.singles.iter_mut().filter(|cell| place[cell.first] != usize::MAX) {
            let states = cell.law.len();
            cell.cut(local.law(place[cell.first], states));
        }
        Ok(false)
    }

    /// Walks of growing length from every open variable, until time is up or there is no more to gain.
    fn walk(
        &self,
        walks: &Walks,
        place: &[usize],
        cells: &mut Cells<'_>,
        observer: &mut dyn Observer,
    ) -> Result<bool> {
        let crew = Crew::new(walks, self.threads.max(1))?;
        let mut workspaces = crew.workspaces();
        let singles = &mut cells.singles;
        let mut open: Vec<usize> =
            (0..singles.len()).filter(|&k| place[singles[k].first] != usize::MAX).collect();
        for round in 0.. {
            let extent = Extent { influence: INFLUENCE.powi(round), steps: STEPS };
            let batch_size = self.threads.max(1) * if round == 0 { 64 * BATCH } else { BATCH };
            let mut gained = 0.0;
            let mut growing = Vec::new();
            for batch in open.chunks(batch_size) {
                if observer.observe(&Progress::at(self.start.elapsed().as_secs_f64())) == Flow::Stop {
                    return Ok(true);
                }
                // The first round is what every interval gets, and as good as free.
                if round > 0 && self.ends.stop().is_some() {
                    return Ok(false);
                }
                let roots: Vec<usize> = batch.iter().map(|&k| place[singles[k].first]).collect();
                for (&k, (law, can_grow)) in batch.iter().zip(crew.laws(&roots, extent, &mut workspaces)) {
                    let before = singles[k].width();
                    singles[k].cut(law);
                    gained += before - singles[k].width();
                    if can_grow && !singles[k].is_closed() {
                        growing.push(k);
                    }
                }
            }
            let is_worth_it = round < 4 || gained > LEAST_GAIN * open.len() as f64;
            if growing.is_empty() || !is_worth_it {
                break;
            }
            open = growing;
        }
        Ok(false)
    }
}

/// Threads that walk, each with a workspace of its own.
struct Crew<'w> {
    walks: &'w Walks,
    pool: Option<rayon::ThreadPool>,
    threads: usize,
}

impl<'w> Crew<'w> {
    fn new(walks: &'w Walks, threads: usize) -> Result<Self> {
        Ok(Crew { walks, pool: pool(threads)?, threads })
    }

    fn workspaces(&self) -> Vec<Vec<u32>> {
        (0..self.threads).map(|_| self.walks.workspace()).collect()
    }

    /// The laws of some roots, in order, each with whether longer walks would say more.
    fn laws(
        &self,
        roots: &[usize],
        extent: Extent,
        workspaces: &mut [Vec<u32>],
    ) -> Vec<(Vec<[f64; 2]>, bool)> {
        let share = roots.len().div_ceil(self.threads).max(1);
        let work = |(part, left): (&[usize], &mut Vec<u32>)| -> Vec<_> {
            let one = |&root: &usize| {
                let found = self.walks.odds(root, extent, left);
                (law(found.odds), found.can_grow)
            };
            part.iter().map(one).collect()
        };
        let parts: Vec<Vec<_>> = match &self.pool {
            None => roots.chunks(share).zip(workspaces).map(work).collect(),
            Some(pool) => pool.install(|| roots.par_chunks(share).zip(workspaces).map(work).collect()),
        };
        parts.into_iter().flatten().collect()
    }
}

/// The law of a spin with log odds in an interval.
fn law(odds: Interval) -> Vec<[f64; 2]> {
    shares(&Shares { parts: &[Interval::ZERO, odds], whole: UNKNOWN, eps: 1.0 })
}
