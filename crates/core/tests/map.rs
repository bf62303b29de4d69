//! Zero temperature: bounds above the maximum at every stop, tight where the paper says so, equal to stored values.

mod proofs;

use proofs::*;
use zbound::io::{Format, ReadOptions};
use zbound::query::map::{Cuts, Map, MapRequest, MapSolution, Proof, map};
use zbound::relax::{Quantum, Relaxation};
use zbound::{
    FactorModel, FeatureSpec, Features, Flow, Ising, Model, Polynomial, Problem, Progress, Settings, Silent,
    Source, StopReason,
};

fn solve(f: &Polynomial, features: &FeatureSpec, cuts: Cuts, settings: &Settings) -> MapSolution {
    Map::new(cuts).solve(f, features, settings).unwrap()
}

fn upper(solution: &MapSolution) -> f64 {
    solution.upper.unwrap_or_else(|| panic!("not certified: {:?}", solution.reason)).phi()
}

fn assert_sound(solution: &MapSolution, f: &Polynomial, what: &str) {
    let exact = brute_force(f, 0.0);
    assert!(upper(solution) >= exact.lo, "{what}: {} < {exact:?}", upper(solution));
    let allowed = 1e-12 * (f.l1_norm() + exact.hi.abs());
    assert!(solution.value <= exact.hi + allowed, "{what}: {} > {exact:?}", solution.value);
    let certificate = solution.certificate.as_ref().unwrap();
    assert_eq!(certificate.verify(f).unwrap().phi(), upper(solution), "{what}");
    assert!(certificate.verify_lower(f).unwrap().phi() <= exact.hi, "{what}");
}

#[test]
fn map_bound_is_above_brute_force_at_every_stop() {
    let mut random = Random(50);
    for case in 0..cases(300, 10_000) {
        let (d, scale) = (random.size().min(9), random.model_scale());
        let pairwise = random.below(3) > 0;
        let f: Polynomial = if pairwise {
            random_ising(&mut random, d, scale).into()
        } else {
            random_polynomial(&mut random, d, scale)
        };
        let cuts = [Cuts::None, Cuts::Pairwise, Cuts::Triangle][random.below(3)];
        let iterations = [Some(1), Some(2), Some(1 + random.below(12)), None][random.below(4)];
        let settings = Settings::default().with_max_iterations(iterations);
        let solution = solve(&f, &FeatureSpec::Default, cuts, &settings);
        assert_sound(&solution, &f, &format!("case {case}, d {d}, scale {scale:e}, {cuts:?}"));
        if iterations.is_none() && pairwise {
            let (gap, size) =
                (solution.relaxation_gap.unwrap(), upper(&solution).abs().max(1e-3 * f.l1_norm()));
            // Underflow costs up to 1e-300 whatever the scale.
            assert!(
                gap <= 1e-6 * size + 1e-300,
                "case {case}: gap {gap:e} at {size} ({cuts:?}, {:?})",
                solution.stop
            );
            assert!(cuts != Cuts::None || solution.stop == StopReason::Converged, "case {case}: gap {gap:e}");
        }
    }
}

#[test]
fn large_models_are_solved_in_factored_form_and_certified() {
    let mut random = Random(51);
    for d in [450, 700] {
        let fields: Vec<f64> = (0..d).map(|_| random.between(-0.5, 0.5)).collect();
        let ring = (0..d).map(|i| (i, (i + 1) % d, random.between(-1.0, 1.0))).collect::<Vec<_>>();
        let f = Ising::new(d, &fields, &ring).unwrap().into();
        let solution = solve(&f, &FeatureSpec::Default, Cuts::None, &Settings::default().with_tol(1e-5));
        let gap = solution.relaxation_gap.unwrap();
        assert!(gap <= 2e-5 * upper(&solution), "d = {d}: gap {gap:e} at {}", upper(&solution));
        assert!(solution.value <= upper(&solution));
        // An exact maximum by elimination lies between the two.
        let exact = zbound::exact::exact(&f.clone().into(), 1e-3, &Settings::default(), &mut Silent).unwrap();
        assert!(upper(&solution) >= exact.phi_bounds.0, "d = {d}");
    }
}

