//! The recipe for a disposable deployment in the documentation, run as it stands there.

#![cfg(unix)]

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Command,
};

use crate::{
    home::{answer, document, machine, person, raise},
    support::connection::Connection,
};

const PAGE: &str = include_str!("../../../../docs/operator-commands.md");

/// A word of the block that is for once, of the one for each command, and of the one that starts.
const ONCE: &str = "mkdir ";
const SETTINGS: &str = "export HANDOFF_BIND=";
const START: &str = "nohup handoffd serve";

/// A directory that the recipe makes, and a port that was free.
struct Recipe {
    directory: String,
    address: SocketAddr,
}

impl Recipe {
    /// Runs blocks of the page, and then a command.
    fn run(&self, blocks: &[&str], command: &str, crash_point: &str) -> String {
        let found = |word: &&str| {
            let mut all = PAGE.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
            all.find_map(|(block, _)| block.contains(word).then_some(block)).unwrap()
        };
        let script = format!("set -eu\n{}\n{command}", blocks.iter().map(found).collect::<Vec<_>>().join("\n"))
            .replace("/var/tmp/handoff-suite", &self.directory)
            .replace("127.0.0.1:18080", &self.address.to_string());
        assert!(!script.contains("18080") && !script.contains("handoff-suite"), "{script}");
        let binaries = Path::new(env!("CARGO_BIN_EXE_handoffd")).parent().unwrap();
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
        let variables = [("PATH", path.as_str()), ("DIR", &self.directory), ("CRASH_POINT", crash_point)];
        let output = Command::new("sh").args(["-c", &script]).env_clear().envs(variables).output().unwrap();
        assert!(output.status.success(), "{output:?}\n{script}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Starts or restarts, and connects.
    fn start(&self, crash_point: &str) -> Connection {
        self.run(&[SETTINGS, START], "", crash_point);
        Connection::open(self.address).unwrap()
    }

    /// What a hook of the table prints, for a request.
    fn hook(&self, name: &str, request: &str) -> String {
        let row = PAGE.lines().find(|line| line.contains(&format!("| `{name}` |"))).unwrap();
        let command = row.rsplit('|').nth(1).unwrap().split('`').nth(1).unwrap();
        self.run(&[SETTINGS], &command.replace("ID", request), "")
    }
}

impl Drop for Recipe {
    fn drop(&mut self) {
        let kill = r#"kill -KILL "$(cat "$0/pid")""#;
        // A test that failed early has none, and then there is nothing to end.
        let _ = Command::new("sh").args(["-c", kill, &self.directory]).output();
    }
}

#[test]
fn the_recipe_of_the_page_makes_a_deployment_that_restarts_and_crashes_as_it_says() {
    let parent = tempfile::tempdir().unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let recipe = Recipe { directory: parent.path().join("suite").display().to_string(), address };
    recipe.run(&[ONCE], "", "");
    let principals = Path::new(&recipe.directory).join("principals.json");
    fs::write(principals, document(&[machine("t-m", ""), person("t-p", "")])).unwrap();

    let connection = &mut recipe.start("");
    let more = r#","resume_payload":"eyJzdGVwIjo0fQ==""#;
    let request = raise(connection, "t-m", "run:1", "session", more).text("id");
    let asked = r#"{"waiter_ref":"run:2","prompt":{"title":"Which?"},"requires":{"v":1,"answer":{"fields":[{"name":"order",
        "type":"document","required":true,"schema_ref":"https://conformance.invalid/order.json"}]}}}"#;
    let ordering = connection.call("POST", "/v1/requests", "t-m", asked).unwrap().text("id");
    let place = format!("/v1/requests/{ordering}/answer");
    let refused = connection.call("POST", &place, "t-p", r#"{"values":{"order":{"count":1}}}"#).unwrap();
    assert!(refused.body.contains("schema_violation"), "{refused:?}");

    let connection = &mut recipe.start("answer_after_state_write");
    let path = format!("/v1/requests/{request}/answer");
    let body = r#"{"values":{"decision":"yes"}}"#;
    assert!(connection.call("POST", &path, "t-p", body).is_err(), "nobody is left to acknowledge it");
    assert!(recipe.hook("log", &request).contains("HANDOFF_CRASH_POINT reached: answer_after_state_write"));

    let connection = &mut recipe.start("");
    assert_eq!(recipe.hook("events", &request).lines().next(), Some("request.raised"));
    assert!(!recipe.hook("events", &request).contains("request.answered"));
    assert_eq!(answer(connection, "t-p", &request).status, 200);
    let signals = connection.call("GET", "/v1/waiters/run:1/signals", "t-m", "").unwrap();
    assert!(signals.body.contains("eyJzdGVwIjo0fQ=="), "what was sealed before the restart opens: {signals:?}");
    assert!(recipe.hook("store", &request).contains(&request));
    assert!(!recipe.hook("store", &request).contains("eyJzdGVwIjo0fQ=="));
}
