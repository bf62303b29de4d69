//! The public instances: sizes, coefficients and log Z as published, refusals as documented.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use zbound::io::{Format, ReadOptions, read, read_evidence};
use zbound::{Model, Source};

use super::proofs::public_data;
use super::{states, value};

/// log Z by brute force against values recomputed in double precision.
const LOG_Z_TOL: f64 = 1e-9;

fn log_z(model: &Model) -> f64 {
    let values: Vec<f64> = states(model.d()).map(|x| value(model, &x)).collect();
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    max + values.iter().map(|v| (v - max).exp()).sum::<f64>().ln()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    found.sort();
    found.into_iter().flat_map(|p| if p.is_dir() { files(&p) } else { vec![p] }).collect()
}

/// Files that must be refused: the line, and what the message must say.
const REFUSED: [(&str, usize, &str); 14] = [
    ("g05_60.0.json", 1, "unknown field `name`"),
    ("error_comment.mc", 1, "header"),
    ("error_double_definition.mc", 6, "announced 4"),
    ("error_too_many_edges.mc", 6, "announced 4"),
    ("error_node_id_letter.mc", 2, "index"),
    ("error_node_id_range_0.mc", 4, "from 1 to 4"),
    ("error_comment_in_file.bq", 3, "comment"),
    ("error_double_definition_2.bq", 6, "announced 4"),
    ("error_header_missing.bq", 1, "header"),
    ("error_id_letter.bq", 2, "index"),
    ("error_id_range_0.bq", 4, "from 1 to 4"),
    ("error_no_entries.bq", 2, "i j value"),
    ("error_no_weight.bq", 3, "i j value"),
    ("error_too_few_entries.bq", 4, "ends after 3"),
];

#[test]
fn every_public_file_is_read_or_refused_as_documented() {
    let Some(folder) = public_data() else { return };
    let refused: HashMap<_, _> = REFUSED.iter().map(|&(name, line, words)| (name, (line, words))).collect();
    let (mut read_count, mut refused_count) = (0, 0);
    for path in files(&folder) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("LICENSE") || Format::from_path(&path).is_none() {
            continue;
        }
        match (read(&path, &ReadOptions::default()), refused.get(name)) {
            (Ok(_), None) => read_count += 1,
            (Err(error), Some(&(line, words))) => {
                let message = error.to_string();
                let place = format!("{}:{line}: ", path.display());
                assert!(message.starts_with(&place) && message.contains(words), "{message}");
                refused_count += 1;
            }
            (Ok(_), Some(_)) => panic!("{name} should be refused"),
            (Err(error), None) => panic!("{error}"),
        }
    }
    assert_eq!(refused_count, REFUSED.len());
    assert!(read_count > 300, "only {read_count} files read");
    let unknown = folder.join("charjon/error_wrong_number_of_edges.gsg");
    assert!(read(&unknown, &ReadOptions::default()).unwrap_err().to_string().contains("--format"));
}

/// Model, evidence file, its pairs, number of warnings.
type Evidence = (&'static str, &'static str, &'static [(usize, u32)], usize);

#[test]
fn evidence_files_of_every_dialect_are_read() {
    let Some(folder) = public_data() else { return };
    let expected: [Evidence; 8] = [
        ("merlin/cancer.uai", "merlin/cancer.evid", &[(1, 0)], 0),
        ("merlin/paskin.uai", "merlin/paskin.evid", &[], 1),
        ("merlin/simple5.uai", "merlin/simple5.evid", &[], 1),
        ("merlin/simple6.uai", "merlin/simple6.evid", &[], 1),
        ("merlin/ChestClinic.uai", "merlin/ChestClinic.evid", &[(6, 0)], 0),
        ("merlin/uai-test-model.uai", "merlin/uai-test-model.evid", &[(2, 1), (4, 1)], 0),
        (
            "uai2014_nonpairwise/Promedus_33.uai",
            "uai2014_nonpairwise/Promedus_33.uai.evid",
            &[(184, 1), (85, 1)],
            0,
        ),
        ("uai2014_pairwise/Grids_11.uai", "uai2014_pairwise/Grids_11.uai.evid", &[], 0),
    ];
    for (model, evidence, pairs, warnings) in expected {
        let options = ReadOptions { evidence: Some(folder.join(evidence)), ..Default::default() };
        let model = read(&folder.join(model), &options).unwrap();
        let mut fixed: Vec<(usize, u32)> =
            model.fixed().iter().enumerate().filter_map(|(i, s)| s.map(|s| (i, s))).collect();
        fixed.sort_by_key(|p| pairs.iter().position(|q| q == p));
        assert_eq!((&fixed[..], model.warnings.len()), (pairs, warnings), "{evidence}");
        assert_eq!(model.d() + pairs.len(), model.variables());
    }
    let bytes = std::fs::read(folder.join("merlin/pedigree1.evid")).unwrap();
    assert_eq!(read_evidence("pedigree1", &bytes, &[5; 334]).unwrap().0.len(), 10);
    let bn = read(&folder.join("merlin/bn.uai"), &ReadOptions::default()).unwrap();
    assert!(bn.warnings[0].contains("ignored"));
}

/// Rows of a CSV file as maps from column to cell.
fn table(path: &Path) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    lines.map(|row| head.iter().cloned().zip(row).collect()).collect()
}

