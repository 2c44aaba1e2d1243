//! The proof of a decision, as a file to take along.

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{
        HeaderMap,
        header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    },
    response::{IntoResponse as _, Response},
};
use handoff_protocol::{decision::DecisionError, id::RequestId};

use crate::{page, reader::Reader, session::Visitor, site::Site};

/// `GET /requests/{id}/proof`.
pub(crate) async fn show(
    State(site): State<Site>,
    reader: Reader,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return page::sign_in(&reader),
        Err(error) => return page::refuse(&reader, &error, None),
    };
    let id = path.ok().and_then(|Path(text)| RequestId::parse(&text).ok());
    match file(&site, &visitor, id).await {
        Ok((name, text)) => {
            let disposition = format!("attachment; filename=\"{name}\"");
            ([(CONTENT_TYPE, "application/json".to_owned()), (CONTENT_DISPOSITION, disposition)], text).into_response()
        }
        Err(error) => page::refuse(&reader, &error, Some(&visitor)),
    }
}

async fn file(site: &Site, visitor: &Visitor, id: Option<RequestId>) -> Result<(String, String), DecisionError> {
    let id = id.ok_or(DecisionError::RequestNotFound)?;
    let proof = site.engine.proof(&visitor.principal, id).await?;
    let text = proof.to_text().map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "a proof could not be written");
        DecisionError::Internal
    })?;
    Ok((format!("handoff-proof-{id}.json"), text))
}
