//! The check that the specification, the code and the cases of the conformance suite are one thing.
//!
//! Each rule of `spec/decisions` names the function that implements it and the case or test that would miss it. The walk
//! opens every one of these places. What it read is also written, as `spec/map.json`, for whoever runs the cases without
//! this repository: the runner compares it with the cases before it calls anything.
//!
//! | module | what lives there |
//! |---|---|
//! | [`chapter`] | a chapter's rules, read from its Markdown |
//! | [`case`] | the heads of the case files |
//! | [`declared`] | whether a Rust file declares a name |
//! | [`map`] | `spec/map.json` |
//! | [`mentions`] | the rules that comments in the code name |
//! | [`walk`] | all of these held against each other |

mod case;
mod chapter;
mod declared;
mod map;
mod mentions;
mod walk;

use std::fs;
use std::path::Path;

use self::case::Case;
use self::chapter::Rule;
use crate::failure::{Failure, Findings};
use crate::run::Run;
use crate::tree::{files, read};

/// Where the chapters are.
const CHAPTERS: &str = "spec/decisions";

/// Where the cases are.
const CASES: &str = "conformance/cases";

/// Where the map is.
const MAP: &str = "spec/map.json";

/// Holds the specification against the code and the cases, and its map against it.
pub(crate) fn check(run: &Run) -> Result<(), Failure> {
    let root = run.root();
    let (rules, mut findings) = chapters(root)?;
    let cases = cases(root, &mut findings)?;
    let sources = sources(root)?;
    findings.extend(walk::links(&rules, &cases, |path| read(&root.join(path)).ok()));
    findings.extend(sources.iter().flat_map(|(path, text)| mentions::find(path, text, &rules)));
    if read(&root.join(MAP)).ok().as_deref() != Some(map::text(&rules).as_str()) {
        findings.push(format!("{MAP}: is not what the chapters say; run `cargo xtask spec`"));
    }
    println!("    {} rules and requirements, {} cases", rules.len(), cases.len());
    Findings::judge(findings)
}

/// Writes the map anew from the chapters.
pub(crate) fn write_map(run: &Run) -> Result<(), Failure> {
    let (rules, findings) = chapters(run.root())?;
    Findings::judge(findings)?;
    let path = run.root().join(MAP);
    fs::write(&path, map::text(&rules)).map_err(|source| Failure::Write { path, source })
}

/// The rules of all chapters, in their order, and what cannot be read of them.
fn chapters(root: &Path) -> Result<(Vec<Rule>, Vec<String>), Failure> {
    let mut rules = Vec::new();
    let mut findings = Vec::new();
    for path in files(root, CHAPTERS, "md")? {
        chapter::read(&path, &read(&root.join(&path))?, &mut rules, &mut findings);
    }
    if rules.is_empty() {
        findings.push(format!("{CHAPTERS}: has no rule, so nothing is proven"));
    }
    Ok((rules, findings))
}

fn cases(root: &Path, findings: &mut Vec<String>) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for path in files(root, CASES, "json")? {
        match case::read(&path, &read(&root.join(&path))?) {
            Ok(case) => cases.push(case),
            Err(finding) => findings.push(finding),
        }
    }
    Ok(cases)
}

/// The Rust files of the crates.
fn sources(root: &Path) -> Result<Vec<(String, String)>, Failure> {
    files(root, "crates", "rs")?.into_iter().map(|path| read(&root.join(&path)).map(|text| (path, text))).collect()
}
