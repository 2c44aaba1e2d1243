//! What operations share: schemas out of types, parameters, headers, refusals, credentials.

use std::collections::BTreeMap;

use handoff_protocol::{
    decision::{ErrorEnvelope, WaiterRef, limits},
    id::{AuthorizationId, DeliveryId, GrantHandle, ReceiptId, RequestId, SessionRef, SignalId},
    json::{Json, Object, to_json},
};
use schemars::{
    JsonSchema, SchemaGenerator,
    generate::{Contract, SchemaSettings},
};

use super::{component, object};

/// The refusals that operations name, by status, in the order in which they stand.
pub(super) const REFUSALS: [(&str, &str); 10] = [
    ("400", "BadRequest"),
    ("401", "Unauthorized"),
    ("403", "Forbidden"),
    ("404", "NotFound"),
    ("409", "Conflict"),
    ("410", "Gone"),
    ("422", "UnprocessableEntity"),
    ("429", "RateLimited"),
    ("503", "Unavailable"),
    ("default", "Refusal"),
];

const HEADERS: [(&str, &str, &str); 5] = [
    ("X-RateLimit-Limit", "XRateLimitLimit", "How many calls a minute the credential has."),
    ("X-RateLimit-Remaining", "XRateLimitRemaining", "How many of them are left."),
    ("X-RateLimit-Reset", "XRateLimitReset", "When there are as many again, in seconds since 1970."),
    ("X-Request-Id", "XRequestId", "The name of this call in the server's log."),
    ("Retry-After", "RetryAfter", "How many seconds to wait."),
];

/// Parameters in paths: the name, the component, what it names.
const IN_PATH: [(&str, &str, &str); 9] = [
    ("request_id", "RequestIdPath", "The request."),
    ("receipt_id", "ReceiptIdPath", "The receipt."),
    ("delivery_id", "DeliveryIdPath", "The delivery."),
    ("signal_id", "SignalIdPath", "The signal."),
    ("authorization_id", "AuthorizationIdPath", "The authorization."),
    ("handle", "GrantHandlePath", "The grant."),
    ("session_ref", "SessionRefPath", "The session."),
    ("sink_ref", "SinkRefPath", "The name of the place, percent-encoded, as a field or `value_sink` declares it."),
    ("waiter_ref", "WaiterRefPath", "The waiter's reference, percent-encoded: `/` is `%2F`."),
];

/// Schemas of what is read and of what is served. A type can look different in the two: what may be left out on the way
/// in can always be there on the way out.
pub(super) struct Schemas {
    read: SchemaGenerator,
    served: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let generator = |contract: Contract| {
            let mut settings = SchemaSettings::draft2020_12();
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
            settings.contract = contract;
            settings.into_generator()
        };
        Self { read: generator(Contract::Deserialize), served: generator(Contract::Serialize) }
    }

    /// What is read.
    pub(super) fn read<T: JsonSchema>(&mut self) -> Json {
        to_json(&self.read.subschema_for::<T>()).unwrap_or_default()
    }

    /// What is served.
    pub(super) fn served<T: JsonSchema>(&mut self) -> Json {
        to_json(&self.served.subschema_for::<T>()).unwrap_or_default()
    }

    /// What is read and what is served, each by its name.
    pub(super) fn definitions(mut self) -> (BTreeMap<String, Json>, BTreeMap<String, Json>) {
        let finish = |schema| settled(without_needless_nulls(to_json(&schema).unwrap_or_default()));
        let read = self.read.take_definitions(true).into_iter();
        let served = self.served.take_definitions(true).into_iter();
        (
            read.map(|(name, schema)| (name, finish(schema))).collect(),
            served.map(|(name, schema)| (name, finish(schema))).collect(),
        )
    }

    /// Every schema by its name. A name that is read and served means one thing: what was declared is served as it was.
    fn finish(self) -> Json {
        let (read, mut all) = self.definitions();
        all.extend(read);
        Json::Object(all.into_iter().collect())
    }
}

