//! Scopes: what a credential may be used for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// One scope of the contract's table (section 3).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Scope {
    /// Raise, amend, cancel, supersede, arm an attempt.
    RequestsWrite,
    /// Read requests, their receipts, deliveries and authorizations.
    RequestsRead,
    /// Escalate, reassign, redeliver, and route a raise.
    RequestsRoute,
    /// List receipts, read one by id, read the chain's head.
    ReceiptsRead,
    /// Poll signals, reattach, acknowledge.
    WaitersWait,
    /// Redeem authorizations.
    AuthorizationsRedeem,
    /// Report grades of deliveries.
    DeliveriesGrade,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 7] = [
        Self::RequestsWrite,
        Self::RequestsRead,
        Self::RequestsRoute,
        Self::ReceiptsRead,
        Self::WaitersWait,
        Self::AuthorizationsRedeem,
        Self::DeliveriesGrade,
    ];

    /// The wire name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RequestsWrite => "handoff:requests:write",
            Self::RequestsRead => "handoff:requests:read",
            Self::RequestsRoute => "handoff:requests:route",
            Self::ReceiptsRead => "handoff:receipts:read",
            Self::WaitersWait => "handoff:waiters:wait",
            Self::AuthorizationsRedeem => "handoff:authorizations:redeem",
            Self::DeliveriesGrade => "handoff:deliveries:grade",
        }
    }
}

/// The scopes of a credential.
///
/// Written as a list of names, where `*` stands for all. Names unknown here are kept out: they allow nothing.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub enum Scopes {
    /// Everything.
    All,
    /// These alone.
    Some(BTreeSet<Scope>),
}

impl Scopes {
    /// Whether the scope is among these.
    #[must_use]
    pub fn allow(&self, scope: Scope) -> bool {
        match self {
            Self::All => true,
            Self::Some(scopes) => scopes.contains(&scope),
        }
    }
}

impl From<Vec<String>> for Scopes {
    fn from(names: Vec<String>) -> Self {
        if names.iter().any(|name| name == "*") {
            return Self::All;
        }
        Self::Some(Scope::ALL.into_iter().filter(|scope| names.iter().any(|name| name == scope.as_str())).collect())
    }
}

impl From<Scopes> for Vec<String> {
    fn from(scopes: Scopes) -> Self {
        match scopes {
            Scopes::All => vec!["*".to_owned()],
            Scopes::Some(scopes) => scopes.into_iter().map(|scope| scope.as_str().to_owned()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_allows_everything_and_unknown_names_allow_nothing() {
        let all = Scopes::from(vec!["*".to_owned()]);
        assert!(Scope::ALL.into_iter().all(|scope| all.allow(scope)));
        let none = Scopes::from(vec!["handoff:everything".to_owned()]);
        assert!(!Scope::ALL.into_iter().any(|scope| none.allow(scope)));
    }

    #[test]
    fn names_survive_the_round_trip() {
        let names = vec!["handoff:requests:read".to_owned(), "handoff:waiters:wait".to_owned()];
        assert_eq!(Vec::<String>::from(Scopes::from(names.clone())), names);
    }
}
