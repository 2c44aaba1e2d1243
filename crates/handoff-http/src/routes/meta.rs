//! `/v1/meta`: what this server can do. No credential is looked at, so a bad one cannot fail it.

use std::future::{Ready, ready};

use axum::extract::State;
use handoff_protocol::decision::{FieldKind, capability::Capability, limits};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    api::Api,
    reply::{self, Reply},
};

/// What a client asks before anything else.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Meta {
    /// The version of the protocol.
    #[schemars(extend("const" = "0.1"))]
    protocol_version: &'static str,
    /// How much of it the server does.
    #[schemars(extend("enum" = [1, 2]))]
    conformance_level: u8,
    /// What it does beyond that.
    extensions: &'static [&'static str],
    /// The types of fields that it knows.
    field_types: &'static [&'static str],
    /// The types of capabilities that it knows.
    capability_types: &'static [&'static str],
    /// The longest that a call is held.
    #[schemars(extend("const" = 30))]
    max_wait_seconds: u64,
    /// The version of the server.
    core_version: &'static str,
    /// The channels that it reaches people through.
    channels: Vec<String>,
}

/// The level is what the running configuration can do: without a key nothing that is handed over could be kept (rule L-4).
pub(super) fn read(State(api): State<Api>) -> Ready<Reply> {
    let continues = api.engine.keeps_continuations();
    #[cfg(feature = "planted-faults")]
    let continues = continues != handoff_protocol::planted::Fault::LevelMisstated.is_planted();
    let meta = Meta {
        protocol_version: "0.1",
        conformance_level: if continues { 2 } else { 1 },
        extensions: if continues { &["continuation"] } else { &[] },
        field_types: &FieldKind::NAMES,
        capability_types: &Capability::TYPES,
        max_wait_seconds: limits::MAX_WAIT_SECONDS,
        core_version: env!("CARGO_PKG_VERSION"),
        channels: api.engine.policy().channels.reaching().map(str::to_owned).collect(),
    };
    ready(reply::ok(&meta).map(reply::cacheable))
}
