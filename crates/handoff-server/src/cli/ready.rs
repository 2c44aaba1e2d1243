//! `handoffd ready`: whether the server of this configuration takes calls, for whoever watches it from beside.

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use super::{failure::Failure, output, settings};

/// Longer than a server takes to say that its store does not answer.
const PATIENCE: Duration = Duration::from_secs(4);

/// The answer of a server that is ready begins with this.
const READY: &str = "HTTP/1.1 200 ";

pub(super) fn run(file: Option<&Path>) -> Result<(), Failure> {
    let bind = settings::read(file)?.bind;
    if ask(reachable(bind)).is_ok_and(|answer| answer.starts_with(READY)) {
        return output::say("ready").map_err(Failure::Output);
    }
    Err(Failure::NotReady(bind))
}

/// Where a server that listens on an address can be called.
fn reachable(bind: SocketAddr) -> SocketAddr {
    let ip = match bind.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, bind.port())
}

fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut begin = [0; READY.len()];
    stream.read_exact(&mut begin)?;
    Ok(String::from_utf8_lossy(&begin).into_owned())
}
