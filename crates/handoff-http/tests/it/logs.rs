//! What reaches the log: one span a call, and nothing that was sent.

use std::{cell::RefCell, io, sync::Once};

use tokio::sync::watch;
use tracing::{Subscriber, span};
use tracing_subscriber::{
    Layer, Registry, fmt,
    layer::{Context, SubscriberExt as _},
    registry::LookupSpan,
};

use crate::world::World;

thread_local! {
    static CAPTURED: RefCell<Option<Captured>> = const { RefCell::new(None) };
}

struct Captured {
    written: Vec<u8>,
    over: watch::Sender<usize>,
}

/// What this thread logs from now on. A test with one thread runs its server on it as well.
pub(crate) struct Log {
    over: watch::Receiver<usize>,
}

/// One subscriber serves all tests and is there before any of them logs: which places log at all is remembered for
/// the whole process.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let written = fmt::layer().with_ansi(false).with_writer(|| Writer);
        tracing::subscriber::set_global_default(Registry::default().with(written).with(CountCalls)).unwrap();
    });
}

impl Log {
    pub(crate) fn capture() -> Self {
        install();
        let (over, receiver) = watch::channel(0);
        CAPTURED.set(Some(Captured { written: Vec::new(), over }));
        Self { over: receiver }
    }

    /// Waits until this many calls are over, answered or dropped.
    pub(crate) async fn calls_over(&self, calls: usize) {
        self.over.clone().wait_for(|over| *over >= calls).await.unwrap();
    }

    pub(crate) fn text(&self) -> String {
        let text = with_captured(|captured| String::from_utf8(captured.written.clone()).unwrap());
        text.unwrap_or_default()
    }
}

fn with_captured<T>(act: impl FnOnce(&mut Captured) -> T) -> Option<T> {
    CAPTURED.with_borrow_mut(|captured| captured.as_mut().map(act))
}

struct Writer;

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        with_captured(|captured| captured.written.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct CountCalls;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for CountCalls {
    fn on_close(&self, id: span::Id, context: Context<'_, S>) {
        if context.span(&id).is_some_and(|span| span.name() == "call") {
            with_captured(|captured| captured.over.send_modify(|over| *over += 1));
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
