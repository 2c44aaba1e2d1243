//! The simulator: nodes, clients and faults that a seed decides, played in virtual time on one thread, and everything that
//! they leave checked.
//!
//! | module | what lives there |
//! |---|---|
//! | [`plan`], [`op`], [`faults`] | what a seed comes to: who does what, and what goes wrong |
//! | [`run`] | one run, from the making of a world to its checks |
//! | [`scheduler`], [`time`], [`rng`] | one task at a time, one clock, one source of chance |
//! | [`store`] | one store under all nodes, whose log loses its tail in a power cut |
//! | [`node`], [`ports`] | engines, and the outside world as their ports show it |
//! | [`client`], [`ops`], [`board`], [`cast`] | what clients do, what they know, who they are |
//! | [`history`], [`checks`] | what clients were told, held against what is there |
//! | [`coverage`] | which edges of the tables were taken |
//! | [`shrink`] | a plan that fails made small |
//! | [`campaign`], [`kept`] | many seeds, one after another, and those that failed once |
//! | `planted` | faults planted on purpose, in builds that can have them |
//! | [`script`], [`crash`] | forty stories, and each of them with every call of the store gone wrong |
//! | [`killed`] | the same stories over a real file, in a process that dies at every call |
//!
//! It is a crate of its own, apart from the testkit that authors of stores use: it has a binary, and it needs Tokio's virtual
//! clock, which nothing that ships should carry.

pub mod board;
pub mod campaign;
pub mod cast;
pub mod checks;
pub mod client;
pub mod coverage;
pub mod crash;
pub mod faults;
pub mod history;
pub mod kept;
pub mod killed;
pub mod node;
pub mod op;
pub mod ops;
pub mod plan;
#[cfg(feature = "planted-faults")]
pub mod planted;
pub mod ports;
pub mod rng;
pub mod run;
pub mod scheduler;
pub mod script;
pub mod shrink;
pub mod store;
pub mod time;
pub mod world;
