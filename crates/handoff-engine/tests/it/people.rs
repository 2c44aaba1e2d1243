//! People to reach, a channel that writes down what it sends, and a world of both.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use handoff_engine::{
    Builder,
    channel::{Change, Channel, Message},
    directory::{Directory, DirectoryError},
};
use handoff_protocol::{
    decision::{
        Policy, SendReport,
        channels::ChannelFacts,
        directory::{Contact, Directory as People, Person, Zone},
        terms::Grade,
    },
    id::{OrgId, UserId},
    principal::Role,
    secret::Secret,
};
use tokio::sync::Semaphore;

use super::world::World;

/// A directory that tests add to.
#[derive(Default)]
pub(crate) struct Rolodex(pub(crate) Mutex<People>);

#[async_trait]
impl Directory for Rolodex {
    async fn people(&self, _: OrgId) -> Result<Arc<People>, DirectoryError> {
        Ok(Arc::new(self.0.lock().unwrap().clone()))
    }
}

/// A channel that sends nowhere and says what it is told to say; what it is not told, it accepts.
pub(crate) struct Recorder {
    name: &'static str,
    pub(crate) says: Mutex<VecDeque<SendReport>>,
    pub(crate) sent: Mutex<Vec<Message>>,
    pub(crate) told: Mutex<Vec<Change>>,
    /// How many messages it may finish; many unless a test holds it up.
    pub(crate) gate: Semaphore,
}

impl Recorder {
    pub(crate) fn new(name: &'static str) -> Arc<Self> {
        let gate = Semaphore::new(1_000);
        Arc::new(Self { name, says: Mutex::default(), sent: Mutex::default(), told: Mutex::default(), gate })
    }

    pub(crate) fn addresses(&self) -> Vec<String> {
        self.sent.lock().unwrap().iter().map(|message| message.outgoing.address.expose().clone()).collect()
    }

    pub(crate) fn say(&self, report: SendReport) {
        self.says.lock().unwrap().push_back(report);
    }
}

#[async_trait]
impl Channel for Recorder {
    fn name(&self) -> &str {
        self.name
    }

    fn facts(&self) -> ChannelFacts {
        ChannelFacts { max_grade: Grade::Delivered, updates: true, ..ChannelFacts::UNKNOWN }
    }

    async fn send(&self, message: &Message) -> SendReport {
        self.sent.lock().unwrap().push(message.clone());
        self.gate.acquire().await.unwrap().forget();
        self.says.lock().unwrap().pop_front().unwrap_or_else(SendReport::accepted)
    }

    async fn update(&self, change: &Change) {
        self.told.lock().unwrap().push(change.clone());
    }
}

/// A world with the starter ladder, mail, and a directory.
pub(crate) struct Reached {
    pub(crate) world: World,
    pub(crate) mail: Arc<Recorder>,
    pub(crate) rolodex: Arc<Rolodex>,
}

impl Reached {
    pub(crate) async fn new() -> Self {
        let (mail, rolodex) = (Recorder::new("email"), Arc::new(Rolodex::default()));
        let (channel, directory) = (Arc::clone(&mail), Arc::clone(&rolodex));
        let more = |builder: Builder| builder.policy(Policy::default()).channel(channel).directory(directory);
        Self { world: World::with_engine(Arc::new(|_| {}), more).await, mail, rolodex }
    }

    /// Adds a person of the tenant, who is reached by mail.
    pub(crate) async fn add(&self, name: &str, role: Role, change: impl FnOnce(&mut Person)) -> UserId {
        let id = self.world.engine.create_person(self.world.tenant, name, role).await.unwrap();
        let contact = Contact {
            channel: "email".to_owned(),
            address: Secret::new(format!("{name}@example.com")),
            verified: true,
        };
        let mut person = Person {
            id,
            display: Some(name.to_owned()),
            role: None,
            zone: Zone::utc(),
            quiet: None,
            contacts: vec![contact],
        };
        change(&mut person);
        self.change(|people| people.with_person(person));
        id
    }

    pub(crate) fn change(&self, change: impl FnOnce(People) -> People) {
        let mut people = self.rolodex.0.lock().unwrap();
        *people = change(people.clone());
    }

    /// Lets everything happen that is due, until nothing is.
    pub(crate) async fn settle(&self) {
        loop {
            let swept = self.world.engine.run_due_timers().await.unwrap();
            self.world.engine.outbound_idle().await;
            if swept.acted == 0 {
                return;
            }
        }
    }
}
