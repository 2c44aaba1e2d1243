//! Planted faults are in no build that does not ask for them: each of their places is behind the feature.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

#[cfg(not(feature = "planted-faults"))]
use crate::support::process::run;

const GUARD: &str = r#"feature = "planted-faults""#;
/// How far above a place its guard may stand, in lines.
const NEAR: usize = 8;

#[cfg(not(feature = "planted-faults"))]
#[test]
fn a_build_that_nobody_asked_to_have_faults_knows_none() {
    let named = [("HANDOFF_PLANTED_FAULT", "second-answer-settles")];
    let version = String::from_utf8(run(&["--version"], &named).stdout).unwrap();
    assert!(!version.to_uppercase().contains("PLANTED"), "{version}");
    assert_eq!(run(&["planted-faults"], &named).status.code(), Some(2));
}

#[test]
fn every_place_of_a_fault_is_behind_the_feature() {
    let mut places = 0;
    for file in sources() {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("planted::")) {
            let above = &lines[at.saturating_sub(NEAR)..at];
            assert!(above.iter().any(|line| line.contains(GUARD)), "{}:{}: {line}", file.display(), at + 1);
            places += 1;
        }
    }
    assert!(places > 100, "{places}");
}

#[test]
fn every_fault_has_a_place_a_name_of_its_own_and_a_rule_of_the_specification() {
    let table = fs::read_to_string(root().join("crates/handoff-protocol/src/planted.rs")).unwrap();
    let faults: Vec<[&str; 3]> = table
        .lines()
        .filter_map(|line| {
            let (fault, texts) = line.trim().split_once(" = \"")?;
            let (name, rest) = texts.split_once("\", \"")?;
            Some([fault, name, rest.split_once('"')?.0])
        })
        .collect();
    assert!(faults.len() > 100, "{}", faults.len());
    let names: BTreeSet<&str> = faults.iter().map(|[_, name, _]| *name).collect();
    assert_eq!(names.len(), faults.len(), "names are distinct");
    let code: String = all().iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let chapters: String =
        files(&root().join("spec/decisions"), "md").iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for [fault, name, rule] in faults {
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'), "{name}");
        // What nothing calls, the compiler names.
        let places = ["{}.is_planted()", "Fault::{},", "Fault::{} =>", "Fault::{} if", "== Fault::{}", "Fault::{};"];
        let places = places.map(|place| place.replace("{}", fault));
        assert!(places.iter().any(|place| code.contains(place)), "{fault} has no place");
        assert!(chapters.contains(&format!("### {rule} · ")), "{fault} breaks no rule: {rule}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The sources of the product, without the modules that are behind the feature as a whole, and without the simulator, which
/// plants faults on purpose.
fn sources() -> Vec<PathBuf> {
    let is_product = |file: &PathBuf| {
        !file.ends_with("planted.rs") && !file.components().any(|part| part.as_os_str() == "handoff-simulator")
    };
    all().into_iter().filter(is_product).collect()
}

fn all() -> Vec<PathBuf> {
    let product = |name: &str| !matches!(name, "handoff-conformance");
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let crates = crates.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(product));
    crates.flat_map(|path| files(&path.join("src"), "rs")).collect()
}

fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files(&entry, extension));
        } else if entry.extension().is_some_and(|found| found == extension) {
            found.push(entry);
        }
    }
    found.sort();
    found
}
