//! Every setting: its variable, its key in the file, and how it is written there.

/// A setting.
#[derive(Debug)]
pub(super) struct Setting {
    /// The variable of the environment.
    pub(super) variable: &'static str,
    /// The key in the file.
    pub(super) key: &'static str,
    /// How the file writes it.
    pub(super) form: Form,
}

/// How the file writes a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// Text in quotes.
    Text,
    /// A path in quotes, seen from the file's directory.
    Path,
    /// The address of a database in quotes; a file is seen from the file's directory.
    Database,
    /// A whole number.
    Number,
    /// `true` or `false`.
    Switch,
}

impl Form {
    /// What is expected, for people.
    pub(super) const fn expected(self) -> &'static str {
        match self {
            Self::Text | Self::Path | Self::Database => "expected text in quotes",
            Self::Number => "expected a whole number",
            Self::Switch => "expected `true` or `false`",
        }
    }
}

const fn setting(variable: &'static str, key: &'static str, form: Form) -> Setting {
    Setting { variable, key, form }
}

pub(super) static DATABASE_URL: Setting = setting("HANDOFF_DATABASE_URL", "database_url", Form::Database);
pub(super) static DATABASE_DIRECT_URL: Setting =
    setting("HANDOFF_DATABASE_DIRECT_URL", "database_direct_url", Form::Text);
pub(super) static BIND: Setting = setting("HANDOFF_BIND", "bind", Form::Text);
pub(super) static PUBLIC_BASE: Setting = setting("HANDOFF_PUBLIC_BASE", "public_base", Form::Text);
pub(super) static LINK_ONLY_PERMITTED: Setting =
    setting("HANDOFF_LINK_ONLY_PERMITTED", "link_only_permitted", Form::Switch);
pub(super) static MAX_QUORUM: Setting = setting("HANDOFF_MAX_QUORUM", "max_quorum", Form::Number);
pub(super) static BOOTSTRAP: Setting = setting("HANDOFF_BOOTSTRAP", "bootstrap", Form::Path);
pub(super) static BOOTSTRAP_JSON: Setting = setting("HANDOFF_BOOTSTRAP_JSON", "bootstrap_json", Form::Text);
pub(super) static SIGNING_KEY_FILE: Setting = setting("HANDOFF_SIGNING_KEY_FILE", "signing_key_file", Form::Path);
pub(super) static SWEEP_INTERVAL_MS: Setting = setting("HANDOFF_SWEEP_INTERVAL_MS", "sweep_interval_ms", Form::Number);
pub(super) static MAX_CONNECTIONS: Setting = setting("HANDOFF_MAX_CONNECTIONS", "max_connections", Form::Number);
pub(super) static RATE_LIMIT: Setting = setting("HANDOFF_RATE_LIMIT_PER_MINUTE", "rate_limit_per_minute", Form::Number);
pub(super) static IDEMPOTENCY_WINDOW: Setting = setting("HANDOFF_IDEMPOTENCY_WINDOW", "idempotency_window", Form::Text);
pub(super) static CALLBACK_SECRETS: Setting = setting("HANDOFF_CALLBACK_SECRETS", "callback_secrets", Form::Text);
pub(super) static CALLBACK_GUARD: Setting = setting("HANDOFF_CALLBACK_GUARD", "callback_guard", Form::Switch);
pub(super) static CONTINUATION_KEYS: Setting = setting("HANDOFF_CONTINUATION_KEYS", "continuation_keys", Form::Text);
pub(super) static CRASH_POINT: Setting = setting("HANDOFF_CRASH_POINT", "crash_point", Form::Text);
pub(super) static CAPABILITY_BASE: Setting =
    setting("HANDOFF_CAPABILITY_TRANSPORT_BASE", "capability_transport_base", Form::Text);
pub(super) static LOG: Setting = setting("HANDOFF_LOG", "log", Form::Text);
pub(super) static LOG_FILTER: Setting = setting("RUST_LOG", "log_filter", Form::Text);

/// All of them.
pub(super) static ALL: [&Setting; 20] = [
    &DATABASE_URL,
    &DATABASE_DIRECT_URL,
    &BIND,
    &PUBLIC_BASE,
    &LINK_ONLY_PERMITTED,
    &MAX_QUORUM,
    &BOOTSTRAP,
    &BOOTSTRAP_JSON,
    &SIGNING_KEY_FILE,
    &SWEEP_INTERVAL_MS,
    &MAX_CONNECTIONS,
    &RATE_LIMIT,
    &IDEMPOTENCY_WINDOW,
    &CALLBACK_SECRETS,
    &CALLBACK_GUARD,
    &CONTINUATION_KEYS,
    &CRASH_POINT,
    &CAPABILITY_BASE,
    &LOG,
    &LOG_FILTER,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_on_the_page_for_operators() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operate.md")).unwrap();
        for setting in ALL.into_iter().filter(|setting| setting.key != CRASH_POINT.key) {
            let row = format!("| `{}` | `{}` | ", setting.variable, setting.key);
            assert!(page.contains(&row), "docs/operate.md has no row that begins with {row}");
        }
    }
}
