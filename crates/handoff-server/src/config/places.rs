//! Whether the places that a configuration names are there: what a start would find out too late.

use std::path::Path;

use super::{Config, ConfigError, setting};
use crate::{
    database_url::DatabaseUrl,
    signing_key::{self, SigningKeyError},
};

/// A place that a server needs is not there, or not to be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// A directory is missing.
    #[error(transparent)]
    Directory(#[from] ConfigError),
    /// The signing key cannot be used.
    #[error(transparent)]
    SigningKey(#[from] SigningKeyError),
}

impl Config {
    /// Checks that the directories of the database and of the signing key are there, and that the key can be used if it
    /// is. Nothing is made, and the store is not opened.
    ///
    /// # Errors
    ///
    /// [`PlaceError`] of the first that is not as it must be.
    pub fn check_places(&self) -> Result<(), PlaceError> {
        match &self.database_url {
            DatabaseUrl::Sqlite(database) => {
                directory(setting::DATABASE_URL.variable, database)?;
                if database.is_dir() {
                    let problem = format!("`{}` is a directory; name a file in it", database.display());
                    return Err(ConfigError::new(setting::DATABASE_URL.variable, problem).into());
                }
            }
            // A place elsewhere: whether it can be reached shows when it is.
            DatabaseUrl::Postgres(_) => {}
        }
        directory(setting::SIGNING_KEY_FILE.variable, &self.signing_key)?;
        signing_key::load(&self.signing_key)?;
        Ok(())
    }
}

/// Checks that the directory of a file can be looked into.
fn directory(place: &str, file: &Path) -> Result<(), ConfigError> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let fault = |problem: &str| ConfigError::new(place, format!("the directory `{}` {problem}", directory.display()));
    match std::fs::read_dir(directory) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(fault("does not exist; create it first")),
        Err(error) => Err(fault(&format!("cannot be used: {error}"))),
    }
}