#[test]
fn max_cut_files_have_their_published_sizes_in_every_encoding() {
    let Some(folder) = public_data() else { return };
    let size = |name: &str| {
        let model = read(&folder.join(name), &ReadOptions::default()).unwrap();
        let f = model.polynomial().unwrap();
        assert_eq!(f.uncertainty(), 0.0, "integer weights are exact");
        (f.d().to_string(), f.pairwise_part().edges().len().to_string())
    };
    for row in table(&folder.join("gset/reference.csv")) {
        assert_eq!(size(&format!("gset/{}", row["file"])), (row["n"].clone(), row["m"].clone()));
    }
    assert_eq!(size("dimacs_torus/toruspm3-8-50.dat"), ("512".into(), "1536".into()));
    assert_eq!(size("biqbin/g05_60.0"), ("60".into(), "885".into()));
    assert_eq!(size("charjon/error_delimiter.mc"), ("4".into(), "4".into()));
    let twin = |name: &str| read(&folder.join("gset").join(name), &ReadOptions::default()).unwrap();
    assert_eq!(twin("G14.utf16.txt"), twin("G14.txt"));
}

#[test]
fn pairwise_tables_have_their_published_coefficients() {
    let Some(folder) = public_data() else { return };
    let near = |cell: &str, ours: f64, digits: f64| {
        let published: f64 = cell.parse().unwrap();
        assert!((ours - published).abs() <= digits * (1.0 + published.abs()), "{ours} against {cell}");
    };
    let check = |path: PathBuf, row: &HashMap<String, String>, digits: f64| {
        let f = read(&path, &ReadOptions::default()).unwrap().polynomial().unwrap();
        let ising = f.as_ising().unwrap();
        assert_eq!(f.d().to_string(), row["d"], "{}", path.display());
        assert_eq!(ising.edges().len().to_string(), row["edges"], "{}", path.display());
        let largest = |values: &[f64]| values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        near(&row["const"], ising.constant(), 1e-9);
        near(&row["max_abs_h"], largest(ising.fields()), digits);
        near(&row["max_abs_J"], largest(ising.couplings()), digits);
    };
    for row in table(&folder.join("uai2014_pairwise/reference.csv")) {
        check(folder.join("uai2014_pairwise").join(&row["file"]), &row, 1e-4);
    }
    for row in table(&folder.join("fw_inference/trw_reference.csv")) {
        check(folder.join(format!("fw_inference/{}/{}.uai", row["set"], row["name"])), &row, 1e-12);
    }
    for row in table(&folder.join("uai2014_nonpairwise/reference.csv")) {
        if row["maxcard"] != "2" {
            continue;
        }
        let model = read(&folder.join("uai2014_nonpairwise").join(&row["file"]), &ReadOptions::default());
        let Source::Factors(tables) = model.unwrap().source().clone() else { panic!("tables expected") };
        let zeros = tables.factors().flat_map(|f| f.table).filter(|v| **v == f64::NEG_INFINITY).count();
        let arity = tables.factors().map(|f| f.scope.len()).max().unwrap_or(0);
        let found = [tables.d(), tables.len(), arity, zeros].map(|n| n.to_string());
        assert_eq!(
            found,
            ["d", "factors", "max_arity", "zero_entries"].map(|c| row[c].clone()),
            "{}",
            row["file"]
        );
    }
}

#[test]
fn small_tables_have_their_published_log_z() {
    let Some(folder) = public_data() else { return };
    let check = |path: PathBuf, expected: f64| {
        let found = log_z(&read(&path, &ReadOptions::default()).unwrap());
        let error = (found - expected).abs();
        assert!(
            error <= LOG_Z_TOL * (1.0 + expected.abs()),
            "{}: {found} against {expected}",
            path.display()
        );
    };
    // From the README of the data, 16 digits.
    for (name, expected) in [
        ("testfast", 14.328233281091576),
        ("hoi1", 5.530780894349479),
        ("hoi2", 5.2514009096640555),
        ("hoi3", 6.613744453097418),
        ("hoi4", 4.808265197398907),
        ("zeroes1", 2.197224577336219),
        ("twofactors", 3.1322632223436164),
    ] {
        check(folder.join(format!("libdai/{name}.fg")), expected);
    }
    for row in table(&folder.join("fw_inference/trw_reference.csv")).iter().filter(|row| row["d"] == "10") {
        check(
            folder.join(format!("fw_inference/K10/{}.uai", row["name"])),
            row["exact_lnZ"].parse().unwrap(),
        );
    }
    // The conditional tables of a Bayesian network sum to one.
    for name in ["cancer", "ChestClinic", "uai-test-model", "uai-test-model2", "bn", "uai-dual-circ-reduced"]
    {
        check(folder.join(format!("merlin/{name}.uai")), 0.0);
    }
}
