//! The credentials and hooks that cases name, and what a profile must say of them.

use super::{Credential, Profile};

/// Each credential: its name, its kind, and its role where it is a person's.
pub const CREDENTIALS: [(&str, &str, Option<&str>); 17] = [
    ("machine", "machine", None),
    ("machine_b", "machine", None),
    ("narrow", "machine", None),
    ("writer", "machine", None),
    ("auditor", "machine", None),
    ("test_machine", "machine", None),
    ("viewer", "human", Some("viewer")),
    ("editor", "human", Some("editor")),
    ("editor_b", "human", Some("editor")),
    ("editor_reauth", "human", Some("editor")),
    ("admin", "human", Some("admin")),
    ("admin_mfa", "human", Some("admin")),
    ("deputy", "human", Some("editor")),
    ("link", "anonymous_link", None),
    ("other_machine", "machine", None),
    ("other_editor", "human", Some("editor")),
    ("other_admin", "human", Some("admin")),
];

/// Each hook.
pub const HOOKS: [&str; 11] = [
    "read_title",
    "change_title",
    "change_receipt",
    "delete_receipt",
    "events",
    "inject_message",
    "observe_page_change",
    "canonicalize",
    "log",
    "store",
    "restart",
];

/// What is shorter could stand in a text by chance, and could not be told from it.
const SHORTEST: usize = 8;

impl Profile {
    /// The first thing in the profile that no case could use as it is.
    pub(super) fn fault(&self) -> Option<String> {
        if !(1..=2).contains(&self.level) {
            return Some("`level` must be 1 or 2".to_owned());
        }
        if !self.base_url.starts_with("http://") && !self.base_url.starts_with("https://") {
            return Some("`base_url` must begin with `http://` or `https://`".to_owned());
        }
        if self.base_url.split('/').nth(2).is_some_and(|host| host.contains('@')) {
            return Some("`base_url` must not hold a user or a password: reports have it".to_owned());
        }
        if let Some((name, _)) = self.callbacks.secrets.iter().find(|(_, secret)| secret.len() < SHORTEST) {
            return Some(format!(
                "`callbacks.secrets.{name}` must be {SHORTEST} characters at least, so that it can be redacted"
            ));
        }
        if self.callbacks.secrets.len() < 2 {
            let why = "several can be active, and cases see that each signs";
            return Some(format!("`[callbacks.secrets]` must have two secrets at least: {why}"));
        }
        let credential = self.credentials.iter().find_map(|(name, credential)| credential_fault(name, credential));
        credential.or_else(|| self.hooks.iter().find_map(|(name, command)| hook_fault(name, command)))
    }

    /// What the profile lacks of what cases name, in one line; the cases that need it fail.
    #[must_use]
    pub fn lacks(&self) -> Option<String> {
        let known = CREDENTIALS.iter().map(|(name, ..)| *name);
        let credentials: Vec<_> = known.filter(|name| !self.credentials.contains_key(*name)).collect();
        let hooks: Vec<_> = HOOKS.into_iter().filter(|name| !self.hooks.contains_key(*name)).collect();
        let parts: Vec<_> = [("credentials", credentials), ("hooks", hooks)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(what, names)| format!("{what} {}", names.join(", ")))
            .collect();
        (!parts.is_empty()).then(|| format!("the profile lacks {}; cases that need them fail", parts.join("; ")))
    }
}

fn credential_fault(name: &str, credential: &Credential) -> Option<String> {
    let Some((_, kind, role)) = CREDENTIALS.iter().find(|(known, ..)| *known == name) else {
        return Some(format!(
            "`credentials.{name}` is none that a case uses{}",
            meant(name, CREDENTIALS.map(|known| known.0))
        ));
    };
    if credential.kind != *kind {
        return Some(format!("`credentials.{name}.kind` must be `{kind}`"));
    }
    if let Some(role) = role.filter(|role| credential.role.as_deref() != Some(*role)) {
        return Some(format!("`credentials.{name}.role` must be `{role}`"));
    }
    match (&credential.id, *kind) {
        (Some(_), "anonymous_link") => Some(format!("`credentials.{name}.id` must be absent: a link is nobody")),
        (None, "machine" | "human") => Some(format!("`credentials.{name}.id` is missing: the principal's id")),
        _ if credential.token.len() < SHORTEST => Some(format!(
            "`credentials.{name}.token` must be {SHORTEST} characters at least, so that it can be redacted"
        )),
        _ => None,
    }
}

fn hook_fault(name: &str, command: &[String]) -> Option<String> {
    if !HOOKS.contains(&name) {
        return Some(format!("`hooks.{name}` is none that a case uses{}", meant(name, HOOKS)));
    }
    command.is_empty().then(|| format!("`hooks.{name}` must name a program"))
}

/// What a misspelled name may have meant, as the end of a sentence.
pub(crate) fn meant<'name>(name: &str, known: impl IntoIterator<Item = &'name str>) -> String {
    let near = known.into_iter().map(|known| (strsim::damerau_levenshtein(name, known), known));
    match near.min() {
        Some((distance, known)) if distance <= 3 && distance < known.len() => format!("; did you mean `{known}`?"),
        _ => String::new(),
    }
}
