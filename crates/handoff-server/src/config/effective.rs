//! The configuration that a server would run with, as a file that says the same.

use std::fmt::Write as _;

use handoff_protocol::{
    decision::{CallbackFormat, CallbackUrl},
    duration::ExactDuration,
    json::Json,
};

use super::{Config, LogFormat, sections::inline, setting};

/// What stands where a secret would.
const REDACTED: &str = "[redacted]";

impl Config {
    /// The configuration as a file, one key a line, secrets redacted. What has no value is a comment.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let path = |path: &std::path::PathBuf| quoted(&path.display().to_string());
        let log = match self.log {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        };
        let lines = [
            (&setting::DATABASE_URL, Some(quoted(&self.database_url.to_string()))),
            (&setting::DATABASE_DIRECT_URL, self.database_direct_url.as_ref().map(|url| quoted(&url.to_string()))),
            (&setting::BIND, Some(quoted(&self.bind.to_string()))),
            (&setting::PUBLIC_BASE, Some(quoted(&self.public_base.of(self.bind)))),
            (&setting::LINK_ONLY_PERMITTED, Some(self.link_only_permitted.to_string())),
            (&setting::MAX_QUORUM, Some(self.max_quorum.to_string())),
            (&setting::SIGNING_KEY_FILE, Some(path(&self.signing_key))),
            (&setting::SWEEP_INTERVAL_MS, Some(self.sweep_interval.as_millis().to_string())),
            (&setting::MAX_CONNECTIONS, self.max_connections.map(|connections| connections.to_string())),
            (&setting::RATE_LIMIT, Some(self.rate_limit_per_minute.to_string())),
            (&setting::IDEMPOTENCY_WINDOW, Some(quoted(&in_hours(self.idempotency_window)))),
            (&setting::CALLBACK_SECRETS, (!self.callbacks.secrets.is_empty()).then(|| quoted(REDACTED))),
            (&setting::CALLBACK_GUARD, Some(self.guards_callbacks().to_string())),
            (&setting::CONTINUATION_KEYS, self.continuation.as_ref().map(|_| quoted(REDACTED))),
            (&setting::BOOTSTRAP, self.bootstrap.as_ref().map(path)),
            (&setting::BOOTSTRAP_JSON, self.bootstrap_json.as_ref().map(|_| quoted(REDACTED))),
            (&setting::CAPABILITY_BASE, Some(quoted(&self.capability_transport_base))),
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
        if !self.sinks.is_empty() {
            text.push_str("\n[sinks]\n");
        }
        for (name, command) in &self.sinks {
            // How many arguments there are, and no more: people put tokens there.
            let redacted = command.arguments.iter().map(|_| quoted(REDACTED));
            let words = std::iter::once(path(&command.program)).chain(redacted);
            let _ = writeln!(text, "{} = [{}]", quoted(name), words.collect::<Vec<_>>().join(", "));
        }
        self.callback_sections(&mut text);
        self.reaching_sections(&mut text);
        text
    }

    /// Who can be reached and how, without addresses.
    fn reaching_sections(&self, text: &mut String) {
        for channel in &self.channels {
            text.push_str("\n[[channels]]\n");
            for (key, value) in channel.written() {
                let _ = writeln!(text, "{key} = {}", inline(&value));
            }
        }
        for tenant in &self.tenants {
            let _ = writeln!(text, "\n[[tenants]]\nid = {}", quoted(&tenant.id.to_string()));
            if let Some(policy) = &tenant.policy {
                let _ = writeln!(text, "policy = {}", quoted(&policy.display().to_string()));
            }
            for (key, value) in tenant.written().as_object().into_iter().flatten() {
                let _ = writeln!(text, "{key} = {}", inline(value));
            }
        }
    }
}

impl Config {
    /// The sections of callbacks, secrets redacted. What was redacted is not read again as a secret.
    fn callback_sections(&self, text: &mut String) {
        if !self.callbacks.named.is_empty() {
            text.push_str("\n[callback_secret_sets]\n");
        }
        for (name, secrets) in &self.callbacks.named {
            let secrets = vec![quoted(REDACTED); secrets.len()].join(", ");
            let _ = match self.callbacks.owners.get(name) {
                None => writeln!(text, "{} = [{secrets}]", quoted(name)),
                Some(owner) => {
                    let owner = quoted(&owner.to_string());
                    writeln!(text, "{} = {{ owner = {owner}, secrets = [{secrets}] }}", quoted(name))
                }
            };
        }
        for endpoint in &self.callbacks.endpoints {
            text.push_str("\n[[callback_endpoints]]\n");
            let format = match endpoint.format {
                CallbackFormat::Handoff => "handoff",
                CallbackFormat::StandardWebhooks => "standard-webhooks",
            };
            let lines = [
                ("url", endpoint.url.as_deref().map(redacted_url)),
                ("owner", endpoint.owner.map(|owner| owner.to_string())),
                ("secrets", endpoint.secret_ref.clone()),
                ("format", Some(format.to_owned())),
            ];
            for (key, value) in lines {
                if let Some(value) = value {
                    let _ = writeln!(text, "{key} = {}", quoted(&value));
                }
            }
        }
    }
}

/// An address without its path and query, which may hold what only the receiver should know.
fn redacted_url(url: &str) -> String {
    let Ok(read) = CallbackUrl::parse(url) else { return REDACTED.to_owned() };
    if read.target() == "/" { read.origin() } else { format!("{}/{REDACTED}", read.origin()) }
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
