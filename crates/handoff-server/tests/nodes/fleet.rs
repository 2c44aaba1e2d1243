//! Nodes behind something like a load balancer: a call goes to a node that lives, and to another when it does not answer.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::support::{
    connection::{Answer, Connection},
    deployment::Deployment,
    process::Handoffd,
};

/// How long a call is repeated before it counts as never answered.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Fleet<'d> {
    deployment: &'d Deployment,
    nodes: Vec<Node>,
}

struct Node {
    address: SocketAddr,
    process: Mutex<Option<Handoffd>>,
    lives: AtomicBool,
}

impl<'d> Fleet<'d> {
    pub(crate) fn start(deployment: &'d Deployment, nodes: usize) -> Self {
        let node = || {
            let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            Node { address, process: Mutex::new(None), lives: AtomicBool::new(false) }
        };
        let fleet = Self { deployment, nodes: (0..nodes).map(|_| node()).collect() };
        (0..nodes).for_each(|node| fleet.start_node(node));
        fleet
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node of a number; behind the last comes the first.
    fn node(&self, number: usize) -> &Node {
        self.nodes.get(number % self.nodes.len()).unwrap()
    }

    /// Starts a node at its own address; it lives once it serves.
    pub(crate) fn start_node(&self, node: usize) {
        let node = self.node(node);
        let bind = node.address.to_string();
        let variables = [
            ("HANDOFF_BIND", bind.as_str()),
            ("HANDOFF_PUBLIC_BASE", "http://127.0.0.1:8080"),
            ("HANDOFF_RATE_LIMIT_PER_MINUTE", "0"),
            ("HANDOFF_CALLBACK_SECRETS", "whsec_nodes"),
        ];
        *node.process.lock().unwrap() = Some(self.deployment.serve(&variables));
        node.lives.store(true, Ordering::SeqCst);
    }

    /// Kills a node as `kill -9` does.
    pub(crate) fn kill(&self, node: usize) -> Instant {
        let node = self.node(node);
        let process = node.process.lock().unwrap().take();
        let at = Instant::now();
        node.lives.store(false, Ordering::SeqCst);
        drop(process);
        at
    }

    /// A connection to the first node from this one on that lives.
    pub(crate) fn connect(&self, from: usize) -> Connection {
        let since = Instant::now();
        loop {
            for step in 0..self.nodes.len() {
                let node = self.node(from + step);
                if node.lives.load(Ordering::SeqCst)
                    && let Ok(connection) = Connection::open(node.address)
                {
                    return connection;
                }
            }
            assert!(since.elapsed() < PATIENCE, "no node lives");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// A call that is repeated at other nodes until it is answered. It must be one that can be.
    pub(crate) fn call(&self, from: usize, call: &Call<'_>) -> Answer {
        let since = Instant::now();
        let mut attempt = from;
        loop {
            if let Ok(answer) = call.at(&mut self.connect(attempt))
                && answer.status < 500
            {
                return answer;
            }
            assert!(since.elapsed() < PATIENCE, "{} was never answered", call.path);
            attempt += 1;
        }
    }
}

/// A call; under a key it can be repeated.
pub(crate) struct Call<'c> {
    pub(crate) method: &'c str,
    pub(crate) path: &'c str,
    pub(crate) token: &'c str,
    pub(crate) key: Option<&'c str>,
    pub(crate) body: &'c str,
}

impl Call<'_> {
    pub(crate) fn send(&self, connection: &mut Connection) -> io::Result<()> {
        let key = self.key.map(|key| format!("Idempotency-Key: {key}\r\n")).unwrap_or_default();
        let headers = format!("Authorization: Bearer {}\r\nContent-Type: application/json\r\n{key}", self.token);
        connection.send(self.method, self.path, &headers, self.body)
    }

    pub(crate) fn at(&self, connection: &mut Connection) -> io::Result<Answer> {
        self.send(connection)?;
        connection.receive()
    }
}
