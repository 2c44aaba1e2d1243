//! What a person uses on the way to an answer: grants, their sessions, and sinks for values that no answer may carry.

use handoff_protocol::{
    decision::{
        capability::{GrantSessionView, GrantView, RenewResult},
        view::SinkValuesResult,
        wire::{ResolveBody, RevokeBody, ToBody as _},
    },
    id::{GrantHandle, RequestId, SessionRef},
    json::{Json, Object},
    secret::Secret,
};

use crate::{
    address::{path, with_query},
    call::Call,
    client::Client,
    error::ClientError,
    key::CallKey,
    requests::key_or_minted,
};

impl Client {
    /// A grant and what it may touch: read it, and show it to the person, before a session is opened.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn grant(&self, handle: GrantHandle) -> Result<GrantView, ClientError> {
        self.call(Call::get(path(&["grants", &handle.to_string()])?)).await
    }

    /// Opens a session under a grant, as the person who read what it may touch. Repeating the call under the same key
    /// gives the same session under another address; keep the address nowhere.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn resolve_grant(
        &self,
        handle: GrantHandle,
        body: &ResolveBody,
        key: Option<&CallKey>,
    ) -> Result<GrantSessionView, ClientError> {
        let key = key_or_minted(key)?;
        let path = path(&["grants", &handle.to_string(), "sessions"])?;
        self.call(Call::post(path, &to_json(body.to_json())?).under(&key)).await
    }

    /// Renews a session's lease; do it again after so many milliseconds as the result says.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn renew_session(&self, handle: GrantHandle, session: SessionRef) -> Result<RenewResult, ClientError> {
        let path = path(&["grants", &handle.to_string(), "sessions", &session.to_string(), "renew"])?;
        self.call(Call::post(path, &Json::Object(Object::new()))).await
    }

    /// Ends a session. Repeating it is harmless.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn release_session(&self, handle: GrantHandle, session: SessionRef) -> Result<(), ClientError> {
        let path = path(&["grants", &handle.to_string(), "sessions", &session.to_string()])?;
        self.send(Call::delete(path, None)).await.map(drop)
    }

    /// Takes a grant back and ends its sessions. Repeating it is harmless.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn revoke_grant(&self, handle: GrantHandle, body: &RevokeBody) -> Result<(), ClientError> {
        let body = to_json(body.to_json())?;
        self.send(Call::delete(path(&["grants", &handle.to_string()])?, Some(&body))).await.map(drop)
    }

    /// Hands values to the sink that a request declares, an object of one member a field. They go no further than the
    /// sink; the answer then says `{"provided": true}` for each. Of several requests that declare the place the newest is
    /// meant: whoever answers one says so with [`submit_values_for`](Self::submit_values_for).
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn submit_values(
        &self,
        reference: &str,
        values: &Secret<Object>,
        key: Option<&CallKey>,
    ) -> Result<SinkValuesResult, ClientError> {
        self.submit(path(&["sinks", reference, "values"])?, values, key).await
    }

    /// The same for one request: the values go to its sink or to none, whatever other request declares the same place.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn submit_values_for(
        &self,
        request: RequestId,
        reference: &str,
        values: &Secret<Object>,
        key: Option<&CallKey>,
    ) -> Result<SinkValuesResult, ClientError> {
        let path = path(&["sinks", reference, "values"])?;
        self.submit(with_query(path, &[("request_id", &request.to_string())]), values, key).await
    }

    async fn submit(
        &self,
        path: String,
        values: &Secret<Object>,
        key: Option<&CallKey>,
    ) -> Result<SinkValuesResult, ClientError> {
        let key = key_or_minted(key)?;
        let body = Secret::new(Json::object([("values", Json::Object(values.expose().clone()))]));
        self.call(Call::post(path, body.expose()).under(&key)).await
    }
}

fn to_json(body: Result<Json, handoff_protocol::json::JsonError>) -> Result<Json, ClientError> {
    body.map_err(|error| ClientError::Configuration(error.to_string()))
}
