//! What our document says against what the contract says: we accept whatever it accepts and answer nothing that it
//! refuses, except where a reason is given. Without the contract's files this prints one line.

use handoff_http::openapi;
use handoff_protocol::json::Json;

use crate::{
    allowed::ALLOWED,
    compare::{Comparison, Fault, resolve},
    contract::contract,
};

#[test]
fn our_document_accepts_what_the_contract_accepts_and_answers_nothing_that_it_refuses() {
    let Some(contract) = contract() else {
        println!("skipped: the contract's files are not here; HANDOFF_CONTRACTS names their folder");
        return;
    };
    let mut faults = differences(&contract, &openapi());
    let mut stale: Vec<_> = ALLOWED.iter().collect();
    faults.retain(|fault| {
        let allowed: Vec<_> = ALLOWED.iter().filter(|(place, what, _)| matches(fault, place, what)).collect();
        stale.retain(|entry| !allowed.contains(entry));
        allowed.is_empty()
    });
    assert_eq!(faults, Vec::<Fault>::new(), "differences for which no reason is given");
    assert!(stale.is_empty(), "reasons for differences that are gone: {stale:#?}");
}

#[test]
fn a_planted_difference_is_found_in_the_contract_itself() {
    let Some(contract) = contract() else {
        println!("skipped: the contract's files are not here; HANDOFF_CONTRACTS names their folder");
        return;
    };
    let ours = openapi().to_text();
    let known = differences(&contract, &openapi()).len();
    for (was, is) in [
        (r#""maxLength":20000"#, r#""maxLength":19999"#),
        (r#"{"const":"critical","description":"Now, also in quiet hours.","type":"string"}"#, r#"{"const":"other"}"#),
        (r#""first_ack":{"#, r#""last_ack":{},"first_ack":{"#),
        (r#""required":["reason"]"#, r#""required":["reason","why"]"#),
        (r#""operationId":"ackSignal""#, r#""operationId":"other""#),
    ] {
        assert!(ours.contains(was), "{was}");
        let planted = handoff_protocol::json::read_str(&ours.replacen(was, is, 1)).unwrap();
        assert!(differences(&contract, &planted).len() > known, "{was} became {is}");
    }
}

/// Whether a difference is the one that an entry names; a star stands for anything.
fn matches((place, what): &Fault, place_pattern: &str, what_pattern: &str) -> bool {
    let fits = |pattern: &str, text: &str| match pattern.split_once('*') {
        Some((before, after)) => {
            text.len() >= before.len() + after.len() && text.starts_with(before) && text.ends_with(after)
        }
        None => pattern == text,
    };
    fits(place_pattern, place) && fits(what_pattern, what)
}

fn differences(contract: &Json, ours: &Json) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut missing = Vec::new();
    for (path, item) in contract.get("paths").and_then(Json::as_object).unwrap() {
        let shared = list(item, "parameters");
        for (method, theirs) in item.as_object().unwrap().iter().filter(|(name, _)| *name != "parameters") {
            let id = theirs.get("operationId").and_then(Json::as_str).unwrap();
            let own =
                ours.get("paths").and_then(|paths| paths.get(&format!("/v1{path}"))).and_then(|own| own.get(method));
            let Some(own) = own else {
                missing.push(id.to_owned());
                continue;
            };
            if own.get("operationId") != theirs.get("operationId") {
                faults.push((id.to_owned(), "is named otherwise".to_owned()));
            }
            if own.get("x-required-scopes") != theirs.get("x-required-scopes") {
                faults.push((id.to_owned(), "needs other scopes".to_owned()));
            }
            let pair = Pair { contract, ours, theirs, own, id };
            faults.extend(pair.body());
            faults.extend(pair.parameters(&shared));
            faults.extend(pair.responses());
        }
    }
    assert_eq!(missing, Vec::<&str>::new(), "operations of the contract that this build does not serve");
    faults
}

/// One operation, as the contract has it and as we do.
struct Pair<'d> {
    contract: &'d Json,
    ours: &'d Json,
    theirs: &'d Json,
    own: &'d Json,
    id: &'d str,
}

impl<'d> Pair<'d> {
    fn sent(&self) -> Comparison<'d> {
        Comparison { inner: self.contract, outer: self.ours, named_is_all: false }
    }

    fn body(&self) -> Vec<Fault> {
        let place = format!("{} body", self.id);
        let schema = |operation: &'d Json| json_of(operation.get("requestBody")?);
        let required = |operation: &Json| operation.get("requestBody").and_then(|body| body.get("required")).cloned();
        let mut faults = match (schema(self.theirs), schema(self.own)) {
            (Some(theirs), Some(own)) => self.sent().faults(theirs, own, &place),
            (Some(_), None) => vec![(place.clone(), "is not taken".to_owned())],
            (None, _) => Vec::new(),
        };
        let must = Some(Json::Bool(true));
        if required(self.own) == must && required(self.theirs) != must {
            faults.push((place, "may be left out".to_owned()));
        }
        faults
    }

    fn parameters(&self, shared: &[&'d Json]) -> Vec<Fault> {
        let resolved = |document: &'d Json, all: Vec<&'d Json>| -> Vec<&'d Json> {
            all.into_iter().map(|one| follow(document, one)).collect()
        };
        let theirs = resolved(self.contract, [shared, &list(self.theirs, "parameters")].concat());
        let own = resolved(self.ours, list(self.own, "parameters"));
        let name = |one: &Json| (one.get("in").cloned(), one.get("name").cloned());
        let must = |one: &Json| one.get("required") == Some(&Json::Bool(true));
        let mut faults = Vec::new();
        for one in &theirs {
            let place = format!("{} {}", self.id, one.get("name").and_then(Json::as_str).unwrap());
            let Some(other) = own.iter().find(|other| name(other) == name(one)) else {
                faults.push((place, "is not taken".to_owned()));
                continue;
            };
            if must(other) && !must(one) {
                faults.push((place.clone(), "may be left out".to_owned()));
            }
            let schema = other.get("schema").unwrap();
            // A parameter that may be given more than once is a list here and one value there.
            let schema = schema.get("items").unwrap_or(schema);
            faults.extend(self.sent().faults(one.get("schema").unwrap(), schema, &place));
        }
        let unknown = own.iter().filter(|other| must(other) && !theirs.iter().any(|one| name(one) == name(other)));
        faults.extend(unknown.map(|other| (format!("{} {}", self.id, other.to_text()), "is asked for".to_owned())));
        faults
    }

    fn responses(&self) -> Vec<Fault> {
        let served = Comparison { inner: self.ours, outer: self.contract, named_is_all: true };
        let mut faults = Vec::new();
        let theirs = self.theirs.get("responses").and_then(Json::as_object).unwrap();
        for (status, own) in self.own.get("responses").and_then(Json::as_object).unwrap() {
            let place = format!("{} {status}", self.id);
            // Whatever else is refused is refused in the shape of the refusals that the contract names.
            let known = if status == "default" { theirs.get("401") } else { theirs.get(status) };
            let Some(known) = known.map(|known| follow(self.contract, known)) else {
                if status != "default" {
                    faults.push((place, "is not declared".to_owned()));
                }
                continue;
            };
            match (json_of(follow(self.ours, own)), json_of(known)) {
                (Some(own), Some(known)) => faults.extend(served.faults(own, known, &place)),
                (None, None) => {}
                _ => faults.push((place, "has a body in one of the two alone".to_owned())),
            }
        }
        faults
    }
}

fn json_of(part: &Json) -> Option<&Json> {
    part.get("content")?.get("application/json")?.get("schema")
}

fn follow<'d>(document: &'d Json, part: &'d Json) -> &'d Json {
    part.get("$ref").and_then(Json::as_str).map_or(part, |reference| resolve(document, reference))
}

fn list<'d>(part: &'d Json, name: &str) -> Vec<&'d Json> {
    part.get(name).and_then(Json::as_array).unwrap_or_default().iter().collect()
}

#[test]
fn a_star_stands_for_anything() {
    let fault = ("raiseRequest 200.receipt.steps".to_owned(), "may be null".to_owned());
    assert!(matches(&fault, "*.steps", "may be *") && matches(&fault, "raiseRequest*steps", "may be null"));
    assert!(!matches(&fault, "*.step", "may be null") && !matches(&fault, "*.steps", "may be"));
}
