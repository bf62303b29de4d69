//! What is fed hostile bytes: every reader, and both verifiers.

use zbound::Polynomial;
use zbound::certify::Certificate;
use zbound::io::{Format, ReadOptions, read_bytes, read_evidence, write_to};

/// Something that takes bytes from outside.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, that of its folder in `seeds/`, and of its test.
    pub name: &'static str,
    /// Feeds it one input and says how that ended; panics where a promise is broken.
    pub run: fn(&[u8]) -> String,
}

/// The twelve targets.
pub const TARGETS: [Target; 12] = [
    Target { name: "json", run: |data| model(data, Format::Json) },
    Target { name: "uai", run: |data| model(data, Format::Uai) },
    Target { name: "fg", run: |data| model(data, Format::LibDai) },
    Target { name: "coo", run: |data| model(data, Format::Coo) },
    Target { name: "dimod", run: |data| model(data, Format::DimodJson) },
    Target { name: "rudy", run: |data| model(data, Format::Rudy) },
    Target { name: "qubo", run: |data| model(data, Format::Qubo) },
    Target { name: "bq", run: |data| model(data, Format::Bq) },
    Target { name: "evidence", run: evidence },
    Target { name: "certificate", run: certificate },
    Target { name: "check_certificate", run: check_certificate },
    Target { name: "check_model", run: check_model },
];

/// A model that was accepted can be evaluated, and survives being written and read again.
fn model(data: &[u8], format: Format) -> String {
    let model = match read_bytes("fuzz", data, format, &ReadOptions::default()) {
        Ok(model) => model,
        Err(error) => return error.to_string(),
    };
    let d = model.d();
    let polynomial = model.polynomial().map(|f| f.value(&vec![1; d]));
    let tables = model.factors().map(|tables| tables.value_of(&vec![0; d]));
    let mut written = Vec::new();
    let kept = write_to(&model, format, &mut written);
    if kept.is_ok() {
        let again = read_bytes("again", &written, format, &ReadOptions::default());
        let again = again.unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&written)));
        // An unused variable leaves no trace in a list of entries.
        assert!(again.d() <= d || format == Format::DimodJson, "{d} spins became {}", again.d());
    }
    let said = |ok: bool| if ok { "has" } else { "has not" };
    let finite = said(tables.as_ref().is_ok_and(|v| v.is_finite()));
    format!("read polynomial {} finite {finite} written {}", said(polynomial.is_ok()), said(kept.is_ok()))
}

/// Pairs that were accepted name states that exist.
fn evidence(data: &[u8]) -> String {
    let cardinalities = [2, 2, 2, 3, 1];
    match read_evidence("fuzz", data, &cardinalities) {
        Ok((pairs, warnings)) => {
            let exists = |&(i, state): &(usize, u32)| i < 5 && state < cardinalities[i];
            assert!(pairs.iter().all(exists), "{pairs:?}");
            format!("read warned {}", if warnings.is_empty() { "no" } else { "yes" })
        }
        Err(error) => error.to_string(),
    }
}

/// The model of both verifiers, `three_spins`.
const MODEL: &str = r#"{"d":3,"fields":[0.5,0,0],"couplings":[[0,1,1],[1,2,-1]]}"#;

/// A confirmed bound is true, by enumeration; what was read can be written and read again.
fn certificate(data: &[u8]) -> String {
    let (certificate, claim) = match Certificate::from_bytes(data) {
        Ok(read) => read,
        Err(error) => return error.to_string(),
    };
    let (again, _) =
        Certificate::from_bytes(&certificate.to_bytes(&claim)).expect("what was written can be read");
    assert_eq!(again.eps.to_bits(), certificate.eps.to_bits());
    match claim.confirm(&certificate, &three_spins()) {
        Err(error) => error.to_string(),
        Ok(_) if claim.evidence.is_empty() => {
            judge(certificate.eps, claim.phi_upper, claim.phi_lower);
            "confirmed".into()
        }
        Ok(_) => "confirmed under evidence".into(),
    }
}

/// Panics when a confirmed bound on the model of three spins is false, by enumeration.
fn judge(eps: f64, upper: Option<f64>, lower: Option<f64>) {
    let phi = phi(&three_spins(), eps);
    // Rounding of the enumeration itself.
    let slack = 1e-12 * (1.0 + eps);
    assert!(upper.is_none_or(|upper| upper >= phi - slack), "{upper:?} was confirmed, it is {phi}");
    assert!(lower.is_none_or(|lower| lower <= phi + slack), "{lower:?} was confirmed, it is {phi}");
}

fn three_spins() -> Polynomial {
    let terms = [(vec![0], 0.5), (vec![0, 1], 1.0), (vec![1, 2], -1.0)];
    let terms = terms.map(|(set, value)| (set.into_iter().collect(), value));
    Polynomial::from_coefficients(3, terms).expect("a model of three spins")
}

/// `eps log` of the mean of `exp(f/eps)` over the eight states; `max f` at eps = 0.
fn phi(f: &Polynomial, eps: f64) -> f64 {
    let spin = |bits: usize, i: usize| if bits >> i & 1 == 1 { 1 } else { -1 };
    let values = (0..8).map(|bits| f.value(&[spin(bits, 0), spin(bits, 1), spin(bits, 2)]));
    let values: Vec<f64> = values.collect();
    let top = values.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    if eps == 0.0 {
        return top;
    }
    top + eps * (values.iter().map(|v| ((v - top) / eps).exp()).sum::<f64>() / 8.0).ln()
}

/// The independent checker on a hostile certificate of a fixed model: what it says is true.
fn check_certificate(data: &[u8]) -> String {
    let line = match zbound_check::check("model.json", MODEL, data) {
        Ok(line) => line,
        Err(refusal) => return format!("{refusal:?}"),
    };
    if String::from_utf8_lossy(data).contains("\"evidence\":[[") {
        return "confirmed under evidence".into();
    }
    let number = |key: &str| -> Option<f64> {
        let (_, rest) = line.split_once(&format!("\"{key}\":"))?;
        rest.split([',', '}']).next()?.parse().ok()
    };
    judge(number("eps").expect("it names eps"), number("phi_upper"), number("phi_lower"));
    "confirmed".into()
}

/// The independent checker's readers of models, with a fixed certificate that claims little.
fn check_model(data: &[u8]) -> String {
    const CERTIFICATE: &[u8] = include_bytes!("../seeds/check_certificate/spectral.zbc");
    let Some((&kind, text)) = data.split_first() else { return "empty".into() };
    let Ok(text) = std::str::from_utf8(text) else { return "no text".into() };
    let name = ["m.json", "m.uai"][usize::from(kind) % 2];
    format!("{name} {:?}", zbound_check::check(name, text, CERTIFICATE))
}
