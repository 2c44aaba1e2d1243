//! Who may enter a disposable deployment: the credentials that cases name.

use serde_json::{Value, json};

use super::unguessable;

/// A credential, with everything that the server and the profile need to know.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) role: Option<&'static str>,
    strength: Option<&'static str>,
    scopes: &'static [&'static str],
    pub(super) tenant: String,
    pub(super) id: Option<String>,
    pub(super) token: String,
    on_behalf_of: Option<String>,
    test: bool,
}

const ALL: &[&str] = &["*"];

/// Draws ids and tokens for everybody, in two tenants.
pub(super) fn draw() -> Result<Vec<Member>, String> {
    let one = format!("org_{}", ulid()?);
    let two = format!("org_{}", ulid()?);
    let machine = |name, scopes| member(&one, name, "machine", None, None, scopes);
    let human = |name, role, strength| member(&one, name, "human", Some(role), Some(strength), ALL);
    let mut members = vec![
        machine("machine", ALL)?,
        machine("machine_b", ALL)?,
        machine("narrow", &["handoff:requests:read"])?,
        machine("writer", &["handoff:requests:write", "handoff:requests:read", "handoff:waiters:wait"])?,
        machine("auditor", &["handoff:receipts:read"])?,
        Member { test: true, ..machine("test_machine", ALL)? },
        human("viewer", "viewer", "session")?,
        human("editor", "editor", "session")?,
        human("editor_b", "editor", "session")?,
        human("editor_reauth", "editor", "reauth")?,
        human("admin", "admin", "session")?,
        human("admin_mfa", "admin", "mfa")?,
        Member { id: None, ..member(&one, "link", "anonymous_link", None, None, ALL)? },
        member(&two, "other_machine", "machine", None, None, ALL)?,
        member(&two, "other_editor", "human", Some("editor"), Some("session"), ALL)?,
        member(&two, "other_admin", "human", Some("admin"), Some("session"), ALL)?,
    ];
    let editor = members.iter().find(|member| member.name == "editor").and_then(|member| member.id.clone());
    members.push(Member { on_behalf_of: editor, ..human("deputy", "editor", "session")? });
    Ok(members)
}

fn member(
    tenant: &str,
    name: &'static str,
    kind: &'static str,
    role: Option<&'static str>,
    strength: Option<&'static str>,
    scopes: &'static [&'static str],
) -> Result<Member, String> {
    let prefix = if kind == "machine" { "sa" } else { "usr" };
    Ok(Member {
        name,
        kind,
        role,
        strength,
        scopes,
        tenant: tenant.to_owned(),
        id: Some(format!("{prefix}_{}", ulid()?)),
        token: format!("conformance-{}", unguessable(24)?),
        on_behalf_of: None,
        test: false,
    })
}

/// What the server loads.
pub(super) fn bootstrap(members: &[Member]) -> Value {
    let principals = members.iter().map(|member| {
        let mut entry = json!({
            "tenant_ref": member.tenant, "kind": member.kind, "token": member.token,
            "display": member.name, "scopes": member.scopes,
        });
        if let Value::Object(entry) = &mut entry {
            let optional = [
                ("id", member.id.as_deref()),
                ("role", member.role),
                ("auth_strength", member.strength),
                ("on_behalf_of", member.on_behalf_of.as_deref()),
            ];
            for (name, value) in optional {
                entry.extend(value.map(|value| (name.to_owned(), json!(value))));
            }
            entry.extend(member.test.then(|| ("test".to_owned(), json!(true))));
        }
        entry
    });
    json!({ "principals": principals.collect::<Vec<_>>() })
}

/// 26 characters that can be an id: hexadecimal digits are digits of Crockford's base32, too.
fn ulid() -> Result<String, String> {
    Ok(format!("01{}", unguessable(12)?.to_uppercase()))
}
