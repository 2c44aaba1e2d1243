//! No runtime, no database, no HTTP and no randomness below `handoff-protocol`.

use std::collections::BTreeSet;

/// Crates that touch the world.
const FORBIDDEN: &[&str] = &[
    "async-std",
    "axum",
    "getrandom",
    "hyper",
    "libsqlite3-sys",
    "mio",
    "rand",
    "reqwest",
    "rusqlite",
    "smol",
    "socket2",
    "sqlx",
    "tokio",
];

/// The first words of crates that come in families.
const FORBIDDEN_FAMILIES: &[&str] = &["sqlx-"];

/// Reads what `cargo tree --prefix none` printed for `package` and returns a line for each crate that must not be there.
///
/// A tree that does not begin with the package is a finding too: a check of nothing must not pass.
pub(crate) fn find(package: &str, tree: &str) -> Vec<String> {
    let mut names = tree.lines().filter_map(|line| line.split_whitespace().next());
    if names.next() != Some(package) {
        return vec![format!("the dependency tree of {package} cannot be read, so nothing is proven about it")];
    }
    let forbidden: BTreeSet<&str> = names.filter(|name| is_forbidden(name)).collect();
    forbidden.into_iter().map(|name| format!("{package} must stay pure, yet it depends on {name}")).collect()
}

fn is_forbidden(name: &str) -> bool {
    FORBIDDEN.contains(&name) || FORBIDDEN_FAMILIES.iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: &str = "\
handoff-protocol v0.1.0 (crates/handoff-protocol)
serde v1.0.229
serde_derive v1.0.229 (proc-macro)
tokio-like v1.0.0
serde v1.0.229 (*)
";

    #[test]
    fn a_clean_tree_passes() {
        assert_eq!(find("handoff-protocol", CLEAN), Vec::<String>::new());
    }

    #[test]
    fn a_planted_runtime_is_found_once() {
        let planted = format!("{CLEAN}tokio v1.54.1\nmio v1.2.0\ntokio v1.54.1 (*)\n");
        assert_eq!(
            find("handoff-protocol", &planted),
            [
                "handoff-protocol must stay pure, yet it depends on mio",
                "handoff-protocol must stay pure, yet it depends on tokio",
            ]
        );
    }

    #[test]
    fn every_crate_of_a_forbidden_family_is_found() {
        let planted = format!("{CLEAN}sqlx-core v0.9.0\n");
        assert_eq!(find("handoff-protocol", &planted).len(), 1);
    }

    #[test]
    fn a_tree_of_nothing_does_not_pass() {
        assert_eq!(find("handoff-protocol", "").len(), 1);
        assert_eq!(find("handoff-protocol", "handoff-engine v0.1.0\n").len(), 1);
    }
}
