//! `handoffd serve`.

use std::path::Path;

use handoff_server::{Running, Server};

use super::{failure::Failure, settings, signals::Signals};

pub(super) async fn run(file: Option<&Path>) -> Result<(), Failure> {
    let config = settings::start(file, "info")?;
    let signals = Signals::listen()?;
    let server = Server::start(config).await?;
    until_stopped(server, signals).await
}

/// Serves until a signal asks for the end, and then ends in order.
pub(super) async fn until_stopped(mut server: Running, mut signals: Signals) -> Result<(), Failure> {
    #[cfg(feature = "planted-faults")]
    super::planted::warn();
    tokio::select! {
        () = signals.stop() => {
            server.stop().await;
            Ok(())
        }
        () = server.ended() => Err(Failure::ServingEnded),
    }
}
