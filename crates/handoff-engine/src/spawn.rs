//! The port that runs tasks: servers use the Tokio runtime that they were built in, the simulator a scheduler that a seed
//! decides.

use std::{future::Future, pin::Pin};

/// Something that runs beside whoever began it.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs the engine's background tasks: its ear on the store, and each send to the world.
pub trait Spawn: Send + Sync + 'static {
    /// Runs a task until it ends or the runtime does. Its panics stay within it.
    fn spawn(&self, task: Task);
}

/// The Tokio runtime of whoever calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioSpawn;

impl Spawn for TokioSpawn {
    fn spawn(&self, task: Task) {
        tokio::spawn(task);
    }
}