#[test]
fn bound_is_tight_for_independent_variables_with_linear_features() {
    let mut random = Random(52);
    for d in [1, 2, 5, 11] {
        let fields: Vec<f64> = (0..d).map(|_| random.between(-2.0, 2.0)).collect();
        let f: Polynomial = Ising::new(d, &fields, &[]).unwrap().into();
        let solution = solve(&f, &FeatureSpec::Degree(1), Cuts::None, &Settings::default());
        let top: f64 = fields.iter().map(|h| h.abs()).sum();
        assert!(
            (upper(&solution) - top).abs() < 1e-7 * top && (solution.value - top).abs() < 1e-12,
            "d = {d}"
        );
    }
}

#[test]
fn bound_is_tight_on_trees_with_edge_features_and_with_pairwise_cuts() {
    let mut random = Random(53);
    for d in [2, 5, 9] {
        let fields: Vec<f64> = (0..d).map(|_| random.between(-1.0, 1.0)).collect();
        let edges: Vec<_> = (1..d).map(|i| (random.below(i), i, random.between(-1.5, 1.5))).collect();
        let f: Polynomial = Ising::new(d, &fields, &edges).unwrap().into();
        let top = brute_force(&f, 0.0);
        for (features, cuts) in [(FeatureSpec::Edges, Cuts::None), (FeatureSpec::Default, Cuts::Pairwise)] {
            let solution = solve(&f, &features, cuts, &Settings::default().with_tol(1e-7));
            let gap = upper(&solution) - top.hi;
            assert!(gap < 1e-6 * top.hi, "d = {d}, {features:?}: {gap:e} above {top:?}");
            assert!(top.hi - solution.value < 1e-12, "d = {d}: the maximiser is found");
        }
    }
}

#[test]
fn finite_temperature_bounds_grow_to_the_zero_temperature_bound() {
    let mut random = Random(54);
    for features in [FeatureSpec::Degree(1), FeatureSpec::Degree(2)] {
        let f: Polynomial = random_ising(&mut random, 6, 1.0).into();
        let resolved = features.resolve(&f).unwrap();
        let n = resolved.len() as f64;
        let limit = upper(&solve(&f, &features, Cuts::None, &Settings::default()));
        let mut last = f64::NEG_INFINITY;
        for eps in [10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4] {
            let problem = Problem::new(f.clone(), resolved.clone()).unwrap().with_temperature(eps).unwrap();
            let value =
                Quantum::default().solve(&problem, &Settings::default()).unwrap().upper.unwrap().phi();
            assert!(value >= last - 1e-7, "a_eps grows as eps falls: {value} after {last}");
            assert!(
                value <= limit + 1e-7 && value >= limit - eps * n.ln() - 1e-6,
                "eps {eps}: {value} {limit}"
            );
            last = value;
        }
        assert!((last - limit).abs() < 1e-3);
    }
}

#[test]
fn cuts_never_hurt_and_close_frustrated_cycles() {
    let mut random = Random(55);
    for _ in 0..cases(12, 200) {
        let f: Polynomial = random_ising(&mut random, 9, 1.0).into();
        let bound = |cuts| upper(&solve(&f, &FeatureSpec::Default, cuts, &Settings::default()));
        let (none, pairwise, triangle) = (bound(Cuts::None), bound(Cuts::Pairwise), bound(Cuts::Triangle));
        assert!(
            pairwise <= none + 1e-6 && triangle <= pairwise + 1e-4 * none.abs(),
            "{none} {pairwise} {triangle}"
        );
    }
    let odd: Vec<_> = (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j, -1.0))).collect();
    let f: Polynomial = Ising::new(5, &[0.3; 5], &odd).unwrap().into();
    let both =
        Map::new(Cuts::Triangle).solve(&f, &FeatureSpec::Edges, &Settings::default().with_tol(1e-6)).unwrap();
    assert_sound(&both, &f, "edge features and cuts");
    let plain = upper(&solve(&f, &FeatureSpec::Edges, Cuts::None, &Settings::default().with_tol(1e-6)));
    assert!(upper(&both) <= plain + 1e-9);
}

