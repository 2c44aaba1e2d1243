//! Reading the configuration: from variables first, and what they do not say from the file.

use std::{
    ffi::OsString,
    net::SocketAddr,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::http::Uri;
use handoff_protocol::{
    continuation::{ContinuationKey, Keyring},
    decision::Policy,
    duration::ExactDuration,
    secret::Secret,
};
use tracing_subscriber::EnvFilter;

use super::{
    Config, ConfigError, LogFormat, MIN_CONNECTIONS, MIN_SWEEP_INTERVAL, PublicBase, callbacks,
    channels::ChannelKind,
    file::File,
    setting::{self, Setting},
};
use crate::{
    crash_point::CrashPoint,
    database_url::{DatabaseUrl, DatabaseUrlError, PostgresUrl},
};

impl Config {
    /// Reads the configuration from variables, wherever they come from. An empty variable counts as not set.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], as for [`load`](Self::load).
    pub fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        Self::load(None, lookup)
    }

    /// Reads the configuration from variables and a file. A variable wins over the file; an empty variable counts as not
    /// set. Paths in the file are seen from its directory.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] names the first variable or line that cannot be used, and the mend; values are never repeated.
    pub fn load(file: Option<&Path>, lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let file = file.map(File::read).transpose()?.unwrap_or_default();
        let source = Source { lookup, file };
        let database_url = source.read(&setting::DATABASE_URL, read_database)?.ok_or_else(|| {
            ConfigError::new(
                setting::DATABASE_URL.variable,
                "not set; name the database, for example `sqlite:./handoff.db`",
            )
        })?;
        let mut config = Self::new(database_url);
        source.fill(&setting::DATABASE_DIRECT_URL, read_direct, &mut config.database_direct_url)?;
        source.fill(&setting::BIND, read_bind, &mut config.bind)?;
        source.fill(&setting::PUBLIC_BASE, read_base, &mut config.public_base)?;
        source.fill(&setting::LINK_ONLY_PERMITTED, read_switch, &mut config.link_only_permitted)?;
        source.fill(&setting::MAX_QUORUM, read_quorum, &mut config.max_quorum)?;
        source.fill(&setting::SWEEP_INTERVAL_MS, read_interval, &mut config.sweep_interval)?;
        source.fill(&setting::MAX_CONNECTIONS, read_connections, &mut config.max_connections)?;
        source.fill(&setting::RATE_LIMIT, read_rate, &mut config.rate_limit_per_minute)?;
        source.fill(&setting::IDEMPOTENCY_WINDOW, read_window, &mut config.idempotency_window)?;
        source.fill(&setting::CRASH_POINT, read_crash_point, &mut config.crash_point)?;
        source.fill(&setting::CAPABILITY_BASE, read_relay, &mut config.capability_transport_base)?;
        source.fill(&setting::LOG, read_format, &mut config.log)?;
        source.fill(&setting::LOG_FILTER, read_filter, &mut config.log_filter)?;
        source.fill(
            &setting::BOOTSTRAP_JSON,
            |text| Ok(Some(Secret::new(text.to_owned()))),
            &mut config.bootstrap_json,
        )?;
        config.bootstrap = source.path(&setting::BOOTSTRAP);
        if let Some(path) = source.path(&setting::SIGNING_KEY_FILE) {
            config.signing_key = path;
        }
        let mut unnamed = Vec::new();
        source.fill(&setting::CALLBACK_SECRETS, callbacks::read_secrets, &mut unnamed)?;
        source.fill(&setting::CALLBACK_GUARD, |text| read_switch(text).map(Some), &mut config.callback_guard)?;
        source.fill(&setting::CONTINUATION_KEYS, read_keys, &mut config.continuation)?;
        config.tenants = source.file.tenants;
        for (channel, place) in source.file.channels {
            if let ChannelKind::Webhook { secrets: Some(name) } = &channel.kind
                && let Some(problem) = source.file.callbacks.problem_of_channel(&channel.name, name)
            {
                return Err(place.saying(problem));
            }
            config.channels.push(channel);
        }
        config.callbacks = source.file.callbacks.checked(unnamed)?;
        config.schemas = source.file.schemas;
        config.sinks = source.file.sinks;
        Ok(config)
    }
}

