//! Reading the configuration from variables.

use std::{ffi::OsString, net::SocketAddr, num::NonZeroUsize, path::PathBuf, time::Duration};

use axum::http::Uri;

use super::{Config, ConfigError, MIN_SWEEP_INTERVAL, PublicBase};
use crate::{crash_point::CrashPoint, database_url::DatabaseUrl};

const DATABASE_URL: &str = "HANDOFF_DATABASE_URL";
const BIND: &str = "HANDOFF_BIND";
const PUBLIC_BASE: &str = "HANDOFF_PUBLIC_BASE";
const LINK_ONLY_PERMITTED: &str = "HANDOFF_LINK_ONLY_PERMITTED";
const SWEEP_INTERVAL_MS: &str = "HANDOFF_SWEEP_INTERVAL_MS";
const MAX_CONNECTIONS: &str = "HANDOFF_MAX_CONNECTIONS";
const SIGNING_KEY_FILE: &str = "HANDOFF_SIGNING_KEY_FILE";
const CRASH_POINT: &str = "HANDOFF_CRASH_POINT";

impl Config {
    /// Reads the configuration from variables, wherever they come from. An empty variable counts as not set.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], as for [`from_env`](Self::from_env).
    pub fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let variables = Variables(lookup);
        let mut config = Self::new(variables.database_url()?);
        if let Some(bind) = variables.text(BIND)? {
            config.bind = read_bind(&bind)?;
        }
        if let Some(base) = variables.text(PUBLIC_BASE)? {
            config.public_base = PublicBase::Fixed(read_base(&base)?);
        }
        if let Some(permitted) = variables.text(LINK_ONLY_PERMITTED)? {
            config.link_only_permitted = read_switch(LINK_ONLY_PERMITTED, &permitted)?;
        }
        if let Some(interval) = variables.text(SWEEP_INTERVAL_MS)? {
            config.sweep_interval = read_interval(&interval)?;
        }
        if let Some(connections) = variables.text(MAX_CONNECTIONS)? {
            config.max_connections = Some(read_connections(&connections)?);
        }
        if let Some(path) = variables.raw(SIGNING_KEY_FILE) {
            config.signing_key = PathBuf::from(path);
        }
        if let Some(name) = variables.text(CRASH_POINT)? {
            let point = CrashPoint::parse(&name);
            config.crash_point = Some(point.ok_or_else(|| {
                ConfigError::new(
                    CRASH_POINT,
                    format!("there is no such point; the one point is `{}`", CrashPoint::NAME),
                )
            })?);
        }
        Ok(config)
    }
}

impl DatabaseUrl {
    /// Reads `HANDOFF_DATABASE_URL` alone, for commands that need no more.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if the variable is not set or cannot be used.
    pub fn from_env() -> Result<Self, ConfigError> {
        Variables(|name: &str| std::env::var_os(name)).database_url()
    }
}

struct Variables<F>(F);

impl<F: Fn(&str) -> Option<OsString>> Variables<F> {
    fn raw(&self, name: &str) -> Option<OsString> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    fn text(&self, name: &'static str) -> Result<Option<String>, ConfigError> {
        self.raw(name)
            .map(|value| value.into_string().map_err(|_| ConfigError::new(name, "expected UTF-8 text")))
            .transpose()
    }

    fn database_url(&self) -> Result<DatabaseUrl, ConfigError> {
        let text = self.text(DATABASE_URL)?.ok_or_else(|| {
            ConfigError::new(DATABASE_URL, "not set; name the database, for example `sqlite:./handoff.db`")
        })?;
        DatabaseUrl::parse(&text).map_err(|error| ConfigError::new(DATABASE_URL, error.to_string()))
    }
}

fn read_bind(text: &str) -> Result<SocketAddr, ConfigError> {
    text.trim().parse().map_err(|_| {
        ConfigError::new(BIND, "expected an IP address and a port, for example `127.0.0.1:8080` or `[::]:8080`")
    })
}

/// Reads the base of addresses: `http` or `https`, a host, perhaps a port and a path, and nothing that could be a secret
/// or that a path cannot be appended to.
fn read_base(text: &str) -> Result<String, ConfigError> {
    let fault = || {
        ConfigError::new(
            PUBLIC_BASE,
            "expected the address that people open, without user, query and fragment, for example \
             `https://handoff.example.com`",
        )
    };
    let trimmed = text.trim().trim_end_matches('/');
    let uri: Uri = trimmed.parse().map_err(|_| fault())?;
    let known = matches!(uri.scheme_str(), Some("http" | "https"));
    let host =
        uri.authority().is_some_and(|authority| !authority.host().is_empty() && !authority.as_str().contains('@'));
    if known && host && uri.query().is_none() && !trimmed.contains(['#', '?']) {
        Ok(trimmed.to_owned())
    } else {
        Err(fault())
    }
}

