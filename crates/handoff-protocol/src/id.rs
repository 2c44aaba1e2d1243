//! Names of things: a prefix that says what, and a ULID that says which (B-2).
//!
//! Ids are copied around as numbers and written as text such as `req_01K3M7QW8ZC4YRXB2N6VD9FTHE`. Only the canonical
//! uppercase spelling parses, so two different texts never name one thing. An id is a name, never proof of authority,
//! except for the three kinds of [`SecretId`], which are drawn wholly at random and print redacted in `Debug`.

mod kinds;
mod mint;
mod principal;
mod tenant;
pub(crate) mod text;
mod ulid;

pub use kinds::{
    AuthorizationId, DeliveryId, GrantHandle, Id, KeyId, MessageId, ObservationId, OrgId, ReceiptId, RenderingId,
    RequestId, ResumeToken, SecretId, ServiceAccountId, SessionRef, SignalId, SinkRef, UserId,
};
pub use mint::Mint;
pub use principal::PrincipalId;
pub use tenant::TenantId;
pub use ulid::Ulid;

/// Why a text is not the id it should be; the text itself is never repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The text lacks the prefix of its kind, or what follows is no canonical ULID.
    #[error("expected `{prefix}` followed by 26 characters of uppercase Crockford base32")]
    Id {
        /// The prefix that this kind of id begins with, with its underscore.
        prefix: &'static str,
    },
    /// The text is none of the ids that a principal can have.
    #[error("expected `usr_`, `sa_` or `org_` followed by 26 characters of uppercase Crockford base32")]
    Principal,
    /// The text is neither an organization id nor the reserved tenant.
    #[error("expected `system`, or `org_` followed by 26 characters of uppercase Crockford base32")]
    Tenant,
    /// The text is no canonical ULID.
    #[error("expected 26 characters of uppercase Crockford base32, the first at most `7`")]
    Ulid,
}
