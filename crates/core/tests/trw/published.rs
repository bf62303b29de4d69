//! Published TRW bounds: ours meet or beat them.

use super::proofs::{cases, public_data};
use super::{problem, solve, upper};
use zbound::{Ising, Polynomial, Rho, StopReason, VarSet};

/// Reads a UAI MARKOV file with tables on one or two binary variables.
fn read_pairwise_uai(text: &str) -> Ising {
    let mut numbers = text.split_whitespace().skip(1).map(|t| t.parse::<f64>().unwrap());
    let mut next = || numbers.next().unwrap();
    let d = next() as usize;
    (0..d).for_each(|_| assert_eq!(next(), 2.0));
    let count = next() as usize;
    let scopes: Vec<Vec<usize>> = (0..count)
        .map(|_| {
            let arity = next() as usize;
            (0..arity).map(|_| next() as usize).collect()
        })
        .collect();
    let mut coefficients = Vec::new();
    for scope in scopes {
        let size = next() as usize;
        let logs: Vec<f64> = (0..size).map(|_| next().ln()).collect();
        for subset in 0..size {
            // Walsh transform; the last variable of the scope is the fastest.
            let sign = |state: usize| {
                if (state & subset).count_ones() % 2 == subset.count_ones() % 2 { 1.0 } else { -1.0 }
            };
            let value = logs.iter().enumerate().map(|(s, l)| sign(s) * l).sum::<f64>() / size as f64;
            let members =
                scope.iter().rev().enumerate().filter(|(k, _)| subset >> k & 1 == 1).map(|(_, &i)| i);
            coefficients.push((members.collect::<VarSet>(), value));
        }
    }
    Polynomial::from_coefficients(d, coefficients).unwrap().as_ising().unwrap().clone()
}

#[test]
fn published_bounds_are_met_or_beaten() {
    let Some(folder) = public_data().map(|folder| folder.join("fw_inference")) else { return };
    let table = std::fs::read_to_string(folder.join("trw_reference.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let every = cases(12, 1);
    let mut slowest = (0.0, String::new());
    for row in rows.iter().skip(every.min(2) - 1).step_by(every) {
        let text = std::fs::read_to_string(folder.join(format!("{}/{}.uai", row[0], row[1]))).unwrap();
        let model = read_pairwise_uai(&text);
        let shift = model.d() as f64 * std::f64::consts::LN_2;
        let solution = solve(&problem(model, 1.0), Rho::Optimized);
        let log_z = upper(&solution) + shift;
        let (exact, published): (f64, f64) = (row[7].parse().unwrap(), row[9].parse().unwrap());
        let name = format!("{}/{}", row[0], row[1]);
        assert!(log_z >= exact - 1e-9 * exact.abs(), "{name}: {log_z} below {exact}");
        // Some published numbers come from message passing that had not converged and lie below
        // the optimum of the relaxation; ours is then within its gap of a feasible primal value.
        let worse = log_z > published + 1e-3 * published.abs();
        assert!(!worse || solution.relaxation_gap.unwrap() < 1e-5, "{name}: {log_z} above {published}");
        if worse || solution.stop != StopReason::Converged {
            let gap = solution.relaxation_gap.unwrap();
            eprintln!("{name}: {log_z} (published {published}), {:?}, gap {gap:.1e}", solution.stop);
        }
        if solution.seconds > slowest.0 {
            slowest = (solution.seconds, name);
        }
    }
    eprintln!("slowest: {} {:.2} s", slowest.1, slowest.0);
}
