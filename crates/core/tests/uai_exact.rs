//! Exact inference on public UAI models, against recomputed log Z and published marginals.

mod proofs;

use proofs::public_data;
use std::collections::HashMap;
use std::path::Path;
use zbound::exact::{Exact, estimate, exact};
use zbound::{Error, FactorModel, Model, Settings, Silent, Source};

/// The stored values come from another elimination in double precision.
const RELATIVE: f64 = 1e-10;
/// Published marginals have six digits.
const PRINTED: f64 = 2e-5;

/// A reader for well-formed files only: the library's own is tested elsewhere.
fn read_uai(path: &Path) -> Option<Model> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut tokens = text.split_whitespace().skip(1);
    let mut next = || tokens.next().unwrap();
    let d: usize = next().parse().unwrap();
    if (0..d).filter(|_| next() != "2").count() > 0 {
        return None;
    }
    let factors: usize = next().parse().unwrap();
    let scopes: Vec<Vec<usize>> = (0..factors)
        .map(|_| {
            let arity: usize = next().parse().unwrap();
            (0..arity).map(|_| next().parse().unwrap()).collect()
        })
        .collect();
    let mut model = FactorModel::new(d);
    for scope in scopes {
        let size: usize = next().parse().unwrap();
        let table: Vec<f64> = (0..size).map(|_| next().parse::<f64>().unwrap().ln()).collect();
        // The file's last variable is fastest; tables here want the first.
        let scope: Vec<usize> = scope.into_iter().rev().collect();
        model.push(&scope, &table).unwrap();
    }
    let evidence = std::fs::read_to_string(format!("{}.evid", path.display())).unwrap_or_default();
    let numbers: Vec<usize> = evidence.split_whitespace().map(|t| t.parse().unwrap()).collect();
    let pairs: Vec<(usize, i8)> = match numbers.split_first() {
        Some((&count, rest)) => {
            rest.chunks(2).take(count).map(|p| (p[0], if p[1] == 1 { 1 } else { -1 })).collect()
        }
        None => Vec::new(),
    };
    Some(Model::new(Source::Factors(model)).with_evidence(&pairs).unwrap())
}

fn table(path: &Path) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row =
        |line: &str| names.iter().map(|n| n.to_string()).zip(line.split(',').map(String::from)).collect();
    lines.map(row).collect()
}

fn check(path: &Path, log_z: f64) -> Exact {
    let model = read_uai(path).unwrap();
    let found = exact(&model, 1.0, &Settings::default().with_threads(2), &mut Silent).unwrap();
    let name = path.file_name().unwrap().to_string_lossy();
    let close = (found.log_z - log_z).abs() <= RELATIVE * log_z.abs().max(1.0);
    println!(
        "{name}: {} {} log Z {} width of enclosure {:.1e} {:.2} s",
        found.algorithm.name(),
        found.states_or_width,
        found.log_z,
        found.log_z_bounds.1 - found.log_z_bounds.0,
        found.seconds
    );
    assert!(close, "{name}: {} {log_z}", found.log_z);
    assert!(found.log_z_bounds.1 - found.log_z_bounds.0 <= 1e-11 * log_z.abs().max(1.0), "{name}");
    assert!(found.max_f <= found.log_z, "{name}");
    if let Ok(text) = std::fs::read_to_string(format!("{}.MAR", path.display())) {
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|t| t.parse().ok()).collect();
        let means = model.expand(&found.means, f64::from);
        assert_eq!(numbers.len(), 1 + 3 * means.len());
        for (i, mean) in means.iter().enumerate() {
            let published = numbers[3 + 3 * i];
            assert!(((1.0 + mean) / 2.0 - published).abs() < PRINTED, "{name}: {i} {mean} {published}");
        }
    }
    found
}

/// Big grids and RBMs take seconds each.
fn is_heavy(name: &str) -> bool {
    let full = std::env::var("ZBOUND_FULL").is_ok_and(|v| v == "1");
    !full && ["DBN", "Grids_1", "RBM", "rbm"].iter().any(|h| name.contains(h))
}

#[test]
fn competition_models_have_their_log_z_and_marginals() {
    let Some(data) = public_data() else { return };
    for folder in ["uai2014_pairwise", "uai2014_nonpairwise"] {
        for row in table(&data.join(folder).join("reference.csv")) {
            let file = &row["file"];
            let Ok(log_z) = row["exact_lnZ"].parse::<f64>() else { continue };
            let path = data.join(folder).join(file);
            if is_heavy(file) || row.get("maxcard").is_some_and(|c| c != "2") {
                continue;
            }
            let _ = check(&path, log_z);
        }
    }
}

#[test]
fn published_tree_bound_instances_have_their_log_z() {
    let Some(data) = public_data() else { return };
    let folder = data.join("fw_inference");
    let rows = table(&folder.join("trw_reference.csv"));
    let mut checked = 0;
    for row in rows.iter().filter(|row| !is_heavy(&row["name"])) {
        let path = folder.join(&row["set"]).join(format!("{}.uai", row["name"]));
        let Ok(log_z) = row["exact_lnZ"].parse::<f64>() else { continue };
        if path.is_file() {
            let _ = check(&path, log_z);
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn widths_beyond_memory_are_refused_by_name() {
    let Some(data) = public_data() else { return };
    // A torus of 20 x 20: its tables have 2^40 entries, which no number of slices brings down to a mebibyte.
    let settings = Settings::default().with_memory_limit(1 << 20);
    let model = read_uai(&data.join("uai2012_grids_large/grid20x20.f5.wrap.uai")).unwrap();
    let cost = estimate(&model, &settings).unwrap();
    println!("width {}, {:.1e} bytes", cost.width, cost.bytes as f64);
    let refused = exact(&model, 1.0, &settings, &mut Silent).unwrap_err();
    assert!(matches!(refused, Error::Memory { .. }) && refused.to_string().contains("width"));
}
