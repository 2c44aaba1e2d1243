//! Who acts, as an id: a person, a machine or an organization.

use std::fmt;
use std::str::FromStr;

use super::text::text_value;
use super::{IdError, OrgId, ServiceAccountId, UserId};

/// The id of whoever acts, of any of the three kinds that can.
///
/// Only [`PrincipalId::User`] can be a person who answers; that rule rests on the variant, not on a setting.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum PrincipalId {
    /// A person, `usr_…`.
    User(UserId),
    /// A machine's account, `sa_…`.
    ServiceAccount(ServiceAccountId),
    /// An organization itself, `org_…`.
    Org(OrgId),
}

impl PrincipalId {
    /// Reads the id of a person, a service account or an organization.
    ///
    /// # Errors
    ///
    /// [`IdError::Principal`] for any other text.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        UserId::parse(text)
            .map(Self::User)
            .or_else(|_| ServiceAccountId::parse(text).map(Self::ServiceAccount))
            .or_else(|_| OrgId::parse(text).map(Self::Org))
            .map_err(|_| IdError::Principal)
    }
}

impl FromStr for PrincipalId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

impl fmt::Display for PrincipalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => id.fmt(f),
            Self::ServiceAccount(id) => id.fmt(f),
            Self::Org(id) => id.fmt(f),
        }
    }
}

impl fmt::Debug for PrincipalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<UserId> for PrincipalId {
    fn from(id: UserId) -> Self {
        Self::User(id)
    }
}

impl From<ServiceAccountId> for PrincipalId {
    fn from(id: ServiceAccountId) -> Self {
        Self::ServiceAccount(id)
    }
}

impl From<OrgId> for PrincipalId {
    fn from(id: OrgId) -> Self {
        Self::Org(id)
    }
}

text_value!(PrincipalId, "PrincipalId", "a text that begins with `usr_`, `sa_` or `org_`", {
    "type": "string",
    "pattern": "^(usr|org|sa)_[0-9A-HJKMNP-TV-Z]{26}$",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_decides_the_kind() {
        let ulid = "01K0A2QW8ZC4YRXB2N6VD9FTHE";
        let parse = |prefix: &str| PrincipalId::parse(&format!("{prefix}{ulid}"));
        assert!(matches!(parse("usr_"), Ok(PrincipalId::User(_))));
        assert!(matches!(parse("sa_"), Ok(PrincipalId::ServiceAccount(_))));
        assert!(matches!(parse("org_"), Ok(PrincipalId::Org(_))));
        assert_eq!(parse("req_"), Err(IdError::Principal));
        assert_eq!(parse("sa_").unwrap().to_string(), format!("sa_{ulid}"));
    }
}
