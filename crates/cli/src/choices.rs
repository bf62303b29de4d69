//! Options whose values are names: help, errors and completions list what the library knows.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use zbound::run::MethodChoice;
use zbound::{Choice, Method};

/// The values of a choice, each with its line of help.
pub(crate) fn parser<T: Choice>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::all().iter().map(|&v| possible(v))).try_map(|name| T::from_name(&name))
}

/// Methods by name, and the words that stand for several.
pub(crate) fn methods() -> PossibleValuesParser {
    let words = MethodChoice::WORDS.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(words.into_iter().chain(Method::all().iter().map(|&m| possible(m))))
}

fn possible<T: Choice>(value: T) -> PossibleValue {
    PossibleValue::new(value.name()).help(value.about()).aliases(value.aliases())
}
