//! Every format reads what it writes, refuses what is malformed with file and line, and reads
//! the public instances with their published sizes and values.

mod proofs;
#[path = "formats/public_files.rs"]
mod public_files;
#[path = "formats/refusals.rs"]
mod refusals;

use std::path::Path;

use zbound::io::{Format, ReadOptions, read, read_bytes, write, write_to};
use zbound::{Error, FactorModel, Ising, Model, Polynomial, Source, VarSet};

/// Tables pass through one exponential and one logarithm, each within an ulp or two.
const TABLE_TOL: f64 = 1e-13;

/// SplitMix64: enough for test models, and the same everywhere.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 51) as f64 - 2.0
    }

    fn ising(&mut self, d: usize) -> Ising {
        let fields: Vec<f64> = (0..d).map(|_| self.real()).collect();
        let mut couplings = Vec::new();
        for (i, j) in (0..d).flat_map(|i| (i + 1..d).map(move |j| (i, j))) {
            if self.below(3) > 0 {
                couplings.push((i, j, self.real()));
            }
        }
        Ising::new(d, &fields, &couplings).unwrap()
    }
}

fn states(d: usize) -> impl Iterator<Item = Vec<i8>> {
    (0..1usize << d).map(move |bits| (0..d).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect())
}

fn value(model: &Model, x: &[i8]) -> f64 {
    match model.source() {
        Source::Polynomial(f) => f.value(x),
        Source::Factors(f) => f.value(x),
        _ => unreachable!("no other source exists"),
    }
}

fn written(model: &Model, format: Format) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    write_to(model, format, &mut bytes).map(|()| bytes)
}

fn parsed(bytes: &[u8], format: Format) -> Result<Model, Error> {
    read_bytes("file", bytes, format, &ReadOptions::default())
}

fn round_trip(model: &Model, format: Format) -> Model {
    let bytes = written(model, format).unwrap_or_else(|e| panic!("{format}: {e}"));
    parsed(&bytes, format).unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&bytes)))
}

fn assert_same_values(a: &Model, b: &Model, tol: f64, what: &str) {
    assert_eq!(a.d(), b.d(), "{what}");
    for x in states(a.d()) {
        let (u, v) = (value(a, &x), value(b, &x));
        assert!(u == v || (u - v).abs() <= tol * (1.0 + u.abs()), "{what} at {x:?}: {u} and {v}");
    }
}

#[test]
fn polynomials_round_trip_through_every_format_that_holds_them() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let d = 1 + random.below(5);
        let ising = random.ising(d).with_constant(random.real()).unwrap();
        let terms = if d >= 3 && seed % 2 == 0 {
            vec![(VarSet::from_iter([0, 1, d - 1]), random.real())]
        } else {
            vec![]
        };
        let model = Model::from(Polynomial::new(ising.clone(), terms).unwrap());
        assert_eq!(round_trip(&model, Format::Json), model, "seed {seed}");
        for format in [Format::Uai, Format::LibDai] {
            let again = round_trip(&model, format);
            assert_same_values(&model, &again, TABLE_TOL, &format!("{format}, seed {seed}"));
        }
        let pairwise = Model::from(ising.clone());
        let again = round_trip(&pairwise, Format::DimodJson);
        assert_eq!(again.source(), pairwise.source(), "seed {seed}");
        let no_constant = Model::from(ising.with_constant(0.0).unwrap());
        let again = round_trip(&no_constant, Format::Coo);
        assert_same_values(&no_constant, &again, 0.0, &format!("coo, seed {seed}"));
    }
}

#[test]
fn hard_zeros_and_constants_round_trip_through_tables() {
    for seed in 0..100 {
        let mut random = Random(seed);
        let d = 3 + random.below(3);
        let mut tables = FactorModel::new(d);
        tables.add_constant(10.0 * random.real());
        for _ in 0..random.below(5) {
            let start = random.below(d - 2);
            let scope: Vec<usize> = (start..start + 1 + random.below(3)).rev().collect();
            let zero = |r: &mut Random| if r.below(4) == 0 { f64::NEG_INFINITY } else { r.real() };
            let table: Vec<f64> = (0..1 << scope.len()).map(|_| zero(&mut random)).collect();
            tables.push(&scope, &table).unwrap();
        }
        let has_zeros = tables.has_hard_zeros();
        let model = Model::new(Source::Factors(tables));
        for format in [Format::Uai, Format::LibDai] {
            let again = round_trip(&model, format);
            assert_same_values(&model, &again, TABLE_TOL, &format!("{format}, seed {seed}"));
        }
        assert_eq!(written(&model, Format::Json).is_err(), has_zeros, "seed {seed}");
    }
}

