//! Which crate of the workspace may depend on which.

use std::collections::BTreeSet;

use serde::Deserialize;

/// The part of `cargo metadata` that matters here.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `None` for a normal dependency, otherwise `dev` or `build`.
    kind: Option<String>,
}

impl Metadata {
    /// Reads what `cargo metadata --no-deps` printed.
    pub(crate) fn read(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }
}

/// What a crate may depend on, within the workspace.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// These and no others.
    Only(&'static [&'static str]),
    /// Every `handoff-` crate except these.
    AllBut(&'static [&'static str]),
}

const PROTOCOL: &str = "handoff-protocol";
const ENGINE: &str = "handoff-engine";
const TESTKIT: &str = "handoff-testkit";
const STORE_SQLITE: &str = "handoff-store-sqlite";
const CLI: &str = "handoff-cli";
const BROWSER: &str = "handoff-browser";
const CLUSTER: &str = "handoff-postgres-cluster";
const PROGRAM: &str = "handoff-program";

/// The layers. A name that ends in a hyphen stands for every crate whose name begins so; the first match counts.
const TABLE: &[(&str, Reach)] = &[
    (PROTOCOL, Reach::Only(&[])),
    (ENGINE, Reach::Only(&[PROTOCOL])),
    // What implements a port, and what translates for the outside, knows the engine and not its neighbors.
    ("handoff-store-", Reach::Only(&[ENGINE, PROTOCOL])),
    ("handoff-sink-", Reach::Only(&[ENGINE, PROGRAM, PROTOCOL])),
    ("handoff-channel-", Reach::Only(&[ENGINE, PROGRAM, PROTOCOL])),
    // What runs a program of the deployment's own knows nothing of ours.
    (PROGRAM, Reach::Only(&[])),
    ("handoff-runtime", Reach::Only(&[ENGINE, PROTOCOL])),
    ("handoff-runtime-", Reach::Only(&[ENGINE, PROTOCOL])),
    ("handoff-archive", Reach::Only(&[ENGINE, PROTOCOL])),
    (TESTKIT, Reach::Only(&[ENGINE, PROTOCOL])),
    ("handoff-simulator", Reach::Only(&[ENGINE, PROTOCOL, STORE_SQLITE, TESTKIT])),
    ("handoff-http", Reach::Only(&[ENGINE, PROTOCOL])),
    ("handoff-web", Reach::Only(&[ENGINE, PROTOCOL])),
    ("handoff-mcp", Reach::Only(&[ENGINE, PROTOCOL])),
    // What stands on the other side of the wire knows the rules and not the engine.
    ("handoff-client", Reach::Only(&[PROTOCOL])),
    // An instrument that shared code with what it measures would share its blind spots.
    ("handoff-conformance", Reach::Only(&[])),
    // What tests look at pages with knows nothing of ours.
    (BROWSER, Reach::Only(&[])),
    // So does what tests keep their data in.
    (CLUSTER, Reach::Only(&[])),
    // It starts what it loads, and what that keeps its data in.
    ("handoff-bench", Reach::Only(&[PROTOCOL, CLUSTER])),
    // The binaries put everything together.
    ("handoff-server", Reach::AllBut(&[CLI, TESTKIT, BROWSER, CLUSTER])),
    (CLI, Reach::AllBut(&[TESTKIT, BROWSER, CLUSTER])),
    // Examples show what a user may do, so they may use what a user may use.
    ("example-", Reach::AllBut(&[])),
    // These commands must run while every other crate is broken.
    ("xtask", Reach::Only(&[])),
];

/// Returns a line for each dependency that points upward or sideways, and for each crate that has no row in the table.
///
/// Dependencies of tests are free: a test may stand on anything.
pub(crate) fn find(metadata: &Metadata) -> Vec<String> {
    let members: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let Some(reach) = reach(&package.name) else {
            findings.push(format!("{} has no row in the table of layers (xtask/src/layers/downward.rs)", package.name));
            continue;
        };
        let ours = package.dependencies.iter().filter(|dependency| {
            dependency.kind.as_deref() != Some("dev") && members.contains(dependency.name.as_str())
        });
        for dependency in ours {
            if !reach.covers(&dependency.name) {
                findings.push(format!("{} must not depend on {}", package.name, dependency.name));
            }
        }
    }
    findings
}

