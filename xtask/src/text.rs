//! The check of the tree's text: what a reader of a public repository should not stumble over.
//!
//! It reads the files that git tracks, so what lies about in a working directory does not matter. Files that are not
//! UTF-8 are not text, and lock files are not ours to word.

mod dependencies;
mod leftovers;
mod links;
mod machine_paths;
mod rust_files;

use std::fs;
use std::path::PathBuf;

use crate::failure::{Failure, Findings};
use crate::run::{Run, capture};

/// The page that explains each dependency.
const DEPENDENCIES: &str = "docs/dependencies.md";

/// Runs all checks of text and reports all that they find.
pub(crate) fn check(run: &Run) -> Result<(), Failure> {
    let tracked = capture(&mut run.program("git", &["ls-files", "-z"]))?;
    let mut findings = Vec::new();
    for path in tracked.split('\0').filter(|path| !path.is_empty() && !path.ends_with(".lock")) {
        if let Some(text) = read(run.root().join(path))? {
            findings.extend(inspect(path, &text));
            if path.ends_with(".md") {
                let exists = |target: &str| run.root().join(target).exists();
                findings
                    .extend(links::find(path, &text, exists, |target| read(run.root().join(target)).ok().flatten()));
            }
        }
    }
    let manifest = read(run.root().join("Cargo.toml"))?.unwrap_or_default();
    let page = read(run.root().join(DEPENDENCIES))?.unwrap_or_default();
    findings.extend(dependencies::find(&manifest, DEPENDENCIES, &page));
    Findings::judge(findings)
}

/// Everything that can be said of one file.
fn inspect(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let rust = path.ends_with(".rs");
    let tests_begin = if rust { rust_files::tests_begin(path, text) } else { usize::MAX };
    for (index, line) in text.lines().enumerate() {
        let in_tests = index >= tests_begin;
        let faults = [
            leftovers::find_word(line),
            if rust { leftovers::find_macro(line) } else { None },
            if in_tests { None } else { machine_paths::find(line) },
        ];
        findings.extend(faults.into_iter().flatten().map(|fault| format!("{path}:{}: {fault}", index + 1)));
    }
    if rust {
        findings.extend(rust_files::find(path, text).into_iter().map(|fault| format!("{path}: {fault}")));
    }
    findings
}

/// The text of a file, or `None` where there is none: it is not UTF-8, or it was deleted and git does not know yet.
fn read(path: PathBuf) -> Result<Option<String>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = fs::read(&path).map_err(|source| Failure::Read { path, source })?;
    Ok(String::from_utf8(bytes).ok())
}

#[cfg(test)]
mod tests {
    use super::inspect;

    const LIBRARY: &str = "crates/handoff-engine/src/lib.rs";

    #[test]
    fn a_clean_library_passes() {
        assert_eq!(inspect(LIBRARY, "//! Use cases.\n\npub mod port;\n"), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_reported_with_its_place() {
        let text = format!("//! Use cases.\nconst PLACE: &str = \"/{}/main\";\n// {}ME: later\n", "work", "FIX");
        let findings = inspect(LIBRARY, &text);
        assert!(matches!(
            findings.as_slice(),
            [path, leftover] if path.starts_with("crates/handoff-engine/src/lib.rs:2: ")
                && leftover.starts_with("crates/handoff-engine/src/lib.rs:3: ")
        ));
    }

    #[test]
    fn tests_may_use_absolute_paths_as_data() {
        let text = "//! Use cases.\n\n#[cfg(test)]\nmod tests {\n    const PLACE: &str = \"/home/ada\";\n}\n";
        assert_eq!(inspect(LIBRARY, text), Vec::<String>::new());
        assert_eq!(inspect("crates/handoff-engine/tests/places.rs", "// \"/home/ada\"\n"), Vec::<String>::new());
        assert_eq!(inspect("docs/install.md", "Put it in /home/ada.\n").len(), 1);
    }
}
