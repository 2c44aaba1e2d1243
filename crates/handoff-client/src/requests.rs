//! Requests: raise, read, list, cancel, answer, and what people did with them besides.

use handoff_protocol::{
    decision::{
        RecordedDisposition, Target, WaiterRef,
        terms::{Disposition, RequestState},
        view::{AnswerResult, Listing, RequestView},
    },
    digest::Digest,
    id::RequestId,
    json::{Json, Object},
};
use reqwest::StatusCode;

use crate::{
    address::{path, with_query},
    call::Call,
    client::Client,
    error::ClientError,
    key::CallKey,
};

/// What a raise came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Raised {
    /// The request, in its current state.
    pub request: RequestView,
    /// Whether this call created it; otherwise it replayed or joined one (rules K-1, K-2).
    pub was_created: bool,
}

/// Which requests are wanted, and which page of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RequestFilter {
    /// Only these states; empty for all.
    pub states: Vec<RequestState>,
    /// Only this waiter's.
    pub waiter_ref: Option<WaiterRef>,
    /// The cursor of the page before.
    pub cursor: Option<String>,
    /// How many at the most.
    pub limit: Option<u64>,
}

/// A person's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewAnswer {
    /// A value a field.
    pub values: Object,
    /// What the person means to do.
    pub intent: Intent,
    /// What the person adds in words.
    pub note: Option<String>,
    /// What the person was shown: the request's own `rendered_digest` (rule D-8).
    pub rendered_digest: Option<Digest>,
}

/// What a person means to do with a request. Only a decision can settle it; after the others the result has no receipt, as
/// it has none while more people must agree.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Intent {
    /// To decide it (rule A-8: for their part, where several must agree).
    #[default]
    Decide,
    /// To give some of the fields, and leave the rest for later or for others (rule S-3).
    GivePart,
    /// To pass it on to whom a target names (rule S-2).
    Delegate(Target),
    /// To say that they are unable (rule S-2).
    DeclareUnable,
}

impl Client {
    /// Asks. The body is the contract's, whole.
    ///
    /// Repeating the call under the same key returns the same request; without a key one is minted.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; after [`ClientError::Transport`] the request may exist: raise again under the same key.
    pub async fn raise(&self, body: &Json, key: Option<&CallKey>) -> Result<Raised, ClientError> {
        let key = key_or_minted(key)?;
        let reply = self.send(Call::post(path(&["requests"])?, body).under(&key)).await?;
        let was_created = reply.status == StatusCode::CREATED;
        Ok(Raised { request: reply.read()?, was_created })
    }

    /// A request as it stands.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn request(&self, id: RequestId) -> Result<RequestView, ClientError> {
        self.call(Call::get(path(&["requests", &id.to_string()])?)).await
    }

    /// A request once it is settled, or as it stands after so many seconds (30 at the most). Call it again while the
    /// state is pending; nothing is consumed.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn settled_request(&self, id: RequestId, wait: u64) -> Result<RequestView, ClientError> {
        let path = path(&["requests", &id.to_string()])?;
        self.call(Call::get(with_query(path, &[("wait", &wait.to_string())])).held(wait)).await
    }

    /// A page of requests, oldest first.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn requests(&self, filter: &RequestFilter) -> Result<Listing<RequestView>, ClientError> {
        let limit = filter.limit.map(|limit| limit.to_string());
        let mut query: Vec<(&str, &str)> = filter.states.iter().map(|state| ("state", state.as_str())).collect();
        query.extend(filter.waiter_ref.as_ref().map(|waiter_ref| ("waiter_ref", waiter_ref.as_str())));
        query.extend(filter.cursor.as_deref().map(|cursor| ("cursor", cursor)));
        query.extend(limit.as_deref().map(|limit| ("limit", limit)));
        self.call(Call::get(with_query(path(&["requests"])?, &query))).await
    }

    /// Takes a pending request back.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; a person's answer that came first stands.
    pub async fn cancel(&self, id: RequestId, reason: &str, key: Option<&CallKey>) -> Result<RequestView, ClientError> {
        let key = key_or_minted(key)?;
        let body = Json::object([("reason", Json::from(reason))]);
        self.call(Call::post(path(&["requests", &id.to_string(), "cancel"])?, &body).under(&key)).await
    }

    /// Answers, with a person's credential: a machine is always refused (rule P-4).
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn answer(
        &self,
        id: RequestId,
        answer: &NewAnswer,
        key: Option<&CallKey>,
    ) -> Result<AnswerResult, ClientError> {
        let mut body = Object::new();
        body.insert("values", answer.values.clone());
        match &answer.intent {
            Intent::Decide => {}
            Intent::GivePart => {
                body.insert("partial", true);
            }
            Intent::Delegate(to) => {
                let target = [("kind", Json::from(to.kind.as_str())), ("value", Json::from(to.value.as_str()))];
                body.insert("disposition", Disposition::Delegate.as_str());
                body.insert("delegate_to", Json::object(target));
            }
            Intent::DeclareUnable => {
                body.insert("disposition", Disposition::Unable.as_str());
            }
        }
        if let Some(note) = &answer.note {
            body.insert("note", note.as_str());
        }
        if let Some(digest) = &answer.rendered_digest {
            body.insert("rendered_digest", digest.to_string());
        }
        self.answer_with(id, &Json::from(body), key).await
    }

    /// Answers with the contract's whole body, as [`answer`](Self::answer) does with its parts.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn answer_with(
        &self,
        id: RequestId,
        body: &Json,
        key: Option<&CallKey>,
    ) -> Result<AnswerResult, ClientError> {
        let key = key_or_minted(key)?;
        self.call(Call::post(path(&["requests", &id.to_string(), "answer"])?, body).under(&key)).await
    }

    /// What people did with a request besides deciding it, oldest first; with a cursor, the page behind it.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn dispositions(
        &self,
        id: RequestId,
        cursor: Option<&str>,
    ) -> Result<Listing<RecordedDisposition>, ClientError> {
        let query: Vec<(&str, &str)> = cursor.map(|cursor| ("cursor", cursor)).into_iter().collect();
        self.call(Call::get(with_query(path(&["requests", &id.to_string(), "dispositions"])?, &query))).await
    }
}

/// The caller's key, or a fresh one.
pub(crate) fn key_or_minted(key: Option<&CallKey>) -> Result<CallKey, ClientError> {
    key.cloned().map_or_else(CallKey::mint, Ok)
}
