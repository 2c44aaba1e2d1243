//! Capabilities: what a person may use on the way to an answer, under a grant, one session at a time (section 16).
//!
//! | rule | function |
//! |---|---|
//! | G-1, G-3, D-2 | [`Capability::read`], `grants_of` |
//! | G-4 | [`Effects::renew_grants`](super::Effects) at each arming of the attempt |
//! | G-5 | [`BlastRadius::checked`] |
//! | G-6 | [`Grant::check_readable`] |
//! | G-7, G-8 | [`Resolve::read`], [`resolve()`], [`reopen`] |
//! | G-10 | [`renew()`], [`release`] |
//! | G-11 | [`GrantSession::exercised`], [`lapse_session`] |
//! | G-12 | [`Revoke::read`], [`revoke()`], and the close-out of every ending |
//!
//! A grant carries no address. Addresses come from a provider when a session is opened, and are kept nowhere (rule G-2).

mod blast_radius;
mod close;
mod declaration;
mod grant;
mod renew;
mod resolve;
mod revoke;
mod session;
mod view;

pub use self::{
    blast_radius::{BlastRadius, BlastRadiusFault, Identity},
    close::Capabilities,
    declaration::Capability,
    grant::Grant,
    renew::{lapse_session, release, renew},
    resolve::{Resolve, reopen, resolve},
    revoke::{Revoke, revoke},
    session::{CapabilityExercised, GrantSession, Usage},
    view::{GrantSessionView, GrantView, RenewResult, Transport},
};
pub(super) use self::{
    declaration::{CapabilityUse, Declared, check_types, check_uses, read_all},
    grant::granted,
};
