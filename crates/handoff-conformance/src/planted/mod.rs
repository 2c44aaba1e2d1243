//! Faults planted on purpose: what the suite is worth is which of them it finds.
//!
//! A server that was built with the feature `planted-faults` gets one thing wrong, the one that a variable names. Each
//! fault is planted in deployments of its own, at both levels, and the cases that turn red are noted. A fault that turns
//! none red has survived: the suite does not test what it breaks.

mod page;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use futures::{StreamExt as _, stream};
use serde::Deserialize;
use tokio::process::Command;

pub use self::page::{line, page, totals};

use crate::{
    case::Suite,
    deployment::{Disposable, Plan},
    profile::Profile,
    report,
    run::{self, Conduct, Verdict},
};

/// The variable that names the fault.
const VARIABLE: &str = "HANDOFF_PLANTED_FAULT";

/// What a run may take: a server that hangs must not hang this one.
const DEADLINE: Duration = Duration::from_secs(240);

/// How often a case is played again that turned red.
const TRIES: u32 = 3;

/// What a call may take, in seconds: a little longer than a poll can be held.
const CALL: u64 = 36;

/// A fault, as the server lists it.
#[derive(Clone, Debug, Deserialize)]
pub struct Fault {
    /// What it is called.
    pub name: String,
    /// The rule that it breaks.
    pub rule: String,
    /// What it breaks, in one sentence.
    pub breaks: String,
}

/// What came of a fault.
#[derive(Clone, Debug)]
pub struct Found {
    /// The fault.
    pub fault: Fault,
    /// The cases that turned red, in the order of the suite.
    pub cases: Vec<String>,
}

/// How faults are tried.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The server's program.
    pub server: PathBuf,
    /// The cases.
    pub suite: Suite,
    /// How many scenarios are played at once against each deployment.
    pub jobs: usize,
    /// How many deployments there are at once.
    pub at_once: usize,
    /// Whether one red case of a fault is enough.
    pub until_red: bool,
}

/// The faults that a server can have planted; those of these names, or all.
///
/// # Errors
///
/// The program was built without them, or has none of a name.
pub async fn list(server: &Path, names: &[String]) -> Result<Vec<Fault>, String> {
    let output = Command::new(server).arg("planted-faults").output().await;
    let output = output.map_err(|error| format!("{}: {error}", server.display()))?;
    if !output.status.success() {
        let program = server.display();
        return Err(format!("{program} lists no faults: build it with `--features planted-faults`"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let faults: Result<Vec<Fault>, _> = text.lines().map(serde_json::from_str).collect();
    let mut faults = faults.map_err(|error| format!("the list of faults cannot be read: {error}"))?;
    if let Some(name) = names.iter().find(|name| !faults.iter().any(|fault| fault.name == **name)) {
        return Err(format!("there is no fault `{name}`"));
    }
    if !names.is_empty() {
        faults.retain(|fault| names.contains(&fault.name));
    }
    if faults.is_empty() { Err("there is no fault to plant".to_owned()) } else { Ok(faults) }
}

impl Trial {
    /// Plants each fault and notes which cases turn red; tells of each as soon as it and all before it are known.
    ///
    /// # Errors
    ///
    /// A case is red without any fault, so that nothing could be told; or a deployment fails.
    pub async fn play(&self, faults: Vec<Fault>, mut tell: impl FnMut(&Found)) -> Result<Vec<Found>, String> {
        for (level, link_only) in LEVELS {
            let (profile, red) = self.deploy(level, link_only, None).await?;
            if let Some(first) = red.first() {
                let ids: Vec<_> = red.iter().map(|verdict| verdict.id.as_str()).collect();
                let (ids, lines) = (ids.join(" "), report::lines(first, &profile));
                return Err(format!(
                    "without any fault cases are red at level {level}, so nothing can be told: {ids}\n{lines}"
                ));
            }
        }
        let mut trials = stream::iter(faults.into_iter().map(|fault| self.plant(fault))).buffered(self.at_once.max(1));
        let mut all = Vec::new();
        while let Some(found) = trials.next().await {
            let found = found?;
            tell(&found);
            all.push(found);
        }
        Ok(all)
    }

    async fn plant(&self, fault: Fault) -> Result<Found, String> {
        let mut red = BTreeSet::new();
        for (level, link_only) in LEVELS {
            let (_, verdicts) = self.deploy(level, link_only, Some(&fault)).await?;
            red.extend(verdicts.into_iter().map(|verdict| verdict.id));
            if self.until_red && !red.is_empty() {
                break;
            }
        }
        let cases = self.suite.cases.iter().map(|case| &case.id).filter(|id| red.contains(*id)).cloned().collect();
        Ok(Found { fault, cases })
    }

    /// Deploys a server with a fault, plays the cases, and returns those that are red.
    async fn deploy(
        &self,
        level: u8,
        link_only: bool,
        fault: Option<&Fault>,
    ) -> Result<(Profile, Vec<Verdict>), String> {
        let variables = fault.map(|fault| (VARIABLE.to_owned(), fault.name.clone())).into_iter().collect();
        let plan = Plan { server: self.server.clone(), level, link_only, variables };
        let deployment = Disposable::start(&plan).await.map_err(|problem| match fault {
            Some(fault) => format!("with the fault `{}`: {problem}", fault.name),
            None => problem,
        })?;
        let mut profile = deployment.profile()?;
        profile.patience.call_seconds = CALL;
        let mut suite = self.suite.clone();
        let conduct = Conduct {
            jobs: self.jobs,
            deadline: Some(DEADLINE),
            until_red: self.until_red && fault.is_some(),
            first: fault.map(|fault| fault.rule.clone()).into_iter().collect(),
        };
        let mut red = red_of(&suite, &profile, &conduct).await?;
        if fault.is_none() {
            return Ok((profile, red));
        }
        // A case can turn red because the machine is busy. What the fault did is seen again, with nothing beside it.
        while !red.is_empty() {
            let mut again = suite.clone();
            again.cases.retain(|case| red.iter().any(|verdict| verdict.id == case.id));
            let alone = Conduct { jobs: 4, until_red: false, ..conduct.clone() };
            let mut confirmed = Vec::new();
            for _ in 0..TRIES {
                let seen = red_of(&again, &profile, &alone).await?;
                again.cases.retain(|case| !seen.iter().any(|verdict| verdict.id == case.id));
                confirmed.extend(seen);
                if again.cases.is_empty() {
                    break;
                }
            }
            if !conduct.until_red || !confirmed.is_empty() {
                return Ok((profile, confirmed));
            }
            suite.cases.retain(|case| !red.iter().any(|verdict| verdict.id == case.id));
            red = red_of(&suite, &profile, &conduct).await?;
        }
        Ok((profile, red))
    }
}

/// Plays cases, and returns those that are red.
async fn red_of(suite: &Suite, profile: &Profile, conduct: &Conduct) -> Result<Vec<Verdict>, String> {
    let verdicts = run::play(suite, profile.clone(), conduct, |_| {}).await?;
    Ok(verdicts.into_iter().filter(|verdict| !verdict.passed()).collect())
}

/// The deployments that each fault is planted in.
const LEVELS: [(u8, bool); 2] = [(2, true), (1, false)];