#[test]
fn stored_relaxation_values_are_reproduced() {
    let mut count = 0;
    for instance in &golden_instances() {
        let stored = &instance["ref"]["zero_temp"];
        let Some(sdp) = stored["sdp"].as_f64() else { continue };
        let f: Polynomial = reference_model(instance).into();
        let solution = solve(&f, &FeatureSpec::Degree(1), Cuts::None, &Settings::default());
        let (id, bound, scale) = (&instance["id"], upper(&solution), sdp.abs().max(1.0));
        assert!((bound - sdp).abs() <= 1e-6 * scale, "{id}: {bound} against {sdp}");
        assert!(bound >= stored["sdp_lower"].as_f64().unwrap() - 1e-9 * scale, "{id}");
        if let Some(top) = stored["max_f"].as_f64() {
            assert!(bound >= top - 1e-12 * scale && solution.value >= top - 1e-9 * scale, "{id}: {top}");
        }
        count += 1;
    }
    tally(11, "relaxed maxima of other solvers", count);
    assert!(count > 20);
}

fn public_file(name: &str) -> Option<Model> {
    let options = ReadOptions { format: Some(Format::Rudy), ..ReadOptions::default() };
    public_data().map(|folder| zbound::io::read(&folder.join(name), &options).unwrap())
}

/// Brackets of the relaxation's value, `(file, feasible value, dual bound, cut we must reach)`: G-set from the table beside the
/// data (another solver's feasible point and certified dual), the others as published, with their last digit.
const BRACKETS: [(&str, f64, f64, f64); 7] = [
    ("biqbin/g05_60.0", 550.0445, 550.0455, 536.0),
    ("dimacs_torus/toruspm3-8-50.dat", 527.8086625, 527.8086635, 440.0),
    ("gset/G1.txt", 12083.197617, 12083.198188, 11_500.0),
    ("gset/G11.txt", 629.15677, 629.172999, 520.0),
    ("gset/G14.txt", 3191.566797, 3191.568473, 3000.0),
    ("gset/G51.txt", 4006.255492, 4006.25678, 3780.0),
    ("gset/G32.txt", 1567.614357, 1567.670612, 1300.0),
];

#[test]
fn published_max_cut_bounds_are_reproduced_in_cut_units() {
    let tol = 1e-6;
    for (name, primal, dual, cut) in BRACKETS.into_iter().take(cases(2, 7)) {
        let Some(model) = public_file(name) else { return };
        let request = MapRequest { settings: Settings::default().with_tol(tol), ..MapRequest::default() };
        let record = map(&model, &request, &mut Silent).unwrap().record;
        let (bound, gap) = (record.upper.unwrap(), record.relaxation_gap.unwrap());
        println!("{name}: {bound} in {:.1} s, gap {gap:.1e}, cut {:?}", record.seconds, record.value);
        assert!(gap <= 2.0 * tol * bound, "{name}: gap {gap:e} at {bound}");
        assert!(bound >= primal && bound - gap <= dual, "{name}: {bound} - {gap} against [{primal}, {dual}]");
        assert!(record.value.unwrap() >= cut && record.value.unwrap() <= bound, "{name}: {:?}", record.value);
    }
}

#[test]
fn cancelling_and_time_limits_keep_a_certified_bound() {
    let mut random = Random(56);
    let couplings: Vec<_> = (0..600).flat_map(|i| [(i, (i + 7) % 600), (i, (i + 31) % 600)]).collect();
    let couplings: Vec<_> = couplings.into_iter().map(|(i, j)| (i, j, random.between(-1.0, 1.0))).collect();
    let large: Polynomial = Ising::new(600, &[0.1; 600], &couplings).unwrap().into();
    let small: Polynomial = random_ising(&mut random, 12, 1.0).into();
    for f in [&small, &large] {
        let mut stop = |_: &Progress| Flow::Stop;
        let settings = Settings::default();
        let cancelled =
            Map::new(Cuts::None).solve_with(f, &FeatureSpec::Default, &settings, &mut stop).unwrap();
        assert_eq!(cancelled.stop, StopReason::Cancelled);
        let timed = solve(f, &FeatureSpec::Default, Cuts::None, &settings.with_time_limit(Some(0.0)));
        assert_eq!(timed.stop, StopReason::TimeLimit);
        assert!(upper(&cancelled) >= cancelled.value && upper(&timed) >= timed.value);
    }
}

