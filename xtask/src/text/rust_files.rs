//! What a Rust file owes its reader: a bearable length, and a word on what the crate is.

/// Longer files say why in their head comment, after the word `Length:`.
const LONGEST: usize = 700;

/// Says what is wrong with a Rust file as a whole.
pub(crate) fn find(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > LONGEST && !head(text).any(|line| line.contains("Length:")) {
        findings.push(format!("has {lines} lines; split it, or say why not in the head comment, after `Length:`"));
    }
    if is_library_root(path) && !has_crate_doc(text) {
        findings.push("has no crate documentation at its top".to_owned());
    }
    findings
}

/// The index of the first line that belongs to tests; `usize::MAX` when there is none.
///
/// A file of tests is tests from its first line; in any other, a module under `#[cfg(test)]` with its body in place
/// comes last and runs to the end.
pub(crate) fn tests_begin(path: &str, text: &str) -> usize {
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or_default();
    if file == "tests.rs"
        || file.ends_with("_test.rs")
        || file.ends_with("_tests.rs")
        || parts.any(|part| part == "tests")
    {
        return 0;
    }
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let opens_module = |line: &str| line.starts_with("mod ") && line.ends_with('{');
    lines
        .windows(2)
        .position(|pair| matches!(pair, [attribute, module] if *attribute == "#[cfg(test)]" && opens_module(module)))
        .unwrap_or(usize::MAX)
}

/// The comments and inner attributes before the first item.
fn head(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with("//") || line.starts_with("#!["))
}

fn is_library_root(path: &str) -> bool {
    path.strip_prefix("crates/").and_then(|path| path.split_once('/')).is_some_and(|(_, file)| file == "src/lib.rs")
}

fn has_crate_doc(text: &str) -> bool {
    head(text).any(|line| {
        line.strip_prefix("//!").is_some_and(|doc| !doc.trim().is_empty()) || line.starts_with("#![doc = include_str!(")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = "crates/handoff-engine/src/lib.rs";

    #[test]
    fn a_long_file_must_give_its_reason() {
        let body = "fn f() {}\n".repeat(LONGEST);
        assert_eq!(find("crates/a/src/b.rs", &body), Vec::<String>::new());
        assert_eq!(find("crates/a/src/b.rs", &format!("//! A table.\n{body}")).len(), 1);
        assert_eq!(find("crates/a/src/b.rs", &format!("//! Length: one table.\n{body}")), Vec::<String>::new());
        assert_eq!(find("crates/a/src/b.rs", &format!("{body}// Length: too late here.\n")).len(), 1);
    }

    #[test]
    fn a_library_must_say_what_it_is() {
        assert_eq!(find(LIBRARY, "pub mod port;\n").len(), 1);
        assert_eq!(find(LIBRARY, "//!\npub mod port;\n").len(), 1);
        assert_eq!(find(LIBRARY, "// A license.\n#![doc = include_str!(\"../README.md\")]\n"), Vec::<String>::new());
        assert_eq!(find("crates/a/src/b.rs", "pub mod port;\n"), Vec::<String>::new());
    }

    #[test]
    fn tests_are_told_from_code() {
        assert_eq!(tests_begin("crates/a/tests/it.rs", "fn f() {}"), 0);
        assert_eq!(tests_begin("crates/a/src/answer/tests.rs", "fn f() {}"), 0);
        assert_eq!(tests_begin("crates/a/src/b.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n}\n"), 1);
        assert_eq!(tests_begin("crates/a/src/b.rs", "#[cfg(test)]\nmod tests;\nfn f() {}\n"), usize::MAX);
    }
}
