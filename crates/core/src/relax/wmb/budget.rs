//! How large tables may be: what memory holds, and what the time left pays for.

use super::gains::raised;
use super::reduced::Reduced;
use super::solve::{MOST_PASSES, Run};
use super::structure::{Rule, Structure};

/// Seconds a run takes when there is no limit.
const PATIENCE_SECS: f64 = 60.0;

/// Passes that a new stage must have time for, at least and times the root of the seconds left: what passes and what larger tables gain
/// grows alike with what is spent on them.
const WORTHWHILE_PASSES: (f64, f64) = (5.0, 2.0);

/// Growth of the next stage from which on this one is a preliminary.
const PRELIMINARY: f64 = 4.0;

/// Growth of the tables from one stage to the next.
pub(super) const GROWTH: f64 = 8.0;

/// Size of tables below which a mini-bucket costs the same whatever it holds.
const LEAST_LIMIT: f64 = 64.0;

/// Bytes per message entry and side: the message, and the law above it in single precision.
const MESSAGE_BYTES: f64 = 12.0;

/// Share of the memory limit that messages may take.
const MEMORY_SHARE: f64 = 0.7;

impl Run<'_, '_, '_> {
    /// Seconds left for improving.
    pub(super) fn seconds_left(&self) -> f64 {
        let limit = self.monitor.seconds_left().unwrap_or(f64::INFINITY);
        let spent = if self.wishes.is_counted { 0.0 } else { self.monitor.seconds() };
        let patience = PATIENCE_SECS - spent;
        if limit.is_finite() { limit } else { patience.max(0.0) }
    }

    /// Whether both sides are worked on at the same time.
    pub(super) fn are_at_once(&self) -> bool {
        self.wishes.threads > 1 && !self.wishes.upper_alone
    }

    /// How many verifications come one after another.
    pub(super) fn verifications(&self) -> f64 {
        if self.wishes.upper_alone || self.are_at_once() { 1.0 } else { 2.0 }
    }

    /// Seconds per unit of work of a stage of no more passes than are worthwhile, and of its verification.
    fn stage_secs(&self) -> f64 {
        let (least, scale) = WORTHWHILE_PASSES;
        let passes = least.max(scale * self.seconds_left().sqrt()).min(MOST_PASSES as f64);
        self.verifications() * (passes * self.pass_secs + self.verify_secs)
    }

    /// Whether much larger tables can come next: then few passes tell where they gain.
    pub(super) fn is_preliminary(&self, target: f64) -> bool {
        self.next_target(target).is_some_and(|next| next >= PRELIMINARY * target)
    }

    /// About how large single tables may become in the end.
    pub(super) fn final_limit(&self) -> f64 {
        if let Some(width) = self.wishes.ibound {
            return (width.min(60) as f64 + 1.0).exp2();
        }
        let affordable = 0.5 * self.seconds_left() / self.stage_secs();
        let memory = MEMORY_SHARE * self.wishes.memory / (2.0 * MESSAGE_BYTES);
        // A few large tables take most of what there is.
        (32.0 * affordable.min(memory) / self.model.d().max(1) as f64).max(16.0)
    }

    /// Work of the next stage, if there is time for it.
    pub(super) fn next_target(&self, target: f64) -> Option<f64> {
        if self.wishes.ibound.is_some() {
            return None;
        }
        let affordable = 0.8 * self.seconds_left() / self.stage_secs();
        let next = (target * GROWTH).min(affordable);
        (next >= 1.5 * target).then_some(next)
    }

    /// Splits buckets so that a pass takes about `target` of work and the tables fit the memory: one limit for all, and
    /// what is left where splits cost most, if `costs` says where.
    pub(super) fn fit(&mut self, model: &Reduced, target: f64, costs: Option<&[f64]>) -> (Rule, Structure) {
        let most = MEMORY_SHARE * self.wishes.memory / (2.0 * MESSAGE_BYTES);
        if let Some(mut width) = self.wishes.ibound {
            loop {
                let rule = Rule { limit: f64::INFINITY, width, keep_zeros_together: false };
                let structure = Structure::new(model, rule, Vec::new());
                if structure.message_entries() as f64 <= most || width == 0 {
                    return (rule, structure);
                }
                width = (structure.largest.log2().min(width as f64) as usize).saturating_sub(1);
                self.found.narrowed = Some(width);
            }
        }
        let fits = |s: &Structure| s.work() <= target && s.message_entries() as f64 <= most;
        let rule = |limit: f64| Rule { limit, width: usize::MAX - 1, keep_zeros_together: false };
        let mut limit = LEAST_LIMIT.max((target / model.d().max(1) as f64).log2().floor().exp2()).min(1e15);
        let mut best = Structure::new(model, rule(limit), Vec::new());
        while best.message_entries() as f64 > most && limit > 4.0 {
            limit /= 2.0;
            best = Structure::new(model, rule(limit), Vec::new());
        }
        while best.len() > model.d() {
            let larger = Structure::new(model, rule(2.0 * limit), Vec::new());
            if !fits(&larger) {
                break;
            }
            limit *= 2.0;
            best = larger;
        }
        if let Some(costs) = costs.filter(|_| best.len() > model.d()) {
            best = raised(model, rule(limit), costs, best, fits);
        }
        (rule(limit), best)
    }
}
