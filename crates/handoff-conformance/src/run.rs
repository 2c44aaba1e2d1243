//! Playing a suite against a deployment.

mod waiting;

use std::{
    cmp::Reverse,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt as _, stream};

use crate::{
    case::{Case, Scenario, Suite},
    failure::Failure,
    http::{self, After},
    json::hex,
    profile::Profile,
    receiver::Receiver,
    steps,
    story::{Story, World},
};

/// How a run is conducted.
#[derive(Clone, Debug)]
pub struct Conduct {
    /// How many scenarios are played at once.
    pub jobs: usize,
    /// After which time the run ends; what is not over by then has failed.
    pub deadline: Option<Duration>,
    /// Whether the run ends with the first scenario that fails; only what is known by then is told.
    pub until_red: bool,
    /// The rules whose cases come first.
    pub first: Vec<String>,
}

impl Default for Conduct {
    fn default() -> Self {
        Self { jobs: 32, deadline: None, until_red: false, first: Vec::new() }
    }
}

/// What came of a case.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The case's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Each scenario.
    pub scenarios: Vec<Played>,
    /// The time that its longest scenario took: all of them may be played at once.
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
    /// How long it took.
    pub took: Duration,
}

impl Verdict {
    fn new(case: &Case, scenarios: Vec<Played>) -> Self {
        let took = scenarios.iter().map(|scenario| scenario.took).max().unwrap_or_default();
        Self { id: case.id.clone(), title: case.title.clone(), scenarios, took }
    }

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
pub async fn play<'suite>(
    suite: &'suite Suite,
    profile: Profile,
    conduct: &Conduct,
    mut tell: impl FnMut(&Verdict),
) -> Result<Vec<Verdict>, String> {
    let profile = Arc::new(profile);
    let world = World {
        client: http::client(profile.patience.call(), After::Close)?,
        receiver: Receiver::start(&profile.receiver).await?,
        profile,
    };
    let mut verdicts = Vec::with_capacity(suite.cases.len());
    let begun = Instant::now();
    for (exclusive, at_once) in [(false, conduct.jobs.max(1)), (true, 1)] {
        let cases: Vec<&Case> = suite.cases.iter().filter(|case| case.exclusive == exclusive).collect();
        let of_case = |(number, case): (usize, &&'suite Case)| {
            let case: &'suite Case = case;
            case.scenarios.iter().enumerate().map(move |(place, scenario)| (number, case, place, scenario))
        };
        let mut scenarios: Vec<_> = cases.iter().enumerate().flat_map(of_case).collect();
        // What waits longest begins first, so that the end of a run is not one poll that is held.
        let is_first = |case: &Case| case.rules.iter().any(|rule| conduct.first.contains(rule));
        scenarios.sort_by_key(|(_, case, _, scenario)| Reverse((is_first(case), waiting::of(&scenario.steps))));
        let world = &world;
        let playing = scenarios.into_iter().map(|(number, case, place, scenario)| async move {
            let playing = scenario_of(world, case, scenario);
            let Some(deadline) = conduct.deadline else { return (number, place, playing.await) };
            let left = deadline.saturating_sub(begun.elapsed());
            let played =
                tokio::time::timeout(left, playing).await.unwrap_or_else(|_| Played::cut_off(scenario, deadline));
            (number, place, played)
        });
        let mut played = stream::iter(playing).buffer_unordered(at_once);
        let mut open: Vec<Vec<Option<Played>>> = cases.iter().map(|case| vec![None; case.scenarios.len()]).collect();
        let mut told = 0;
        while let Some((number, place, one)) = played.next().await {
            if conduct.until_red && one.failure.is_some() {
                let verdict = cases.get(number).map(|case| Verdict::new(case, vec![one]));
                verdict.iter().for_each(&mut tell);
                verdicts.extend(verdict);
                return Ok(verdicts);
            }
            if let Some(slot) = open.get_mut(number).and_then(|scenarios| scenarios.get_mut(place)) {
                *slot = Some(one);
            }
            while let (Some(case), Some(scenarios)) = (cases.get(told), open.get(told)) {
                let Some(scenarios) = scenarios.iter().cloned().collect::<Option<Vec<_>>>() else { break };
                let verdict = Verdict::new(case, scenarios);
                tell(&verdict);
                verdicts.push(verdict);
                told += 1;
            }
        }
    }
    Ok(verdicts)
}

impl Played {
    /// A scenario that was not over when the run ended.
    fn cut_off(scenario: &Scenario, deadline: Duration) -> Self {
        let failure = Failure::of(format!("the run was ended after {} seconds", deadline.as_secs()));
        Self { name: scenario.name.clone(), applied: true, failure: Some(failure), took: deadline }
    }
}

async fn scenario_of(world: &World, case: &Case, scenario: &Scenario) -> Played {
    let applied = scenario.when.applies(world.profile.level, world.profile.choices.link_only);
    let started = Instant::now();
    let failure = match applied {
        true => told(world, case, scenario).await.err(),
        false => None,
    };
    Played { name: scenario.name.clone(), applied, failure, took: started.elapsed() }
}

async fn told(world: &World, case: &Case, scenario: &Scenario) -> Result<(), Failure> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(|error| Failure::of(format!("there is no entropy: {error}")))?;
    let mut story = Story::new(world.clone(), &hex(&bytes));
    for layer in [&case.lets, &scenario.lets] {
        story.scope.define_all(layer).map_err(|problem| Failure::of(format!("`let`: {problem}")))?;
    }
    steps::play(&mut story, &scenario.steps).await?;
    match story.met {
        0 => Err(Failure::of("no reply of the server was judged, so that nothing is shown")),
        _ => Ok(()),
    }
}
