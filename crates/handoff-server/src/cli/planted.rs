//! Planted faults, in builds of the feature alone: which one this process has, and which there are.

use std::env;

use handoff_protocol::{
    json::Json,
    planted::{self, Fault},
};
use handoff_server::LIFECYCLE;

use super::{failure::Failure, output};

/// The variable that names the fault.
const VARIABLE: &str = "HANDOFF_PLANTED_FAULT";

/// Plants the fault that the variable names, if it names one. Nothing changes it afterwards.
pub(super) fn plant() -> Result<(), Failure> {
    let Some(name) = env::var_os(VARIABLE).filter(|name| !name.is_empty()) else { return Ok(()) };
    let fault = name.to_str().and_then(Fault::parse).ok_or(Failure::NoSuchFault)?;
    planted::plant(fault);
    Ok(())
}

/// Every fault: its name, the rule that it breaks, and what it breaks.
pub(super) fn list() -> Result<(), Failure> {
    for fault in Fault::ALL {
        let members = [("name", fault.name()), ("rule", fault.rule()), ("breaks", fault.breaks())];
        let line = Json::object(members.map(|(name, text)| (name, Json::from(text)))).to_text();
        output::say(line).map_err(Failure::Output)?;
    }
    Ok(())
}

/// The versions, with a word that nobody overlooks.
pub(super) fn version(versions: &str) -> &'static str {
    format!("{versions} {}", warning()).leak()
}

/// Says in the log of a server what this build is.
pub(super) fn warn() {
    tracing::error!(target: LIFECYCLE, "{}", warning());
}

/// The names, for whoever mistook one.
pub(super) fn names() -> String {
    Fault::ALL.iter().map(|fault| fault.name()).collect::<Vec<_>>().join(", ")
}

fn warning() -> String {
    match planted::planted() {
        Some(fault) => {
            let (name, rule, breaks) = (fault.name(), fault.rule(), fault.breaks());
            format!("THIS BUILD HAS THE PLANTED FAULT `{name}` ({rule}). {breaks} NEVER USE IT.")
        }
        None => "THIS BUILD CAN HAVE FAULTS PLANTED, AND HAS NONE NOW. NEVER USE IT.".to_owned(),
    }
}
