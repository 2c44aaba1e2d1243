//! A small suite in a directory of its own, with a map that agrees with it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use handoff_conformance::profile::CREDENTIALS;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A suite that can be spoiled.
pub(crate) struct Fixture {
    directory: TempDir,
}

impl Fixture {
    /// A case for each requirement and each invariant, and one rule.
    pub(crate) fn new() -> Self {
        let fixture = Self { directory: tempfile::tempdir().unwrap() };
        let requirements: Vec<_> = (1..=26).map(|number| format!("C-{number}")).chain(["C-6b".to_owned()]).collect();
        let invariants: Vec<_> = (1..=21).map(|number| format!("I{number}")).collect();
        for id in requirements.iter().chain(&invariants) {
            fixture.write_case(id, |_| {});
        }
        let entries = |ids: &[String]| -> serde_json::Map<String, Value> {
            ids.iter().map(|id| (id.clone(), json!({"title": "A title", "level": 1, "cases": [id]}))).collect()
        };
        let map = json!({
            "version": "0.1",
            "rules": {"B-1": {"title": "A rule", "functions": ["f"], "tests": [], "cases": ["C-1"]}},
            "requirements": entries(&requirements),
            "invariants": entries(&invariants),
        });
        fs::create_dir_all(fixture.spec()).unwrap();
        fixture.write(&fixture.spec().join("map.json"), &map);
        fixture
    }

    /// Writes a case, altered in some way.
    pub(crate) fn write_case(&self, id: &str, alter: impl FnOnce(&mut Value)) {
        let kind = if id.starts_with('I') { "invariants" } else { "requirements" };
        let mut case = json!({
            "case": id,
            "title": "The server says what it is",
            "level": 1,
            "rules": if id == "C-1" { vec!["B-1"] } else { vec![] },
            kind: [id],
            "scenarios": [{"name": "meta", "steps": [
                {"call": "GET /v1/meta", "as": null, "expect": {"status": 200, "body": {"protocol_version": "0.1"}}},
            ]}],
        });
        alter(&mut case);
        self.write(&self.file_of(id), &case);
    }

    /// Where a case stands.
    pub(crate) fn file_of(&self, id: &str) -> PathBuf {
        self.cases().join(format!("{id}.json"))
    }

    /// Alters the map.
    pub(crate) fn alter_map(&self, alter: impl FnOnce(&mut Value)) {
        let file = self.spec().join("map.json");
        let mut map = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        alter(&mut map);
        self.write(&file, &map);
    }

    /// Writes a profile for a server at an address.
    pub(crate) fn profile(&self, address: &str) -> PathBuf {
        profile(self.directory.path(), address)
    }

    /// Runs a command over this suite.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.over(runner(arguments)).output().unwrap()
    }

    /// A command over this suite.
    pub(crate) fn over(&self, mut command: Command) -> Command {
        command.arg("--cases").arg(self.cases()).arg("--spec").arg(self.spec());
        command
    }

    /// Says which rules have no case.
    pub(crate) fn write_without_case(&self, list: &Value) {
        self.write(&self.directory.path().join("without-case.json"), list);
    }

    fn cases(&self) -> PathBuf {
        self.directory.path().join("cases")
    }

    fn spec(&self) -> PathBuf {
        self.directory.path().join("spec")
    }

    fn write(&self, file: &Path, value: &Value) {
        fs::create_dir_all(self.cases()).unwrap();
        fs::write(file, format!("{value:#}")).unwrap();
    }
}

/// The runner.
pub(crate) fn runner(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handoff-conformance"));
    command.args(arguments);
    command
}

/// Writes a profile with every credential, two secrets and no hook.
pub(crate) fn profile(directory: &Path, address: &str) -> PathBuf {
    let credential = |(name, kind, role): (&str, &str, Option<&str>)| {
        let id = if kind == "anonymous_link" { String::new() } else { format!("id = \"id_{name}\"\n") };
        let role = role.map_or_else(String::new, |role| format!("role = \"{role}\"\n"));
        format!("[credentials.{name}]\ntoken = \"token-of-{name}\"\nkind = \"{kind}\"\ntenant = \"org_1\"\n{id}{role}")
    };
    let text = format!(
        "base_url = \"{address}\"\nlevel = 1\n[choices]\nlink_only = false\n{}\
         [callbacks.secrets]\na = \"whsec_aaaaaaaa\"\nb = \"whsec_bbbbbbbb\"\n",
        CREDENTIALS.map(credential).concat()
    );
    let file = directory.join("profile.toml");
    fs::write(&file, text).unwrap();
    file
}

/// What a program said, and how it ended.
pub(crate) fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}
