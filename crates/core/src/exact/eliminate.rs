//! Variable elimination: log Z with a proved enclosure.
//!
//! Variables leave one after another. When v goes, the factors and messages that mention it are multiplied
//! over its bucket and v is summed out; the message that remains goes to the next of its variables to leave.
//! Tables hold numbers as long as no product can leave the range of floating point, logarithms otherwise.

use super::pace::Pace;
use super::rounding::{CompensatedSum, Enclosure, U};
use super::trim;
use crate::error::{Error, Result};
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::tables::buckets::Buckets;
use crate::tables::linear::{self, Pool, Stop};
use crate::tables::log;
use crate::tables::plan::Plan;
use crate::tables::spare::Spare;
use crate::tables::table::{LOG_ROUNDINGS, SAFE, Scaled, Table};
use crate::tables::view::{Shape, fits_numbers, reach};

/// Entries of a bucket from which on the observer is asked beforehand: a hundredth of a second.
const POLL_ENTRIES: f64 = 1e7;

/// What a bucket takes besides its entries, in entries.
const BUCKET_ENTRIES: f64 = 1000.0;

/// Share of the entries after which the time so far tells how long the rest takes: small tables are summed on one thread.
const TELLING: f64 = 0.25;

/// A message that is kept.
pub(crate) struct Message {
    pub(crate) table: Table,
    /// The sum over the bucket is the table times `2^exponent e^offset`.
    pub(crate) exponent: i64,
    pub(crate) offset: f64,
    /// Logarithm of what entries may lack, in units of the table: see [`super::trim`].
    pub(crate) lost: f64,
}

/// What the sweep towards the roots finds, without the constant.
pub(crate) struct Upward {
    /// `log sum_x exp((f - offset)/eps)`, `-inf` when every state is forbidden.
    pub(crate) log_sum: f64,
    /// Sum of the factors' largest values, in units of f.
    pub(crate) offset: f64,
    /// Encloses `eps log sum_x exp(f/eps)`.
    pub(crate) bounds: Enclosure,
    /// Bound, in units of u, on the error of the logarithm of every entry of every message.
    pub(crate) roundings: f64,
    /// The model's factors, by bucket.
    pub(crate) buckets: Buckets,
    /// By position, when they are kept.
    pub(crate) messages: Vec<Option<Message>>,
}

/// Elimination of one model along one plan.
pub(crate) struct Elimination<'a> {
    pub(crate) model: &'a FactorModel,
    pub(crate) plan: &'a Plan,
    pub(crate) pool: &'a Pool,
}

/// Logarithm of the scale and error of everything multiplied so far.
#[derive(Default)]
struct Ledger {
    logs: CompensatedSum,
    exponent: i64,
    roundings: f64,
    /// What the logarithm of the sum may lack.
    lost: f64,
}

impl Ledger {
    /// Notes the scale of a message, and of a root the message itself.
    fn enter(&mut self, scaled: Scaled, lost: f64, is_root: bool) -> Message {
        self.logs.add(scaled.offset);
        self.exponent += scaled.exponent;
        self.roundings += scaled.roundings;
        let message = Message::new(scaled, lost);
        if is_root {
            let log = libm::log(message.table.data[0]);
            self.logs.add(log);
            self.roundings += LOG_ROUNDINGS;
            self.lost += trim::share(message.lost, log);
        }
        message
    }
}

