//! A state of positive weight as a satisfying assignment: every zero of a table is a clause.

use crate::deadline::Deadline;
use crate::model::FactorModel;
use crate::tables::propagate::Propagator;
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};

/// Table entries beyond which clauses are not even listed: a gigabyte of them.
const MOST_ENTRIES: usize = 20_000_000;

/// Ends the search with the time.
struct Clock(Deadline);

impl Callbacks for Clock {
    fn stop(&self) -> bool {
        self.0.stop().is_some()
    }
}

/// One variable: a literal that says "in state s" per state that is left, or none when there is only one.
struct Domain {
    states: Vec<usize>,
    literals: Vec<Lit>,
}

impl Domain {
    /// Two states share one Boolean variable; more have one each, exactly one of them true.
    fn new(states: Vec<usize>, likely: &[f64], solver: &mut Solver<Clock>) -> Self {
        let chance = |s: usize| likely.get(s).copied().unwrap_or(0.0);
        let wish = |solver: &mut Solver<Clock>, yes: bool| -> Var {
            solver.new_var(if yes { lbool::TRUE } else { lbool::FALSE }, true)
        };
        let literals: Vec<Lit> = match states[..] {
            [_] => Vec::new(),
            [first, second] => {
                let v = wish(solver, chance(second) > chance(first));
                vec![Lit::new(v, false), Lit::new(v, true)]
            }
            _ => {
                let top = states.iter().fold(0.0f64, |m, &s| m.max(chance(s)));
                states.iter().map(|&s| Lit::new(wish(solver, chance(s) >= top), true)).collect()
            }
        };
        if literals.len() > 2 {
            solver.add_clause_reuse(&mut literals.clone());
            for (k, &a) in literals.iter().enumerate() {
                literals[..k].iter().for_each(|&b| _ = solver.add_clause_reuse(&mut vec![!a, !b]));
            }
        }
        Domain { states, literals }
    }
}

/// A state without a zero among those left in `propagator`, looked for until the deadline.
pub(super) fn search(
    model: &FactorModel,
    propagator: &Propagator<'_>,
    likely: &[Vec<f64>],
    ends: Deadline,
) -> Option<Vec<u32>> {
    let entries: usize = model.factors().map(|f| f.table.len() * f.scope.len()).sum();
    if entries > MOST_ENTRIES {
        return None;
    }
    let mut solver = Solver::new(SolverOpts::default(), Clock(ends));
    let none = Vec::new();
    let domains: Vec<Domain> = (0..model.d())
        .map(|v| Domain::new(propagator.states(v).collect(), likely.get(v).unwrap_or(&none), &mut solver))
        .collect();
    let mut clause = Vec::new();
    for factor in model.factors() {
        for (k, _) in factor.table.iter().enumerate().filter(|(_, x)| **x == f64::NEG_INFINITY) {
            clause.clear();
            let mut rest = k;
            let is_reachable = factor.scope.iter().all(|&v| {
                let states = model.cardinalities()[v as usize] as usize;
                let (domain, state) = (&domains[v as usize], rest % states);
                rest /= states;
                let place = domain.states.iter().position(|&s| s == state);
                clause.extend(place.and_then(|p| domain.literals.get(p)).map(|&l| !l));
                place.is_some()
            });
            if is_reachable && !solver.add_clause_reuse(&mut clause) {
                return None;
            }
        }
    }
    if solver.solve_limited(&[]) != lbool::TRUE {
        return None;
    }
    let state = |domain: &Domain| {
        let is_true = |l: &Lit| solver.value_lit(*l) == lbool::TRUE;
        domain.states[domain.literals.iter().position(is_true).unwrap_or(0)] as u32
    };
    let found: Vec<u32> = domains.iter().map(state).collect();
    // Whatever the solver says: only a state of positive weight counts.
    model.value_of(&found).is_finite().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::order::Noise;

    #[test]
    fn a_state_is_found_exactly_where_there_is_one() {
        let mut noise = Noise::new(11);
        let (mut found, mut missing) = (0, 0);
        for case in 0..600 {
            let d = 2 + noise.below(6);
            let sizes: Vec<usize> = (0..d).map(|_| 1 + noise.below(4)).collect();
            let mut model = FactorModel::with_cardinalities(&sizes).unwrap();
            for _ in 0..2 + noise.below(3 * d) {
                let (a, step) = (noise.below(d), 1 + noise.below(d - 1));
                let scope = [a, (a + step) % d];
                let zeros = 1 + noise.below(3);
                let table: Vec<f64> = (0..sizes[scope[0]] * sizes[scope[1]])
                    .map(|_| if noise.below(4) < zeros { f64::NEG_INFINITY } else { 0.5 })
                    .collect();
                model.push(&scope, &table).unwrap();
            }
            let count: usize = sizes.iter().product();
            let exists = (0..count).any(|mut k| {
                let digit = |q: &usize| {
                    let s = k % q;
                    k /= q;
                    s as u32
                };
                let state: Vec<u32> = sizes.iter().map(digit).collect();
                model.value_of(&state).is_finite()
            });
            let propagator = Propagator::new(&model, model.cardinalities());
            let state = search(&model, &propagator, &[], Deadline::default());
            assert_eq!(state.is_some(), exists, "case {case}");
            found += usize::from(exists);
            missing += usize::from(!exists);
        }
        assert!(found > 100 && missing > 100, "{found} {missing}");
    }
}
