//! Whose record a thing belongs to.

use std::fmt;
use std::str::FromStr;

use super::text::text_value;
use super::{IdError, OrgId};

/// An organization, or the reserved tenant `system`.
///
/// `system` holds what must be found before a tenant is known, such as the owner of a token; no credential acts in it.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TenantId {
    /// The reserved tenant, written `system`.
    System,
    /// An organization, written as its id.
    Org(OrgId),
}

impl TenantId {
    /// Reads `system` or an organization id.
    ///
    /// # Errors
    ///
    /// [`IdError::Tenant`] for any other text.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        match text {
            "system" => Ok(Self::System),
            _ => OrgId::parse(text).map(Self::Org).map_err(|_| IdError::Tenant),
        }
    }

    /// Gives the organization, or nothing for the reserved tenant.
    #[must_use]
    pub const fn org(self) -> Option<OrgId> {
        match self {
            Self::System => None,
            Self::Org(id) => Some(id),
        }
    }
}

impl FromStr for TenantId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system"),
            Self::Org(id) => id.fmt(f),
        }
    }
}

impl fmt::Debug for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<OrgId> for TenantId {
    fn from(id: OrgId) -> Self {
        Self::Org(id)
    }
}

text_value!(TenantId, "TenantId", "`system`, or a text that begins with `org_`", {
    "type": "string",
    "pattern": "^(system|org_[0-9A-HJKMNP-TV-Z]{26})$",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_is_an_organization_or_the_reserved_name() {
        assert_eq!(TenantId::parse("system"), Ok(TenantId::System));
        let org = TenantId::parse("org_01K0A2QW8ZC4YRXB2N6VD9FTHE").unwrap();
        assert_eq!(org.to_string(), "org_01K0A2QW8ZC4YRXB2N6VD9FTHE");
        assert_eq!(TenantId::parse("System"), Err(IdError::Tenant));
        assert_eq!(TenantId::parse("usr_01K0A2QW8ZC4YRXB2N6VD9FTHE"), Err(IdError::Tenant));
    }

    const ORG: &str = "org_01K3M7QW8ZC4YRXB2N6VD9FTHE";

    #[test]
    fn a_tenant_is_the_reserved_one_or_an_organization_and_is_written_as_it_is_read() {
        let org = OrgId::parse(ORG).unwrap();
        assert_eq!(TenantId::parse(ORG), Ok(TenantId::from(org)));
        assert_eq!("system".parse::<TenantId>(), Ok(TenantId::System));
        assert_eq!((TenantId::System.org(), TenantId::Org(org).org()), (None, Some(org)));
        for text in ["system", ORG] {
            let tenant = TenantId::parse(text).unwrap();
            assert_eq!((tenant.to_string(), format!("{tenant:?}")), (text.to_owned(), text.to_owned()));
        }
        for refused in ["", "System", "req_01K3M7QW8ZC4YRXB2N6VD9FTHE", "org_1"] {
            assert_eq!(TenantId::parse(refused), Err(IdError::Tenant), "{refused}");
        }
    }
}