impl Elimination<'_> {
    /// The shape of the bucket at p.
    pub(crate) fn shape(&self, p: usize) -> Shape {
        Shape::new(&self.plan.scopes[p], p as u32, &self.plan.states)
    }

    /// The tables of the bucket at p.
    pub(crate) fn tables<'t>(
        &self,
        p: usize,
        buckets: &'t Buckets,
        messages: &'t [Option<Message>],
    ) -> Vec<&'t Table> {
        let received = self.plan.children[p].iter().filter_map(|&c| messages[c as usize].as_ref());
        buckets.tables[p].iter().chain(received.map(|m| &m.table)).collect()
    }

    /// log Z at temperature eps; messages are dropped when they are used unless `keep`.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn sum(&self, eps: f64, keep: bool, monitor: &mut Monitor<'_>) -> Result<Upward> {
        // The sweep back needs every entry; log Z alone does not need those that weigh nothing.
        if !keep && let Some(up) = self.sweep(eps, keep, true, monitor)? {
            return Ok(up);
        }
        // With every entry kept nothing can be lost; if it ever were, no answer is better than a wrong one.
        let lost = || Error::NotApplicable("elimination lost more to rounding than it can bound".into());
        self.sweep(eps, keep, false, monitor)?.ok_or_else(lost)
    }

    /// One sweep towards the roots; `None` when `trim` loses too much.
    fn sweep(&self, eps: f64, keep: bool, trim: bool, monitor: &mut Monitor<'_>) -> Result<Option<Upward>> {
        let d = self.model.d();
        let buckets = Buckets::new(self.model, self.plan, eps);
        if buckets.impossible {
            return Ok(Some(Upward::impossible(buckets, d)));
        }
        let mut messages: Vec<Option<Message>> = (0..d).map(|_| None).collect();
        let mut ledger = Ledger { roundings: buckets.roundings, ..Ledger::default() };
        let mut spare = Spare::default();
        let mut since_poll = f64::INFINITY;
        let work = |p: usize| self.plan.size(p) * f64::from(self.plan.states[p]) + BUCKET_ENTRIES;
        let (pace, all, mut done) = (Pace::new(TELLING, monitor), (0..d).map(work).sum::<f64>(), 0.0);
        for &p in &self.plan.schedule {
            let p = p as usize;
            let entries = work(p);
            since_poll += entries;
            if since_poll > POLL_ENTRIES {
                since_poll = 0.0;
                poll(monitor)?;
                pace.check(done / all, monitor)?;
            }
            done += entries;
            let tables = self.tables(p, &buckets, &messages);
            let stop = &mut || monitor.interrupted().is_some();
            let (scaled, lost) = self.bucket(p, &tables, &messages, trim, (&mut ledger, &mut spare), stop);
            if entries > POLL_ENTRIES {
                poll(monitor)?;
            }
            if scaled.table.is_impossible() {
                let certain = lost == f64::NEG_INFINITY;
                return Ok(certain.then(|| Upward::impossible(buckets, d)));
            }
            let mut message = ledger.enter(scaled, lost, self.plan.parent[p].is_none());
            if trim {
                message.trim(&mut ledger.roundings);
            }
            if keep {
                messages[p] = Some(message);
                continue;
            }
            let used = self.plan.children[p].iter().filter_map(|&c| messages[c as usize].take());
            used.for_each(|m| spare.give(m.table.data));
            match self.sibling(p, &message.table, &messages) {
                Some(sibling) => {
                    multiply(&mut messages[sibling], &message);
                    ledger.roundings += 1.0;
                    spare.give(message.table.data);
                }
                None => messages[p] = Some(message),
            }
        }
        let too_much = ledger.lost > trim::MOST_LOST;
        Ok((!too_much).then(|| Upward::new(eps, buckets, messages, &ledger)))
    }

    /// The message of the bucket at p, and the logarithm of what its entries may be off by because others were dropped.
    fn bucket(
        &self,
        p: usize,
        tables: &[&Table],
        messages: &[Option<Message>],
        trim: bool,
        (ledger, spare): (&mut Ledger, &mut Spare),
        stop: Stop<'_>,
    ) -> (Scaled, f64) {
        let mut lost = self.lost(p, tables, messages);
        let noted = trim.then_some(&mut lost);
        let scaled = self.sum_out(p, tables, (&mut ledger.roundings, noted), spare, stop);
        (scaled, lost)
    }

    /// Logarithm of what an entry of the message of p may lack because the messages it is made of lack something.
    fn lost(&self, p: usize, tables: &[&Table], messages: &[Option<Message>]) -> f64 {
        let received = self.plan.children[p].iter().filter_map(|&c| messages[c as usize].as_ref());
        let known = received.map(|m| (m.table.highest, m.lost));
        let highest = tables.iter().map(|t| t.highest).sum();
        trim::product(highest, known) + f64::from(self.plan.states[p]).ln()
    }

    /// A message over the same variables that waits for the same bucket: the two are one, their product.
    fn sibling(&self, p: usize, table: &Table, messages: &[Option<Message>]) -> Option<usize> {
        let siblings = &self.plan.children[self.plan.parent[p]? as usize];
        siblings.iter().map(|&c| c as usize).find(|&c| {
            messages[c].as_ref().is_some_and(|m| m.table.scope == table.scope)
                && fits_numbers(messages[c].iter().map(|m| &m.table).chain([table]))
        })
    }

    /// The message of the bucket at p; with `lost`, products may also fall below the range of numbers, which is noted there.
    fn sum_out(
        &self,
        p: usize,
        tables: &[&Table],
        (roundings, lost): (&mut f64, Option<&mut f64>),
        spare: &mut Spare,
        stop: Stop<'_>,
    ) -> Scaled {
        let (shape, states) = (self.shape(p), &self.plan.states);
        let fits = fits_numbers(tables.iter().copied());
        let (above, _) = reach(tables.iter().copied());
        let underflow = lost.filter(|_| !fits && above < SAFE);
        if fits || underflow.is_some() {
            // A product of all tables and a sum over all states.
            *roundings += (tables.len() + shape.states) as f64;
            if let Some(lost) = underflow {
                *lost = trim::either(*lost, trim::underflow(tables.len() * shape.states, above));
            }
            let memory = spare.entries(shape.size());
            let (data, extremes) = linear::sum_out(&shape, tables, states, memory, self.pool, stop);
            return Table::from_numbers(shape.scope, data, extremes);
        }
        let logs: Vec<(Table, f64)> = tables.iter().map(|t| t.logs()).collect();
        let tables: Vec<&Table> = logs.iter().map(|t| &t.0).collect();
        *roundings += logs.iter().map(|t| t.1).sum::<f64>() + log::roundings(&tables, shape.states);
        let data = log::sum_out(&shape, &tables, states, self.pool, stop);
        Table::from_logs(shape.scope, data)
    }
}

