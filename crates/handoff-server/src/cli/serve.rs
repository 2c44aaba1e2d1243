//! `handoffd serve`.

use handoff_server::{Config, Running, Server};

use super::{failure::Failure, logging, signals::Signals};

pub(super) async fn run() -> Result<(), Failure> {
    logging::start("info")?;
    let config = Config::from_env()?;
    let signals = Signals::listen()?;
    let server = Server::start(config).await?;
    until_stopped(server, signals).await
}

/// Serves until a signal asks for the end, and then ends in order.
pub(super) async fn until_stopped(mut server: Running, mut signals: Signals) -> Result<(), Failure> {
    tokio::select! {
        () = signals.stop() => {
            server.stop().await;
            Ok(())
        }
        () = server.ended() => Err(Failure::ServingEnded),
    }
}
