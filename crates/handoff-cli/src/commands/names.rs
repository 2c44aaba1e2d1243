//! What names things on the command line: ids, and the names of people and machines.

use handoff_protocol::id::{AuthorizationId, RequestId};

/// The id of a request.
pub(crate) fn request(text: &str) -> Result<RequestId, String> {
    RequestId::parse(text.trim()).map_err(|_| "an id looks like req_01M8…; `handoff list` shows them".to_owned())
}

/// The id of an authorization.
pub(crate) fn authorization(text: &str) -> Result<AuthorizationId, String> {
    AuthorizationId::parse(text.trim())
        .map_err(|_| "an id looks like auth_01M8…; `handoff show REQUEST` shows that of an answered request".to_owned())
}

/// The name of a person or a machine.
pub(crate) fn display(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() {
        return Err("a name cannot be empty: receipts and lists show it".to_owned());
    }
    Ok(name.to_owned())
}
