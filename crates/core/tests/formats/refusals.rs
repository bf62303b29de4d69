//! Hostile and mistaken input: refused with file and line, never a panic, never memory for what a header claims.

use std::path::Path;

use zbound::Error;
use zbound::io::{Format, ReadOptions, read, read_bytes, read_evidence};

use super::{Random, parsed};

#[test]
fn unknown_extensions_and_bad_settings_name_the_option() {
    let message = |path: &str, options: &ReadOptions| read(Path::new(path), options).unwrap_err().to_string();
    let default = ReadOptions::default();
    assert!(message("m.xyz", &default).contains("--format"));
    assert!(message("-", &default).contains("--format"));
    assert!(message("absent.uai", &default).starts_with("absent.uai: "));
    for beta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = ReadOptions { beta, ..Default::default() };
        let refused = read_bytes("m", b"# vartype=SPIN\n0 1 1\n", Format::Coo, &options);
        assert!(refused.unwrap_err().to_string().contains("beta"));
    }
}

/// Small valid files, one or more per format.
const SMALL: [(Format, &str); 9] = [
    (
        Format::Json,
        "{\"d\":4,\"constant\":0.5,\"fields\":[1,2,3,4],\n\"couplings\":[[0,1,1.5]],\"terms\":[[[0,1,3],1e-2]]}",
    ),
    (Format::Uai, "MARKOV\n3\n2 2 2\n2\n2 0 1\n3 0 1 2\n\n4\n 1 0.5 0 2e0\n\n8\n 1 2 3 4 5 6 7 8\n"),
    (Format::Uai, "BAYES\n1\n2\n1\n1 0\n2 0.25 0.75\n"),
    (Format::LibDai, "# fg\n2\n\n2\n0 1\n2 2\n3\n0 1\n1 2\n3 0.5\n\n1\n2\n2\n2\n0 1\n1 2\n"),
    (Format::Coo, "# vartype=BINARY\n0 0 1.5\n0 1 -1\n2 1 3\n"),
    (
        Format::DimodJson,
        "{\"type\":\"BinaryQuadraticModel\",\"variable_type\":\"SPIN\",\"offset\":1,\"linear_biases\":[1,2],\n\"quadratic_biases\":[3],\"quadratic_head\":[0],\"quadratic_tail\":[1]}",
    ),
    (Format::Rudy, "# graph\n4 3\n1 2 1\n2 3 -1.5\n4 1 2e1\n"),
    (Format::Qubo, "c qubo\np qubo 0 4 2 1\n0 0 1\n3 3 -2\n0 3 4\n"),
    (Format::Bq, "# bq\n3 3\n1 1 1\n1 2 -2\n3 2 4\n"),
];

#[test]
fn truncated_and_mutated_files_never_panic_and_errors_have_a_line() {
    let rounds = if std::env::var_os("ZBOUND_FULL").is_some() { 200_000 } else { 1000 };
    let alphabet = b"0123456789 -+.e\n\t#[]{},:\"xcp\0\xff\xfe";
    let check = |bytes: &[u8], format: Format| match parsed(bytes, format) {
        Ok(model) => assert!(model.d() < 1 << 24),
        Err(Error::Parse { line, .. }) => assert!(line <= 1 + bytes.len()),
        Err(other) => panic!("{format}: {other} has no line for {:?}", String::from_utf8_lossy(bytes)),
    };
    let mut random = Random(7);
    for (format, text) in SMALL {
        assert!(parsed(text.as_bytes(), format).is_ok(), "{text}");
        for end in 0..text.len() {
            check(&text.as_bytes()[..end], format);
            let utf16: Vec<u8> =
                [0xff, 0xfe].into_iter().chain(text[..end].bytes().flat_map(|b| [b, 0])).collect();
            check(&utf16, format);
        }
        for _ in 0..rounds {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                let byte = alphabet[random.below(alphabet.len())];
                match random.below(3) {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    _ => drop(bytes.remove(at)),
                }
            }
            check(&bytes, format);
            let _ = read_evidence("e", &bytes, &[2; 5]);
        }
    }
}

#[test]
fn headers_that_lie_are_refused_without_allocating() {
    let lies: [(Format, &str); 8] = [
        (Format::Json, "{\"d\":999999999999}"),
        (Format::Uai, "MARKOV 1 2 999999999999"),
        (Format::Uai, "MARKOV 1 2 1 60 0"),
        (Format::LibDai, "999999999999"),
        (Format::LibDai, "1 40 0"),
        (Format::Rudy, "999999999999 0"),
        (Format::Qubo, "p qubo 0 999999999999 0 0"),
        (Format::Bq, "999999999999 999999999999"),
    ];
    for (format, text) in lies {
        assert!(matches!(parsed(text.as_bytes(), format), Err(Error::Parse { line: 1, .. })), "{text}");
    }
    let sparse = parsed(b"# vartype=SPIN\n0 999999999999 1\n", Format::Coo).unwrap();
    assert_eq!(sparse.d(), 2);
}

#[test]
fn entries_that_would_round_to_zero_are_refused_with_their_line() {
    let uai = b"MARKOV\n1\n2\n1\n1 0\n2\n0.5\n1e-400\n";
    let refused = read_bytes("m.uai", uai, Format::Uai, &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused.starts_with("m.uai:8: ") && refused.contains("1e-400"), "{refused}");
    let fg = b"1\n\n1\n0\n2\n2\n0 0.5\n1 0.3e-330\n";
    let refused = read_bytes("m.fg", fg, Format::LibDai, &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused.starts_with("m.fg:8: "), "{refused}");
    let zero = b"MARKOV\n1\n2\n1\n1 0\n2\n0.5\n0.0e-400\n";
    assert!(read_bytes("m.uai", zero, Format::Uai, &ReadOptions::default()).is_ok());
}

#[test]
fn a_factor_without_variables_that_is_zero_is_named() {
    let uai = b"MARKOV\n1\n2\n2\n1 0\n0\n2\n0.5 1\n1\n0\n";
    let model = read_bytes("m.uai", uai, Format::Uai, &ReadOptions::default()).unwrap();
    assert!(model.warnings.iter().any(|w| w.starts_with("m.uai:10: factor 1")), "{:?}", model.warnings);
}

#[test]
fn beta_is_refused_where_there_is_no_energy() {
    let options = ReadOptions { beta: 2.0, ..Default::default() };
    for (text, format) in
        [(&b"{\"d\":1}"[..], Format::Json), (b"MARKOV\n1\n2\n0\n", Format::Uai), (b"1 0\n", Format::Rudy)]
    {
        let refused = read_bytes("m", text, format, &options).unwrap_err().to_string();
        assert!(refused.contains("beta"), "{refused}");
    }
}
