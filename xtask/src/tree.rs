//! The tree's files: their paths as seen from the root, their text.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A path that is written as seen from a file, as seen from the root.
pub(crate) fn resolve(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The files of an extension under a directory, seen from the root, sorted.
pub(crate) fn files(root: &Path, directory: &str, extension: &str) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(directory)];
    while let Some(place) = open.pop() {
        let failed = |source| Failure::Read { path: root.join(&place), source };
        for entry in fs::read_dir(root.join(&place)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = place.join(entry.file_name());
            if entry.file_type().map_err(failed)?.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|source| Failure::Read { path: path.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn paths_are_seen_from_the_root() {
        assert_eq!(resolve("spec/decisions/01.md", "../../crates/a/src/lib.rs"), "crates/a/src/lib.rs");
        assert_eq!(resolve("README.md", "./docs//api.md"), "docs/api.md");
    }
}
