//! The calls that a life of a request is made of, and what is read of their answers.

use bytes::Bytes;
use handoff_protocol::timestamp::Timestamp;
use hyper::{Method, StatusCode};
use serde::Deserialize;

use super::{
    body::{self, Terms},
    connection::{As, Call, Client},
};
use crate::error::BenchError;

/// A signal, as far as it is needed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Signal {
    pub(crate) id: String,
    pub(crate) resume_token: String,
}

/// A request that was raised.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Raised {
    pub(crate) id: String,
    /// Its deadline, if it has one.
    pub(crate) expires_at: Option<Timestamp>,
}

/// How a request stands.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Standing {
    pub(crate) state: String,
    pub(crate) receipt: Option<Sealed>,
}

/// A receipt, as far as it is needed.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Sealed {
    pub(crate) decided_at: Timestamp,
}

/// A page of a listing.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) next_cursor: Option<String>,
    pub(crate) items: usize,
    pub(crate) bytes: usize,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

#[derive(Deserialize)]
struct Answered {
    authorization: Option<Named>,
}

#[derive(Deserialize)]
struct Signals {
    data: Vec<Signal>,
}

#[derive(Deserialize)]
struct Listed {
    data: Vec<serde::de::IgnoredAny>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Acknowledged {
    first_ack: bool,
}

#[derive(Deserialize)]
struct Redeemed {
    first_redemption: bool,
}

#[derive(Deserialize)]
struct Head {
    height: u64,
}

impl Client {
    /// Raises a request for a waiter and gives its id.
    pub(crate) async fn raise(&mut self, waiter: &str, key: String) -> Result<String, BenchError> {
        Ok(self.raise_on(waiter, key, Terms::Plain).await?.id)
    }

    /// Raises a request for a waiter, on terms.
    pub(crate) async fn raise_on(&mut self, waiter: &str, key: String, terms: Terms<'_>) -> Result<Raised, BenchError> {
        let body = body::raise(waiter, terms);
        let call = post("raise", As::Machine, "/v1/requests".to_owned(), Some(key), body);
        self.expect(call, &[StatusCode::CREATED]).await?.read("raise")
    }

    /// Looks at a request.
    pub(crate) async fn look(&mut self, request: &str) -> Result<Standing, BenchError> {
        self.expect(get("request", format!("/v1/requests/{request}")), &[StatusCode::OK]).await?.read("request")
    }

    /// Answers a request and gives the authorization.
    pub(crate) async fn answer(&mut self, request: &str, key: String) -> Result<String, BenchError> {
        let path = format!("/v1/requests/{request}/answer");
        let call = post("answer", As::Person, path, Some(key), body::answer());
        let answer = self.expect(call, &[StatusCode::OK]).await?;
        let authorization = answer.read::<Answered>("answer")?.authorization;
        authorization.map(|named| named.id).ok_or_else(|| nonsense("a deciding answer minted no authorization"))
    }

    /// Looks for signals of a waiter, holding up to so many seconds; none after a wait that ended without one.
    pub(crate) async fn poll(&mut self, waiter: &str, wait: u32) -> Result<Vec<Signal>, BenchError> {
        let path = format!("/v1/waiters/{waiter}/signals?wait={wait}");
        let answer = self.expect(get("poll", path), &[StatusCode::OK, StatusCode::NO_CONTENT]).await?;
        if answer.status == StatusCode::NO_CONTENT {
            return Ok(Vec::new());
        }
        Ok(answer.read::<Signals>("poll")?.data)
    }

    /// Takes a signal.
    pub(crate) async fn acknowledge(&mut self, signal: &Signal) -> Result<(), BenchError> {
        let body = body::acknowledge(&signal.resume_token);
        let call = post("acknowledge", As::Machine, format!("/v1/signals/{}/ack", signal.id), None, body);
        let answer = self.expect(call, &[StatusCode::OK]).await?;
        first("acknowledgement", answer.read::<Acknowledged>("acknowledge")?.first_ack)
    }

    /// Spends an authorization.
    pub(crate) async fn redeem(&mut self, authorization: &str) -> Result<(), BenchError> {
        let path = format!("/v1/authorizations/{authorization}/redeem");
        let call = post("redeem", As::Machine, path, None, body::redeem(authorization));
        let answer = self.expect(call, &[StatusCode::OK]).await?;
        first("redemption", answer.read::<Redeemed>("redeem")?.first_redemption)
    }

    /// A page of the pending requests.
    pub(crate) async fn pending(&mut self, limit: usize, cursor: Option<&str>) -> Result<Page, BenchError> {
        self.page("list", format!("/v1/requests?state=pending&limit={limit}"), cursor).await
    }

    /// A page of the receipts.
    pub(crate) async fn receipts(&mut self, limit: usize, cursor: Option<&str>) -> Result<Page, BenchError> {
        self.page("receipts", format!("/v1/receipts?limit={limit}"), cursor).await
    }

    /// The height of the tenant's chain.
    pub(crate) async fn chain_head(&mut self) -> Result<u64, BenchError> {
        let answer = self.expect(get("chain head", "/v1/receipts/chain-head".to_owned()), &[StatusCode::OK]).await?;
        Ok(answer.read::<Head>("chain head")?.height)
    }

    /// The whole chain with what proves it, where a server offers that.
    pub(crate) async fn export(&mut self) -> Result<Bytes, BenchError> {
        Ok(self.expect(get("export", "/v1/export".to_owned()), &[StatusCode::OK]).await?.body)
    }

    /// What the server says of itself, as text.
    pub(crate) async fn meta(&mut self) -> Result<String, BenchError> {
        let answer = self.expect(get("meta", "/v1/meta".to_owned()), &[StatusCode::OK]).await?;
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }

    async fn page(&mut self, name: &'static str, path: String, cursor: Option<&str>) -> Result<Page, BenchError> {
        let path = cursor.map_or_else(|| path.clone(), |cursor| format!("{path}&cursor={cursor}"));
        let answer = self.expect(get(name, path), &[StatusCode::OK]).await?;
        let listed = answer.read::<Listed>(name)?;
        Ok(Page { next_cursor: listed.next_cursor, items: listed.data.len(), bytes: answer.body.len() })
    }
}

fn get(name: &'static str, path: String) -> Call {
    Call { name, caller: As::Machine, method: Method::GET, path, key: None, body: None }
}

fn post(name: &'static str, caller: As, path: String, key: Option<String>, body: Bytes) -> Call {
    Call { name, caller, method: Method::POST, path, key, body: Some(body) }
}

fn first(what: &str, first: bool) -> Result<(), BenchError> {
    if first { Ok(()) } else { Err(nonsense(&format!("an {what} was not the first"))) }
}

fn nonsense(text: &str) -> BenchError {
    BenchError::Nonsense(text.to_owned())
}
