//! What tests of Handoff stand on.
//!
//! | module | what lives there |
//! |---|---|
//! | [`clock`] | [`VirtualClock`]: time that moves only when a test says so |
//! | [`entropy`] | [`SeededEntropy`]: bytes that are the same in every run |
//! | [`memory`] | [`MemoryStore`]: the whole store port in memory, short enough to read as a reference |
//! | [`fault`] | [`FaultStore`]: a store whose chosen transactions fail |
//! | [`surface`] | [`LocalSurface`]: a resource on a real socket, behind the capability port |
//! | [`sink`] | [`MemorySink`]: a sink that a test can look into |
//! | [`suite`] | what every store must do, one test a behaviour |

pub mod clock;
pub mod entropy;
pub mod fault;
pub mod memory;
pub mod sink;
pub mod suite;
pub mod surface;

pub use async_trait::async_trait;

pub use self::{
    clock::VirtualClock,
    entropy::SeededEntropy,
    fault::{Fault, FaultStore},
    memory::MemoryStore,
    sink::MemorySink,
    surface::LocalSurface,
};
