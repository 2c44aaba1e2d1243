//! Roles and strengths of authentication, each in rising order (rule P-7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person may decide: a higher role may do what a lower one may.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The lowest.
    #[default]
    Viewer,
    /// In between.
    Editor,
    /// The highest; a person with this role is an operator.
    Admin,
}

/// How strongly a caller was authenticated.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthStrength {
    /// By holding a link alone.
    LinkOnly,
    /// By a session or a bearer token.
    #[default]
    Session,
    /// By presenting the credential again within the last minutes (rule A-5).
    Reauth,
    /// By a second factor within the last minutes (rule A-5).
    Mfa,
}

impl Role {
    /// Every role with its wire name, lowest first.
    pub const ALL: [(&'static str, Self); 3] =
        [("viewer", Self::Viewer), ("editor", Self::Editor), ("admin", Self::Admin)];

    /// The wire name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Admin => "admin",
        }
    }
}

impl AuthStrength {
    /// Every strength with its wire name, weakest first.
    pub const ALL: [(&'static str, Self); 4] =
        [("link_only", Self::LinkOnly), ("session", Self::Session), ("reauth", Self::Reauth), ("mfa", Self::Mfa)];

    /// The wire name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LinkOnly => "link_only",
            Self::Session => "session",
            Self::Reauth => "reauth",
            Self::Mfa => "mfa",
        }
    }
}
