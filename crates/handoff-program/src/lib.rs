//! Running a program of the deployment's own: it reads one text on its standard input, and how it exits says what came of
//! it.
//!
//! The program starts in a process group of its own. Whoever gives up, by a time limit for example, drops the future of
//! [`run`], and the whole group ends with it: what the program started is not left behind. What it prints is thrown away
//! as it comes, so that nothing piles up.
//!
//! ```no_run
//! # async fn page() -> std::io::Result<()> {
//! use tokio::process::Command;
//!
//! let exit = handoff_program::run(Command::new("/usr/local/bin/page").env_clear(), b"{}\n").await?;
//! assert!(exit.success());
//! # Ok(())
//! # }
//! ```

mod group;

use std::{
    convert::Infallible,
    io,
    process::{ExitStatus, Stdio},
};

use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, ChildStdin, Command},
};

use self::group::Group;

/// A program that runs.
#[derive(Debug)]
pub struct Running {
    // Dropped in this order: the group is ended while its number still is the program's own.
    group: Group,
    child: Child,
}

/// Starts a program in a group of its own. What the command says of standard streams is overridden: the input is a text,
/// what is printed is thrown away.
///
/// # Errors
///
/// Whatever keeps the operating system from starting it.
pub fn start(command: &mut Command) -> io::Result<Running> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let child = command.spawn()?;
    Ok(Running { group: Group::of(&child), child })
}

/// Starts a program, hands it its input, and waits for its end.
///
/// # Errors
///
/// As [`start`] and [`Running::finish`].
pub async fn run(command: &mut Command, input: &[u8]) -> io::Result<ExitStatus> {
    start(command)?.finish(input).await
}

impl Running {
    /// Hands the program its input and waits for its end.
    ///
    /// The end counts whether or not the input was read: a program may know enough without it, or leave its input open to
    /// one that it started and that never reads. One that exits with success may leave others at work, which is its own
    /// affair; with any other exit they end as well, since what failed is tried again.
    ///
    /// # Errors
    ///
    /// If the operating system cannot say how it ended.
    pub async fn finish(mut self, input: &[u8]) -> io::Result<ExitStatus> {
        let stdin = self.child.stdin.take();
        let exit = tokio::select! {
            exit = self.child.wait() => exit?,
            never = feed(stdin, input) => match never {},
        };
        if exit.success() {
            self.group.leave();
        }
        Ok(exit)
    }
}

/// Writes the input, then closes it, and is never done: only the program's end counts.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) -> Infallible {
    if let Some(mut stdin) = stdin {
        // Whoever does not read has its say in its exit.
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    }
    std::future::pending().await
}
