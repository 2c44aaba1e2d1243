//! `handoffd migrate`.

use handoff_server::{DatabaseUrl, store};

use super::{failure::Failure, logging, output};

pub(super) fn run() -> Result<(), Failure> {
    logging::start("warn")?;
    let database = DatabaseUrl::from_env()?;
    // Opening a store brings it to the newest schema.
    drop(store::open_url(&database)?);
    output::say("the database has the newest schema").map_err(Failure::Output)
}
