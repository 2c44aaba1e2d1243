//! Who calls, and what was sent. Each part is read here once, strictly, and refused in the one envelope.

mod body;
mod caller;
mod key;
mod on_request;
mod path;
mod query;

pub(crate) use self::{
    body::{SentBody, SentOptionalBody, SentSecretBody},
    caller::{Caller, presented},
    key::SentKey,
    on_request::{OnRequest, replied},
    path::{Named, NamedGrant, NamedSession, NamedSink, NamedWaiter},
    query::{Query, digits},
};
