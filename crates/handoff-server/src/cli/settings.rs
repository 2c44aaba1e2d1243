//! The configuration of a command: the environment, and the file that it or the command line names.

use std::{
    env,
    path::{Path, PathBuf},
};

use handoff_server::{Config, LIFECYCLE, bootstrap, config, doubts::doubts, reaching, schemas::RegisteredSchemas};

use super::{failure::Failure, logging, output};

/// The variable that names the file.
const FILE: &str = "HANDOFF_CONFIG";

/// Reads the configuration. What the command line names wins over the variable.
pub(super) fn read(file: Option<&Path>) -> Result<Config, Failure> {
    let named = || env::var_os(FILE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let file = file.map(Path::to_path_buf).or_else(named);
    Ok(Config::load(file.as_deref(), |name| env::var_os(name))?)
}

/// Reads the configuration and begins to log as it says.
pub(super) fn start(file: Option<&Path>, default_filter: &str) -> Result<Config, Failure> {
    let config = read(file)?;
    logging::start(config.log_filter.as_deref().unwrap_or(default_filter), config.log)?;
    for line in strangers() {
        tracing::warn!(target: LIFECYCLE, "{line}");
    }
    Ok(config)
}

/// `handoffd config check`: whether a server could start with this configuration, and what it is.
pub(super) fn check(file: Option<&Path>) -> Result<(), Failure> {
    let config = read(file)?;
    let bootstrap = bootstrap::read(&config)?;
    RegisteredSchemas::load(&config.schemas)?;
    let policies = reaching::policies(&config)?;
    config.check_places()?;
    for line in strangers().iter().chain(&bootstrap.warnings).chain(&doubts(&config, &policies)) {
        output::note(line);
    }
    let text = config.to_toml();
    let loaded = match bootstrap.principals.len() {
        1 => "1 principal is loaded".to_owned(),
        count => format!("{count} principals are loaded"),
    };
    output::say(format_args!("{text}\n# {loaded} at the start")).map_err(Failure::Output)
}

/// A line for each variable that looks like ours and is none.
fn strangers() -> Vec<String> {
    config::unknown_variables(env::vars_os().map(|(name, _)| name))
}
