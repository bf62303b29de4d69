//! Which tables share a mini-bucket, and where messages go: flat arrays, decided before any number is computed.

use super::partition::Builder;
use super::reduced::Reduced;

/// Home of a message that is a number.
pub(super) const NONE: u32 = u32::MAX;

/// How buckets are split.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Table entries a mini-bucket may have, the eliminated variable included. A single table may exceed it.
    pub(super) limit: f64,
    /// Variables a mini-bucket may have besides the eliminated one.
    pub(super) width: usize,
    /// Whether all tables with zeros of a bucket must be in its first mini-bucket.
    pub(super) keep_zeros_together: bool,
}

/// A set of mini-buckets for an order.
#[derive(Clone, Debug, Default)]
pub(super) struct Structure {
    /// By position: its first mini-bucket.
    pub(super) first: Vec<u32>,
    pub(super) scope_start: Vec<usize>,
    pub(super) scopes: Vec<u32>,
    /// By mini-bucket: where its message goes.
    pub(super) home: Vec<u32>,
    /// By factor: where it is.
    pub(super) factor_home: Vec<u32>,
    pub(super) factor_start: Vec<u32>,
    pub(super) factor_list: Vec<u32>,
    pub(super) child_start: Vec<u32>,
    pub(super) child_list: Vec<u32>,
    pub(super) message_start: Vec<usize>,
    pub(super) share_start: Vec<usize>,
    pub(super) shares: Vec<u32>,
    pub(super) shift_start: Vec<usize>,
    /// Entries of all mini-buckets' tables.
    pub(super) entries: f64,
    /// Largest table.
    pub(super) largest: f64,
}

impl Structure {
    /// Splits the buckets of `model` by scope; those at position p may have `factors[p]` times
    /// larger tables than the rule says, if there are any factors.
    pub(super) fn new(model: &Reduced, rule: Rule, factors: Vec<f32>) -> Self {
        Builder::new(model, rule).with_factors(factors).build(|_, _| None).0
    }

    /// What a pass costs, in table entries: small mini-buckets cost more than their entries.
    pub(super) fn work(&self) -> f64 {
        self.entries + MINI_BUCKET_WORK * self.len() as f64
    }

    /// Number of mini-buckets.
    pub(super) fn len(&self) -> usize {
        self.home.len()
    }

    /// Mini-buckets of the bucket at position `p`.
    pub(super) fn bucket(&self, p: usize) -> std::ops::Range<usize> {
        self.first[p] as usize..self.first[p + 1] as usize
    }

    /// Positions of the message of mini-bucket `c`, decreasing: its scope without the eliminated variable.
    pub(super) fn scope(&self, c: usize) -> &[u32] {
        &self.scopes[self.scope_start[c]..self.scope_start[c + 1]]
    }

    /// Factors in `c`.
    pub(super) fn factors(&self, c: usize) -> &[u32] {
        &self.factor_list[self.factor_start[c] as usize..self.factor_start[c + 1] as usize]
    }

    /// Mini-buckets whose messages are in `c`.
    pub(super) fn children(&self, c: usize) -> &[u32] {
        &self.child_list[self.child_start[c] as usize..self.child_start[c + 1] as usize]
    }

    /// Where the message of `c` is kept.
    pub(super) fn message(&self, c: usize) -> std::ops::Range<usize> {
        self.message_start[c]..self.message_start[c + 1]
    }

    /// Entries of all messages.
    pub(super) fn message_entries(&self) -> usize {
        self.message_start.last().copied().unwrap_or(0)
    }

    /// What the mini-buckets of bucket `p` exchange shifts over besides its own variable, decreasing.
    pub(super) fn share(&self, p: usize) -> &[u32] {
        &self.shares[self.share_start[p]..self.share_start[p + 1]]
    }

    /// Where the shift of `c` is kept; empty when it is alone in its bucket.
    pub(super) fn shift(&self, c: usize) -> std::ops::Range<usize> {
        self.shift_start[c]..self.shift_start[c + 1]
    }

    /// Entries of all shifts.
    pub(super) fn shift_entries(&self) -> usize {
        self.shift_start.last().copied().unwrap_or(0)
    }
}

/// What looking at one mini-bucket costs, in table entries.
const MINI_BUCKET_WORK: f64 = 150.0;
