//! A receiver: a socket that keeps what it is sent and answers as it is told.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use handoff_engine::callback::Post;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What a receiver does with each call.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Sends this, and goes on with the connection.
    Say(String),
    /// Sends this, and closes the connection.
    SayAndClose(String),
    /// Says nothing.
    Hang,
    /// Closes the connection without a word.
    HangUp,
}

#[derive(Clone, Default)]
pub(crate) struct Receiver {
    calls: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
}

pub(crate) fn status(status: &str) -> Answer {
    Answer::Say(format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok"))
}

impl Receiver {
    /// A receiver on this machine that answers every call alike.
    pub(crate) async fn start(answer: Answer) -> (Self, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let receiver = Self::default();
        let serving = receiver.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                *serving.connections.lock().unwrap() += 1;
                tokio::spawn(serving.clone().serve(stream, answer.clone()));
            }
        });
        (receiver, address)
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    async fn serve(self, mut stream: TcpStream, answer: Answer) {
        while let Some(call) = read(&mut stream).await {
            self.calls.lock().unwrap().push(call);
            match &answer {
                Answer::Say(text) => stream.write_all(text.as_bytes()).await.unwrap(),
                Answer::SayAndClose(text) => {
                    let _ = stream.write_all(text.as_bytes()).await;
                    return;
                }
                Answer::Hang => tokio::time::sleep(Duration::from_secs(3_600)).await,
                Answer::HangUp => return,
            }
        }
    }
}

/// One call, head and body; none when the other side is gone.
async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut text = String::new();
    let mut buffer = [0; 4_096];
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if body.len() >= length.parse().unwrap() {
                return Some(text);
            }
        }
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        text.push_str(str::from_utf8(&buffer[..count]).unwrap());
    }
}

pub(crate) fn post(url: impl Into<String>) -> Post {
    Post {
        url: url.into(),
        headers: vec![("Content-Type", "application/json".to_owned()), ("Handoff-Delivery", "dlv_1".to_owned())],
        body: r#"{"a":1}"#.into(),
    }
}
