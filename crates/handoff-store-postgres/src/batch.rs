//! The members of one tenant that share a physical transaction, and what happens when it fails.

use handoff_engine::store::StoreError;
use handoff_protocol::id::TenantId;

use crate::{
    error::Failure,
    link::{ATTEMPTS, Link},
    member::Member,
    options::PostgresOptions,
    physical::Physical,
    pool::Lease,
    stats::Counters,
    trouble::Trouble,
};

/// What a batch is run with.
#[derive(Clone, Copy)]
pub(crate) struct Desk<'a> {
    pub(crate) link: &'a Link,
    pub(crate) options: &'a PostgresOptions,
    pub(crate) counters: &'a Counters,
    pub(crate) trouble: &'a Trouble,
    /// Whether this tenant has more to do, and the connection for it.
    pub(crate) more: &'a (dyn Fn() -> bool + Send + Sync),
}

/// A physical transaction that is not known to be durable.
pub(crate) enum Broken {
    /// Nothing of it is there.
    Undone(Failure),
    /// Its answer was lost: nobody knows.
    Unknown(String),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self::Undone(failure)
    }
}

/// Runs the members under one commit. When that does not fit they run singly, so that one cannot spoil the others.
///
/// Afterwards every member knows its outcome, and none may be answered before: a refusal may rest on rows of a member
/// before it. Answers when the head was last moved for somebody who may wait.
///
/// `begun` is a connection on which the next transaction has begun already, and is left so where more is to be done.
pub(crate) async fn run(desk: Desk<'_>, tenant: TenantId, members: &mut [Member], begun: &mut Option<Lease>) -> i64 {
    let broken = match attempt(desk, tenant, members, begun).await {
        Ok(moved_at) => return moved_at,
        Err(broken) => broken,
    };
    let mut last_moved = 0;
    match broken {
        Broken::Undone(Failure::Misfit(error)) => {
            if let [member] = members {
                member.fail(error);
                return last_moved;
            }
            for member in members {
                match attempt(desk, tenant, std::slice::from_mut(member), begun).await {
                    Ok(moved_at) => last_moved = moved_at.max(last_moved),
                    Err(alone) => member.fail(alone.into()),
                }
            }
        }
        Broken::Undone(failure) => {
            let text = failure.to_string();
            // What cannot be reached is told of by the gate.
            if matches!(failure, Failure::Unable(_)) && desk.link.gate().is_open() {
                desk.trouble.tell(&text);
            }
            members.iter_mut().for_each(|member| member.fail(StoreError::Unavailable(text.clone())));
        }
        Broken::Unknown(text) => members.iter_mut().for_each(|member| member.fail(StoreError::Unknown(text.clone()))),
    }
    last_moved
}

impl From<Broken> for StoreError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Undone(failure) => failure.into(),
            Broken::Unknown(text) => Self::Unknown(text),
        }
    }
}

/// Tries again what came second, and what lost its connection before anything was committed.
async fn attempt(
    desk: Desk<'_>,
    tenant: TenantId,
    members: &mut [Member],
    begun: &mut Option<Lease>,
) -> Result<i64, Broken> {
    let mut attempts = ATTEMPTS;
    loop {
        attempts = attempts.saturating_sub(1);
        members.iter_mut().for_each(Member::reset);
        match once(desk, tenant, members, begun).await {
            Err(Broken::Undone(Failure::Lost(reason))) => {
                desk.link.lost().await?;
                if attempts == 0 {
                    return Err(Failure::Lost(reason).into());
                }
            }
            Err(Broken::Undone(Failure::Raced(_))) if attempts > 0 => {}
            Err(Broken::Unknown(reason)) => {
                // What the connection was lost of concerns the others as well.
                let _ = desk.link.lost().await;
                return Err(Broken::Unknown(reason));
            }
            other => return other,
        }
    }
}

async fn once(
    desk: Desk<'_>,
    tenant: TenantId,
    members: &mut [Member],
    begun: &mut Option<Lease>,
) -> Result<i64, Broken> {
    let mut physical = Physical::begin(desk, tenant, begun.take()).await?;
    match physical.run(members).await {
        Ok(Some(moved_at)) => {
            physical.commit(begun).await?;
            desk.counters.committed(members.len());
            desk.trouble.over();
            Ok(moved_at)
        }
        Ok(None) => {
            physical.roll_back(begun).await;
            Ok(0)
        }
        // Whoever lost the connection has nothing to take back on it.
        Err(Failure::Lost(reason)) => Err(Failure::Lost(reason).into()),
        Err(failure) => {
            physical.roll_back(begun).await;
            Err(failure.into())
        }
    }
}
