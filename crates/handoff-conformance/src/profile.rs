//! The profile of a deployment: where it is, what it chose, who may enter, and how to reach below HTTP.

mod known;

use std::{collections::BTreeMap, fmt, fs, path::Path, time::Duration};

use serde::Deserialize;

pub(crate) use self::known::meant;
pub use self::known::{CREDENTIALS, HOOKS};

/// Everything that the runner is told about a deployment.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The server's address, without `/v1`.
    pub base_url: String,
    /// The level that the deployment claims: 1 or 2.
    pub level: u8,
    /// What the deployment chose where the protocol leaves it a choice.
    pub choices: Choices,
    /// Who may enter, by the names that cases use.
    pub credentials: BTreeMap<String, Credential>,
    /// What callbacks are signed with.
    #[serde(default)]
    pub callbacks: Callbacks,
    /// Where the runner receives callbacks.
    #[serde(default)]
    pub receiver: Receiver,
    /// The commands that reach below HTTP.
    #[serde(default)]
    pub hooks: BTreeMap<String, Vec<String>>,
    /// How long the runner has patience.
    #[serde(default)]
    pub patience: Patience,
}

/// What a deployment chose.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    /// Whether a link alone may answer.
    pub link_only: bool,
}

/// A token, and whose it is.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credential {
    /// The bearer token.
    pub token: String,
    /// The principal's id; none for a link.
    pub id: Option<String>,
    /// `machine`, `human` or `anonymous_link`.
    pub kind: String,
    /// `viewer`, `editor` or `admin`, where it matters.
    pub role: Option<String>,
    /// The tenant's id.
    pub tenant: String,
}

/// What callbacks are signed with.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Callbacks {
    /// The active secrets, by names of the profile's own.
    #[serde(default)]
    pub secrets: BTreeMap<String, String>,
}

/// Where the runner receives callbacks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Receiver {
    /// Where it listens.
    pub bind: String,
    /// How the deployment reaches it, if not by the address that it listens on.
    pub url: Option<String>,
}

/// How long the runner waits.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Patience {
    /// For a reply, in seconds; longer than a poll can be held.
    pub call_seconds: u64,
    /// For a hook, in seconds.
    pub hook_seconds: u64,
}

impl Default for Receiver {
    fn default() -> Self {
        Self { bind: "127.0.0.1:0".to_owned(), url: None }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self { call_seconds: 45, hook_seconds: 60 }
    }
}

impl Patience {
    /// For a reply.
    #[must_use]
    pub fn call(self) -> Duration {
        Duration::from_secs(self.call_seconds)
    }

    /// For a hook.
    #[must_use]
    pub fn hook(self) -> Duration {
        Duration::from_secs(self.hook_seconds)
    }
}

impl Profile {
    /// Reads the profile in a file.
    ///
    /// # Errors
    ///
    /// It cannot be read or used; the reason names the file and the place, and repeats no token.
    pub fn load(path: &Path) -> Result<Self, String> {
        let of_file = |problem: String| format!("{}: {problem}", path.display());
        let text = fs::read_to_string(path).map_err(|error| of_file(error.to_string()))?;
        Self::read(&text).map_err(of_file)
    }

    /// Reads a profile.
    ///
    /// # Errors
    ///
    /// It cannot be used; the reason names the place, and repeats no token.
    pub fn read(text: &str) -> Result<Self, String> {
        let profile: Self = toml::from_str(text).map_err(|error| {
            // The error's own display would quote the line, in which a token may stand.
            let line = error.span().map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
            let place = line.map_or_else(String::new, |line| format!("line {line}: "));
            format!("{place}{}", error.message())
        })?;
        if let Some(fault) = profile.fault() {
            return Err(fault);
        }
        Ok(Self { base_url: profile.base_url.trim_end_matches('/').to_owned(), ..profile })
    }

    /// The credential of a name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn credential(&self, name: &str) -> Result<&Credential, String> {
        self.credentials.get(name).ok_or_else(|| format!("the profile names no credential `{name}`"))
    }

    /// A text without what must not be shown: each token and each secret is replaced by its name.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let tokens = self.credentials.iter().map(|(name, credential)| (name, "token", credential.token.as_str()));
        let secrets = self.callbacks.secrets.iter().map(|(name, secret)| (name, "secret", secret.as_str()));
        tokens
            .chain(secrets)
            .fold(text.to_owned(), |text, (name, what, hidden)| text.replace(hidden, &format!("<{what} {name}>")))
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Profile")
            .field("base_url", &self.base_url)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "base_url = \"http://127.0.0.1:1/\"\nlevel = 1\n[choices]\nlink_only = false\n\
        [credentials.machine]\ntoken = \"a-secret-token\"\nid = \"sa_1\"\nkind = \"machine\"\ntenant = \"org_1\"\n\
        [callbacks.secrets]\na = \"whsec_aaaaaaaa\"\nb = \"whsec_bbbbbbbb\"\n[hooks]\nlog = [\"cat\", \"log\"]\n";

    #[test]
    fn a_profile_is_read_and_shows_no_token() {
        let profile = Profile::read(GOOD).unwrap();
        assert_eq!(profile.base_url, "http://127.0.0.1:1");
        assert_eq!(profile.redact("Bearer a-secret-token!"), "Bearer <token machine>!");
        assert!(!format!("{profile:?}").contains("a-secret-token"));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line_and_no_token_is_repeated() {
        let refused = Profile::read(&GOOD.replace("kind =", "sort =")).unwrap_err();
        assert!(refused.contains("sort"), "{refused}");
        let broken = Profile::read(&GOOD.replace("\"a-secret-token\"", "a-secret-token")).unwrap_err();
        assert!(broken.contains("line 6") && !broken.contains("a-secret-token"), "{broken}");
    }

    #[test]
    fn what_no_case_could_use_is_refused() {
        for (good, bad, why) in [
            ("a-secret-token", "short", "`credentials.machine.token` must be 8 characters"),
            ("whsec_aaaaaaaa", "short", "`callbacks.secrets.a` must be 8 characters"),
            ("http://127", "http://me:secret@127", "must not hold a user"),
            ("level = 1", "level = 3", "`level` must be 1 or 2"),
            ("[choices]\nlink_only = false\n", "", "missing field `choices`"),
            ("link_only = false", "", "missing field `link_only`"),
            ("b = \"whsec_bbbbbbbb\"\n", "", "two secrets at least"),
            ("credentials.machine]", "credentials.machin]", "did you mean `machine`?"),
            ("kind = \"machine\"", "kind = \"human\"", "`credentials.machine.kind` must be `machine`"),
            ("id = \"sa_1\"\n", "", "`credentials.machine.id` is missing"),
            ("log = [\"cat\", \"log\"]", "lgo = [\"cat\"]", "did you mean `log`?"),
            ("[\"cat\", \"log\"]", "[]", "`hooks.log` must name a program"),
            ("http://", "ftp://", "`base_url` must begin"),
        ] {
            let refused = Profile::read(&GOOD.replacen(good, bad, 1)).unwrap_err();
            assert!(refused.contains(why), "{why}: {refused}");
        }
    }

    #[test]
    fn what_is_lacking_is_said_in_one_line() {
        let lacks = Profile::read(GOOD).unwrap().lacks().unwrap();
        assert!(lacks.starts_with("the profile lacks credentials machine_b, narrow, "), "{lacks}");
        assert!(lacks.contains("; hooks read_title, change_title, ") && !lacks.contains("log"), "{lacks}");
    }
}
