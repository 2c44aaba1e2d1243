//! What surrounds every call: an id, a span, the headers that every response has, and the net under a panic.

use std::{
    hash::{BuildHasher as _, RandomState},
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures::FutureExt as _;
use tracing::Instrument as _;

use crate::{api::Api, extract::presented, limits::Limits, refusal::Refusal};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a call passes on its way in and out.
#[derive(Clone)]
pub(crate) struct Surroundings {
    ids: CallIds,
    api: Api,
}

impl Surroundings {
    pub(crate) fn new(api: Api) -> Self {
        Self { ids: CallIds::new(), api }
    }
}

/// Names calls: a number drawn when the router was built, and a count. A name tells calls apart and proves nothing.
#[derive(Clone, Debug)]
struct CallIds {
    router: u64,
    calls: Arc<AtomicU64>,
}

impl CallIds {
    fn new() -> Self {
        Self { router: RandomState::new().hash_one(0_u8), calls: Arc::default() }
    }

    fn next(&self) -> String {
        format!("{:016x}-{}", self.router, self.calls.fetch_add(1, Ordering::Relaxed))
    }
}

/// Runs a call within its span and sees to it that what leaves is whole. Headers and bodies never reach the log, and of
/// the path only the route that matched.
pub(crate) async fn observe(State(around): State<Surroundings>, request: Request, next: Next) -> Response {
    let Surroundings { ids, api } = around;
    let id = ids.next();
    let method = request.method().clone();
    let credential = presented(request.headers()).map(Limits::name);
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let span = tracing::info_span!(
        "call",
        request_id = %id,
        method = %method,
        route,
        status = tracing::field::Empty,
        milliseconds = tracing::field::Empty,
    );
    let started = Instant::now();
    async move {
        let mut response = match AssertUnwindSafe(next.run(request)).catch_unwind().await {
            Ok(response) => response,
            // What it panicked with may hold what was sent, so it is left to the panic hook.
            Err(_) => {
                tracing::error!("a handler panicked");
                Refusal::internal().into_response()
            }
        };
        #[cfg(feature = "planted-faults")]
        let failed = response.status().is_client_error();
        let headers = response.headers_mut();
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Ok(id) = HeaderValue::try_from(id) {
            headers.insert(REQUEST_ID, id);
        }
        api.limits.dress(&mut response, credential.as_ref(), api.engine.now());
        #[cfg(feature = "planted-faults")]
        crate::planted::undress(response.headers_mut(), failed);
        let took = started.elapsed();
        api.options.metrics.answered(&route, &method, response.status(), took);
        let span = tracing::Span::current();
        span.record("status", response.status().as_u16());
        span.record("milliseconds", u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        tracing::info!("served");
        response
    }
    .instrument(span)
    .await
}
