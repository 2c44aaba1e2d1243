//! The document that describes the API: checked in as it is made, complete, and true of what is served.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    time::Duration,
};

use handoff_http::{HttpOptions, openapi};
use handoff_protocol::{
    callback::CallbackSecret,
    decision::{CallbackPolicy, ErrorCode, tenant_policy::TenantPolicy},
    id::OrgId,
    json::{Json, Object, read_str},
};

use crate::{
    callbacks, spec_files,
    world::{World, question, sign_in, take_over},
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec")
}

#[test]
fn what_is_checked_in_is_what_is_made_from_the_types() {
    let made = spec_files::all();
    for (name, text) in &made {
        let kept = fs::read_to_string(folder().join(name)).unwrap_or_default();
        assert!(kept == *text, "spec/{name} is stale: run `cargo xtask spec`");
    }
    let kept: BTreeSet<String> = fs::read_dir(folder().join("schemas"))
        .unwrap()
        .map(|entry| format!("schemas/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect();
    let schemas: BTreeSet<String> = made.into_keys().filter(|name| name.starts_with("schemas/")).collect();
    assert_eq!(kept, schemas, "spec/schemas/ is stale: run `cargo xtask spec`");
}

/// The paths of the routers, as their source names them.
fn routed() -> BTreeSet<&'static str> {
    let source = [include_str!("../../src/routes/mod.rs"), include_str!("../../src/routes/operations.rs")];
    let routes = source.into_iter().flat_map(|text| text.split(".route(\"").skip(1));
    let paths = routes.filter_map(|rest| rest.split_once('"')).map(|(path, _)| path);
    // What stands for every other path is no endpoint.
    paths.filter(|path| !["/v1", "/v1/", "/v1/{*rest}"].contains(path)).collect()
}

#[tokio::test]
async fn every_endpoint_is_described_and_every_described_one_is_there() {
    let document = openapi();
    let paths = document.get("paths").and_then(Json::as_object).unwrap();
    assert_eq!(paths.keys().collect::<BTreeSet<_>>(), routed());
    let world = World::new().await;
    for (path, methods) in paths {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let described = methods.get(&method.to_lowercase()).is_some();
            let status = world.call(method, &path.replace(['{', '}'], "")).send().await.status.as_u16();
            assert_eq!(status != 405, described, "{method} {path} answers {status}");
        }
    }
}

/// The page for people, beside the document for programs.
#[test]
fn every_endpoint_every_member_of_a_body_and_every_code_is_on_the_page() {
    let page = fs::read_to_string(folder().join("../docs/api.md")).unwrap();
    let named = |text: &str| assert!(page.contains(&format!("`{text}")), "docs/api.md does not name `{text}`");
    let document = openapi();
    for (path, methods) in document.get("paths").and_then(Json::as_object).unwrap() {
        let path = ["request_id", "receipt_id", "signal_id", "delivery_id", "authorization_id"]
            .iter()
            .fold(path.to_owned(), |path, name| path.replace(name, "id"));
        let path = ["waiter_ref", "session_ref", "sink_ref"].iter().fold(path, |path, name| path.replace(name, "ref"));
        // What operators ask has a page of its own.
        for method in methods.as_object().unwrap().keys().filter(|_| path.starts_with("/v1")) {
            named(&format!("{} {path}", method.to_uppercase()));
        }
    }
    for (name, text) in spec_files::all().into_iter().filter(|(name, _)| name.ends_with("Request.json")) {
        let schema = read_str(&text).unwrap();
        for member in schema
            .get("properties")
            .and_then(Json::as_object)
            .unwrap()
            .keys()
            .filter(|_| name != "schemas/Request.json")
        {
            named(member);
        }
    }
    // Codes of what this build does not have.
    let absent = ["product_", "tenant_", "delivery_unavailable"];
    for code in ErrorCode::ALL.map(ErrorCode::as_str) {
        if !absent.iter().any(|beginning| code.starts_with(beginning)) {
            named(code);
        }
    }
}

