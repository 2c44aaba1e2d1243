//! A receiver of callbacks.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use handoff_protocol::json::{Json, read_str};

/// What a push brought.
pub(crate) struct Push {
    /// When it came.
    pub(crate) at: Instant,
    pub(crate) signal: String,
    pub(crate) request: String,
    pub(crate) token: String,
}

/// Takes every push after a while, and passes it on as it comes in; gives the port.
pub(crate) fn receive(slowly: Duration) -> (u16, Receiver<Push>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, pushes) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, sender) = (stream.unwrap(), sender.clone());
            // A node that was killed in the middle of a push is no fault of the receiver.
            thread::spawn(move || take(&stream, &sender, slowly).ok());
        }
    });
    (port, pushes)
}

fn take(mut stream: &TcpStream, sender: &Sender<Push>, slowly: Duration) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = read_str(&String::from_utf8_lossy(&body)).map_err(std::io::Error::other)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let push =
        Push { at: Instant::now(), signal: text("id"), request: text("request_id"), token: text("resume_token") };
    // Nobody may listen any more.
    let _ = sender.send(push);
    thread::sleep(slowly);
    stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
}
