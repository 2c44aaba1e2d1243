//! The contract as its clients see it: connections, calls, bodies and what is read of the answers. Nothing here knows
//! our server; any server of the contract is loaded alike.

mod body;
mod calls;
mod connection;

pub(crate) use self::{
    body::Terms,
    calls::{Page, Raised, Signal},
    connection::Client,
};
