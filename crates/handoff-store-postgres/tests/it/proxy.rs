//! A way to the database that can be cut, or go silent.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinSet,
};

use super::bench::cluster;

/// How the way is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(crate) enum Way {
    /// Everything passes.
    Open = 0,
    /// Connections break, and new ones are closed at once.
    Cut = 1,
    /// Connections stay and nothing passes, in either direction.
    Silent = 2,
    /// Everything passes until a commit is asked for: that passes as well, and its answer does not.
    LosesCommits = 3,
}

pub(crate) struct Proxy {
    port: u16,
    way: Arc<AtomicU8>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let way = Arc::new(AtomicU8::new(Way::Open as u8));
        let shared = Arc::clone(&way);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                if shared.load(Ordering::SeqCst) != Way::Cut as u8 {
                    connections.spawn(pass(client, Arc::clone(&shared)));
                }
            }
        });
        Self { port, way, _tasks: tasks }
    }

    /// The same address, by this way.
    pub(crate) fn url(&self, url: &str) -> String {
        url.replace(&format!(":{}/", cluster().port()), &format!(":{}/", self.port))
    }

    pub(crate) fn set(&self, way: Way) {
        self.way.store(way as u8, Ordering::SeqCst);
    }

    /// Goes silent when this is called, from wherever.
    pub(crate) fn silencer(&self) -> impl Fn() + Send + Sync + use<> {
        let way = Arc::clone(&self.way);
        move || way.store(Way::Silent as u8, Ordering::SeqCst)
    }
}

async fn pass(client: TcpStream, way: Arc<AtomicU8>) {
    let server = TcpStream::connect(("127.0.0.1", cluster().port())).await.unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut both = JoinSet::new();
    both.spawn(one_way(from_client, to_server, Arc::clone(&way), true));
    both.spawn(one_way(from_server, to_client, Arc::clone(&way), false));
    let cut = async {
        while way.load(Ordering::SeqCst) != Way::Cut as u8 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = both.join_next() => {}
        () = cut => {}
    }
}

async fn one_way(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, way: Arc<AtomicU8>, asks: bool) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        let now = way.load(Ordering::SeqCst);
        if now == Way::Silent as u8 {
            continue;
        }
        to.write_all(&buffer[..read]).await?;
        if now == Way::LosesCommits as u8 && asks && buffer[..read].windows(6).any(|word| word == b"COMMIT") {
            // The server has it, and commits; nobody hears of it.
            way.store(Way::Silent as u8, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(200)).await;
            way.store(Way::Cut as u8, Ordering::SeqCst);
        }
    }
}
