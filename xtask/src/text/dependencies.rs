//! Every dependency is a decision, and `docs/dependencies.md` says why it was taken.

use std::collections::BTreeSet;

/// The table of the manifest that holds the dependencies of the workspace.
const TABLE: &str = "workspace.dependencies";

/// Compares the dependencies of the workspace's manifest with the rows of the page, in both directions.
pub(crate) fn find(manifest: &str, path: &str, page: &str) -> Vec<String> {
    let declared = declared(manifest);
    if declared.is_empty() {
        return vec![format!("Cargo.toml: no [{TABLE}] was found, so nothing is proven about {path}")];
    }
    let explained = explained(page);
    let missing = declared.difference(&explained).map(|name| format!("{path}: has no row for {name}"));
    let stale = explained.difference(&declared).map(|name| format!("{path}: explains {name}, which nothing uses"));
    missing.chain(stale).collect()
}

/// The names of the dependencies that are not our own crates.
///
/// It reads the plain TOML that the manifest is written in: `name = …`, `name.key = …` and `[workspace.dependencies.name]`.
fn declared(manifest: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    let mut depth = 0_usize;
    for line in manifest.lines().map(str::trim) {
        let starts_a_value = depth == 0;
        if starts_a_value && line.starts_with('[') {
            let header = line.split(']').next().unwrap_or_default().trim_start_matches('[').trim();
            inside = header == TABLE;
            let own_table = header.strip_prefix(TABLE).and_then(|rest| rest.strip_prefix('.'));
            names.extend(own_table.map(|name| name.trim_matches('"')));
        } else if inside {
            if starts_a_value && !line.starts_with('#') {
                let name = line.split_once('=').map(|(key, _)| key.split('.').next().unwrap_or(key).trim());
                names.extend(name.map(|name| name.trim_matches('"')));
            }
            // A list of features may go on over several lines.
            let opened = line.matches(['[', '{']).count();
            let closed = line.matches([']', '}']).count();
            depth = (depth + opened).saturating_sub(closed);
        }
    }
    names.retain(|name| !name.starts_with("handoff-"));
    names
}

/// The names that begin a row of a table: a row reads "| `name` | …".
fn explained(page: &str) -> BTreeSet<&str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .filter(|(_, rest)| rest.chars().any(char::is_alphanumeric))
        .map(|(name, _)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
[workspace]
members = ["xtask"]

[workspace.dependencies]
handoff-engine = { path = "crates/handoff-engine" }
# A comment = nothing
bytes = "1"
tokio = { version = "1", features = [
    "sync", # a = b
    "time",
] }
serde.version = "1"

[workspace.dependencies.axum]
version = "0.8"

[workspace.lints.rust]
unsafe_code = "forbid"
"#;

    const PAGE: &str = "\
| crate | why |
|---|---|
| `axum` | routes |
| `bytes` | buffers |
| `serde` | wire types |
| `tokio` | runtime |
";

    #[test]
    fn a_page_with_a_row_for_each_passes() {
        assert_eq!(find(MANIFEST, "page.md", PAGE), Vec::<String>::new());
    }

    #[test]
    fn a_dependency_without_a_row_is_found() {
        let page = PAGE.replace("| `axum` | routes |\n", "`axum` is mentioned in passing\n| `bytes` |  |\n");
        assert_eq!(find(MANIFEST, "page.md", &page), ["page.md: has no row for axum"]);
    }

    #[test]
    fn an_empty_row_explains_nothing() {
        let page = PAGE.replace("| `axum` | routes |", "| `axum` |  |");
        assert_eq!(find(MANIFEST, "page.md", &page), ["page.md: has no row for axum"]);
    }

    #[test]
    fn a_row_without_a_dependency_is_found() {
        let page = format!("{PAGE}| `sqlx` | another store |\n");
        assert_eq!(find(MANIFEST, "page.md", &page), ["page.md: explains sqlx, which nothing uses"]);
    }

    #[test]
    fn a_manifest_without_dependencies_does_not_pass() {
        assert_eq!(find("[workspace]\n", "page.md", PAGE).len(), 1);
    }
}