#[test]
fn bits_and_cuts_round_trip() {
    for seed in 0..100 {
        let mut random = Random(seed);
        let d = 2 + random.below(4);
        let (mut entries, mut edges) = (Vec::new(), Vec::new());
        for i in 1..=d {
            entries.push(format!("{i} {i} {}", random.real()));
            for j in i + 1..=d {
                let line = format!("{i} {j} {:e}", random.real());
                entries.push(line.clone());
                edges.push(line);
            }
        }
        let text = |lines: &[String]| format!("{d} {}\n{}\n", lines.len(), lines.join("\n"));
        let cut = parsed(text(&edges).as_bytes(), Format::Rudy).unwrap();
        let again = round_trip(&cut, Format::Rudy);
        assert_eq!(cut, again, "seed {seed}");
        let bits = parsed(text(&entries).as_bytes(), Format::Bq).unwrap();
        for format in [Format::Bq, Format::Qubo, Format::Coo] {
            let what = format!("{format}, seed {seed}");
            assert_same_values(&bits, &round_trip(&bits, format), TABLE_TOL, &what);
            assert_same_values(&cut, &round_trip(&cut, format), TABLE_TOL, &what);
        }
    }
}

#[test]
fn rounding_of_bits_to_spins_is_within_the_stated_uncertainty() {
    const UNIT: f64 = 1.0 / (1u64 << 32) as f64;
    let mut inexact = 0;
    for seed in 0..200 {
        let mut random = Random(seed);
        let d = 4;
        // Multiples of 2^-30 of very different sizes, so that exact sums are integers.
        let mut bias = || (random.bits() >> (12 + random.below(8))) as i64 - 1024;
        let cells: Vec<(usize, usize, i64)> =
            (0..d).flat_map(|i| (i..d).map(move |j| (i, j))).map(|(i, j)| (i, j, bias())).collect();
        let lines: String = cells
            .iter()
            .map(|&(i, j, v)| format!("{} {} {}\n", i + 1, j + 1, v as f64 * 4.0 * UNIT))
            .collect();
        let model = parsed(format!("{d} {}\n{lines}", cells.len()).as_bytes(), Format::Bq).unwrap();
        let f = model.polynomial().unwrap();
        inexact += usize::from(f.uncertainty() > 0.0);
        let integer = |v: f64| (v / UNIT) as i128;
        for x in states(d) {
            let energy: i128 =
                cells.iter().filter(|&&(i, j, _)| x[i] + x[j] == 2).map(|&(_, _, v)| 4 * i128::from(v)).sum();
            let ours: i128 = f.coefficients().map(|(s, v)| integer(v) * i128::from(s.monomial(&x))).sum();
            let error = (ours + energy).unsigned_abs() as f64 * UNIT;
            assert!(error <= f.uncertainty(), "seed {seed}: {error} above {}", f.uncertainty());
        }
    }
    assert!(inexact > 50, "the test must see rounding, saw it {inexact} times");
}

#[test]
fn what_a_format_cannot_hold_is_refused_with_the_reason() {
    let pair =
        |h: f64, c: f64| Ising::new(3, &[h, 0.0, 0.0], &[(0, 1, 1.0)]).unwrap().with_constant(c).unwrap();
    let cubic = Polynomial::new(pair(0.0, 0.0), vec![(VarSet::from_iter([0, 1, 2]), 1.0)]).unwrap();
    let huge = Ising::new(1, &[800.0], &[]).unwrap();
    let cases: [(Model, Format, &str); 8] = [
        (cubic.clone().into(), Format::Rudy, "arity 3"),
        (cubic.into(), Format::DimodJson, "arity 3"),
        (pair(1.0, -1.0).into(), Format::Rudy, "has a field"),
        (pair(0.0, 0.0).into(), Format::Rudy, "constant 1"),
        (pair(2.0, 0.0).into(), Format::Qubo, "offset"),
        (pair(0.0, 1.0).into(), Format::Bq, "offset"),
        (pair(0.0, 1.0).into(), Format::Coo, "offset"),
        (huge.into(), Format::Uai, "800"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (model, format, words) in cases {
        let path = folder.path().join("out");
        let error = write(&model, &path, format).unwrap_err();
        assert!(matches!(error, Error::NotApplicable(_)) && error.to_string().contains(words), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn evidence_is_applied_on_reading_and_gone_on_writing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, evidence) = (folder.path().join("m.uai"), folder.path().join("m.evid"));
    std::fs::write(&path, "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 0\n").unwrap();
    std::fs::write(&evidence, "0\n").unwrap();
    let options = |evidence: &Path| ReadOptions { evidence: Some(evidence.into()), ..Default::default() };
    assert_eq!(read(&path, &options(&evidence)).unwrap().d(), 2);
    std::fs::write(&evidence, "1\n0 0\n").unwrap();
    let model = read(&path, &options(&evidence)).unwrap();
    assert_eq!((model.d(), model.variables(), model.free_variables()), (1, 2, vec![1]));
    write(&model, &folder.path().join("out.json"), Format::Json).unwrap();
    let again = read(&folder.path().join("out.json"), &ReadOptions::default()).unwrap();
    let difference = value(&again, &[1]) - value(&again, &[-1]);
    assert!((difference - 2f64.ln()).abs() < TABLE_TOL && again.d() == 1);
    let missing = read(&path, &options(Path::new("absent.evid"))).unwrap_err().to_string();
    assert!(missing.starts_with("absent.evid: "), "{missing}");
}
