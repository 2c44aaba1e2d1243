//! One store under every node: a store in memory whose changes go to a log, of which a part may be lost in a power cut.
//!
//! | module | what lives there |
//! |---|---|
//! | `disk` | the log, what of it is durable, and starting from it anew |
//! | `handle` | the store as one node calls it, and what goes wrong at a call |
//! | `observer` | what each request and signal was after each commit |

mod disk;
mod handle;
mod observer;

pub use self::{
    disk::Disk,
    handle::NodeStore,
    observer::{Moment, Observer, RequestAt, SignalAt},
};
