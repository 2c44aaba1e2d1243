//! The account that the server runs under: it refuses to run as root.

use std::{
    io,
    os::unix::fs::chown,
    path::Path,
    process::{Command, Stdio},
};

use crate::error::ClusterError;

/// Accounts that the server can run under, the better one first.
const ACCOUNTS: [&str; 2] = ["postgres", "nobody"];

/// Whom the server's programs run as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Account {
    /// Whoever runs this process.
    Own,
    /// Another, since this process is root's.
    Other { user: u32, group: u32 },
}

impl Account {
    /// This process's own account, or one that root can step down to.
    pub(crate) fn find() -> Result<Self, ClusterError> {
        if !is_root() {
            return Ok(Self::Own);
        }
        let other = |name| Some(Self::Other { user: number("-u", name)?, group: number("-g", name)? });
        ACCOUNTS.into_iter().find_map(other).ok_or(ClusterError::NoAccount)
    }

    /// A command that runs under this account.
    pub(crate) fn command(self, program: &Path) -> Command {
        match self {
            Self::Own => Command::new(program),
            Self::Other { user, group } => {
                let mut command = Command::new("setpriv");
                command.args([format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".to_owned()]);
                command.arg(program);
                command
            }
        }
    }

    /// Gives a file or directory to this account.
    pub(crate) fn give(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Other { user, group } => chown(path, Some(user), Some(group)),
        }
    }
}

/// Whether this process is root's.
pub(crate) fn is_root() -> bool {
    ask(&["-u"]) == Some(0)
}

fn number(which: &str, name: &str) -> Option<u32> {
    ask(&[which, name])
}

fn ask(arguments: &[&str]) -> Option<u32> {
    let said = Command::new("id").args(arguments).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(said.stdout).ok()?.trim().parse().ok()
}