/// Where values come from.
struct Source<F> {
    lookup: F,
    file: File,
}

impl<F: Fn(&str) -> Option<OsString>> Source<F> {
    /// The value of a setting, and the place that a fault in it is at.
    fn raw(&self, setting: &Setting) -> Option<(OsString, String)> {
        let variable = (self.lookup)(setting.variable).filter(|value| !value.is_empty());
        variable
            .map(|value| (value, setting.variable.to_owned()))
            .or_else(|| self.file.get(setting).map(|given| (given.value.clone(), given.place.clone())))
    }

    fn path(&self, setting: &Setting) -> Option<PathBuf> {
        self.raw(setting).map(|(value, _)| PathBuf::from(value))
    }

    fn read<T>(&self, setting: &Setting, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, ConfigError> {
        let Some((value, place)) = self.raw(setting) else { return Ok(None) };
        let text = value.into_string().map_err(|_| ConfigError::new(place.clone(), "expected UTF-8 text"))?;
        parse(&text).map(Some).map_err(|problem| ConfigError::new(place, problem))
    }

    /// Puts what is given in the place of the default.
    fn fill<T>(
        &self,
        setting: &Setting,
        parse: impl Fn(&str) -> Result<T, String>,
        target: &mut T,
    ) -> Result<(), ConfigError> {
        if let Some(value) = self.read(setting, parse)? {
            *target = value;
        }
        Ok(())
    }
}

/// The way past a pooler.
fn read_direct(text: &str) -> Result<Option<PostgresUrl>, String> {
    match DatabaseUrl::parse(text) {
        Ok(DatabaseUrl::Postgres(url)) => Ok(Some(url)),
        _ => Err(DatabaseUrlError::Postgres.to_string()),
    }
}

fn read_database(text: &str) -> Result<DatabaseUrl, String> {
    DatabaseUrl::parse(text).map_err(|error| error.to_string())
}

fn read_bind(text: &str) -> Result<SocketAddr, String> {
    text.trim()
        .parse()
        .map_err(|_| "expected an IP address and a port, for example `127.0.0.1:8080` or `[::]:8080`".to_owned())
}

/// Reads the base of addresses: `http` or `https`, a host, perhaps a port and a path, and nothing that could be a secret
/// or that a path cannot be appended to.
fn read_base(text: &str) -> Result<PublicBase, String> {
    let fault = || {
        "expected the address that people open, without user, query and fragment, for example \
         `https://handoff.example.com`"
            .to_owned()
    };
    let trimmed = text.trim().trim_end_matches('/');
    let uri: Uri = trimmed.parse().map_err(|_| fault())?;
    let known = matches!(uri.scheme_str(), Some("http" | "https"));
    let host =
        uri.authority().is_some_and(|authority| !authority.host().is_empty() && !authority.as_str().contains('@'));
    if known && host && uri.query().is_none() && !trimmed.contains(['#', '?']) {
        Ok(PublicBase::Fixed(trimmed.to_owned()))
    } else {
        Err(fault())
    }
}

/// Reads where a relay listens: an address to which a path can be appended.
fn read_relay(text: &str) -> Result<String, String> {
    let fault = || {
        "expected the address of a relay, `ws`, `wss`, `http` or `https`, without user, query and fragment, for example \
         `wss://relay.example.com`"
            .to_owned()
    };
    let trimmed = text.trim().trim_end_matches('/');
    let uri: Uri = trimmed.parse().map_err(|_| fault())?;
    let known = matches!(uri.scheme_str(), Some("ws" | "wss" | "http" | "https"));
    let host =
        uri.authority().is_some_and(|authority| !authority.host().is_empty() && !authority.as_str().contains('@'));
    if known && host && uri.query().is_none() && !trimmed.contains(['#', '?']) {
        Ok(trimmed.to_owned())
    } else {
        Err(fault())
    }
}

fn read_switch(text: &str) -> Result<bool, String> {
    match text.trim() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("expected `true` or `false`".to_owned()),
    }
}

fn read_quorum(text: &str) -> Result<u64, String> {
    let quorum = text.trim().parse().ok().filter(|quorum| *quorum > 0);
    quorum.ok_or_else(|| "expected a number of people, 1 or more".to_owned())
}