impl Message {
    /// A message that lacks what the numbers it was computed from lack, before its scale was taken out.
    fn new(Scaled { table, exponent, offset, .. }: Scaled, lost: f64) -> Self {
        let lost = lost - exponent as f64 * std::f64::consts::LN_2 - offset;
        Message { table, exponent, offset, lost }
    }

    /// Drops entries that weigh nothing beside the largest.
    fn trim(&mut self, roundings: &mut f64) {
        if let Some((lost, more)) = self.table.trim() {
            self.lost = trim::either(self.lost, lost);
            *roundings += more;
        }
    }
}

/// Multiplies a waiting message by another over the same variables.
fn multiply(waiting: &mut Option<Message>, other: &Message) {
    if let Some(Message { table: waiting, lost, .. }) = waiting {
        let known = [(waiting.highest, *lost), (other.table.highest, other.lost)];
        *lost = trim::product(waiting.highest + other.table.highest, known.into_iter());
        waiting.data.iter_mut().zip(&other.table.data).for_each(|(x, y)| *x *= y);
        waiting.highest += other.table.highest;
        waiting.lowest += other.table.lowest;
    }
}

/// Stops when the observer says so.
pub(crate) fn poll(monitor: &mut Monitor<'_>) -> Result<()> {
    monitor.interrupted().map_or(Ok(()), |stop| Err(Error::Interrupted(stop)))
}

impl Upward {
    /// `eps log sum = offset + eps (logs + exponent log 2)`; the relative errors of all entries add up to
    /// `roundings u` on the logarithm.
    fn new(eps: f64, buckets: Buckets, messages: Vec<Option<Message>>, ledger: &Ledger) -> Self {
        let logs = ledger.logs.value();
        let powers = ledger.exponent as f64 * std::f64::consts::LN_2;
        let log_sum = logs + powers;
        // Sums of logarithms and of offsets round a few times, log 2 once.
        let radius = 1.01 * U * (ledger.roundings + 6.0 * logs.abs() + 4.0 * powers.abs() + log_sum.abs());
        let offset = Enclosure::point(buckets.offset).widened(6.0 * U * buckets.offset.abs());
        let sum = Enclosure::point(log_sum).widened(radius + 1.01 * ledger.lost);
        let bounds = sum.times(eps).plus(offset);
        Upward { log_sum, offset: buckets.offset, bounds, roundings: ledger.roundings, buckets, messages }
    }

    /// `eps log sum_x exp(f/eps)` with the constant, and its enclosure.
    pub(crate) fn total(&self, eps: f64, constant: f64) -> (f64, Enclosure) {
        if self.log_sum == f64::NEG_INFINITY {
            (self.log_sum, self.bounds)
        } else {
            (eps * self.log_sum + self.offset + constant, self.bounds.plus(Enclosure::point(constant)))
        }
    }

    /// The answer when no state is allowed.
    fn impossible(buckets: Buckets, d: usize) -> Self {
        let bounds = Enclosure::point(f64::NEG_INFINITY);
        let messages = (0..d).map(|_| None).collect();
        Upward { log_sum: f64::NEG_INFINITY, offset: 0.0, bounds, roundings: 0.0, buckets, messages }
    }
}
