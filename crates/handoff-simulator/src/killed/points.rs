//! Every story at every point.

use std::{
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use handoff_engine::{Engine, store::Store};
use handoff_store_sqlite::{SqliteOptions, SqliteStore};
use handoff_testkit::VirtualClock;

use super::{
    dying::{Call, Death, Moment},
    story,
};
use crate::{
    cast::{Cast, Tenant},
    scheduler::lock,
    script::{SCRIPTS, Script},
};

/// The moments around a call.
pub const MOMENTS: [Moment; 4] = [Moment::Before, Moment::Within, Moment::During, Moment::After];

/// What killed processes came to.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many stories there were.
    pub stories: usize,
    /// How many runs.
    pub runs: u64,
    /// How many of them had a process that died.
    pub deaths: u64,
    /// Those that failed: which story, where its first node died, and what was wrong.
    pub failed: Vec<(&'static str, Option<Death>, String)>,
}

/// A store with everybody in it and nothing else, of which each run has a copy.
struct Template {
    directory: tempfile::TempDir,
    cast: Cast,
}

impl Template {
    fn make() -> Result<Self, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let cast = runtime.map_err(|error| error.to_string())?.block_on(async {
            let clock: Arc<VirtualClock> = Arc::default();
            let options = SqliteOptions { clock: Arc::clone(&clock) as _, ..SqliteOptions::default() };
            let store = SqliteStore::open(directory.path().join("store.db"), options);
            let store: Arc<dyn Store> = Arc::new(store.map_err(|error| error.to_string())?);
            let engine = Engine::builder().store(store).clock(clock).build().await;
            let engine = engine.map_err(|error| error.to_string())?;
            let (cast, _) = Cast::make(&engine).await.map_err(|error| error.to_string())?;
            Ok::<_, String>(cast)
        })?;
        Ok(Self { directory, cast })
    }

    fn tenant(&self) -> Result<&Tenant, String> {
        self.cast.tenants.first().ok_or_else(|| "nobody is there".to_owned())
    }

    fn tell(&self, script: &Script, program: &Path, death: Option<Death>) -> Result<story::Told, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let database = directory.path().join("store.db");
        fs::copy(self.directory.path().join("store.db"), &database).map_err(|error| error.to_string())?;
        story::tell(script, program, &database, self.tenant()?, death)
    }
}

/// Tells every story so, several runs at once; `progress` is told of each story whose runs have all begun. The program is
/// one that [`serve`](super::node::serve)s when it is told `node`.
///
/// # Errors
///
/// If there can be no store to begin with.
pub fn every_story(
    jobs: usize,
    program: &Path,
    progress: impl Fn(&Tally, &'static str) + Sync,
) -> Result<Tally, String> {
    let template = Template::make()?;
    let all = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(script) = SCRIPTS.get(next.fetch_add(1, Ordering::SeqCst)) {
                    every_point(&template, script, program, &all);
                    let mut all = lock(&all);
                    all.stories = all.stories.saturating_add(1);
                    progress(&all, script.name);
                }
            });
        }
    });
    Ok(all.into_inner().unwrap_or_default())
}

/// Tells a story once, to a node that does not die.
///
/// # Errors
///
/// If there can be no store to begin with, or something is not as it must be.
pub fn plainly(script: &Script, program: &Path) -> Result<story::Told, String> {
    Template::make()?.tell(script, program, None)
}

/// Tells one story so.
///
/// # Errors
///
/// If there can be no store to begin with.
pub fn one_story(script: &Script, program: &Path) -> Result<Tally, String> {
    let all = Mutex::default();
    every_point(&Template::make()?, script, program, &all);
    Ok(all.into_inner().unwrap_or_default())
}

fn every_point(template: &Template, script: &Script, program: &Path, all: &Mutex<Tally>) {
    let run = |death: Option<Death>| {
        let told = template.tell(script, program, death);
        let mut all = lock(all);
        all.runs = all.runs.saturating_add(1);
        match told {
            Ok(told) => {
                all.deaths = all.deaths.saturating_add(u64::from(told.deaths));
                told.calls
            }
            Err(wrong) => {
                all.failed.push((script.name, death, wrong));
                String::new()
            }
        }
    };
    let calls = run(None);
    for (place, call) in calls.chars().filter_map(Call::from_letter).enumerate() {
        for moment in MOMENTS.into_iter().filter(|moment| moment.is_of(call)) {
            run(Some(Death { at: place.saturating_add(1), moment }));
        }
    }
}