fn read_interval(text: &str) -> Result<Duration, String> {
    let interval = text.trim().parse().ok().map(Duration::from_millis);
    interval.filter(|interval| *interval >= MIN_SWEEP_INTERVAL).ok_or_else(|| {
        let minimum = MIN_SWEEP_INTERVAL.as_millis();
        format!("expected a number of milliseconds, {minimum} or more")
    })
}

fn read_connections(text: &str) -> Result<Option<NonZeroUsize>, String> {
    let connections: Option<NonZeroUsize> = text.trim().parse().ok();
    let enough = connections.filter(|connections| *connections >= MIN_CONNECTIONS);
    enough.map(Some).ok_or_else(|| format!("expected a number, {MIN_CONNECTIONS} or more: one writes, the others read"))
}

fn read_rate(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| "expected a number of calls a minute; 0 is without a limit".to_owned())
}

/// Reads the keys for continuation data, the one that seals first.
fn read_keys(text: &str) -> Result<Option<Arc<Keyring>>, String> {
    let keys = text.split(',').map(str::trim).filter(|key| !key.is_empty()).map(ContinuationKey::parse);
    let keys = keys.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    Keyring::new(keys).map(|keyring| Some(Arc::new(keyring))).map_err(|error| error.to_string())
}

/// Reads how long repeats are recognized; callers rely on a day (section 4).
fn read_window(text: &str) -> Result<ExactDuration, String> {
    ExactDuration::parse(text.trim())
        .ok()
        .filter(|window| *window >= Policy::default().idempotency_ttl)
        .ok_or_else(|| "expected a duration of a day or longer, for example `PT24H` or `P7D`".to_owned())
}

fn read_crash_point(text: &str) -> Result<Option<CrashPoint>, String> {
    let point = CrashPoint::parse(text);
    point.map(Some).ok_or_else(|| format!("there is no such point; the one point is `{}`", CrashPoint::NAME))
}

fn read_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("expected `text` or `json`".to_owned()),
    }
}