/// Everything that operations refer to.
pub(super) fn all(mut schemas: Schemas) -> Json {
    let parameters = parameters(&mut schemas);
    let error = schemas.served::<ErrorEnvelope>();
    object([
        ("securitySchemes", credentials()),
        ("parameters", parameters),
        ("headers", headers()),
        ("responses", refusals(&error)),
        ("schemas", schemas.finish()),
    ])
}

/// A reference to the parameter of a path.
pub(super) fn in_path(name: &str) -> Json {
    let known = IN_PATH.iter().find(|(known, _, _)| *known == name);
    component("parameters", known.map_or(name, |(_, shared, _)| shared))
}

pub(super) fn in_query(name: &str, words: &str, schema: Json) -> Json {
    parameter(name, "query", words, schema)
}

/// The headers that every response has.
pub(super) fn common_headers() -> Json {
    let all = HEADERS.iter().filter(|(name, _, _)| *name != "Retry-After");
    Json::Object(all.map(|(name, shared, _)| ((*name).to_owned(), component("headers", shared))).collect())
}

fn parameter(name: &str, place: &str, words: &str, schema: Json) -> Json {
    object([
        ("name", name.into()),
        ("in", place.into()),
        ("required", (place == "path").into()),
        ("description", words.into()),
        ("schema", schema),
    ])
}

fn parameters(schemas: &mut Schemas) -> Json {
    let mut all = Object::new();
    for (name, shared, words) in IN_PATH {
        let schema = match name {
            "request_id" => schemas.read::<RequestId>(),
            "receipt_id" => schemas.read::<ReceiptId>(),
            "delivery_id" => schemas.read::<DeliveryId>(),
            "signal_id" => schemas.read::<SignalId>(),
            "authorization_id" => schemas.read::<AuthorizationId>(),
            "handle" => schemas.read::<GrantHandle>(),
            "session_ref" => schemas.read::<SessionRef>(),
            "sink_ref" => object([("type", "string".into())]),
            _ => schemas.read::<WaiterRef>(),
        };
        all.insert(shared, parameter(name, "path", words, schema));
    }
    let key = object([
        ("type", "string".into()),
        ("minLength", 1.into()),
        ("maxLength", limits::IDEMPOTENCY_KEY_CHARS.into()),
    ]);
    let words = "A name for this call: the same call again, under the same name, returns what the first one returned.";
    all.insert("IdempotencyKey", parameter("Idempotency-Key", "header", words, key));
    let number = |least: i32, usual: i32| {
        object([("type", "integer".into()), ("minimum", least.into()), ("default", usual.into())])
    };
    let words = format!("How many seconds to hold the call; more than {0} count as {0}.", limits::MAX_WAIT_SECONDS);
    all.insert("Wait", in_query("wait", &words, number(0, 0)));
    let words = "How many a page may hold; more than 200 count as 200.";
    all.insert("Limit", in_query("limit", words, number(1, 50)));
    let words = "The `next_cursor` of the page before.";
    all.insert("Cursor", in_query("cursor", words, object([("type", "string".into())])));
    for (name, words) in [("CreatedAfter", "Only from this time on."), ("CreatedBefore", "Only before this time.")] {
        let wire = if name == "CreatedAfter" { "created_after" } else { "created_before" };
        let time = object([("type", "string".into()), ("format", "date-time".into())]);
        all.insert(name, in_query(wire, words, time));
    }
    Json::Object(all)
}

fn headers() -> Json {
    let header = |(name, shared, words): (&str, &str, &str)| {
        let schema = if name == "X-Request-Id" {
            object([("type", "string".into())])
        } else {
            object([("type", "integer".into()), ("minimum", 0.into())])
        };
        (shared.to_owned(), object([("description", words.into()), ("schema", schema)]))
    };
    Json::Object(HEADERS.into_iter().map(header).collect())
}

