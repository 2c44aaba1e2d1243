//! One file a command.

pub(crate) mod answer;
pub(crate) mod ask;
pub(crate) mod cancel;
pub(crate) mod export;
mod input;
pub(crate) mod keys;
pub(crate) mod list;
pub(crate) mod person;
pub(crate) mod redeem;
pub(crate) mod show;
pub(crate) mod verify;
