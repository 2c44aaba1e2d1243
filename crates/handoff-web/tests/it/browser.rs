//! A browser of few words: one cookie jar, one connection a call.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::html::{self, PageForm};

/// A person's browser.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    address: SocketAddr,
    pub(crate) cookie: Option<String>,
    /// What the pages remember beside the session.
    pub(crate) others: Vec<(String, String)>,
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// What a person reads: the page without its tags.
    pub(crate) fn text(&self) -> String {
        let text: String = html::tags(&self.body).iter().map(|tag| format!(" {}", tag.text)).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    pub(crate) fn says(&self, words: &str) -> &Self {
        let text = self.text();
        assert!(text.contains(words), "{words:?} is not in: {} {text}", self.status);
        self
    }

    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }
}

impl Browser {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, cookie: None, others: Vec::new() }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Reply {
        self.call("GET", path, &[], "").await
    }

    /// Sends a form as browsers do, from our own origin.
    pub(crate) async fn send(&mut self, form: &PageForm) -> Reply {
        let origin = format!("http://{}", self.address);
        self.post(&form.action, &[("Origin", &origin)], &form.encode()).await
    }

    pub(crate) async fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut headers = headers.to_vec();
        headers.push(("Content-Type", "application/x-www-form-urlencoded"));
        self.call("POST", path, &headers, body).await
    }

    /// Follows a redirect after a form.
    pub(crate) async fn follow(&mut self, reply: &Reply) -> Reply {
        reply.is(303);
        let location = reply.header("location").expect("a redirect says where to").to_owned();
        self.get(&location).await
    }

    pub(crate) async fn call(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        let session = self.cookie.iter().map(|cookie| format!("; handoff_session={cookie}"));
        let others = self.others.iter().map(|(name, value)| format!("; {name}={value}"));
        head.push_str(&format!("Cookie: theme=dark{}\r\n", session.chain(others).collect::<String>()));
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        let reply = read_reply(&String::from_utf8(bytes).expect("pages are UTF-8"));
        for (_, cookie) in reply.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (pair, _) = cookie.split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if name == "handoff_session" {
                self.cookie = (!value.is_empty()).then(|| value.to_owned());
            } else {
                self.others.retain(|(found, _)| found != name);
                self.others.push((name.to_owned(), value.to_owned()));
            }
        }
        reply
    }
}

fn read_reply(text: &str) -> Reply {
    let (head, body) = text.split_once("\r\n\r\n").expect("a response has a head");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    Reply { status, headers, body: body.to_owned() }
}
