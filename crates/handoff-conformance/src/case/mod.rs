//! Cases: what the suite tries, as it is written in files.

mod directory;
mod read;
mod steps;
mod variables;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde_json::Value;

pub use self::directory::{Suite, WITHOUT_CASE, load};

/// One case: a promise of the protocol, and the scenarios that hold a server to it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file that it stands in.
    pub file: PathBuf,
    /// The SHA-256 of the file, in hexadecimal.
    pub digest: String,
    /// Its id, which is the stem of the file's name.
    pub id: String,
    /// What it holds a server to, in one line.
    pub title: String,
    /// The lowest level of a deployment that must pass it.
    pub level: u8,
    /// The rules of the specification that it tests.
    pub rules: Vec<String>,
    /// The requirements of conformance that it tests.
    pub requirements: Vec<String>,
    /// The invariants that it tests.
    pub invariants: Vec<String>,
    /// Whether it runs alone, after the others.
    pub exclusive: bool,
    /// Values by name, for every scenario.
    pub lets: BTreeMap<String, Value>,
    /// What is tried.
    pub scenarios: Vec<Scenario>,
}

/// A story: steps, in order, on things of its own.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is about.
    pub name: String,
    /// The deployments that it is for.
    pub when: When,
    /// Values by name.
    pub lets: BTreeMap<String, Value>,
    /// What is done.
    pub steps: Vec<Step>,
}

/// Which deployments a scenario is for: those that chose so, in everything that is named.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct When {
    /// The level that the deployment claims.
    pub level: Option<u8>,
    /// Whether a link alone may answer.
    pub link_only: Option<bool>,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Why it is there, for whoever sees it fail.
    pub why: Option<String>,
    /// What is done.
    pub verb: Verb,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Verb {
    /// One call.
    Call(Call),
    /// Several calls, released at the same instant.
    Together(Together),
    /// A call repeated until it meets what is expected.
    Until(Box<Call>, Duration),
    /// A call repeated for a time, which must meet what is expected each time.
    Always(Box<Call>, Duration),
    /// Steps repeated for each value.
    Each(Each),
    /// A command that reaches below HTTP.
    Hook(Hook),
    /// The whole chain, fetched and recomputed.
    Chain(Chain),
    /// One receipt, fetched and recomputed.
    Receipt(ReceiptCheck),
    /// How the receiver answers from now on.
    Receive(Receive),
    /// What the receiver got.
    Received(Received),
    /// Markers that must have come out nowhere.
    Nowhere(Nowhere),
    /// Variables held against what is expected of them.
    Check(Value, Value),
    /// Variables that are set.
    Set(Vec<(String, Value)>),
}

/// A call of the API.
#[derive(Clone, Debug)]
pub struct Call {
    /// Method and path.
    pub line: String,
    /// The name of the credential, or none.
    pub credential: Option<String>,
    /// The label of the idempotency key.
    pub key: Option<String>,
    /// Further headers.
    pub headers: Vec<(String, Value)>,
    /// The query; an array is a parameter that stands several times.
    pub query: Vec<(String, Value)>,
    /// The body.
    pub content: Content,
    /// How often it is made, within calls that are made together.
    pub times: u32,
    /// How long it is held back, within calls that are made together.
    pub after: Duration,
    /// Hang up after this time; there must be no reply until then.
    pub hang_up: Option<Duration>,
    /// Whether its reply may contain what must be nowhere.
    pub may_contain: bool,
    /// What is expected of the reply.
    pub expect: Expect,
    /// What is kept of the reply.
    pub keep: Vec<(String, Keep)>,
}

/// The body of a call.
#[derive(Clone, Debug)]
pub enum Content {
    /// None.
    Empty,
    /// A value, sent as JSON.
    Json(Value),
    /// Text as it is, sent as JSON.
    Text(String),
    /// Bytes, written in hexadecimal, sent as JSON.
    Hex(String),
}

/// What is expected of a reply.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// No reply at all: the connection breaks.
    pub broken: bool,
    /// The status.
    pub status: Option<Value>,
    /// Headers, by name.
    pub headers: Vec<(String, Value)>,
    /// The body, read as JSON.
    pub body: Option<Value>,
    /// The body as text.
    pub raw: Vec<(Raw, String)>,
    /// At least, at most how long the reply took.
    pub took: (Option<Duration>, Option<Duration>),
}

/// What is asked of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Raw {
    /// It is this text.
    Equals,
    /// This text is found in it.
    Contains,
    /// The expression is found in it.
    Matches,
    /// The expression is not found in it.
    Lacks,
}