fn reach(package: &str) -> Option<Reach> {
    let row = TABLE.iter().find(|(name, _)| package == *name || (name.ends_with('-') && package.starts_with(name)))?;
    Some(row.1)
}

impl Reach {
    fn covers(self, dependency: &str) -> bool {
        match self {
            Self::Only(names) => names.contains(&dependency),
            Self::AllBut(names) => dependency.starts_with("handoff-") && !names.contains(&dependency),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line is a crate, the kind of its dependencies (`normal`, `dev`, `build`), and their names.
    fn workspace(lines: &[&str]) -> Metadata {
        let packages = lines
            .iter()
            .map(|line| {
                let mut words = line.split_whitespace();
                let name = words.next().unwrap_or_default().to_owned();
                let kind = words.next().filter(|kind| *kind != "normal").map(str::to_owned);
                let dependencies = words.map(|name| Dependency { name: name.to_owned(), kind: kind.clone() }).collect();
                Package { name, dependencies }
            })
            .collect();
        Metadata { packages }
    }

    #[test]
    fn the_layers_of_the_design_pass() {
        let metadata = workspace(&[
            "handoff-protocol normal serde",
            "handoff-engine normal handoff-protocol tokio",
            "handoff-store-sqlite normal handoff-engine handoff-protocol",
            "handoff-testkit normal handoff-engine handoff-protocol",
            "handoff-http normal handoff-engine handoff-protocol",
            "handoff-web normal handoff-engine",
            "handoff-client normal handoff-protocol",
            "handoff-server normal handoff-engine handoff-http handoff-web handoff-store-sqlite",
            "handoff-cli normal handoff-server handoff-client handoff-engine",
            "example-embed normal handoff-engine handoff-testkit",
            "xtask normal clap",
        ]);
        assert_eq!(find(&metadata), Vec::<String>::new());
    }

    #[test]
    fn an_upward_dependency_is_found() {
        let metadata = workspace(&["handoff-protocol normal handoff-engine", "handoff-engine normal"]);
        assert_eq!(find(&metadata), ["handoff-protocol must not depend on handoff-engine"]);
    }

    #[test]
    fn surfaces_do_not_know_each_other() {
        let metadata = workspace(&["handoff-http normal handoff-web", "handoff-web build handoff-http"]);
        assert_eq!(
            find(&metadata),
            ["handoff-http must not depend on handoff-web", "handoff-web must not depend on handoff-http"]
        );
    }

    #[test]
    fn no_product_stands_on_the_testkit_or_on_an_example() {
        let metadata = workspace(&[
            "handoff-server normal handoff-testkit handoff-cli",
            "handoff-cli normal handoff-testkit example-embed",
            "handoff-testkit normal",
            "example-embed normal",
        ]);
        assert_eq!(find(&metadata).len(), 4);
    }

    #[test]
    fn a_test_may_stand_on_anything() {
        let metadata = workspace(&["handoff-engine dev handoff-testkit", "handoff-testkit normal handoff-engine"]);
        assert_eq!(find(&metadata), Vec::<String>::new());
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        let findings = find(&workspace(&["handoff-utils normal"]));
        assert!(matches!(findings.as_slice(), [finding] if finding.starts_with("handoff-utils has no row")));
    }

    #[test]
    fn what_cargo_prints_is_understood() {
        let json = r#"{"packages": [{"name": "handoff-engine", "version": "0.1.0", "dependencies": [
            {"name": "handoff-http", "kind": null, "optional": false},
            {"name": "handoff-testkit", "kind": "dev"}]}, {"name": "handoff-http", "dependencies": []},
            {"name": "handoff-testkit", "dependencies": []}], "version": 1}"#;
        let metadata = Metadata::read(json).expect("it is what cargo prints");
        assert_eq!(find(&metadata), ["handoff-engine must not depend on handoff-http"]);
    }
}