/// The policy that the page for operators shows, and what it says of its members.
#[test]
fn the_policy_on_the_page_is_whole_and_can_be_put_in_force() {
    let page = fs::read_to_string(folder().join("../docs/reaching.md")).unwrap();
    let (_, rest) = page.split_once("## Policies").unwrap();
    let text = rest.split_once("```json\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
    let document = read_str(text).unwrap();
    Published::new().check("Policy", &document);
    let tenant = OrgId::parse(document.get("org_id").unwrap().as_str().unwrap()).unwrap();
    let policy = TenantPolicy::read(document.clone(), tenant).unwrap();
    let secrets = vec![CallbackSecret::new("of a deployment").unwrap()];
    policy
        .check_carried_out(&CallbackPolicy { named: [("erp".to_owned(), secrets)].into(), ..CallbackPolicy::default() })
        .unwrap();
    let schema = read_str(&spec_files::all()["schemas/Policy.json"]).unwrap();
    // Every member of the document and of what is its own in it stands in the example, and every one can be suggested.
    let mut shown = BTreeSet::new();
    members(&document, &mut shown);
    let own = |name: &str| name == "AuthorityFloors" || name == "CapabilityLimits" || name.starts_with("Policy");
    let parts = schema.get("$defs").and_then(Json::as_object).unwrap();
    let parts = parts.iter().filter(|(name, _)| own(name)).map(|(_, part)| part);
    for part in parts.chain([&schema]) {
        for name in part.get("properties").and_then(Json::as_object).into_iter().flat_map(Object::keys) {
            assert!(shown.contains(name), "the example has no `{name}`");
            assert!(TenantPolicy::MEMBERS.contains(&name), "`{name}` is not suggested");
        }
    }
}

fn members(value: &Json, found: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| members(item, found)),
        Json::Object(all) => all.iter().for_each(|(name, member)| {
            found.insert(name.to_owned());
            members(member, found);
        }),
        _ => {}
    }
}

#[tokio::test]
async fn the_document_is_served_to_anyone() {
    let world = World::new().await;
    let reply = world.get("/v1/openapi.json").token("nobody's").expect(200).await;
    assert_eq!(reply.json(), openapi());
    assert_eq!(reply.header("content-type"), Some("application/json"));
}

/// The published schemas, each with nothing besides what it names, so that a member that none of them has is a fault.
struct Published(BTreeMap<String, jsonschema::Validator>);

impl Published {
    fn new() -> Self {
        let schemas = spec_files::all().into_iter().filter(|(name, _)| name.starts_with("schemas/"));
        let closed = schemas.map(|(name, text)| {
            let name = name.trim_start_matches("schemas/").trim_end_matches(".json").to_owned();
            let mut schema = serde_json::from_str(&text).unwrap();
            close(&mut schema);
            (name, jsonschema::validator_for(&schema).unwrap())
        });
        Self(closed.collect())
    }

