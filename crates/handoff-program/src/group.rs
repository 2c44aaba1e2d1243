//! The process group of a program: it and whatever it started, unless they took care to leave.

use tokio::process::Child;

/// A group that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Group {
    /// The group that a program leads, which was started as the leader of one.
    pub(crate) fn of(child: &Child) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self { leader }
    }

    /// Lets the group be.
    pub(crate) fn leave(&mut self) {
        self.leader = None;
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // None may be left, which is as good.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
impl Group {
    /// There are no groups here: the program alone ends.
    pub(crate) fn of(_: &Child) -> Self {
        Self {}
    }

    /// Lets the group be.
    pub(crate) fn leave(&mut self) {}
}
