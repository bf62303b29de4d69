//! Weighted elimination of tables: Hoelder's inequality variable by variable (docs/certificate-format.md, section 6).

use crate::cert_tables::{Elimination, Removal};
use crate::interval::{Interval, at};
use crate::limits::{Cost, Limits, Stop};
use crate::model::Factor;
use crate::require;
use crate::soft::{Rule, largest, soft, soft_error};
use crate::sums::places;
use crate::table::{Sum, Table, entries, restrict, shape, size_of, sum_roundings};

/// Which side a bound is on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    Upper,
    Lower,
}

/// Sums of finite values stay far from overflow below this.
const HUGE: f64 = 1e290;

/// The tables of a model and its numbers of states.
pub(crate) struct Tables<'a> {
    pub(crate) constant: Interval,
    pub(crate) factors: &'a [Factor],
    pub(crate) states: &'a [usize],
}

/// Something in a mini-bucket.
#[derive(Clone, Copy)]
enum Item {
    Factor(usize),
    Message(usize),
    /// A shift and its sign.
    Shift(usize, f64),
}

/// States that are left after the removals, which are replayed one by one, and within `allowed`; none when a variable has no
/// state left.
fn remaining(
    model: &Tables<'_>,
    removals: &[Removal],
    allowed: Option<&Vec<Vec<usize>>>,
) -> Result<Option<Vec<Vec<u32>>>, String> {
    let mut left: Vec<Vec<u32>> = model.states.iter().map(|&q| (0..q as u32).collect()).collect();
    for r in removals {
        let wrong =
            || format!("the removal of state {} of variable {} is not justified", r.state, r.variable);
        let factor = model.factors.get(r.factor).ok_or_else(wrong)?;
        let known =
            factor.scope.contains(&(r.variable as u32)) && left[r.variable].contains(&(r.state as u32));
        require(known, &wrong())?;
        let own = std::mem::replace(&mut left[r.variable], vec![r.state as u32]);
        let impossible = restrict(&factor.scope, &factor.values, model.states, &left);
        left[r.variable] = own;
        require(impossible.iter().all(|v| *v == f64::NEG_INFINITY), &wrong())?;
        left[r.variable].retain(|s| *s as usize != r.state);
    }
    if let Some(lists) = allowed {
        require(lists.len() == left.len(), "the allowed states are not those of the model's variables")?;
        for (own, list) in left.iter_mut().zip(lists) {
            require(list.windows(2).all(|w| w[0] < w[1]), "allowed states are not in order")?;
            own.retain(|s| list.binary_search(&(*s as usize)).is_ok());
        }
    }
    Ok(if left.iter().all(|s| !s.is_empty()) { Some(left) } else { None })
}

/// Mini-buckets with their contents and cliques (variable summed out first), and what they cost.
struct Plan {
    items: Vec<Vec<Item>>,
    cliques: Vec<Vec<u32>>,
    cost: Cost,
}

