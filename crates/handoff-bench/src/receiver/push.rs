//! A push as it came, and what it says once it is found genuine.

use std::time::{Instant, SystemTime};

use bytes::Bytes;
use handoff_protocol::{
    callback::{CallbackHeaders, CallbackSecret, verify},
    id::DeliveryId,
    json::Json,
    timestamp::Timestamp,
};
use hyper::HeaderMap;

use crate::{error::BenchError, wire::Signal};

/// A push as it came. It is verified later, so that this takes no time from the server while it is measured.
pub(crate) struct Push {
    at: Instant,
    clock: Timestamp,
    headers: HeaderMap,
    body: Bytes,
}

/// A push that is genuine.
#[derive(Debug)]
pub(crate) struct Pushed {
    pub(crate) at: Instant,
    pub(crate) delivery: DeliveryId,
    pub(crate) request: String,
    pub(crate) signal: Signal,
}

impl Push {
    /// One that comes now.
    pub(crate) fn now(headers: HeaderMap, body: Bytes) -> Self {
        let clock = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let clock = Timestamp::from_unix_millis(i64::try_from(clock.as_millis()).unwrap_or(i64::MAX));
        Self { at: Instant::now(), clock, headers, body }
    }

    /// Whether it is genuine, by the clock of when it came.
    pub(crate) fn verify(&self, secrets: &[CallbackSecret]) -> Result<Pushed, BenchError> {
        let headers = CallbackHeaders::from_bytes(|name| Some(self.headers.get(name)?.as_bytes())).map_err(refused)?;
        let verified = verify(&headers, &self.body, secrets, self.clock).map_err(refused)?;
        let text = |name: &str| verified.body.get(name).and_then(Json::as_str).map(str::to_owned);
        let read = text("request_id").zip(text("id")).zip(text("resume_token"));
        let ((request, id), resume_token) =
            read.ok_or_else(|| BenchError::Nonsense("a push is genuine and no signal".to_owned()))?;
        Ok(Pushed { at: self.at, delivery: verified.delivery, request, signal: Signal { id, resume_token } })
    }
}

fn refused(error: impl std::fmt::Display) -> BenchError {
    BenchError::Nonsense(format!("a push is not genuine: {error}"))
}

#[cfg(test)]
mod tests {
    use handoff_protocol::callback::sign;

    use super::*;

    const DELIVERY: &str = "dlv_01K3MB2R6C8ZC4YRXB2N6VD9FT";
    const BODY: &str = r#"{"id":"sig_1","request_id":"req_1","resume_token":"rt_1","sequence":1}"#;

    fn push(body: &'static str) -> Push {
        let mut push = Push::now(HeaderMap::new(), Bytes::from_static(body.as_bytes()));
        let secrets = [CallbackSecret::new("whsec_a").unwrap()];
        let signature = sign(&secrets, push.clock, DeliveryId::parse(DELIVERY).unwrap(), BODY.as_bytes()).unwrap();
        push.headers.insert("Handoff-Signature", signature.parse().unwrap());
        push.headers.insert("Handoff-Delivery", DELIVERY.parse().unwrap());
        push.headers.insert("Handoff-Idempotency-Key", DELIVERY.parse().unwrap());
        push.headers.insert("Handoff-Sequence", "1".parse().unwrap());
        push
    }

    #[test]
    fn a_genuine_push_names_its_request_and_what_acknowledges_it() {
        let pushed = push(BODY).verify(&[CallbackSecret::new("whsec_a").unwrap()]).unwrap();
        assert_eq!(pushed.delivery, DeliveryId::parse(DELIVERY).unwrap());
        assert_eq!((pushed.request.as_str(), pushed.signal.id.as_str()), ("req_1", "sig_1"));
        assert_eq!(pushed.signal.resume_token, "rt_1");
    }

    #[test]
    fn a_push_by_another_secret_or_with_another_body_ends_the_run() {
        let other = push(BODY).verify(&[CallbackSecret::new("whsec_b").unwrap()]);
        let changed = push(r#"{"id":"sig_2","request_id":"req_1","resume_token":"rt_1","sequence":1}"#);
        for result in [other, changed.verify(&[CallbackSecret::new("whsec_a").unwrap()])] {
            assert!(matches!(result, Err(BenchError::Nonsense(text)) if text.contains("not genuine")));
        }
    }
}
