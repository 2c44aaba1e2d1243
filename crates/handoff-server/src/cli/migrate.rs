//! `handoffd migrate`.

use std::path::Path;

use handoff_server::store;

use super::{failure::Failure, output, settings};

pub(super) fn run(file: Option<&Path>) -> Result<(), Failure> {
    let database = settings::start(file, "warn")?.database_url;
    // Opening a store brings it to the newest schema.
    drop(store::open_url(&database)?);
    output::say("the database has the newest schema").map_err(Failure::Output)
}
