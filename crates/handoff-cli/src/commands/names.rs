//! What names things on the command line: ids, and the names of people and machines.

use handoff_protocol::{
    decision::{Target, terms::TargetKind},
    id::{AuthorizationId, PrincipalId, RequestId},
    principal::Role,
};

/// The id of a request.
pub(crate) fn request(text: &str) -> Result<RequestId, String> {
    RequestId::parse(text.trim()).map_err(|_| "an id looks like req_01M8…; `handoff list` shows them".to_owned())
}

/// The id of an authorization.
pub(crate) fn authorization(text: &str) -> Result<AuthorizationId, String> {
    AuthorizationId::parse(text.trim())
        .map_err(|_| "an id looks like auth_01M8…; `handoff show REQUEST` shows that of an answered request".to_owned())
}

/// Whom a request can be passed on to.
pub(crate) fn target(text: &str) -> Result<Target, String> {
    let text = text.trim();
    let target = |kind: TargetKind, value: &str| Target { kind, value: value.to_owned() };
    if text == "anyone" {
        return Ok(Target::anyone());
    }
    if let Some(role) = text.strip_prefix("role:").filter(|role| Role::ALL.iter().any(|(name, _)| name == role)) {
        return Ok(target(TargetKind::Role, role));
    }
    for (prefix, kind) in [("group:", TargetKind::Group), ("rotation:", TargetKind::Rotation)] {
        if let Some(name) = text.strip_prefix(prefix).filter(|name| !name.is_empty()) {
            return Ok(target(kind, name));
        }
    }
    if let Ok(person @ PrincipalId::User(_)) = PrincipalId::parse(text) {
        return Ok(target(TargetKind::Principal, &person.to_string()));
    }
    Err("expected a person's id such as usr_01M8…, `role:viewer`, `role:editor`, `role:admin`, `group:NAME`, \
         `rotation:NAME`, or `anyone`"
        .to_owned())
}

/// The name of a person or a machine.
pub(crate) fn display(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() {
        return Err("a name cannot be empty: receipts and lists show it".to_owned());
    }
    Ok(name.to_owned())
}
