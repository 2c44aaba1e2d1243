//! What the log is told: never a token, never what somebody wrote.

use std::{
    io,
    sync::{Arc, Mutex},
};

use handoff_protocol::principal::Role;

use crate::world::{World, YES_NO, answer_form};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_token_and_nothing_that_was_written_is_in_any_line_of_the_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    // The server of this test runs on this thread.
    let _until_the_end = tracing::subscriber::set_default(subscriber);
    tracing::info!("the log is written");

    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let person = world.person("Ada", Role::Editor).await;
    let link = world.link(person, Some(id)).await;
    let mut ada = world.browser();
    ada.get(&link).await.is(200);
    ada.post(&link, &[], "").await.is(303);
    ada.post(&link, &[], "").await.is(404);
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).pick("v.decision", "Refund it").fill("note", "between us");
    ada.send(&form.clone().forge("csrf", "wrong")).await.is(403);
    ada.send(&form).await.is(303);
    ada.get("/nothing-here").await;

    let written = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(written.contains("the log is written"));
    let session = ada.cookie.clone().unwrap();
    let token = link.rsplit('/').next().unwrap();
    for secret in [token, session.as_str(), form.get("csrf").unwrap(), "between us"] {
        assert!(!written.contains(secret), "{secret} in {written}");
    }
}
