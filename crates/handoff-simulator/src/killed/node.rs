//! The process: an engine over the embedded store, and the lines that it answers.

use std::{
    io::{self, BufRead as _, Write as _},
    path::PathBuf,
    sync::Arc,
};

use handoff_engine::{Engine, store::Store};
use handoff_protocol::{
    id::{OrgId, UserId},
    timestamp::Timestamp,
};
use handoff_store_sqlite::{SqliteOptions, SqliteStore};
use handoff_testkit::VirtualClock;

use super::{
    acts,
    dying::{Death, DyingStore, Moment},
    line::Answer,
};
use crate::{cast, node, ports::Ports};

/// How often a node looks once more whether something is due, after what was due was done.
const LOOKS: usize = 6;

/// A node that runs.
pub(super) struct Node {
    pub(super) engine: Engine,
    pub(super) ports: Ports,
    pub(super) store: Arc<DyingStore>,
    clock: VirtualClock,
}

/// What a node is told when it starts.
#[derive(Clone, Debug, clap::Args)]
pub struct Start {
    /// The file of its store
    #[arg(long)]
    database: PathBuf,
    /// The time, in milliseconds since the epoch
    #[arg(long)]
    now: i64,
    /// The tenant that it has people of
    #[arg(long, value_parser = OrgId::parse)]
    tenant: OrgId,
    /// Those people
    #[arg(long, value_delimiter = ',', value_parser = UserId::parse)]
    people: Vec<UserId>,
    /// The call of the store at which it dies
    #[arg(long, requires = "moment")]
    at: Option<usize>,
    /// And when
    #[arg(long)]
    moment: Option<Moment>,
}

/// Answers lines until there are no more, or until the process dies.
///
/// # Errors
///
/// If the store cannot be opened, or nobody reads.
pub fn serve(start: &Start) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let node = Node::start(start).await?;
        for line in io::stdin().lock().lines() {
            let line = line.map_err(|error| error.to_string())?;
            let mut words = line.split('\t');
            let now = words.next().and_then(|now| now.parse().ok()).ok_or("a line without a time")?;
            node.clock.set(Timestamp::from_unix_millis(now));
            let answer = node.perform(words.next().unwrap_or_default(), words).await;
            writeln!(io::stdout(), "{}", answer.to_line()).map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

impl Node {
    /// Opens the store of a process that may die, and starts an engine over it.
    async fn start(start: &Start) -> Result<Self, String> {
        let clock = VirtualClock::new(Timestamp::from_unix_millis(start.now));
        let options = SqliteOptions { clock: Arc::new(clock.clone()), readers: 1, ..SqliteOptions::default() };
        let store = SqliteStore::open(&start.database, options).map_err(|error| error.to_string())?;
        let death = start.at.zip(start.moment).map(|(at, moment)| Death { at, moment });
        let store = Arc::new(DyingStore::new(store, death));
        let ports = Ports::at_once();
        ports.directory.set(start.tenant, cast::directory(&start.people));
        let builder = Engine::builder().store(Arc::clone(&store) as Arc<dyn Store>).clock(Arc::new(clock.clone()));
        let policy = node::policy().ok_or("no policy")?;
        let builder = ports.plug_into(builder).policy(policy).signer(Arc::new(node::key()));
        let engine = builder.build().await.map_err(|error| error.to_string())?;
        Ok(Self { engine, ports, store, clock })
    }

    async fn perform<'a>(&self, verb: &str, words: impl Iterator<Item = &'a str>) -> Answer {
        let answer = match acts::perform(self, verb, words).await {
            Ok(facts) => Answer::Done(facts),
            Err(error) => Answer::Refused(error.code().as_str().to_owned()),
        };
        self.settle().await;
        answer
    }

    /// Does whatever is due, and what comes of it at the same moment.
    pub(super) async fn settle(&self) {
        for _ in 0..LOOKS {
            let swept = self.engine.run_due_timers().await;
            self.engine.outbound_idle().await;
            if swept.is_ok_and(|swept| swept.acted == 0) {
                return;
            }
        }
    }
}