fn plan(model: &Tables<'_>, e: &Elimination, left: &[Vec<u32>]) -> Result<Plan, String> {
    let d = model.states.len();
    let place = places(&e.order, d)?;
    let mut next = 0;
    for &p in &e.positions {
        require(p == next || p + 1 == next, "mini-buckets are not grouped by position")?;
        next += usize::from(p == next);
    }
    require(next == d, "some variable has no mini-bucket")?;
    let mut items: Vec<Vec<Item>> = vec![Vec::new(); e.positions.len()];
    let put = |items: &mut Vec<Vec<Item>>, home: usize, first: usize, item: Item| {
        let fits = e.positions.get(home).is_some_and(|p| *p <= first);
        require(fits, "something is in a mini-bucket after one of its variables is gone")?;
        items[home].push(item);
        Ok::<(), String>(())
    };
    let first = |scope: &[u32]| scope.iter().map(|&v| place[v as usize]).min().unwrap_or(usize::MAX);
    require(e.factor_home.len() == model.factors.len(), "the factors are not those of the model")?;
    for (k, &home) in e.factor_home.iter().enumerate() {
        put(&mut items, home, first(&model.factors[k].scope), Item::Factor(k))?;
    }
    for (k, shift) in e.shifts.iter().enumerate() {
        let known =
            shift.scope.iter().enumerate().all(|(p, v)| (*v as usize) < d && !shift.scope[..p].contains(v));
        require(known && shift.scope.len() <= 60, "a shift repeats or exceeds variables")?;
        let fits = entries(&shift.scope, left) == shift.table.len() as f64;
        require(
            fits && shift.table.iter().all(|v| v.is_finite()),
            "a shift has a wrong size or is not finite",
        )?;
        put(&mut items, shift.to, first(&shift.scope), Item::Shift(k, 1.0))?;
        put(&mut items, shift.from, first(&shift.scope), Item::Shift(k, -1.0))?;
    }
    let (mut cliques, mut cost, mut held): (Vec<Vec<u32>>, Cost, f64) = (Vec::new(), Cost::default(), 0.0);
    for c in 0..e.positions.len() {
        let mut met: Vec<usize> = Vec::new();
        for item in &items[c] {
            let scope = match *item {
                Item::Factor(k) => &model.factors[k].scope[..],
                Item::Message(m) => &cliques[m][1..],
                Item::Shift(k, _) => &e.shifts[k].scope[..],
            };
            met.extend(scope.iter().filter(|&&v| left[v as usize].len() > 1).map(|&v| place[v as usize]));
        }
        met.retain(|&p| p != e.positions[c]);
        met.sort_unstable();
        met.dedup();
        require(met.len() <= 60, "a mini-bucket joins more variables than any table can hold")?;
        let clique: Vec<u32> =
            std::iter::once(e.positions[c]).chain(met.iter().copied()).map(|p| e.order[p] as u32).collect();
        let (all, message) = (entries(&clique, left), entries(&clique[1..], left));
        cost.work += all * (4.0 * items[c].len() as f64 + 24.0) + 100.0;
        // The sum, and for many tables what it misses and the table at hand.
        let copies = if sum_roundings(items[c].len()) < items[c].len() as f64 { 3.0 } else { 2.0 };
        cost.memory = cost.memory.max(held + 8.0 * (copies * all + message));
        for item in &items[c] {
            if let Item::Message(m) = *item {
                held -= 8.0 * entries(&cliques[m][1..], left);
            }
        }
        if let Some(&soonest) = met.first() {
            held += 8.0 * message;
            let home = e.message_home[c].ok_or("a message has no home")?;
            require(e.positions.get(home).is_some_and(|p| *p > e.positions[c]), "a message goes back")?;
            put(&mut items, home, soonest, Item::Message(c))?;
        }
        cliques.push(clique);
    }
    Ok(Plan { items, cliques, cost })
}

/// `W` of every mini-bucket; the largest of a bucket takes what the others leave of eps, on the safe side.
fn rules(e: &Elimination, eps: f64, side: Side) -> Result<Vec<Rule>, String> {
    let mut rules = Vec::new();
    let mut start = 0;
    while start < e.weights.len() {
        let length = e.positions[start..].iter().take_while(|p| **p == e.positions[start]).count();
        let weights = &e.weights[start..start + length];
        start += length;
        let finite = weights.iter().all(|w| w.is_finite() && *w != 0.0);
        let positive = weights.iter().filter(|w| **w > 0.0).count();
        let signs = positive == if side == Side::Upper { length } else { 1 };
        require(finite && signs, "the weights of a bucket do not have the signs of this side")?;
        if eps == 0.0 {
            rules.extend(weights.iter().map(|w| if *w > 0.0 { Rule::Largest } else { Rule::Least }));
            continue;
        }
        let main = (0..length).fold(0, |m, k| if weights[k] > weights[m] { k } else { m });
        let scaled: Vec<f64> = weights.iter().map(|w| w * eps).collect();
        require(scaled.iter().all(|w| *w != 0.0 && w.abs() <= HUGE), "a weight is out of range")?;
        let rest = (0..length).filter(|k| *k != main).fold(at(eps), |rest, k| rest - at(scaled[k]));
        let own = if side == Side::Upper { rest.hi.max(scaled[main]) } else { rest.lo };
        require(own > 0.0 && own.is_finite(), "the weights of a bucket leave nothing")?;
        rules.extend((0..length).map(|k| Rule::Weight(if k == main { own } else { scaled[k] })));
    }
    Ok(rules)
}

