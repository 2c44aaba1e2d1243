//! Who calls, and what was sent. Each part is read here once, strictly, and refused in the one envelope.

mod body;
mod caller;
mod key;
mod path;
mod query;

pub(crate) use self::{
    body::{SentBody, SentOptionalBody, SentSecretBody},
    caller::{Caller, presented},
    key::SentKey,
    path::{Named, NamedGrant, NamedSession, NamedSink, NamedWaiter},
    query::{Query, digits},
};
