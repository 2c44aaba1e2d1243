//! What is asked, as the body of a raise.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use handoff_client::CallKey;
use handoff_protocol::{
    decision::{
        Requires, Target, WaiterRef,
        terms::{Liveness, OnExpiry},
    },
    digest::Digest,
    json::{self, Json, Object},
};

use super::{super::input, Args};
use crate::{
    failure::Failure,
    fields::{self, FieldSpec},
};

/// The request to raise: a file's, or what the options describe.
pub(super) fn read(args: &Args) -> Result<Json, Failure> {
    let Some(file) = &args.file else { return composed(args) };
    let text = input::bytes(file)?;
    let mut body = json::read(&text).map_err(|error| Failure::usage(format!("the request is not JSON: {error}")))?;
    let members = body.as_object_mut().ok_or_else(|| Failure::usage("the request must be a JSON object"))?;
    if args.waiter_ref.is_some() || !members.contains_key("waiter_ref") {
        members.insert("waiter_ref", waiter_ref(args)?);
    }
    Ok(body)
}

/// The request that the options describe.
fn composed(args: &Args) -> Result<Json, Failure> {
    let mut prompt = Object::new();
    prompt.insert("title", args.title.as_deref().unwrap_or_default());
    if let Some(body) = &args.body {
        prompt.insert("body", body.as_str());
    }
    let mut specs = args.fields.clone();
    if !args.options.is_empty() {
        specs.insert(0, FieldSpec::choice("decision", fields::split_list(&args.options.join(","))));
    }
    if specs.is_empty() {
        specs.push(FieldSpec::text("answer"));
    }
    let fields: Vec<Json> = specs.iter().map(FieldSpec::to_json).collect();
    let mut requires = Object::new();
    requires.insert("v", 1);
    requires.insert("answer", Json::object([("fields", fields)].map(|(name, fields)| (name, Json::from(fields)))));
    let mut authority = Object::new();
    if let Some(role) = &args.role {
        authority.insert("min_role", role.as_str());
    }
    if let Some(quorum) = args.quorum {
        authority.insert("quorum", quorum);
    }
    if !args.assignees.is_empty() {
        authority.insert("assignees", targets(&args.assignees));
    }
    if !authority.is_empty() {
        requires.insert("authority", authority);
    }
    let requires = Json::from(requires);
    let mut body = Object::new();
    body.insert("waiter_ref", waiter_ref(args)?);
    body.insert("prompt", prompt);
    if args.leased {
        body.insert("liveness", Liveness::Leased.as_str());
    }
    if let Some(ttl) = &args.ttl {
        if ttl.is_zero() {
            return Err(Failure::usage(
                "--ttl leaves no time to answer; give one such as PT4H, or leave it out for a question without a deadline",
            ));
        }
        body.insert("ttl", ttl.to_string());
    }
    if let Some(policy) = expiry(args, &requires)? {
        body.insert("ttl_policy", policy);
    }
    body.insert("requires", requires);
    if !args.targets.is_empty() {
        body.insert("routing", Json::object([("targets", targets(&args.targets))]));
    }
    if let Some(url) = &args.callback {
        let mut callback = Object::new();
        callback.insert("url", url.as_str());
        if let Some(name) = &args.secret_ref {
            callback.insert("secret_ref", name.as_str());
        }
        body.insert("callback", callback);
    }
    if let Some(reference) = &args.resume_ref {
        body.insert("resume_ref", reference.as_str());
    }
    if let Some(file) = &args.resume_file {
        body.insert("resume_payload", STANDARD.encode(input::bytes(file)?));
    }
    if args.test {
        body.insert("test_mode", true);
    }
    Ok(Json::from(body))
}

fn targets(targets: &[Target]) -> Json {
    let member = |target: &Target| {
        Json::object([("kind", Json::from(target.kind.as_str())), ("value", Json::from(target.value.as_str()))])
    };
    Json::from(targets.iter().map(member).collect::<Vec<_>>())
}

fn expiry(args: &Args, requires: &Json) -> Result<Option<Json>, Failure> {
    let on_expiry = match (&args.on_expiry, args.default_answer.is_empty()) {
        (None, true) => return Ok(None),
        (None, false) => OnExpiry::Default.as_str(),
        (Some(policy), _) => policy.as_str(),
    };
    if on_expiry == OnExpiry::Default.as_str() && args.default_answer.is_empty() {
        return Err(Failure::usage(
            "--on-expiry default needs the values that count then: --default-answer NAME=VALUE",
        ));
    }
    let mut policy = Object::new();
    policy.insert("on_expiry", on_expiry);
    if !args.default_answer.is_empty() {
        let requires = Requires::read(requires).map_err(|error| Failure::usage(error.to_string()))?;
        policy.insert("default_answer", fields::values(&requires, &args.default_answer).map_err(Failure::usage)?);
    }
    Ok(Some(Json::from(policy)))
}

/// Who waits. Made again under the same key, the call must be the same call, its waiter included (rule K-1).
fn waiter_ref(args: &Args) -> Result<String, Failure> {
    match (&args.waiter_ref, &args.idempotency_key) {
        (Some(text), _) => {
            WaiterRef::parse(text).map_err(|error| Failure::usage(error.to_string()))?;
            Ok(text.clone())
        }
        (None, Some(key)) => {
            let named = format!("cli:{key}");
            Ok(if WaiterRef::parse(&named).is_ok() { named } else { format!("cli:{}", Digest::of(key.as_bytes())) })
        }
        (None, None) => Ok(format!("cli:{}", CallKey::mint()?.as_str())),
    }
}
