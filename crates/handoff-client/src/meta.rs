//! What a server says of itself.

use serde::Deserialize;

use crate::{address::path, call::Call, client::Client, error::ClientError};

/// What a server can do. Members that this client does not know are ignored.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[non_exhaustive]
pub struct Meta {
    /// The protocol's version.
    pub protocol_version: String,
    /// The level, computed from what the running configuration can do.
    pub conformance_level: u64,
    /// Extensions beyond the level.
    #[serde(default)]
    pub extensions: Vec<String>,
    /// The field types that a raise may declare.
    #[serde(default)]
    pub field_types: Vec<String>,
    /// The capability types that a raise may declare.
    #[serde(default)]
    pub capability_types: Vec<String>,
    /// How long a poll is held at the most.
    pub max_wait_seconds: u64,
    /// The version of the server's core, where it says so.
    #[serde(default)]
    pub core_version: Option<String>,
}

impl Client {
    /// What the server can do. Needs no credential.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn meta(&self) -> Result<Meta, ClientError> {
        self.call(Call::get(path(&["meta"])?)).await
    }
}
