//! The channel.

use std::{ffi::OsString, io, path::PathBuf, process::ExitStatus, time::Duration};

use async_trait::async_trait;
use handoff_engine::channel::{Channel, Message};
use handoff_program::Running;
use handoff_protocol::{
    decision::{
        SendReport,
        channels::{Addressing, ChannelFacts, Latency},
        terms::{Grade, Suppression},
    },
    json::Json,
};
use tokio::process::Command;

/// How long a program may take unless the deployment says otherwise; the engine waits no longer than this anyway.
const TIME_LIMIT: Duration = Duration::from_secs(9);

/// Reaches people through a program.
#[derive(Clone, Debug)]
pub struct CommandChannel {
    name: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(String, String)>,
    time_limit: Duration,
}

impl CommandChannel {
    /// What such a channel can do. That the program took a message proves nothing about a person; whoever hears that it
    /// arrived can report that (rule V-13).
    pub const FACTS: ChannelFacts = ChannelFacts {
        max_grade: Grade::Delivered,
        can_authenticate_person: false,
        addressing: Addressing::Person,
        updates: false,
        rich_actions: false,
        captures_text: false,
        latency: Latency::Minutes,
    };

    /// A channel of a name that ladders use, through a program.
    #[must_use]
    pub fn new(name: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            time_limit: TIME_LIMIT,
        }
    }

    /// Adds an argument, the same for every delivery.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds a variable to the program's environment, which is empty otherwise.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets how long the program may take, at most nine seconds.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit.min(TIME_LIMIT);
        self
    }

    fn start(&self) -> io::Result<Running> {
        let variables = self.environment.iter().map(|(name, value)| (name, value));
        handoff_program::start(Command::new(&self.program).args(&self.arguments).env_clear().envs(variables))
    }
}

#[async_trait]
impl Channel for CommandChannel {
    fn name(&self) -> &str {
        &self.name
    }

    fn facts(&self) -> ChannelFacts {
        Self::FACTS
    }

    async fn send(&self, message: &Message) -> SendReport {
        let running = match self.start() {
            Ok(running) => running,
            Err(error) => {
                tracing::warn!(channel = self.name, kind = %error.kind(), "the program of a channel cannot be started");
                return SendReport::kept_back(Suppression::ChannelNotConfigured);
            }
        };
        let text = format!("{}\n", delivery(message).to_text());
        // What is given up ends, with everything that it started.
        match tokio::time::timeout(self.time_limit, running.finish(text.as_bytes())).await {
            Ok(Ok(status)) => report(status),
            Ok(Err(_)) => SendReport::failed_for_now("the program could not be waited for"),
            Err(_) => SendReport::timed_out(),
        }
    }
}

fn report(status: ExitStatus) -> SendReport {
    match status.code() {
        Some(0) => SendReport::accepted().status("exit 0"),
        Some(code @ (65 | 67 | 68)) => {
            SendReport::failed_for_good("the program said that it never will").status(format!("exit {code}"))
        }
        Some(78) => SendReport::kept_back(Suppression::ChannelNotConfigured).status("exit 78"),
        Some(code) => SendReport::failed_for_now("the program failed").status(format!("exit {code}")),
        None => SendReport::failed_for_now("the program was ended by a signal").status("signal"),
    }
}

/// What the program reads.
fn delivery(message: &Message) -> Json {
    let out = &message.outgoing;
    let person = Json::object([
        ("id", Json::from(out.person.id.to_string())),
        ("display", out.person.display.clone().into()),
        ("time_zone", out.person.zone.name().into()),
    ]);
    Json::object([
        ("type", "handoff.delivery".into()),
        ("delivery_id", out.delivery_id.to_string().into()),
        ("attempt", u64::from(out.attempt).into()),
        ("request_id", out.request_id.to_string().into()),
        ("channel", out.channel.as_str().into()),
        ("rung", u64::from(out.rung).into()),
        ("urgency", out.urgency.as_str().into()),
        ("title", out.title.as_str().into()),
        ("body", out.body.clone().into()),
        ("expires_at", out.expires_at.map(|at| at.to_string()).into()),
        ("surface_url", message.surface_url.as_str().into()),
        ("person", person),
        ("address", out.address.expose().as_str().into()),
    ])
}
