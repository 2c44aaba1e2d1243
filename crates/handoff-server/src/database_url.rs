//! The address of a database: its scheme selects the store.

use std::{fmt, path::PathBuf, str::FromStr};

use handoff_store_postgres::PostgresStore;

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
    /// `postgres://USER@HOST/DATABASE`: a database that any number of servers share.
    Postgres(PostgresUrl),
}

/// The address of a Postgres database. No formatter prints its password.
#[derive(Clone, Eq, PartialEq)]
pub struct PostgresUrl(String);

/// A text is no address of a database that this program knows. The text is not repeated: it may hold a password.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseUrlError {
    /// It has no scheme.
    #[error("expected an address that begins with its scheme, for example `sqlite:./handoff.db`")]
    NoScheme,
    /// Its scheme belongs to another store.
    #[error(
        "this scheme is not known here; write `sqlite:PATH` for one server, or `postgres://USER@HOST/DATABASE` for any number"
    )]
    UnknownScheme,
    /// It is no address of a Postgres database.
    #[error(
        "expected `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with `%40` for an `@` in the password, and nothing behind `?` \
         but `sslmode`, `sslrootcert`, `sslcert`, `sslkey`, `host`, `port`, `dbname`, `user`, `password`, `application_name` \
         or `options`"
    )]
    Postgres,
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
        if ["postgres", "postgresql"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return PostgresUrl::parse(format!("postgres:{rest}")).map(Self::Postgres);
        }
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
            Self::Postgres(url) => fmt::Display::fmt(url, formatter),
        }
    }
}

impl PostgresUrl {
    fn parse(url: String) -> Result<Self, DatabaseUrlError> {
        let rest = url.strip_prefix("postgres://").ok_or(DatabaseUrlError::Postgres)?;
        if rest.is_empty() || !PostgresStore::is_address(&url) {
            return Err(DatabaseUrlError::Postgres);
        }
        Ok(Self(url))
    }

    /// The address with its password, for the one place that connects.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Without the password, wherever it stands.
impl fmt::Display for PostgresUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, options) = self.0.split_once('?').unwrap_or((&self.0, ""));
        match place.rsplit_once('@') {
            Some((who, place)) => {
                // The first colon is the scheme's.
                let user = who.rsplit_once(':').filter(|(user, _)| user.contains(':'));
                match user {
                    Some((user, _)) => write!(formatter, "{user}:[redacted]@{place}")?,
                    None => write!(formatter, "{who}@{place}")?,
                }
            }
            None => formatter.write_str(place)?,
        }
        for (number, option) in options.split('&').filter(|option| !option.is_empty()).enumerate() {
            let shown = if option.starts_with("password=") { "password=[redacted]" } else { option };
            write!(formatter, "{}{shown}", if number == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
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
            ("mysql://db/handoff", DatabaseUrlError::UnknownScheme),
            ("postgres:handoff", DatabaseUrlError::Postgres),
            ("postgres://", DatabaseUrlError::Postgres),
            ("postgres://a:b@c@d:e/f", DatabaseUrlError::Postgres),
            ("sqlite:", DatabaseUrlError::NoPath),
            ("sqlite://", DatabaseUrlError::NoPath),
            ("sqlite::memory:", DatabaseUrlError::InMemory),
            ("sqlite://:memory:", DatabaseUrlError::InMemory),
            ("sqlite:a.db?mode=ro", DatabaseUrlError::Options),
        ] {
            assert_eq!(DatabaseUrl::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_postgres_database_is_named_and_its_password_is_never_printed() {
        for (text, shown) in [
            ("postgres://db/handoff", "postgres://db/handoff"),
            ("postgresql://me@db:5433/handoff", "postgres://me@db:5433/handoff"),
            ("postgres://me:hunter2@db/handoff", "postgres://me:[redacted]@db/handoff"),
            (
                "POSTGRES://me:hunter2@db:5432/h?sslmode=verify-full&password=hunter2&application_name=a",
                "postgres://me:[redacted]@db:5432/h?sslmode=verify-full&password=[redacted]&application_name=a",
            ),
        ] {
            let url = DatabaseUrl::parse(text).unwrap();
            assert_eq!(url.to_string(), shown);
            assert!(!format!("{url:?}").contains("hunter2"));
            let DatabaseUrl::Postgres(url) = url else { panic!("{shown}") };
            assert_eq!(url.expose().contains("hunter2"), text.contains("hunter2"));
        }
    }
}
