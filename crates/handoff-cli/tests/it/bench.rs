//! A real server over a SQLite store, and the built command line beside it.

use std::{net::SocketAddr, path::PathBuf, process::Stdio};

use handoff_client::Client;
use handoff_engine::identity::NewCredential;
use handoff_protocol::{
    id::{OrgId, PrincipalId, UserId},
    json::{Json, read_str},
    principal::Role,
    secret::Secret,
};
use handoff_server::{Config, Running, Server};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStderr, Command},
};

/// A server with a machine and a person, as long as the test runs.
pub(crate) struct Bench {
    pub(crate) directory: TempDir,
    pub(crate) server: Running,
    pub(crate) tenant: OrgId,
    pub(crate) person: UserId,
    key: String,
    token: String,
}

/// What a run of the command line came to.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let server = serve(&directory, 0).await;
        let engine = server.engine();
        let tenant = engine.create_tenant().await.unwrap();
        let machine = PrincipalId::ServiceAccount(engine.create_machine(tenant, "program").await.unwrap());
        let person = engine.create_person(tenant, "Ada", Role::Admin).await.unwrap();
        let key = engine.issue_key(tenant, machine, NewCredential::default()).await.unwrap();
        let token = engine.issue_key(tenant, PrincipalId::User(person), NewCredential::default()).await.unwrap();
        let (key, token) = (key.expose().clone(), token.expose().clone());
        Self { directory, server, tenant, person, key, token }
    }

    /// A server at which whoever holds a link may answer, with the link's token.
    pub(crate) async fn start_with_link(token: &str) -> Self {
        let mut bench = Self::start().await;
        bench.server.stop().await;
        let mut config = configuration(&bench.directory, 0);
        config.link_only_permitted = true;
        config.bootstrap_json = Some(Secret::new(format!(
            r#"{{"principals":[{{"tenant_ref":"{}","kind":"anonymous_link","token":"{token}","display":"Front desk"}}]}}"#,
            bench.tenant
        )));
        bench.server = Server::start(config).await.unwrap();
        bench
    }

    /// Stops the server, does something, and starts it again where it was.
    pub(crate) async fn restart(self, meanwhile: impl Future<Output = ()>) -> Self {
        let port = self.server.address().port();
        self.server.stop().await;
        meanwhile.await;
        let server = serve(&self.directory, port).await;
        Self { server, ..self }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url(), self.key.clone()).unwrap()
    }

    pub(crate) fn database(&self) -> String {
        format!("sqlite:{}", self.path("handoff.db").display())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A command that knows this server, this machine, this person and this store.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = bare(arguments);
        command
            .env("HANDOFF_URL", self.url())
            .env("HANDOFF_API_KEY", &self.key)
            .env("HANDOFF_PERSON_TOKEN", &self.token)
            .env("HANDOFF_DATABASE_URL", self.database());
        command
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> Ran {
        run(self.command(arguments), "").await
    }

    /// Another person, with a token.
    pub(crate) async fn another_person(&self, name: &str) -> (UserId, String) {
        let (engine, tenant) = (self.server.engine(), self.tenant);
        let person = engine.create_person(tenant, name, Role::Editor).await.unwrap();
        let token = engine.issue_key(tenant, PrincipalId::User(person), NewCredential::default()).await.unwrap();
        (person, token.expose().clone())
    }

    /// Raises a request and returns its id.
    pub(crate) async fn ask(&self, arguments: &[&str]) -> String {
        let ran = self.run(&[&["ask", "--no-wait"], arguments].concat()).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.trim().to_owned()
    }

    /// Raises and answers so many requests.
    pub(crate) async fn answered(&self, count: usize) {
        for place in 0..count {
            let id = self.ask(&["Really?", "--options", "yes,no", "--waiter-ref", &format!("w{place}")]).await;
            assert_eq!(self.run(&["answer", &id, "--value", "decision=yes"]).await.code, 0);
        }
    }

    /// An export in a file.
    pub(crate) async fn export(&self, name: &str) -> String {
        let path = self.path(name).display().to_string();
        let ran = self.run(&["export", "-o", &path]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        path
    }

    /// Puts one pending request in the place of another.
    pub(crate) async fn supersede(&self, old: &str, new: &str) {
        let headers = format!("authorization: Bearer {}\r\ncontent-type: application/json\r\n", self.key);
        let body = format!(r#"{{"by":"{new}"}}"#);
        let call = format!("POST /v1/requests/{old}/supersede");
        let (head, answer) = http(self.server.address(), &call, &headers, &body).await;
        assert!(head.contains(" 200 "), "{head}{answer}");
    }

    /// Corrects the receipt of a request's decision, as the person, and returns the id of the receipt that does.
    pub(crate) async fn correct(&self, request: &str, body: &str) -> String {
        let shown = self.run(&["show", request, "--json"]).await.json();
        let receipt = shown.pointer("/receipt/id").and_then(Json::as_str).unwrap().to_owned();
        let headers = format!("authorization: Bearer {}\r\ncontent-type: application/json\r\n", self.token);
        let call = format!("POST /v1/receipts/{receipt}/corrections");
        let (head, answer) = http(self.server.address(), &call, &headers, body).await;
        assert!(head.contains(" 200 "), "{head}{answer}");
        read_str(&answer).unwrap().get("id").and_then(Json::as_str).unwrap().to_owned()
    }

    /// Begins to ask, and returns once the request is there.
    pub(crate) async fn begin(&self, arguments: &[&str]) -> Asking {
        let mut command = self.command(&[&["ask"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).await.unwrap();
        let id = line.rsplit('/').next().unwrap().trim().to_owned();
        assert!(id.starts_with("req_"), "{line}");
        Asking { child, stderr, id }
    }
}

/// An `ask` that waits.
pub(crate) struct Asking {
    child: Child,
    stderr: BufReader<ChildStderr>,
    pub(crate) id: String,
}

impl Asking {
    /// The next line that it says.
    pub(crate) async fn hear(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).await.unwrap();
        line
    }

    /// Sends it a signal, by name.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Dies as a program dies that is not asked.
    pub(crate) async fn die(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Closes the pipe that it prints to.
    pub(crate) fn stop_reading(&mut self) {
        drop(self.child.stdout.take());
    }

    pub(crate) async fn end(mut self) -> Ran {
        let (mut out, mut err) = (String::new(), String::new());
        if let Some(stdout) = &mut self.child.stdout {
            stdout.read_to_string(&mut out).await.unwrap();
        }
        self.stderr.read_to_string(&mut err).await.unwrap();
        Ran { code: self.child.wait().await.unwrap().code().unwrap(), out, err }
    }
}

async fn serve(directory: &TempDir, port: u16) -> Running {
    Server::start(configuration(directory, port)).await.unwrap()
}

fn configuration(directory: &TempDir, port: u16) -> Config {
    let mut config = Config::dev(directory.path());
    config.bind.set_port(port);
    config.sweep_interval = std::time::Duration::from_millis(50);
    config
}

/// A command that knows nothing from the environment of the tests.
pub(crate) fn bare(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handoff"));
    command.args(arguments);
    for name in ["URL", "API_KEY", "PERSON_TOKEN", "DATABASE_URL", "PUBLIC_BASE"] {
        command.env_remove(format!("HANDOFF_{name}"));
    }
    command
}

/// Runs a command to its end, with this on its standard input.
pub(crate) async fn run(mut command: Command, input: &str) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Who does not read may close it.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let output = child.wait_with_output().await.unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ran {
    pub(crate) fn json(&self) -> Json {
        read_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

/// One HTTP call, as a browser makes it unless its headers say otherwise; returns the head and the body.
pub(crate) async fn http(address: SocketAddr, request: &str, headers: &str, body: &str) -> (String, String) {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    let form = if headers.contains("content-type") { "" } else { form };
    let text =
        format!("{request} HTTP/1.0\r\nhost: {address}\r\n{form}content-length: {length}\r\n{headers}\r\n{body}");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}
