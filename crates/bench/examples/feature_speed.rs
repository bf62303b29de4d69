//! Time of one quantum solve by features, over the paper's families: `feature_speed D FEATURES [TOL [THREADS [SEEDS]]]`.

use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::relax::{Quantum, QuantumGreedy, Relaxation};
use zbound::{FeatureSpec, Greedy, Polynomial, Problem, Settings, Solution};

fn main() -> zbound::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let read = |k: usize, default: f64| arguments.get(k).and_then(|a| a.parse().ok()).unwrap_or(default);
    let d = read(0, 5.0) as usize;
    let spec = arguments.get(1).map_or("degree:2", String::as_str);
    let settings = Settings::default().with_tol(read(2, 1e-8)).with_threads(read(3, 1.0) as usize);
    for seed in 0..read(4, 1.0) as u64 {
        for (family, w) in families() {
            let model =
                Polynomial::from(generate(&GenerateSpec { d, family, graph: Graph::Complete, w, seed })?);
            let run = |s: &Settings| -> zbound::Result<Solution> {
                if let Some(k) = spec.strip_prefix("greedy:") {
                    let problem = Problem::new(model.clone(), FeatureSpec::Degree(1).resolve(&model)?)?;
                    return QuantumGreedy
                        .solve(&problem, &s.clone().with_greedy(Greedy::Count(k.parse().unwrap_or(3))));
                }
                Quantum::default()
                    .solve(&Problem::new(model.clone(), spec.parse::<FeatureSpec>()?.resolve(&model)?)?, s)
            };
            let first = run(&settings)?;
            let repeats = (0.3 / first.seconds).clamp(0.0, 20.0) as usize;
            let mut best = first.seconds;
            for _ in 0..repeats {
                best = best.min(run(&settings)?.seconds);
            }
            report(family, w, &first, best);
        }
    }
    Ok(())
}

fn families() -> Vec<(Family, f64)> {
    let mut all = vec![(Family::Gaussian, 0.0)];
    for family in [Family::LogdetAttractive, Family::LogdetMixed, Family::LogdetRepulsive] {
        all.extend([0.25, 0.5].map(|w| (family, w)));
    }
    all
}

fn report(family: Family, w: f64, solution: &Solution, seconds: f64) {
    let bound = solution.upper.map_or(f64::NAN, |u| u.phi());
    println!(
        "{:18} w={w:4} {:9.3} ms  {:3} iterations {:4} decompositions  bound {bound:.9} gap {:.1e} {:?}",
        family.name(),
        1e3 * seconds,
        solution.iterations,
        solution.eigendecompositions,
        solution.relaxation_gap.unwrap_or(f64::NAN),
        solution.stop,
    );
}
