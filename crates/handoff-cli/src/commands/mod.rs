//! One file a command.

mod address;
pub(crate) mod answer;
pub(crate) mod ask;
pub(crate) mod cancel;
pub(crate) mod completions;
pub(crate) mod deliveries;
pub(crate) mod export;
pub(crate) mod fsck;
pub(crate) mod import;
mod input;
pub(crate) mod keys;
pub(crate) mod list;
mod names;
pub(crate) mod person;
pub(crate) mod policy;
pub(crate) mod redeem;
pub(crate) mod route;
mod secrets;
pub(crate) mod show;
pub(crate) mod verify;