    #[track_caller]
    fn check(&self, name: &str, value: &Json) {
        let instance = serde_json::from_str(&value.to_text()).unwrap();
        let faults: Vec<String> =
            self.0.get(name).unwrap().iter_errors(&instance).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{name}: {faults:#?}\n{}", value.to_text());
    }
}

fn close(schema: &mut serde_json::Value) {
    if let Some(rules) = schema.as_object_mut() {
        if rules.get("properties").is_some_and(serde_json::Value::is_object) {
            rules.entry("additionalProperties").or_insert(false.into());
        }
        rules.values_mut().for_each(close);
    }
}

#[tokio::test]
async fn what_is_served_is_what_the_published_schemas_say() {
    let published = Published::new();
    let world = World::built(HttpOptions::default(), callbacks::policy()).await;
    let (machine, editor) = (world.home.machine.as_str(), world.home.editor.as_str());
    let get = async |name: &str, path: String| {
        let value = world.get(&path).token(machine).expect(200).await.json();
        published.check(name, &value);
    };
    let post = async |name: &str, path: String, body: &str, token: &str| {
        let reply = world.post(&path, body).token(token).expect(200).await;
        published.check(name, &reply.json());
        reply
    };

    let mut full = read_str(&question("run:1", "Ship it?")).unwrap();
    for (name, value) in [
        ("metadata", r#"{"any":["thing"]}"#),
        ("effect_digest", r#""sha256:0000000000000000000000000000000000000000000000000000000000000000""#),
        ("ttl_policy", r#"{"on_expiry":"default","default_answer":{"decision":"reject"}}"#),
        ("test_mode", "true"),
        ("callback", r#"{"url":"http://127.0.0.1:9/cb"}"#),
        ("resume_ref", r#""thread/1""#),
        ("resume_payload", r#""AAAA""#),
    ] {
        full.as_object_mut().unwrap().insert(name, read_str(value).unwrap());
    }
    published.check("RaiseRequest", &full);
    let raised = world.post("/v1/requests", full.to_text()).token(machine).expect(201).await;
    published.check("Request", &raised.json());
    let request = format!("/v1/requests/{}", raised.str("id"));
    post("Request", format!("{request}/attempt"), "", machine).await;
    let wrong = world.post(&format!("{request}/answer"), r#"{"values":{"decision":"x"}}"#).token(editor).expect(422);
    published.check("Error", &wrong.await.json());
    let answer = r#"{"values":{"decision":"approve","amount":3},"note":"fine"}"#;
    published.check("AnswerRequest", &read_str(answer).unwrap());
    let answered = post("AnswerResult", format!("{request}/answer"), answer, editor).await;
    let late = world.post(&format!("{request}/answer"), answer).token(editor).expect(409).await;
    published.check("Error", &late.json());

    let receipt = format!("/v1/receipts/{}", answered.str("receipt.id"));
    let correction = r#"{"values":{"decision":"reject"},"note":"the other one"}"#;
    published.check("CorrectionRequest", &read_str(correction).unwrap());
    post("Receipt", format!("{receipt}/corrections"), correction, editor).await;
    let shared =
        world.post("/v1/requests", question("run:6", "Ship it?").replace(r#""min_role":"editor""#, r#""quorum":2"#));
    let shared = format!("/v1/requests/{}", shared.token(machine).expect(201).await.str("id"));
    for body in [
        r#"{"values":{"amount":3},"partial":true}"#,
        r#"{"values":{},"disposition":"delegate","delegate_to":{"kind":"role","value":"viewer"},"note":"yours"}"#,
        r#"{"values":{},"disposition":"unable"}"#,
        r#"{"values":{"decision":"approve"},"note":"fine"}"#,
    ] {
        published.check("AnswerRequest", &read_str(body).unwrap());
        post("AnswerResult", format!("{shared}/answer"), body, editor).await;
        get("Request", shared.clone()).await;
    }
    get("RequestDispositionList", format!("{shared}/dispositions?limit=1")).await;
    post("AnswerResult", format!("{shared}/answer"), r#"{"values":{"decision":"approve"}}"#, &world.home.viewer).await;
    get("Receipt", format!("{shared}/receipt")).await;
    for (waiter, operation, body) in
        [("run:2", "cancel", r#"{"reason":"no more"}"#), ("run:3", "amend", r#"{"prompt":{"title":"?"}}"#)]
    {
        let path = format!("/v1/requests/{}/{operation}", world.raise(waiter).await.str("id"));
        post("Request", path, body, machine).await;
    }
    let (old, new) = (world.raise("run:4").await.str("id"), world.raise("run:5").await.str("id"));
    post("Request", format!("/v1/requests/{old}/supersede"), &format!(r#"{{"by":"{new}"}}"#), machine).await;
    world.pass(Duration::from_secs(3600)).await;

    let admin = world.home.admin.as_str();
    let taken = world.post("/v1/requests", take_over("run:6")).token(machine).expect(201).await;
    published.check("Request", &taken.json());
    let grant = format!("/v1/grants/{}", taken.str("requires.capabilities.0.handle"));
    published.check("CapabilityGrant", &world.get(&grant).token(admin).expect(200).await.json());
    let digest = taken.str("requires.capabilities.0.blast_radius_digest");
    let resolve = format!(r#"{{"scopes":["drive"],"accepted_blast_radius_digest":"{digest}"}}"#);
    let session = post("GrantSession", format!("{grant}/sessions"), &resolve, admin).await;
    let session = format!("{grant}/sessions/{}", session.str("session_ref"));
    post("RenewResult", format!("{session}/renew"), "", admin).await;
    let released = world.call("DELETE", &session).token(admin).expect(204).await;
    assert!(released.body.is_empty());
    let taken = format!("/v1/requests/{}", taken.str("id"));
    post("AnswerResult", format!("{taken}/answer"), r#"{"values":{"decision":"approve"}}"#, admin).await;
    get("Receipt", format!("{taken}/receipt")).await;
    let secret = sign_in("run:7");
    published.check("RaiseRequest", &read_str(&secret).unwrap());
    world.post("/v1/requests", secret).token(machine).expect(201).await;
    let values = r#"{"values":{"password":"x"}}"#;
    published.check("SinkValuesRequest", &read_str(values).unwrap());
    let submitted = world.post("/v1/sinks/vault%2F1/values", values).token(admin).expect(202).await;
    published.check("SinkValuesResult", &submitted.json());
    let passed = format!("/v1/requests/{}", world.raise("run:6").await.str("id"));
    published.check("EscalateRequest", &read_str(r#"{"rung":1}"#).unwrap());
    post("Request", format!("{passed}/escalate"), r#"{"rung":1}"#, machine).await;
    let reassign = r#"{"to":{"kind":"role","value":"admin"},"reason":"hers"}"#;
    published.check("ReassignRequest", &read_str(reassign).unwrap());
    post("Request", format!("{passed}/reassign"), reassign, machine).await;
    world.engine.run_due_timers().await.unwrap();
    let deliveries = world.get(&format!("{passed}/deliveries")).token(machine).expect(200).await;
    let delivery = format!("/v1/deliveries/{}", deliveries.str("data.0.id"));
    get("Delivery", delivery.clone()).await;
    get("DeliveryList", format!("{passed}/deliveries")).await;
    published.check("GradeRequest", &read_str(r#"{"grade":"seen"}"#).unwrap());
    post("Delivery", format!("{delivery}/grade"), r#"{"grade":"seen"}"#, machine).await;
    let queued = world.post(&format!("{delivery}/redeliver"), "").token(machine).expect(202).await;
    published.check("RedeliverResult", &queued.json());

    get("Request", request.clone()).await;
    get("DeliveryList", format!("{request}/deliveries")).await;
    get("Receipt", format!("{request}/receipt")).await;
    get("RequestList", "/v1/requests?limit=2".to_owned()).await;
    get("ReceiptList", "/v1/receipts".to_owned()).await;
    get("ChainHead", "/v1/receipts/chain-head".to_owned()).await;
    get("Receipt", receipt.clone()).await;
    get("ReceiptSignature", format!("{receipt}/signature")).await;
    get("Bundle", "/v1/export".to_owned()).await;
    for waiter in ["run:1", "run:2", "run:3", "run:4", "run:5"] {
        get("SignalList", format!("/v1/waiters/{waiter}/signals")).await;
        post("ReattachResult", format!("/v1/waiters/{waiter}/reattach"), "", machine).await;
    }
    post("ReattachResult", "/v1/waiters/run:5/terminal".to_owned(), "{}", machine).await;
    let signals = world.get("/v1/waiters/run:1/signals").token(machine).expect(200).await;
    let attempts = format!("/v1/signals/{}/attempts", signals.str("data.0.id"));
    get("CallbackAttemptList", attempts).await;
    let delivery = signals.str("data.0.id").replace("sig_", "dlv_");
    let queued = world.post(&format!("/v1/deliveries/{delivery}/redeliver"), "").token(machine).expect(202).await;
    published.check("RedeliverResult", &queued.json());
    let ack = format!(r#"{{"resume_token":"{}","applied":true}}"#, signals.str("data.0.resume_token"));
    published.check("AckRequest", &read_str(&ack).unwrap());
    post("AckResult", format!("/v1/signals/{}/ack", signals.str("data.0.id")), &ack, machine).await;
    let authorization = format!("/v1/authorizations/{}", answered.str("authorization.id"));
    get("Authorization", authorization.clone()).await;
    get("Meta", "/v1/meta".to_owned()).await;
    get("Jwks", "/v1/keys".to_owned()).await;
}
