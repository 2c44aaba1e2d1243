//! The address of a database: its scheme selects the store.

use std::{fmt, path::PathBuf, str::FromStr};

/// Where everything is kept.
///
/// ```
/// use handoff_server::DatabaseUrl;
///
/// for text in ["sqlite:/data/handoff.db", "sqlite:///data/handoff.db"] {
///     assert_eq!(DatabaseUrl::parse(text), Ok(DatabaseUrl::Sqlite("/data/handoff.db".into())));
/// }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DatabaseUrl {
    /// `sqlite:PATH` or `sqlite://PATH`: one file, beside which SQLite keeps its log.
    Sqlite(PathBuf),
}

/// A text is no address of a database that this program knows. The text is not repeated: it may hold a password.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseUrlError {
    /// It has no scheme.
    #[error("expected an address that begins with its scheme, for example `sqlite:./handoff.db`")]
    NoScheme,
    /// Its scheme belongs to another store.
    #[error("this scheme is not known here; this program keeps its data in SQLite: write `sqlite:PATH`")]
    UnknownScheme,
    /// It names no file.
    #[error("expected a file after `sqlite:`, for example `sqlite:./handoff.db`")]
    NoPath,
    /// It asks for a database in memory.
    #[error("a database in memory forgets what was acknowledged; name a file, for example `sqlite:./handoff.db`")]
    InMemory,
    /// It carries options.
    #[error("options behind `?` are not known here; leave them out")]
    Options,
}

impl DatabaseUrl {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// [`DatabaseUrlError`].
    pub fn parse(text: &str) -> Result<Self, DatabaseUrlError> {
        let (scheme, rest) = text.trim().split_once(':').ok_or(DatabaseUrlError::NoScheme)?;
        if !scheme.eq_ignore_ascii_case("sqlite") {
            return Err(DatabaseUrlError::UnknownScheme);
        }
        let path = rest.strip_prefix("//").unwrap_or(rest);
        // The file is made when it is missing, which is what other programs ask for with this option.
        let path = path.strip_suffix("?mode=rwc").unwrap_or(path);
        match path {
            "" => Err(DatabaseUrlError::NoPath),
            ":memory:" => Err(DatabaseUrlError::InMemory),
            _ if path.contains('?') => Err(DatabaseUrlError::Options),
            _ => Ok(Self::Sqlite(PathBuf::from(path))),
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        Self::parse(text)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_in_three_ways() {
        for (text, path) in [
            ("sqlite:handoff.db", "handoff.db"),
            ("sqlite:./a/handoff.db", "./a/handoff.db"),
            ("sqlite://a/handoff.db", "a/handoff.db"),
            ("sqlite:///a/handoff.db", "/a/handoff.db"),
            ("sqlite:/a/handoff.db", "/a/handoff.db"),
            ("SQLite:a.db", "a.db"),
            ("sqlite://a.db?mode=rwc", "a.db"),
        ] {
            assert_eq!(DatabaseUrl::parse(text), Ok(DatabaseUrl::Sqlite(path.into())), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_its_own_words() {
        for (text, error) in [
            ("", DatabaseUrlError::NoScheme),
            ("handoff.db", DatabaseUrlError::NoScheme),
            ("postgres://db/handoff", DatabaseUrlError::UnknownScheme),
            ("sqlite:", DatabaseUrlError::NoPath),
            ("sqlite://", DatabaseUrlError::NoPath),
            ("sqlite::memory:", DatabaseUrlError::InMemory),
            ("sqlite://:memory:", DatabaseUrlError::InMemory),
            ("sqlite:a.db?mode=ro", DatabaseUrlError::Options),
        ] {
            assert_eq!(DatabaseUrl::parse(text), Err(error), "{text}");
        }
    }
}
