//! Playing a suite against a deployment.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt as _, stream};
use serde_json::Value;

use crate::{
    case::{Case, Scenario, Suite},
    http,
    json::hex,
    profile::Profile,
    receiver::Receiver,
    steps,
    story::{Failure, Story, World},
};

/// What came of a case.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The case's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Each scenario.
    pub scenarios: Vec<Played>,
    /// From the start of its first scenario to the end of its last.
    pub took: Duration,
}

/// What came of a scenario.
#[derive(Clone, Debug)]
pub struct Played {
    /// Its name.
    pub name: String,
    /// Whether it is for this deployment.
    pub applied: bool,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
}

impl Verdict {
    /// Whether the case passed: at least one scenario applied, and each that did went as it should.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.scenarios.iter().any(|scenario| scenario.applied)
            && self.scenarios.iter().all(|scenario| scenario.failure.is_none())
    }
}

/// Plays every case: those that need the deployment to themselves one by one after the others. Tells each verdict in
/// the order of the cases, as soon as it and all before it are known.
///
/// # Errors
///
/// The run cannot begin: the receiver or the client cannot be set up.
pub async fn play(
    suite: &Suite,
    profile: Profile,
    jobs: usize,
    mut tell: impl FnMut(&Verdict),
) -> Result<Vec<Verdict>, String> {
    let profile = Arc::new(profile);
    let world = World {
        client: http::client(profile.patience.call())?,
        receiver: Receiver::start(&profile.receiver).await?,
        profile,
    };
    let mut verdicts = Vec::with_capacity(suite.cases.len());
    for (exclusive, at_once) in [(false, jobs.max(1)), (true, 1)] {
        let scenarios = suite.cases.iter().enumerate().filter(|(_, case)| case.exclusive == exclusive);
        let scenarios = scenarios.flat_map(|(number, case)| {
            let world = &world;
            case.scenarios.iter().map(move |scenario| async move {
                let started = Instant::now();
                (number, scenario_of(world, &suite.lets, case, scenario).await, started)
            })
        });
        // In order: the verdicts of a case come together, and cases in the order of their ids.
        let mut played = stream::iter(scenarios).buffered(at_once);
        let mut open: Option<(usize, Instant, Vec<Played>)> = None;
        while let Some((number, one, started)) = played.next().await {
            match &mut open {
                Some((current, first, scenarios)) if *current == number => {
                    *first = started.min(*first);
                    scenarios.push(one);
                }
                _ => open = Some((number, started, vec![one])),
            }
            if let Some(case) = suite.cases.get(number)
                && let Some((_, first, scenarios)) = open.take_if(|(.., done)| done.len() == case.scenarios.len())
            {
                let verdict = Verdict {
                    id: case.id.clone(),
                    title: case.title.clone(),
                    scenarios,
                    took: first.elapsed(),
                };
                tell(&verdict);
                verdicts.push(verdict);
            }
        }
    }
    Ok(verdicts)
}

async fn scenario_of(world: &World, shared: &BTreeMap<String, Value>, case: &Case, scenario: &Scenario) -> Played {
    let applied = scenario.when.applies(world.profile.level, world.profile.choices.link_only);
    let failure = match applied {
        true => told(world, shared, case, scenario).await.err(),
        false => None,
    };
    Played { name: scenario.name.clone(), applied, failure }
}

async fn told(
    world: &World,
    shared: &BTreeMap<String, Value>,
    case: &Case,
    scenario: &Scenario,
) -> Result<(), Failure> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(|error| Failure::of(format!("there is no entropy: {error}")))?;
    let mut story = Story::new(world.clone(), &hex(&bytes));
    for (name, template) in shared.iter().chain(&case.lets).chain(&scenario.lets) {
        story.scope.define(name, template).map_err(|problem| Failure::of(format!("`let.{name}`: {problem}")))?;
    }
    steps::play(&mut story, &scenario.steps).await?;
    match story.met {
        0 => Err(Failure::of("no reply of the server was judged, so that nothing is shown")),
        _ => Ok(()),
    }
}
