//! Passing a request on, and saying that one cannot answer it (rule S-2). Nothing is settled by either.

use axum::{
    body::Bytes,
    extract::{
        Path, State,
        rejection::{BytesRejection, PathRejection},
    },
    http::{HeaderMap, StatusCode},
    response::Response,
};
use handoff_protocol::json::Json;

use super::answer::{self, Act, Sent};
use crate::{besides, page, reader::Reader, site::Site};

/// `POST /requests/{id}/pass-on`.
pub(crate) async fn pass_on(
    State(site): State<Site>,
    reader: Reader,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let sent = match answer::receive(&site, &reader, path, &headers, body).await {
        Ok(sent) => sent,
        Err(refusal) => return *refusal,
    };
    let offers = besides::offers(&site, reader.words, &sent.visitor, &sent.loaded.requires, &sent.loaded.people).await;
    let Some(offer) = sent.form.get("to").and_then(|tag| offers.into_iter().find(|offer| offer.tag == tag)) else {
        return page::say(&reader, StatusCode::BAD_REQUEST, reader.words.form_malformed, Some(&sent.visitor));
    };
    let body = besides::pass_on(&sent.form, &offer.target);
    record(&site, &reader, sent, body).await
}

/// `POST /requests/{id}/unable`.
pub(crate) async fn unable(
    State(site): State<Site>,
    reader: Reader,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    match answer::receive(&site, &reader, path, &headers, body).await {
        Ok(sent) => {
            let body = besides::unable(&sent.form);
            record(&site, &reader, sent, body).await
        }
        Err(refusal) => *refusal,
    }
}

async fn record(site: &Site, reader: &Reader, sent: Sent, body: Json) -> Response {
    let Sent { visitor, form, loaded, key } = sent;
    let id = loaded.view.id;
    match site.engine.answer_as_shown(&visitor.principal, id, body, Some(&key)).await {
        Ok(_) => page::see_other(&format!("/requests/{id}")),
        Err(error) => answer::explain(site, reader, &visitor, id, &form, Act::Besides, &error).await,
    }
}
