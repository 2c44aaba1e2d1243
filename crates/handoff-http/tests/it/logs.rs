//! What reaches the log: one span a call, and nothing that was sent.

use std::{
    io,
    sync::{Arc, Mutex},
};

use tokio::sync::watch;
use tracing::{Subscriber, span, subscriber::DefaultGuard};
use tracing_subscriber::{
    Layer, Registry,
    fmt::{self, MakeWriter},
    layer::{Context, SubscriberExt as _},
    registry::LookupSpan,
};

use crate::world::World;

/// Everything that this thread logs, for as long as this lives; a test with one thread runs its server on it as well.
pub(crate) struct Log {
    lines: Lines,
    over: watch::Receiver<usize>,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

struct CountCalls(watch::Sender<usize>);

impl Log {
    pub(crate) fn capture() -> Self {
        let lines = Lines::default();
        let (count, over) = watch::channel(0);
        let written = fmt::layer().with_ansi(false).with_writer(lines.clone());
        let _guard = tracing::subscriber::set_default(Registry::default().with(written).with(CountCalls(count)));
        Self { lines, over, _guard }
    }

    /// Waits until this many calls are over, answered or dropped.
    pub(crate) async fn calls_over(&self, calls: usize) {
        self.over.clone().wait_for(|over| *over >= calls).await.unwrap();
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.lines.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for CountCalls {
    fn on_close(&self, id: span::Id, context: Context<'_, S>) {
        if context.span(&id).is_some_and(|span| span.name() == "call") {
            self.0.send_modify(|over| *over += 1);
        }
    }
}

#[tokio::test]
async fn a_call_is_one_line_with_its_route_and_nothing_that_was_sent() {
    let log = Log::capture();
    let world = World::new().await;
    let path = "/v1/requests/req_t0p-s3cret/answer?query=t0p-s3cret";
    let body = r#"{"values":{"decision":"t0p-s3cret"},"note":"t0p-s3cret"}"#;
    let reply = world.post(path, body).token(&world.home.editor).key("t0p-s3cret").expect(404).await;
    let broken = world.post("/v1/requests", r#"{"t0p-s3cret":"#).token("t0p-s3cret").expect(401).await;
    world.get("/t0p-s3cret").header("cookie", "handoff_session=t0p-s3cret").expect(404).await;
    let text = log.text();
    assert_eq!(text.lines().count(), 3, "{text}");
    let line = text.lines().next().unwrap();
    for part in [
        "method=POST",
        r#"route="/v1/requests/{request_id}/answer""#,
        "status=404",
        "milliseconds=",
        &format!("request_id={}", reply.header("x-request-id").unwrap()),
    ] {
        assert!(line.contains(part), "no {part} in {line}");
    }
    assert!(text.contains(broken.header("x-request-id").unwrap()));
    for secret in ["s3cret", world.home.editor.as_str()] {
        assert!(!text.contains(secret), "{text}");
    }
}