/// What is kept under a name.
#[derive(Clone, Debug)]
pub enum Keep {
    /// The part of the JSON that a pointer names.
    Pointer(String),
    /// The exact text of that part.
    Raw(String),
    /// The value of a header.
    Header(String),
    /// What the one group of an expression found in the text.
    Capture(String),
    /// Of the first reply that matches, what a pointer names.
    Where(Value, String),
}

/// Calls that are released together.
#[derive(Clone, Debug)]
pub struct Together {
    /// The calls.
    pub calls: Vec<Call>,
    /// How many of the replies are as described.
    pub counts: Vec<Count>,
    /// What is kept.
    pub keep: Vec<(String, Keep)>,
}

/// How many replies are as described.
#[derive(Clone, Debug)]
pub struct Count {
    /// A matcher of the number of replies.
    pub count: Value,
    /// What they are like.
    pub like: Expect,
}

/// Steps for each value.
#[derive(Clone, Debug)]
pub struct Each {
    /// The values: an array, or a variable that holds one.
    pub values: Value,
    /// The variable that holds the value.
    pub name: String,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A command of the profile.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Its name.
    pub name: String,
    /// What stands for its parameters.
    pub with: Vec<(String, Value)>,
    /// How long it is repeated until it meets what is expected.
    pub within: Option<Duration>,
    /// What is expected of it.
    pub expect: Outcome,
    /// What is kept of what it printed.
    pub keep: Vec<(String, Keep)>,
    /// Whether its output may contain what must be nowhere.
    pub may_contain: bool,
}

/// What is expected of a command.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The exit status; `nonzero` for any but 0.
    pub exit: Option<Value>,
    /// Of the lines that it printed.
    pub lines: Option<Value>,
    /// Of what it printed, read as JSON.
    pub json: Option<Value>,
    /// Of what it printed.
    pub stdout: Option<Value>,
    /// Of what it complained.
    pub stderr: Option<Value>,
    /// Of both.
    pub output: Option<Value>,
}

/// A walk over the chain.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Who fetches it.
    pub credential: String,
    /// Receipts that must be in it.
    pub contains: Vec<String>,
    /// The size of a page; without it, whole.
    pub limit: Option<u64>,
    /// What is expected of the walk's result.
    pub expect: Option<Value>,
    /// What is kept of it.
    pub keep: Vec<(String, Keep)>,
}

/// A receipt, recomputed by itself.
#[derive(Clone, Debug)]
pub struct ReceiptCheck {
    /// Who fetches it.
    pub credential: String,
    /// Its id.
    pub id: String,
    /// What is expected of it.
    pub expect: Option<Value>,
    /// What is kept of it.
    pub keep: Vec<(String, Keep)>,
}

/// How the receiver answers on a path.
#[derive(Clone, Debug)]
pub struct Receive {
    /// The path below `${receiver}`.
    pub path: String,
    /// The statuses of its replies, the last one for all that follow.
    pub statuses: Vec<u16>,
    /// Headers of its replies.
    pub headers: Vec<(String, String)>,
    /// How long it takes.
    pub delay: Duration,
}

/// What the receiver got on a path.
#[derive(Clone, Debug)]
pub struct Received {
    /// The path below `${receiver}`.
    pub path: String,
    /// A matcher of how many there are.
    pub count: Value,
    /// How long they may take to come.
    pub within: Duration,
    /// Which are counted.
    pub like: Option<Value>,
    /// The secrets under each of which each must verify, and no other signature be there.
    pub signed_by: Option<Secrets>,
    /// A time for which no more may come.
    pub none_for: Option<Duration>,
    /// What is expected of all of them.
    pub expect: Option<Value>,
    /// What is kept.
    pub keep: Vec<(String, Keep)>,
}

/// Callback secrets of the profile.
#[derive(Clone, Debug)]
pub enum Secrets {
    /// Each that it names.
    All,
    /// Those of these names.
    Named(Vec<String>),
}

/// Markers that must have come out nowhere.
#[derive(Clone, Debug)]
pub struct Nowhere {
    /// The markers.
    pub markers: Vec<String>,
    /// Whether the store is looked through as well.
    pub store: bool,
}

impl Call {
    /// Whether there must be a reply.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.hang_up.is_none() && !self.expect.broken
    }
}

impl When {
    /// Whether a deployment with these choices is meant.
    #[must_use]
    pub fn applies(self, level: u8, link_only: bool) -> bool {
        self.level.is_none_or(|wanted| wanted == level) && self.link_only.is_none_or(|wanted| wanted == link_only)
    }
}
