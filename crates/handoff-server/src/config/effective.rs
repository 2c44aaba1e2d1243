//! The configuration that a server would run with, as a file that says the same.

use std::fmt::Write as _;

use handoff_protocol::{duration::ExactDuration, json::Json};

use super::{Config, LogFormat, setting};
use crate::database_url::DatabaseUrl;

/// What stands where a secret would.
const REDACTED: &str = "[redacted]";

impl Config {
    /// The configuration as a file, one key a line, secrets redacted. What has no value is a comment.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let DatabaseUrl::Sqlite(database) = &self.database_url;
        let path = |path: &std::path::PathBuf| quoted(&path.display().to_string());
        let log = match self.log {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        };
        let lines = [
            (&setting::DATABASE_URL, Some(quoted(&format!("sqlite:{}", database.display())))),
            (&setting::BIND, Some(quoted(&self.bind.to_string()))),
            (&setting::PUBLIC_BASE, Some(quoted(&self.public_base.of(self.bind)))),
            (&setting::LINK_ONLY_PERMITTED, Some(self.link_only_permitted.to_string())),
            (&setting::MAX_QUORUM, Some(self.max_quorum.to_string())),
            (&setting::SIGNING_KEY_FILE, Some(path(&self.signing_key))),
            (&setting::SWEEP_INTERVAL_MS, Some(self.sweep_interval.as_millis().to_string())),
            (&setting::MAX_CONNECTIONS, self.max_connections.map(|connections| connections.to_string())),
            (&setting::RATE_LIMIT, Some(self.rate_limit_per_minute.to_string())),
            (&setting::IDEMPOTENCY_WINDOW, Some(quoted(&in_hours(self.idempotency_window)))),
            (&setting::BOOTSTRAP, self.bootstrap.as_ref().map(path)),
            (&setting::BOOTSTRAP_JSON, self.bootstrap_json.as_ref().map(|_| quoted(REDACTED))),
            (&setting::LOG, Some(quoted(log))),
            (&setting::LOG_FILTER, self.log_filter.as_deref().map(quoted)),
        ];
        let mut text = String::new();
        // Writing to a string does not fail.
        for (setting, value) in lines {
            let _ = match value {
                Some(value) => writeln!(text, "{} = {value}", setting.key),
                None => writeln!(text, "# {} is not set", setting.key),
            };
        }
        if !self.schemas.is_empty() {
            text.push_str("\n[schemas]\n");
        }
        for (reference, file) in &self.schemas {
            let _ = writeln!(text, "{} = {}", quoted(reference), path(file));
        }
        text
    }
}

/// A duration as the help spells it, in hours where it is whole ones.
fn in_hours(duration: ExactDuration) -> String {
    let seconds = duration.seconds();
    if seconds.is_multiple_of(3600) { format!("PT{}H", seconds / 3600) } else { duration.to_string() }
}

/// A text in quotes: the escapes of JSON are escapes of TOML too.
fn quoted(text: &str) -> String {
    Json::from(text).to_text()
}
