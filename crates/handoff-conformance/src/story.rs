//! A scenario that is being played: its variables, and what came back so far.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use reqwest::Client;
use serde_json::{Value, json};

use crate::{
    case::Keep,
    failure::Failure,
    hooks::{self, Ran},
    json::{cut, part},
    matcher::{Matcher, Reading},
    members::Place,
    profile::Profile,
    receiver::Receiver,
    scope::Scope,
};

/// What every scenario of a run shares.
#[derive(Clone, Debug)]
pub struct World {
    /// The deployment.
    pub profile: Arc<Profile>,
    /// Connections to it.
    pub client: Client,
    /// Where callbacks come in.
    pub receiver: Receiver,
}

/// One scenario that is being played.
#[derive(Debug)]
pub struct Story {
    /// What all share.
    pub world: World,
    /// The variables.
    pub scope: Scope,
    /// The path of the receiver that is this scenario's own.
    pub own_path: String,
    /// How many replies were as expected.
    pub met: usize,
    record: Arc<Mutex<Vec<(String, String)>>>,
}

impl Story {
    /// A scenario that begins.
    #[must_use]
    pub fn new(world: World, seed: &str) -> Self {
        let own_path = format!("/{}", seed.chars().take(24).collect::<String>());
        let receiver = format!("{}{own_path}", world.receiver.url());
        let scope = Scope::new(Arc::clone(&world.profile), seed.to_owned(), &receiver);
        Self { world, scope, own_path, met: 0, record: Arc::default() }
    }

    /// Remembers what came out of the server.
    pub fn remember(&self, what: &str, text: String) {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).push((what.to_owned(), text));
    }

    /// Everything that came out of the server, and where.
    #[must_use]
    pub fn remembered(&self) -> Vec<(String, String)> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A matcher, with its variables replaced.
    ///
    /// # Errors
    ///
    /// It names what is not there, or is none once its variables are replaced.
    pub fn matcher(&self, template: &Value) -> Result<Matcher, Failure> {
        let value = self.scope.pattern(template).map_err(Failure::of)?;
        Matcher::read(&Place::whole(&value), Reading::Value).map_err(|fault| Failure::of(fault.to_string()))
    }

    /// Holds a value against what a case expects, if it expects anything.
    ///
    /// # Errors
    ///
    /// It is not as expected.
    pub fn hold(&self, what: &str, template: Option<&Value>, got: Option<&Value>) -> Result<(), Failure> {
        let Some(template) = template else { return Ok(()) };
        self.matcher(template)?.check(got).map_err(|mismatch| Failure::unlike(what, mismatch))
    }

    /// Keeps parts of a document.
    ///
    /// # Errors
    ///
    /// What is to be kept is not there.
    pub fn keep(&mut self, keeps: &[(String, Keep)], json: Option<&Value>, text: &str) -> Result<(), Failure> {
        for (name, keep) in keeps {
            let value = match keep {
                Keep::Pointer(pointer) => json.and_then(|json| json.pointer(pointer)).cloned(),
                Keep::Raw(pointer) if pointer.is_empty() => Some(json!(text)),
                Keep::Raw(pointer) => part(text, pointer).map(|part| json!(part)),
                Keep::Capture(expression) => {
                    let expression = self.scope.expression(expression).map_err(Failure::of)?;
                    let expression = regex::Regex::new(&expression).map_err(|error| Failure::of(error.to_string()))?;
                    expression.captures(text).and_then(|found| found.get(1)).map(|found| json!(found.as_str()))
                }
                // Only replies have headers, and only calls that are made together are chosen from.
                Keep::Header(_) | Keep::Where(..) => continue,
            };
            let Some(value) = value else {
                return Err(Failure::of(format!("there is nothing to keep as `{name}`")).upon(cut(text, 600)));
            };
            self.scope.set(name, value);
        }
        Ok(())
    }

    /// Runs a command of the profile.
    ///
    /// # Errors
    ///
    /// The profile does not name it, or it cannot be run.
    pub async fn hook(&self, name: &str, with: &BTreeMap<String, String>) -> Result<Ran, Failure> {
        let profile = &self.world.profile;
        let command =
            profile.hooks.get(name).ok_or_else(|| Failure::of(format!("the profile names no hook `{name}`")))?;
        let ran = hooks::run(command, with, profile.patience.hook()).await;
        ran.map_err(|problem| Failure::of(format!("the hook `{name}`: {problem}")))
    }
}
