//! What each operation does: it is made up from what clients know, called, and what comes back is noted.

mod asking;
pub(crate) mod bodies;
mod deciding;
mod reaching;
mod scripted;
mod using;
mod waiting;

pub(crate) use self::deciding::{ending, key};
use handoff_protocol::{
    decision::{DecisionError, terms::RequestState, view::RequestView},
    id::{RequestId, TenantId},
};

pub use self::{
    asking::raise_as,
    deciding::answer_as,
    waiting::{acknowledge_all, hear_of_an_end, poll_now},
};
use crate::{
    board::Shape,
    client::{Came, Doing, Reply},
    history::{Mended, Read, Refused},
    op::Op,
    scheduler::lock,
};

/// Does one operation.
pub async fn perform(doing: &mut Doing<'_>, op: Op) {
    doing.world.note(|| format!("{} {}", doing.name, op.name()));
    let done = match op {
        Op::Raise => asking::raise(doing).await,
        Op::Cancel => asking::cancel(doing).await,
        Op::Amend => asking::amend(doing).await,
        Op::Supersede => asking::supersede(doing).await,
        Op::Arm => asking::arm(doing).await,
        Op::Answer => deciding::answer(doing).await,
        Op::Dispose => deciding::dispose(doing).await,
        Op::Correct => deciding::correct(doing).await,
        Op::Redeem => deciding::redeem(doing).await,
        Op::Poll => waiting::poll(doing).await,
        Op::Acknowledge => waiting::acknowledge(doing).await,
        Op::Reattach => waiting::reattach(doing).await,
        Op::EndWaiter => waiting::end_waiter(doing).await,
        Op::Read => waiting::read(doing).await,
        Op::Await => waiting::wait_for_the_end(doing).await,
        Op::Inbox => waiting::inbox(doing).await,
        Op::Receipts => waiting::receipts(doing).await,
        Op::Resolve => using::resolve(doing).await,
        Op::Renew => using::renew(doing).await,
        Op::Release => using::release(doing).await,
        Op::Revoke => using::revoke(doing).await,
        Op::Submit => using::submit(doing).await,
        Op::Escalate => reaching::escalate(doing).await,
        Op::Reassign => reaching::reassign(doing).await,
        Op::Redeliver => reaching::redeliver(doing).await,
        Op::Grade => reaching::grade(doing).await,
        Op::Look => reaching::look(doing).await,
        Op::Observe => reaching::observe(doing).await,
        Op::Scripted(step) => scripted::step(doing, step).await,
    };
    // Where clients know of nothing to do it on, it is not done.
    doing.world.count(if done.is_some() { "(operations)" } else { "(operations without an object)" });
}

impl Doing<'_> {
    /// The tenant's id as stores know it.
    #[must_use]
    pub fn tenant_id(&self) -> Option<TenantId> {
        self.cast().map(|cast| TenantId::Org(cast.id))
    }

    /// One of the requests that clients know.
    pub fn some_request(&mut self) -> Option<crate::board::Request> {
        let world = self.world;
        lock(&world.board).of(self.tenant).request(&mut self.rng)
    }

    /// Notes a request that was served. One that was served from a replay may be of long ago.
    pub fn saw(&self, reply: &Reply<RequestView>, shape: Option<Shape>, may_be_old: bool) {
        let Came::Done(view) = &reply.came else {
            self.refused(&reply.came);
            return;
        };
        lock(&self.world.board).of(self.tenant).saw(view, shape);
        if !may_be_old {
            let (state, version, waiter) = (view.state, view.version, view.waiter.state);
            lock(&self.world.history).read.push(Read { span: reply.span, id: view.id, state, version, waiter });
        }
        self.world.note(|| format!("{} -> {} {} v{}", self.name, view.id, view.state.as_str(), view.version));
    }

    /// Notes an operation that mends the words of a request, unless it is sure that it had no effect.
    pub fn mended<R>(&self, reply: &Reply<R>, id: Option<RequestId>) {
        let had_none = matches!(reply.came, Came::Refused(_)) && reply.tries == 1;
        if let Some(tenant) = self.tenant_id().filter(|_| !had_none) {
            lock(&self.world.history).mended.push(Mended { tenant, id, tries: reply.tries });
        }
    }

    /// Notes what a refusal says of how a request ended.
    pub fn refused<R>(&self, came: &Came<R>) {
        let Came::Refused(error) = came else { return };
        let (id, state, receipt, superseded_by) = match error {
            DecisionError::AlreadyAnswered { request_id, receipt_id, .. } => {
                (*request_id, RequestState::Answered, Some(*receipt_id), None)
            }
            DecisionError::RequestExpired { request_id, receipt_id, .. } => {
                (*request_id, RequestState::Expired, *receipt_id, None)
            }
            DecisionError::RequestCancelled { request_id, .. } => (*request_id, RequestState::Cancelled, None, None),
            DecisionError::RequestSuperseded { request_id, superseded_by } => {
                (*request_id, RequestState::Superseded, None, Some(*superseded_by))
            }
            _ => return,
        };
        lock(&self.world.board).of(self.tenant).ended(id);
        lock(&self.world.history).refused.push(Refused { id, state, receipt, superseded_by });
    }

    /// Notes that an edge was taken that leaves nothing in the store.
    pub fn cover(&self, row: &'static str) {
        lock(&self.world.disk.observer).coverage.reply(row);
    }

    /// Whether an id is one that clients know the shape of.
    #[must_use]
    pub fn shape_of(&self, id: RequestId) -> Option<Shape> {
        let mut board = lock(&self.world.board);
        board.of(self.tenant).requests.iter().find(|known| known.id == id).map(|known| known.shape)
    }
}
