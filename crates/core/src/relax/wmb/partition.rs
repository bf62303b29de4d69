//! The pass over an order that decides the mini-buckets: tables meet in buckets, groups are filled while they fit.

use super::reduced::Reduced;
use super::scopes::{entries, union_size, unite};
use super::structure::{NONE, Rule, Structure};

/// Entries a shift may have: matching more than this costs more than it gains.
const SHIFT_ENTRIES: usize = 4096;

/// One table waiting in a bucket.
#[derive(Clone, Copy, Debug)]
struct Item {
    entries: f64,
    is_hard: bool,
    is_message: bool,
    id: u32,
}

/// The state of a pass over the order that decides the mini-buckets.
pub(super) struct Builder<'a> {
    model: &'a Reduced,
    sizes: Vec<u32>,
    rule: Rule,
    /// By position: how many times larger than elsewhere tables may be, where that is not everywhere the same.
    factors: Vec<f32>,
    out: Structure,
    is_hard: Vec<bool>,
    /// By position: factors that come first there, a flat list.
    here_start: Vec<u32>,
    here: Vec<u32>,
    /// Messages waiting at a position: a linked list.
    waiting: Vec<u32>,
    next: Vec<u32>,
    position_of: Vec<u32>,
    items: Vec<Item>,
    groups: Vec<Vec<u32>>,
    group_of: Vec<usize>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(model: &'a Reduced, rule: Rule) -> Self {
        let d = model.d();
        let mut here_start = vec![0u32; d + 1];
        let first = |k: usize| model.scope(k).last().map(|&p| p as usize);
        (0..model.factors()).filter_map(first).for_each(|p| here_start[p + 1] += 1);
        (0..d).for_each(|p| here_start[p + 1] += here_start[p]);
        let mut fill = here_start.clone();
        let mut here = vec![0; here_start[d] as usize];
        for k in 0..model.factors() {
            if let Some(p) = first(k) {
                here[fill[p] as usize] = k as u32;
                fill[p] += 1;
            }
        }
        Builder {
            model,
            sizes: model.sizes.clone(),
            rule,
            factors: Vec::new(),
            out: Structure { scope_start: vec![0], message_start: vec![0], ..Structure::default() },
            is_hard: Vec::new(),
            here_start,
            here,
            waiting: vec![NONE; d],
            next: Vec::new(),
            position_of: Vec::new(),
            items: Vec::new(),
            groups: Vec::new(),
            group_of: Vec::new(),
        }
    }

    /// Lets tables of the bucket at position p be `factors[p]` times larger than the rule says, if there are any factors.
    pub(super) fn with_factors(mut self, factors: Vec<f32>) -> Self {
        self.factors = factors;
        self
    }

    /// Entries that tables of bucket `p` may have.
    fn limit(&self, p: usize) -> f64 {
        self.rule.limit * self.factors.get(p).map_or(1.0, |&f| f64::from(f))
    }

    /// Decides every mini-bucket. Where tables with zeros do not fit together, `choose` is given their scope and
    /// the sizes and may name a position to restrict to a single state; those are returned.
    pub(super) fn build(
        mut self,
        mut choose: impl FnMut(&[u32], &[u32]) -> Option<u32>,
    ) -> (Structure, Vec<u32>) {
        let mut fixed = Vec::new();
        self.out.factor_home = vec![0; self.model.factors()];
        for p in 0..self.model.d() {
            self.out.first.push(self.out.home.len() as u32);
            self.collect(p);
            while let Some(u) = self.overflow(p).and_then(|scope| choose(&scope, &self.sizes)) {
                self.sizes[u as usize] = 1;
                fixed.push(u);
            }
            self.split(p);
            self.close(p);
        }
        self.out.first.push(self.out.home.len() as u32);
        (self.finish(), fixed)
    }

    /// Lists the tables of bucket `p`, hard ones first where they must stay together, then large ones.
    fn collect(&mut self, p: usize) {
        self.items.clear();
        for &k in &self.here[self.here_start[p] as usize..self.here_start[p + 1] as usize] {
            let is_hard = self.model.is_hard(k as usize);
            let entries = entries(self.model.scope(k as usize), &self.sizes);
            self.items.push(Item { entries, is_hard, is_message: false, id: k });
        }
        let mut m = self.waiting[p];
        while m != NONE {
            let entries = entries(self.out.scope(m as usize), &self.sizes);
            self.items.push(Item { entries, is_hard: self.is_hard[m as usize], is_message: true, id: m });
            m = self.next[m as usize];
        }
        let together = self.rule.keep_zeros_together;
        self.items.sort_by(|a, b| {
            let hard = if together { b.is_hard.cmp(&a.is_hard) } else { std::cmp::Ordering::Equal };
            hard.then(b.entries.total_cmp(&a.entries)).then((a.is_message, a.id).cmp(&(b.is_message, b.id)))
        });
    }

    fn scope_of(&self, item: Item) -> &[u32] {
        if item.is_message { self.out.scope(item.id as usize) } else { self.model.scope(item.id as usize) }
    }

    /// The joint scope of the tables that must stay together, if it is too large and could be made smaller.
    fn overflow(&self, p: usize) -> Option<Vec<u32>> {
        if !self.rule.keep_zeros_together || self.sizes[p] == 1 {
            return None;
        }
        let mut scope = vec![p as u32];
        for item in self.items.iter().filter(|i| i.is_hard) {
            unite(&mut scope, self.scope_of(*item));
        }
        scope.retain(|&u| self.sizes[u as usize] > 1);
        let is_large = entries(&scope, &self.sizes) > self.limit(p) || scope.len() > self.rule.width + 1;
        (is_large && scope.len() > 1).then_some(scope)
    }

    /// Gives every table a group, each with a scope that holds its tables' and the variable itself.
    fn split(&mut self, p: usize) {
        let mut groups = std::mem::take(&mut self.groups);
        let mut used = 0;
        self.group_of.clear();
        let mut trial = Vec::new();
        let limit = self.limit(p);
        for item in &self.items {
            let scope = self.scope_of(*item);
            let mut best: Option<(f64, usize)> = None;
            let must = self.rule.keep_zeros_together && item.is_hard && used > 0;
            for (g, group) in groups[..used].iter().enumerate() {
                let (union, count) = union_size(group, scope, &self.sizes);
                let fits = union <= limit && count <= self.rule.width + 1;
                let growth = union / entries(group, &self.sizes);
                if (must && g == 0) || (!must && fits && best.is_none_or(|(old, _)| growth < old)) {
                    best = Some((growth, g));
                }
                if must {
                    break;
                }
            }
            let g = best.map_or(used, |(_, g)| g);
            if g == used {
                used += 1;
                if groups.len() < used {
                    groups.push(Vec::new());
                }
                groups[g].clear();
                groups[g].push(p as u32);
            }
            trial.clear();
            trial.extend_from_slice(scope);
            unite(&mut groups[g], &trial);
            self.group_of.push(g);
        }
        if used == 0 {
            if groups.is_empty() {
                groups.push(Vec::new());
            }
            groups[0].clear();
            groups[0].push(p as u32);
            used = 1;
        }
        self.groups = groups;
        self.open(p, used);
    }

    /// Makes the groups mini-buckets and sends their messages.
    fn open(&mut self, p: usize, used: usize) {
        let base = self.out.home.len();
        for g in 0..used {
            let scope = &self.groups[g];
            let size = entries(scope, &self.sizes);
            self.out.entries += size;
            self.out.largest = self.out.largest.max(size);
            self.out.scopes.extend_from_slice(&scope[..scope.len() - 1]);
            self.out.scope_start.push(self.out.scopes.len());
            let message = entries(&scope[..scope.len() - 1], &self.sizes);
            // Sizes beyond what could ever be stored stop growing; callers look at `entries` first.
            let last = self.out.message_start.last().copied().unwrap_or(0);
            self.out.message_start.push(last.saturating_add(message.min(1e15) as usize));
            let home = scope[..scope.len() - 1].last().map(|&h| h as usize);
            self.out.home.push(NONE);
            self.position_of.push(p as u32);
            self.is_hard.push(false);
            let c = (base + g) as u32;
            self.next.push(home.map_or(NONE, |h| self.waiting[h]));
            if let Some(h) = home {
                self.waiting[h] = c;
            }
        }
    }

    /// Records where the tables of bucket `p` went.
    fn close(&mut self, p: usize) {
        let base = self.out.first[p] as usize;
        for (item, &g) in self.items.iter().zip(&self.group_of) {
            let c = base + g;
            self.is_hard[c] |= item.is_hard;
            if item.is_message {
                self.out.home[item.id as usize] = c as u32;
            } else {
                self.out.factor_home[item.id as usize] = c as u32;
            }
        }
    }

    /// Lists what each mini-bucket holds and what buckets share.
    fn finish(mut self) -> Structure {
        let out = &mut self.out;
        let has_scope = |k: &usize| !self.model.scope(*k).is_empty();
        let homes: Vec<u32> = (0..self.model.factors())
            .map(|k| if has_scope(&k) { out.factor_home[k] } else { NONE })
            .collect();
        (out.factor_start, out.factor_list) = lists(&homes, out.home.len());
        (out.child_start, out.child_list) = lists(&out.home, out.home.len());
        out.share_start = vec![0];
        out.shift_start = vec![0];
        for p in 0..self.model.d() {
            let bucket = out.first[p] as usize..out.first[p + 1] as usize;
            let from = out.shares.len();
            let mut size = self.sizes[p] as usize;
            let is_shared = bucket.len() > 1 && size > 1;
            if is_shared {
                let first = &out.scopes[out.scope_start[bucket.start]..out.scope_start[bucket.start + 1]];
                for &u in first.iter().rev() {
                    let holds = |c: usize| {
                        let scope = &out.scopes[out.scope_start[c]..out.scope_start[c + 1]];
                        scope.binary_search_by(|x| u.cmp(x)).is_ok()
                    };
                    let grown = size * self.sizes[u as usize] as usize;
                    if grown <= SHIFT_ENTRIES && bucket.clone().all(holds) {
                        size = grown;
                        out.shares.push(u);
                    }
                }
                out.shares[from..].reverse();
            }
            out.share_start.push(out.shares.len());
            for _ in bucket {
                let last = out.shift_start.last().copied().unwrap_or(0);
                out.shift_start.push(last + if is_shared { size } else { 0 });
            }
        }
        self.out
    }
}

/// For each of `count` homes, who lives there: where each list starts, and all lists.
fn lists(homes: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut start = vec![0u32; count + 1];
    homes.iter().filter(|&&h| h != NONE).for_each(|&h| start[h as usize + 1] += 1);
    (0..count).for_each(|c| start[c + 1] += start[c]);
    let mut fill = start.clone();
    let mut list = vec![0; start[count] as usize];
    for (k, &h) in homes.iter().enumerate().filter(|(_, h)| **h != NONE) {
        list[fill[h as usize] as usize] = k as u32;
        fill[h as usize] += 1;
    }
    (start, list)
}
