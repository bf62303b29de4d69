//! The names of the formats.

use std::path::Path;

use crate::choice::{Choice, choice_by_name};

/// A model file format.
///
/// ```
/// use zbound::io::Format;
/// assert_eq!("uai".parse::<Format>().unwrap(), Format::Uai);
/// assert_eq!(Format::from_path("G1.txt".as_ref()), Some(Format::Rudy));
/// assert_eq!(Format::from_path("model.xyz".as_ref()), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Native JSON; reading recognises dimod's JSON by its content.
    Json,
    /// UAI competition format, MARKOV or BAYES.
    Uai,
    /// libDAI factor graph.
    LibDai,
    /// dimod coordinate list with a `# vartype=` line.
    Coo,
    /// dimod's serialised binary quadratic model.
    DimodJson,
    /// Max-cut edge list: rudy, Gset, Biq Mac.
    Rudy,
    /// qbsolv's QUBO file, 0-based.
    Qubo,
    /// Sparse QUBO matrix, 1-based.
    Bq,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: [Format; 8] = [
        Format::Json,
        Format::Uai,
        Format::LibDai,
        Format::Coo,
        Format::DimodJson,
        Format::Rudy,
        Format::Qubo,
        Format::Bq,
    ];

    /// The name `--format` takes.
    pub fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Uai => "uai",
            Format::LibDai => "fg",
            Format::Coo => "coo",
            Format::DimodJson => "dimod",
            Format::Rudy => "rudy",
            Format::Qubo => "qubo",
            Format::Bq => "bq",
        }
    }

    /// The format a file name stands for; `None` for an unknown extension.
    ///
    /// No extension is max-cut, and so is a number: Biq Mac calls its files `g05_60.0`.
    pub fn from_path(path: &Path) -> Option<Format> {
        let Some(extension) = path.extension() else {
            return path.file_name().map(|_| Format::Rudy);
        };
        let extension = extension.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "json" => Some(Format::Json),
            "uai" => Some(Format::Uai),
            "fg" => Some(Format::LibDai),
            "coo" => Some(Format::Coo),
            "mc" | "rud" | "txt" | "dat" => Some(Format::Rudy),
            "qubo" => Some(Format::Qubo),
            "bq" => Some(Format::Bq),
            number if number.bytes().all(|b| b.is_ascii_digit()) => Some(Format::Rudy),
            _ => None,
        }
    }
}

impl Format {
    /// The format that the beginning of a text shows beyond doubt, if it does.
    pub(super) fn of_text(text: &str) -> Option<Format> {
        let text = text.trim_start();
        if text.starts_with('{') {
            return Some(Format::Json);
        }
        let line = text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && *line != "c" && !line.starts_with("c "));
        let mut words = line?.split_whitespace();
        match (words.next()?, words.next()) {
            ("MARKOV" | "BAYES", _) => Some(Format::Uai),
            ("p", Some("qubo")) => Some(Format::Qubo),
            ("#", Some(word)) if word.starts_with("vartype=") => Some(Format::Coo),
            _ => None,
        }
    }
}

impl Choice for Format {
    const WHAT: &'static str = "format";

    fn all() -> &'static [Self] {
        &Format::ALL
    }

    fn name(self) -> &'static str {
        Format::name(self)
    }

    fn about(self) -> &'static str {
        match self {
            Format::Json => "native JSON",
            Format::Uai => "UAI competition format, MARKOV or BAYES",
            Format::LibDai => "libDAI factor graph",
            Format::Coo => "dimod coordinate list with a `# vartype=` line",
            Format::DimodJson => "dimod's serialised binary quadratic model",
            Format::Rudy => "max-cut edge list: rudy, Gset, Biq Mac",
            Format::Qubo => "qbsolv's QUBO file, 0-based",
            Format::Bq => "sparse QUBO matrix, 1-based",
        }
    }

    fn aliases(self) -> &'static [&'static str] {
        match self {
            Format::Json => &["native"],
            Format::LibDai => &["libdai"],
            Format::DimodJson => &["dimod-json"],
            Format::Rudy => &["maxcut", "max-cut", "gset", "biqmac", "mc", "rud"],
            _ => &[],
        }
    }
}

choice_by_name!(Format);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_show_its_format() {
        for (text, format) in [
            (" \n{\"d\": 2}", Some(Format::Json)),
            ("MARKOV\n2\n", Some(Format::Uai)),
            ("\nBAYES\n", Some(Format::Uai)),
            ("c comment\np qubo 0 2 1 1\n", Some(Format::Qubo)),
            ("# vartype=SPIN\n0 1 1\n", Some(Format::Coo)),
            ("3 2\n1 2 1\n", None),
            ("", None),
        ] {
            assert_eq!(Format::of_text(text), format, "{text}");
        }
    }

    #[test]
    fn names_and_extensions_are_those_of_the_documentation() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
        let of = |path: &str| Format::from_path(path.as_ref()).map(Format::name);
        let expected = [
            ("a.json", "json"),
            ("a.UAI", "uai"),
            ("x/a.0.fg", "fg"),
            ("a.coo", "coo"),
            ("a.mc", "rudy"),
            ("a.rud", "rudy"),
            ("a.txt", "rudy"),
            ("a.dat", "rudy"),
            ("g05_60.0", "rudy"),
            ("G1", "rudy"),
            ("a.qubo", "qubo"),
            ("a.bq", "bq"),
        ];
        for (path, name) in expected {
            assert_eq!(of(path), Some(name), "{path}");
        }
        assert_eq!((of("a.gsg"), of("a.wel"), of("a.uai.evid"), of("..")), (None, None, None, None));
        assert!("xyz".parse::<Format>().unwrap_err().to_string().contains("format `xyz`; known: json"));
    }
}
