//! A connection to a server that reports what happens to it, with no retries and no pool.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use handoff_protocol::json::{Json, read_str};

/// Longer than any answer takes; a hang fails a test and does not stop it.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Connection {
    pub(crate) stream: BufReader<TcpStream>,
    host: String,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream), host: address.to_string() })
    }

    /// Calls with a bearer token and a JSON body.
    pub(crate) fn call(&mut self, method: &str, path: &str, token: &str, body: &str) -> io::Result<Answer> {
        let headers = format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n");
        self.send(method, path, &headers, body)?;
        self.receive()
    }

    /// Sends a call; each header is a line with its end.
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> io::Result<()> {
        let (host, length) = (&self.host, body.len());
        let text =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
        self.stream.get_mut().write_all(text.as_bytes())
    }

    /// Reads the answer to the call that was sent. A connection that ends before the answer does is an error.
    pub(crate) fn receive(&mut self) -> io::Result<Answer> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status line");
        let mut answer = Answer { status, head, body: String::new() };
        let body = if answer.header("transfer-encoding") == Some("chunked") {
            self.receive_chunks()?
        } else {
            let length = answer.header("content-length").map_or(0, |length| length.parse().expect("a length"));
            self.receive_bytes(length)?
        };
        answer.body = String::from_utf8(body).expect("a body of text");
        Ok(answer)
    }

    fn receive_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut length = String::new();
            self.stream.read_line(&mut length)?;
            let length = usize::from_str_radix(length.trim(), 16).map_err(io::Error::other)?;
            body.extend(self.receive_bytes(length)?);
            self.stream.read_line(&mut String::new())?;
            if length == 0 {
                return Ok(body);
            }
        }
    }

    fn receive_bytes(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The text at a dotted path of the JSON body.
    pub(crate) fn text(&self, path: &str) -> String {
        let document = read_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"));
        let found = path.split('.').try_fold(&document, |place, name| match name.parse::<usize>() {
            Ok(index) => place.as_array()?.get(index),
            Err(_) => place.get(name),
        });
        match found {
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_text(),
            None => panic!("no `{path}` in {self:?}"),
        }
    }
}