fn refusals(error: &Json) -> Json {
    let refusal = |(status, name): (&str, &str)| {
        let words = match status {
            "400" => "The caller sent something that it must mend: the message names the field and the mend.",
            "401" => "Nobody is authenticated.",
            "403" => "The caller may not do this.",
            "404" => "There is no such thing in the caller's tenant.",
            "410" => "The grant's time is over; arming the attempt again renews it.",
            "409" => "It stands otherwise than the call expects.",
            "422" => "Values do not fit the fields; `fields` names each.",
            "429" => "The credential has no calls left in this minute.",
            "503" => {
                "What the call needs did not answer as it should: an outside party, or what the server keeps its data in. It is safe to \
             try again."
            }
            _ => "Any other refusal, in the same shape.",
        };
        let mut headers = common_headers();
        if let (Some(headers), "429" | "503") = (headers.as_object_mut(), status) {
            headers.insert("Retry-After", component("headers", "RetryAfter"));
        }
        let content = object([("application/json", object([("schema", error.clone())]))]);
        (name.to_owned(), object([("description", words.into()), ("headers", headers), ("content", content)]))
    };
    Json::Object(REFUSALS.into_iter().map(refusal).collect())
}

fn credentials() -> Json {
    let bearer = object([
        ("type", "http".into()),
        ("scheme", "bearer".into()),
        ("description", "A machine's key or a person's token. It wins over the cookie.".into()),
    ]);
    let cookie = object([
        ("type", "apiKey".into()),
        ("in", "cookie".into()),
        ("name", "handoff_session".into()),
        ("description", "A person's session in a browser.".into()),
    ]);
    object([("bearer", bearer), ("cookie", cookie)])
}

/// What may be left out need not be null as well. The schema of an option says both, and the readers take both; the
/// document says so once, in words. Null stays where the schema names it as what holds by default.
fn without_needless_nulls(mut schema: Json) -> Json {
    let required: Vec<Json> = schema.get("required").and_then(Json::as_array).unwrap_or_default().to_vec();
    let properties = schema.as_object_mut().and_then(|schema| schema.get_mut("properties"));
    for (name, property) in properties.and_then(Json::as_object_mut).into_iter().flat_map(Object::iter_mut) {
        let Some(property) = property.as_object_mut().filter(|_| !required.contains(&name.into())) else { continue };
        if property.get("default").is_some_and(Json::is_null) {
            continue;
        }
        if let Some(types) = property.get("type").and_then(Json::as_array) {
            let types: Vec<Json> = types.iter().filter(|one| one.as_str() != Some("null")).cloned().collect();
            let only = if let [only] = &*types { Some(only.clone()) } else { None };
            property.insert("type", only.unwrap_or(Json::from(types)));
        }
        let parts = property.get("anyOf").and_then(Json::as_array).unwrap_or_default();
        let only = parts.iter().find(|part| part.get("type").and_then(Json::as_str) != Some("null")).cloned();
        if let (2, Some(Json::Object(only))) = (parts.len(), only) {
            property.remove("anyOf");
            for (word, rule) in only {
                property.insert(word, rule);
            }
        }
    }
    schema
}

/// Members in the order of their names, whatever the order in which `serde_json` was built to keep them; and no formats of
/// numbers, which say how Rust keeps them.
fn settled(schema: Json) -> Json {
    match schema {
        Json::Object(members) => {
            let counts = |(name, rule): &(String, Json)| !(name == "format" && is_number_format(rule));
            let mut members: Vec<(String, Json)> = members.into_iter().filter(counts).collect();
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            Json::Object(members.into_iter().map(|(name, rule)| (name, settled(rule))).collect())
        }
        Json::Array(items) => Json::from(items.into_iter().map(settled).collect::<Vec<_>>()),
        other => other,
    }
}

fn is_number_format(format: &Json) -> bool {
    format.as_str().is_some_and(|name| name.starts_with("uint") || name.starts_with("int"))
}
