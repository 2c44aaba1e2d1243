//! `/v1/meta`: what this server can do. No credential is looked at, so a bad one cannot fail it.

use std::future::{Ready, ready};

use handoff_protocol::decision::{FieldKind, limits};
use serde::Serialize;

use crate::reply::{self, Reply};

/// What a client asks before anything else.
#[derive(Serialize)]
struct Meta {
    protocol_version: &'static str,
    conformance_level: u8,
    extensions: &'static [&'static str],
    field_types: &'static [&'static str],
    capability_types: &'static [&'static str],
    max_wait_seconds: u64,
    core_version: &'static str,
    channels: &'static [&'static str],
}

pub(super) fn read() -> Ready<Reply> {
    let meta = Meta {
        protocol_version: "0.1",
        conformance_level: 1,
        extensions: &[],
        field_types: &FieldKind::NAMES,
        capability_types: &[],
        max_wait_seconds: limits::MAX_WAIT_SECONDS,
        core_version: env!("CARGO_PKG_VERSION"),
        channels: &["inapp"],
    };
    ready(reply::ok(&meta).map(reply::cacheable))
}
