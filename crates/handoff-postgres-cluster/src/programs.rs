//! Where the server's programs are, or how they are had.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{account::is_root, error::ClusterError};

/// Where Debian keeps the programs of each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Says to Debian's package that it must start no cluster of its own.
const NO_MAIN_CLUSTER: &str = "/etc/postgresql-common/createcluster.conf";

/// The directory with `initdb`, `postgres`, `psql` and `pg_isready`.
#[derive(Clone, Debug)]
pub(crate) struct Programs(PathBuf);

impl Programs {
    /// Finds them; root has Debian's package installed where there are none.
    pub(crate) fn find() -> Result<Self, ClusterError> {
        if let Some(found) = look() {
            return Ok(found);
        }
        if !is_root() {
            return Err(ClusterError::Missing);
        }
        install()?;
        look().ok_or(ClusterError::Missing)
    }

    /// The path of one of them.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let beside = self.0.join(name);
        // The client's programs may be packaged apart from the server's.
        if beside.is_file() { beside } else { PathBuf::from(name) }
    }
}

/// The newest version that Debian has, then whatever is on the path.
fn look() -> Option<Programs> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(DEBIAN)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort();
    let on_path: Vec<PathBuf> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
    let complete = |place: &PathBuf| place.join("initdb").is_file() && place.join("postgres").is_file();
    versions.into_iter().rev().map(|(_, place)| place).chain(on_path).find(complete).map(Programs)
}

fn install() -> Result<(), ClusterError> {
    // The package makes a cluster and starts it unless this file says no; it keeps a file that is there.
    let file = Path::new(NO_MAIN_CLUSTER);
    if let Some(directory) = file.parent().filter(|_| !file.exists()) {
        let written = fs::create_dir_all(directory).and_then(|()| fs::write(file, "create_main_cluster = false\n"));
        written.map_err(|error| ClusterError::Io { what: file.to_path_buf(), error })?;
    }
    let update = apt(&["update", "-qq"]);
    update.and_then(|()| {
        apt(&["install", "-y", "-qq", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold", "postgresql"])
    })
}

fn apt(arguments: &[&str]) -> Result<(), ClusterError> {
    let output = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ClusterError::Install(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(ClusterError::Install(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