#[test]
fn a_seed_fixes_every_bit() {
    let couplings: Vec<_> = (0..500).map(|i| (i, (i * 13 + 5) % 500, 1.0)).filter(|e| e.0 < e.1).collect();
    let f: Polynomial = Ising::new(500, &[0.2; 500], &couplings).unwrap().into();
    let run =
        || solve(&f, &FeatureSpec::Default, Cuts::None, &Settings::default().with_tol(1e-4).with_seed(3));
    let (a, b) = (run(), run());
    assert_eq!(upper(&a).to_bits(), upper(&b).to_bits());
    assert_eq!(a.assignment, b.assignment);
}

#[test]
fn features_that_cannot_represent_the_model_are_named() {
    let f: Polynomial = Ising::new(3, &[0.0; 3], &[(0, 1, 1.0)]).unwrap().into();
    let features = Features::new(3, vec![zbound::VarSet::EMPTY, zbound::VarSet::singleton(2)]).unwrap();
    let spec = FeatureSpec::Explicit(features.sets().to_vec());
    let error = Map::new(Cuts::None).solve(&f, &spec, &Settings::default()).unwrap_err();
    assert!(error.to_string().contains("[0, 1]"), "{error}");
}

#[test]
fn hard_zeros_are_bounded_from_the_best_floor() {
    let mut random = Random(71);
    let mut shallow = 0;
    for case in 0..cases(12, 100) {
        let d = 6;
        let mut tables = FactorModel::new(d);
        for i in 0..d {
            for j in (0..i).filter(|_| random.below(2) == 0).collect::<Vec<_>>() {
                let mut table: Vec<f64> = (0..4).map(|_| random.between(-1.5, 1.5)).collect();
                table[random.below(4)] = f64::NEG_INFINITY;
                tables.push(&[j, i], &table).unwrap();
            }
        }
        let top = (0..1 << d).map(|b| tables.value(&proofs::spins(d, b))).fold(f64::MIN, f64::max);
        let model = Model::new(Source::Factors(tables));
        if !model.factors().unwrap().has_hard_zeros() || top == f64::MIN {
            continue;
        }
        let deep = Map::new(Cuts::None)
            .solve(&model.majorant(1.0).unwrap().0, &FeatureSpec::Default, &Settings::default())
            .unwrap();
        let report = map(&model, &MapRequest::default(), &mut Silent).unwrap();
        let (upper, deep) = (report.record.upper.unwrap(), deep.upper.unwrap().phi());
        assert!(upper >= top - 1e-9 && upper <= deep + 1e-6, "case {case}: {top} {upper} {deep}");
        assert!(report.record.value.is_none_or(|v| v <= top + 1e-12));
        let claim = report.certificate.unwrap().verify(&model.raised(report.zero_floor).unwrap()).unwrap();
        // The sum of the tables' largest entries may be a little below what the certificate proves.
        let is_relaxed = report.record.proof == Some(Proof::Relaxation);
        assert!(claim.phi() >= upper - 1e-9 && (!is_relaxed || claim.phi() <= upper + 1e-9), "case {case}");
        shallow += usize::from(upper < deep - 0.1);
    }
    assert!(shallow > 3, "{shallow}");
}

#[test]
fn cuts_never_cost_a_good_assignment() {
    let mut random = Random(57);
    for d in [40, 60] {
        let f: Polynomial = random_ising(&mut random, d, 1.0).into();
        let plain = solve(&f, &FeatureSpec::Default, Cuts::None, &Settings::default());
        for cuts in [Cuts::Pairwise, Cuts::Triangle] {
            let few = plain.iterations + 25;
            for limit in [None, Some(few)] {
                let settings = Settings::default().with_tol(1e-4).with_max_iterations(limit);
                let tight = solve(&f, &FeatureSpec::Default, cuts, &settings);
                let allowed = 1e-12 * f.l1_norm();
                assert!(
                    tight.value >= plain.value - allowed,
                    "d {d}, {cuts:?}: {} lost",
                    plain.value - tight.value
                );
            }
        }
    }
}