fn read_filter(text: &str) -> Result<Option<String>, String> {
    EnvFilter::builder()
        .parse(text)
        .map(|_| Some(text.to_owned()))
        .map_err(|_| "expected a filter such as `info` or `handoff_engine=debug,warn`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASE_URL: &str = "HANDOFF_DATABASE_URL";
    const BIND: &str = "HANDOFF_BIND";
    const PUBLIC_BASE: &str = "HANDOFF_PUBLIC_BASE";
    const LINK_ONLY_PERMITTED: &str = "HANDOFF_LINK_ONLY_PERMITTED";
    const MAX_QUORUM: &str = "HANDOFF_MAX_QUORUM";
    const SWEEP_INTERVAL_MS: &str = "HANDOFF_SWEEP_INTERVAL_MS";
    const MAX_CONNECTIONS: &str = "HANDOFF_MAX_CONNECTIONS";
    const SIGNING_KEY_FILE: &str = "HANDOFF_SIGNING_KEY_FILE";
    const CRASH_POINT: &str = "HANDOFF_CRASH_POINT";
    const RATE_LIMIT: &str = "HANDOFF_RATE_LIMIT_PER_MINUTE";
    const WINDOW: &str = "HANDOFF_IDEMPOTENCY_WINDOW";
    const CALLBACK_SECRETS: &str = "HANDOFF_CALLBACK_SECRETS";
    const CALLBACK_GUARD: &str = "HANDOFF_CALLBACK_GUARD";
    const CONTINUATION_KEYS: &str = "HANDOFF_CONTINUATION_KEYS";

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
        assert_eq!(read(&[]).unwrap_err().place(), DATABASE_URL);
        assert_eq!(read(&[(DATABASE_URL, "")]).unwrap_err().place(), DATABASE_URL);
    }

    #[test]
    fn each_variable_is_read() {
        assert_eq!(with(BIND, "[::]:9").unwrap().bind, "[::]:9".parse().unwrap());
        let base = with(PUBLIC_BASE, "https://a.example/h/").unwrap().public_base;
        assert_eq!(base, PublicBase::Fixed("https://a.example/h".to_owned()));
        for (text, permitted) in [("true", true), ("1", true), ("false", false), ("0", false)] {
            assert_eq!(with(LINK_ONLY_PERMITTED, text).unwrap().link_only_permitted, permitted);
        }
        assert_eq!(with(MAX_QUORUM, "9").unwrap().max_quorum, 9);
        assert_eq!(with(SWEEP_INTERVAL_MS, "750").unwrap().sweep_interval, Duration::from_millis(750));
        assert_eq!(with(SWEEP_INTERVAL_MS, "50").unwrap().sweep_interval, Duration::from_millis(50));
        assert_eq!(with(MAX_CONNECTIONS, "3").unwrap().max_connections, NonZeroUsize::new(3));
        assert_eq!(with(SIGNING_KEY_FILE, "k.json").unwrap().signing_key, PathBuf::from("k.json"));
        assert_eq!(with(RATE_LIMIT, "0").unwrap().rate_limit_per_minute, 0);
        assert_eq!(with(WINDOW, "P2D").unwrap().idempotency_window, ExactDuration::from_days(2));
        assert_eq!(with("HANDOFF_BOOTSTRAP", "b.json").unwrap().bootstrap, Some(PathBuf::from("b.json")));
        assert_eq!(with("HANDOFF_LOG", "json").unwrap().log, LogFormat::Json);
        assert_eq!(with(CRASH_POINT, CrashPoint::NAME).unwrap().crash_point, Some(CrashPoint::AnswerAfterStateWrite));
    }

    #[test]
    fn callback_secrets_and_continuation_keys_are_lists_the_current_one_first() {
        let config = with(CALLBACK_SECRETS, " whsec_b , whsec_a,").unwrap();
        let secrets: Vec<_> = config.callbacks.secrets.iter().map(|secret| secret.expose().to_owned()).collect();
        assert_eq!(secrets, ["whsec_b", "whsec_a"]);
        assert!(!format!("{config:?}").contains("whsec"));
        let (b, a) = ("b".repeat(64), "a".repeat(64));
        let config = with(CONTINUATION_KEYS, &format!("new:{b}, old:{a}")).unwrap();
        let names: Vec<_> = config.continuation.as_ref().unwrap().ids().map(|id| id.as_str().to_owned()).collect();
        assert_eq!(names, ["new", "old"]);
        assert!(!format!("{config:?}").contains(&b));
    }

    #[test]
    fn callbacks_are_guarded_once_the_base_is_https_or_the_configuration_says_so() {
        assert!(!with("RUST_LOG", "info").unwrap().guards_callbacks());
        assert!(!with(PUBLIC_BASE, "http://handoff.example").unwrap().guards_callbacks());
        assert!(with(PUBLIC_BASE, "HTTPS://handoff.example").unwrap().guards_callbacks());
        assert!(with(CALLBACK_GUARD, "true").unwrap().guards_callbacks());
        let both = [(DATABASE_URL, "sqlite:h.db"), (PUBLIC_BASE, "https://a.example"), (CALLBACK_GUARD, "false")];
        assert!(!read(&both).unwrap().guards_callbacks());
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
            (MAX_QUORUM, "0"),
            (MAX_QUORUM, "hunter2"),
            (SWEEP_INTERVAL_MS, "hunter2"),
            (SWEEP_INTERVAL_MS, "-1"),
            (SWEEP_INTERVAL_MS, "49"),
            (MAX_CONNECTIONS, "0"),
            (MAX_CONNECTIONS, "1"),
            (MAX_CONNECTIONS, "hunter2"),
            (CRASH_POINT, "hunter2"),
            (RATE_LIMIT, "-1"),
            (RATE_LIMIT, "hunter2"),
            (WINDOW, "hunter2"),
            (CALLBACK_SECRETS, "whsec_hunter2,[redacted]"),
            (CALLBACK_GUARD, "hunter2"),
            (CONTINUATION_KEYS, "hunter2"),
            (CONTINUATION_KEYS, "k1:hunter2"),
            (CONTINUATION_KEYS, ","),
            (WINDOW, "PT23H"),
            ("HANDOFF_LOG", "hunter2"),
            ("RUST_LOG", "hunter2=loud"),
        ] {
            let error = match variable {
                DATABASE_URL => read(&[(DATABASE_URL, value)]),
                _ => with(variable, value),
            };
            let error = error.unwrap_err();
            assert_eq!(error.place(), variable, "{value}");
            assert!(error.to_string().starts_with(&format!("{variable}: ")), "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