fn read_switch(variable: &'static str, text: &str) -> Result<bool, ConfigError> {
    match text.trim() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(ConfigError::new(variable, "expected `true` or `false`")),
    }
}

/// Reads the time between two sweeps; shorter ones than the minimum count as the minimum.
fn read_interval(text: &str) -> Result<Duration, ConfigError> {
    let millis = text.trim().parse().map_err(|_| {
        let minimum = MIN_SWEEP_INTERVAL.as_millis();
        ConfigError::new(SWEEP_INTERVAL_MS, format!("expected a number of milliseconds, {minimum} or more"))
    })?;
    Ok(Duration::from_millis(millis).max(MIN_SWEEP_INTERVAL))
}

fn read_connections(text: &str) -> Result<NonZeroUsize, ConfigError> {
    text.trim().parse().map_err(|_| ConfigError::new(MAX_CONNECTIONS, "expected a number, 1 or more"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_variables(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    }

    fn with(variable: &str, value: &str) -> Result<Config, ConfigError> {
        read(&[(DATABASE_URL, "sqlite:data/handoff.db"), (variable, value)])
    }

    #[test]
    fn only_the_database_is_required() {
        let config = with("RUST_LOG", "info").unwrap();
        assert_eq!(config.database_url, DatabaseUrl::Sqlite("data/handoff.db".into()));
        assert_eq!(config.bind, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(config.public_base.of(config.bind), "http://127.0.0.1:8080");
        assert_eq!(config.signing_key, PathBuf::from("data/signing-key.json"));
        assert_eq!(config.sweep_interval, Duration::from_millis(500));
        assert!(!config.link_only_permitted && config.max_connections.is_none() && config.crash_point.is_none());
        assert_eq!(read(&[]).unwrap_err().variable(), DATABASE_URL);
        assert_eq!(read(&[(DATABASE_URL, "")]).unwrap_err().variable(), DATABASE_URL);
    }

    #[test]
    fn each_variable_is_read() {
        assert_eq!(with(BIND, "[::]:9").unwrap().bind, "[::]:9".parse().unwrap());
        let base = with(PUBLIC_BASE, "https://a.example/h/").unwrap().public_base;
        assert_eq!(base, PublicBase::Fixed("https://a.example/h".to_owned()));
        for (text, permitted) in [("true", true), ("1", true), ("false", false), ("0", false)] {
            assert_eq!(with(LINK_ONLY_PERMITTED, text).unwrap().link_only_permitted, permitted);
        }
        assert_eq!(with(SWEEP_INTERVAL_MS, "750").unwrap().sweep_interval, Duration::from_millis(750));
        assert_eq!(with(SWEEP_INTERVAL_MS, "5").unwrap().sweep_interval, Duration::from_millis(50));
        assert_eq!(with(MAX_CONNECTIONS, "3").unwrap().max_connections, NonZeroUsize::new(3));
        assert_eq!(with(SIGNING_KEY_FILE, "k.json").unwrap().signing_key, PathBuf::from("k.json"));
        assert_eq!(with(CRASH_POINT, CrashPoint::NAME).unwrap().crash_point, Some(CrashPoint::AnswerAfterStateWrite));
    }

    #[test]
    fn a_bad_value_names_its_variable_and_is_not_repeated() {
        for (variable, value) in [
            (DATABASE_URL, "postgres://user:hunter2@db/handoff"),
            (DATABASE_URL, "hunter2.db"),
            (BIND, "hunter2"),
            (BIND, "127.0.0.1"),
            (PUBLIC_BASE, "hunter2"),
            (PUBLIC_BASE, "ftp://hunter2"),
            (PUBLIC_BASE, "https://user:hunter2@a.example"),
            (PUBLIC_BASE, "https://a.example/?hunter2"),
            (PUBLIC_BASE, "https://a.example/#hunter2"),
            (LINK_ONLY_PERMITTED, "hunter2"),
            (SWEEP_INTERVAL_MS, "hunter2"),
            (SWEEP_INTERVAL_MS, "-1"),
            (MAX_CONNECTIONS, "0"),
            (MAX_CONNECTIONS, "hunter2"),
            (CRASH_POINT, "hunter2"),
        ] {
            let error = match variable {
                DATABASE_URL => read(&[(DATABASE_URL, value)]),
                _ => with(variable, value),
            };
            let error = error.unwrap_err();
            assert_eq!(error.variable(), variable, "{value}");
            assert!(error.to_string().starts_with(&format!("{variable}: ")), "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