/// Encloses what the elimination proves about eps log Z; -inf from above when it shows that every weight is zero.
pub(crate) fn replay(
    model: &Tables<'_>,
    e: &Elimination,
    allowed: Option<&Vec<Vec<usize>>>,
    eps: f64,
    side: Side,
    limits: &Limits,
) -> Result<Interval, Stop> {
    let size = |r: &Removal| model.factors.get(r.factor).map_or(0.0, |f| 4.0 * f.values.len() as f64);
    limits.allow(Cost { work: e.removals.iter().map(size).sum(), memory: 0.0 })?;
    let nothing = |why: &str| match side {
        Side::Upper => Ok(at(f64::NEG_INFINITY)),
        Side::Lower => Err(Stop::from(why)),
    };
    let Some(left) = remaining(model, &e.removals, allowed)? else {
        return nothing("a variable has no state left");
    };
    if model.constant.hi == f64::NEG_INFINITY {
        return nothing("the weight of every state is zero");
    }
    let plan = plan(model, e, &left)?;
    limits.allow(plan.cost)?;
    let rules = rules(e, eps, side)?;
    // Of many numbers: what rounding misses is kept.
    let mut total = crate::interval::Sum::EMPTY;
    let mut errors = 0.0;
    let mut messages: Vec<Option<Table>> = Vec::new();
    for (c, &rule) in rules.iter().enumerate() {
        let part = (&plan.cliques[c][..], &plan.items[c][..]);
        let Some((top, message)) = send(model, e, &left, part, rule, &mut messages)? else {
            return nothing("a message is zero everywhere");
        };
        total.add(top);
        if message.scope.is_empty() {
            total.add(message.values[0]);
            errors += message.error;
        }
        messages.push(Some(message).filter(|m| !m.scope.is_empty()));
    }
    // A millionth covers the rounding of the sums of errors themselves.
    let errors = errors * (1.0 + 1e-6);
    require(errors.is_finite(), "the errors are out of range")?;
    Ok(model.constant + total.total() + Interval { lo: -errors, hi: errors })
}

/// The message of a mini-bucket less its largest entry, and that entry; none when it is zero everywhere.
fn send(
    model: &Tables<'_>,
    e: &Elimination,
    left: &[Vec<u32>],
    (clique, items): (&[u32], &[Item]),
    rule: Rule,
    messages: &mut [Option<Table>],
) -> Result<Option<(f64, Table)>, String> {
    let sizes = shape(clique, left);
    let mut theta = Sum::new(sizes.iter().product(), items.len());
    let (mut error, mut size) = (0.0, 0.0);
    for item in items {
        match *item {
            Item::Factor(k) => {
                let factor = &model.factors[k];
                let values = restrict(&factor.scope, &factor.values, model.states, left);
                error += factor.error;
                size += size_of(&values);
                theta.add(clique, left, (&factor.scope, &values, 1.0));
            }
            Item::Shift(k, sign) => {
                let shift = &e.shifts[k];
                size += size_of(&shift.table);
                theta.add(clique, left, (&shift.scope, &shift.table, sign));
            }
            Item::Message(m) => {
                let Some(message) = messages[m].take() else { continue };
                error += message.error;
                size += message.size;
                theta.add(clique, left, (&message.scope, &message.values, 1.0));
            }
        }
    }
    require(size <= HUGE, "table values are out of range")?;
    let mut values: Vec<f64> =
        theta.total().chunks_exact(sizes[0]).map(|states| soft(states, rule)).collect();
    let top = largest(&values);
    if top == f64::NEG_INFINITY {
        return Ok(None);
    }
    values.iter_mut().for_each(|v| *v -= top);
    let sums = f64::EPSILON * ((sum_roundings(items.len()) + 3.0) * size + size_of(&values));
    let error = error + sums + soft_error(sizes[0], rule, size);
    require(error.is_finite(), "the errors are out of range")?;
    Ok(Some((top, Table::new(clique[1..].to_vec(), values, error))))
}

/// A plain elimination of tables along an order: the case of one mini-bucket a variable.
pub(crate) fn exact(order: &[usize], scopes: &[&[u32]], states: &[usize]) -> Result<Elimination, String> {
    let place = places(order, states.len())?;
    let mut met: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
    let mut factor_home = Vec::with_capacity(scopes.len());
    for scope in scopes {
        let mut at: Vec<usize> = scope.iter().map(|&v| place[v as usize]).collect();
        at.sort_unstable();
        factor_home.push(at.first().copied().unwrap_or(0));
        if let Some(&first) = at.first() {
            met[first].extend(at);
        }
    }
    let mut message_home = Vec::with_capacity(order.len());
    for position in 0..order.len() {
        let mut list = std::mem::take(&mut met[position]);
        list.retain(|&p| p != position && states[order[p]] > 1);
        list.sort_unstable();
        list.dedup();
        require(list.len() <= 60, "the elimination order is too wide")?;
        message_home.push(list.first().copied());
        if let Some(&home) = list.first() {
            met[home].extend(list);
        }
    }
    let n = order.len();
    Ok(Elimination {
        removals: Vec::new(),
        order: order.to_vec(),
        positions: (0..n).collect(),
        weights: vec![1.0; n],
        message_home,
        factor_home,
        shifts: Vec::new(),
    })
}
