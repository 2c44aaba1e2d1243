//! A sink that hands secret values to a program of the deployment's own.
//!
//! Handoff keeps no secrets (rule K-S4). A deployment that wants them somewhere brings a program that puts them there: it
//! is started for each submission, gets one JSON document on its standard input, and says by its exit status whether it
//! took the values. They stand in no argument and in no variable, since others on a machine can read those, and what the
//! program prints is thrown away, since it may repeat them. Of the server's environment it gets `PATH` alone.
//!
//! ```json
//! {"request_id":"req_…","reference":"opaque:bs_4KpQ","op":"submit_credentials","submitted_by":"usr_…",
//!  "submission":"…","values":{"email":"…","password":"…"}}
//! ```
//!
//! `submission` is the same text when the same submission comes again, where its caller gave an idempotency key: a program
//! that remembers it applies nothing twice.

use std::{env, ffi::OsString, fmt, path::PathBuf};

use async_trait::async_trait;
use handoff_engine::sink::{SecretSink, SinkDelivery, SinkError};
use handoff_protocol::json::Json;
use tokio::process::Command;
use zeroize::Zeroizing;

/// A program that takes values.
pub struct CommandSink {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl CommandSink {
    /// A sink that starts a program with these arguments for each submission.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = OsString>) -> Self {
        Self { program: program.into(), arguments: arguments.into_iter().collect() }
    }
}

#[async_trait]
impl SecretSink for CommandSink {
    async fn submit(&self, delivery: SinkDelivery) -> Result<(), SinkError> {
        let text = document(&delivery);
        // A submission that is given up takes its program with it, and whatever that started.
        let mut command = Command::new(&self.program);
        // The server's own environment may hold keys and tokens, which are nothing to this program.
        command.args(&self.arguments).env_clear().envs(env::var_os("PATH").map(|path| ("PATH", path)));
        let running = handoff_program::start(&mut command)
            .map_err(|error| SinkError::new(format!("the program does not start: {error}")))?;
        let status = running.finish(text.as_bytes()).await;
        let status = status.map_err(|error| SinkError::new(format!("the program is lost: {error}")))?;
        if status.success() { Ok(()) } else { Err(SinkError::new(format!("the program ended with {status}"))) }
    }
}

impl fmt::Debug for CommandSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CommandSink").field("program", &self.program).finish_non_exhaustive()
    }
}

/// What the program reads; wiped once it was written.
fn document(delivery: &SinkDelivery) -> Zeroizing<String> {
    let rest = Json::object([
        ("request_id", Json::from(delivery.request.to_string())),
        ("reference", Json::from(delivery.reference.as_str())),
        ("op", Json::from(delivery.op.clone())),
        ("submitted_by", Json::from(delivery.submitted_by.map(|id| id.to_string()))),
        ("submission", Json::from(delivery.submission.clone())),
    ]);
    let (rest, values) = (rest.to_text(), Zeroizing::new(delivery.values.expose().to_text()));
    // Room for all of it from the start: text that grows leaves copies behind.
    let mut text = Zeroizing::new(String::with_capacity(rest.len() + values.len() + 16));
    text.push_str(rest.strip_suffix('}').unwrap_or(&rest));
    text.push_str(r#","values":"#);
    text.push_str(&values);
    text.push('}');
    text
}
