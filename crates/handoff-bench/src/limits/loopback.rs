//! How long a small message takes to another thread and back over the loopback interface.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use super::again;
use crate::{error::BenchError, outcome::Measurement};

/// As large as a small call with its headers.
const MESSAGE: [u8; 512] = [7; 512];

pub(super) async fn measure(time: Duration) -> Result<Measurement, BenchError> {
    let measuring = tokio::task::spawn_blocking(move || round_trips(time));
    measuring.await.map_err(|error| BenchError::Nonsense(error.to_string()))?
}

fn round_trips(time: Duration) -> Result<Measurement, BenchError> {
    let failed = || BenchError::system("the loopback interface fails");
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed())?;
    let address = listener.local_addr().map_err(failed())?;
    let echo = thread::spawn(move || -> std::io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut message = MESSAGE;
        // The end of the other side ends this one.
        while stream.read_exact(&mut message).is_ok() {
            stream.write_all(&message)?;
        }
        Ok(())
    });
    let mut stream = TcpStream::connect(address).map_err(failed())?;
    stream.set_nodelay(true).map_err(failed())?;
    let mut message = MESSAGE;
    let measured = again("limit: loopback round trip", time, || {
        stream.write_all(&message).map_err(failed())?;
        stream.read_exact(&mut message).map_err(failed())
    });
    drop(stream);
    echo.join().map_err(|_| BenchError::Nonsense("the echo died".to_owned()))?.map_err(failed())?;
    measured
}
