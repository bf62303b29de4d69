//! Choices that have names: said once, for the command line, its help and completions, sweeps, Python and messages.

use crate::error::{Error, Result};

/// A value chosen by name from a fixed list.
///
/// ```
/// use zbound::{Choice, Method, Rho};
/// assert_eq!(Method::from_name("trw")?, Method::Trw);
/// assert_eq!(Rho::names(), "uniform, resistance, optimized");
/// assert!("best".parse::<Rho>().unwrap_err().to_string().contains("known: uniform"));
/// # Ok::<(), zbound::Error>(())
/// ```
pub trait Choice: Copy + Send + Sync + 'static {
    /// What is chosen, for messages: `method`, `rho`.
    const WHAT: &'static str;

    /// Every value, in the order of the documentation.
    fn all() -> &'static [Self];

    /// The name on the command line, in configurations, in JSON and in Python.
    fn name(self) -> &'static str;

    /// One line of help; empty where the name says it all.
    fn about(self) -> &'static str {
        ""
    }

    /// Other names that are understood.
    fn aliases(self) -> &'static [&'static str] {
        &[]
    }

    /// All names, for messages.
    fn names() -> String {
        Self::all().iter().map(|v| v.name()).collect::<Vec<_>>().join(", ")
    }

    /// The value of a name or an alias, in any case.
    ///
    /// # Errors
    /// An unknown name; the message lists those that are known.
    fn from_name(name: &str) -> Result<Self> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        let known = |v: &&Self| is(v.name()) || v.aliases().iter().any(|alias| is(alias));
        Self::all().iter().find(known).copied().ok_or_else(|| {
            Error::Setting(format!("unknown {} `{name}`; known: {}", Self::WHAT, Self::names()))
        })
    }
}

/// Makes a type with `ALL`, `name` and perhaps `about` a [`Choice`] that reads, prints and serialises as its name.
macro_rules! choice {
    ($kind:ty, $what:literal $(, $about:ident)?) => {
        impl crate::choice::Choice for $kind {
            const WHAT: &'static str = $what;

            fn all() -> &'static [Self] {
                &<$kind>::ALL
            }

            fn name(self) -> &'static str {
                <$kind>::name(self)
            }

            $(fn about(self) -> &'static str {
                <$kind>::$about(self)
            })?
        }

        crate::choice::choice_by_name!($kind);
    };
}

/// `FromStr`, `Display`, `Serialize` and `Deserialize` by name.
macro_rules! choice_by_name {
    ($kind:ty) => {
        impl std::str::FromStr for $kind {
            type Err = crate::Error;

            fn from_str(name: &str) -> crate::Result<Self> {
                crate::choice::Choice::from_name(name)
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(crate::choice::Choice::name(*self))
            }
        }

        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(crate::choice::Choice::name(*self))
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
                crate::choice::Choice::from_name(&name).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use {choice, choice_by_name};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Family, Graph};
    use crate::io::Format;
    use crate::query::map::Cuts;
    use crate::{Method, Pairwise, Rho, Solver};

    fn names_round_trip<T>()
    where
        T: Choice
            + PartialEq
            + std::fmt::Debug
            + std::fmt::Display
            + serde::Serialize
            + serde::de::DeserializeOwned,
    {
        for &value in T::all() {
            assert_eq!(T::from_name(value.name()).unwrap(), value);
            assert_eq!(value.to_string(), value.name());
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(json, format!("\"{}\"", value.name()));
            assert_eq!(serde_json::from_str::<T>(&json).unwrap(), value);
            assert!(value.aliases().iter().all(|name| T::from_name(name).unwrap() == value));
        }
        let message = T::from_name("no such name").err().unwrap().to_string();
        assert!(message.contains(T::WHAT) && message.contains(&T::names()), "{message}");
    }

    #[test]
    fn every_name_reads_prints_and_serialises_as_itself() {
        names_round_trip::<Method>();
        names_round_trip::<Solver>();
        names_round_trip::<Rho>();
        names_round_trip::<Pairwise>();
        names_round_trip::<Cuts>();
        names_round_trip::<Family>();
        names_round_trip::<Graph>();
        names_round_trip::<Format>();
    }
}
