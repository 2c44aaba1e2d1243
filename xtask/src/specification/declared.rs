//! Whether a Rust file declares a name. It reads lines, not syntax: enough for code that rustfmt has been over.

/// The words behind which a name is declared.
const KEYWORDS: [&str; 9] =
    ["fn ", "struct ", "enum ", "trait ", "const ", "static ", "type ", "mod ", "macro_rules! "];

/// Whether the text of a file declares the last segment of the path, as an item or as a variant, and names the one before
/// it, unless that is the file's own module.
pub(crate) fn declares(file: &str, text: &str, path: &str) -> bool {
    let path = path.trim_end_matches("()");
    let (owner, name) = path.rsplit_once("::").map_or((None, path), |(owner, name)| (Some(owner), name));
    let owner = owner.map(|owner| owner.rsplit("::").next().unwrap_or(owner));
    let is_module =
        |owner: &str| file.ends_with(&format!("/{owner}.rs")) || file.ends_with(&format!("/{owner}/mod.rs"));
    let owned = owner.is_none_or(|owner| is_module(owner) || text.lines().any(|line| contains_word(line, owner)));
    owned && text.lines().map(str::trim_start).any(|line| is_item(line, name) || is_variant(line, name))
}

/// Whether the text has a test function of this name.
pub(crate) fn has_test(text: &str, name: &str) -> bool {
    let mut after_attribute = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[") && line.contains("test") {
            after_attribute = true;
        } else if is_item(line, name) {
            // Tests that a macro makes stand in it without an attribute.
            return after_attribute || line.contains("async fn") || text.contains("proptest!");
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            after_attribute = false;
        }
    }
    false
}

fn is_item(line: &str, name: &str) -> bool {
    !line.starts_with("//")
        && KEYWORDS.iter().any(|keyword| {
            line.match_indices(keyword).any(|(begin, _)| {
                let before = line.get(..begin).unwrap_or_default();
                let after = line.get(begin + keyword.len()..).unwrap_or_default();
                (before.is_empty() || before.ends_with(' ')) && begins_with_word(after, name)
            })
        })
}

fn is_variant(line: &str, name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && begins_with_word(line, name)
        && line
            .get(name.len()..)
            .is_some_and(|rest| matches!(rest.trim_start().chars().next(), None | Some(',' | '(' | '{' | '=')))
}

fn begins_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_part_of_a_word))
}

fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(begin, _)| {
        let before = text.get(..begin).unwrap_or_default();
        let after = text.get(begin..).unwrap_or_default();
        !before.ends_with(is_part_of_a_word) && begins_with_word(after, word)
    })
}

fn is_part_of_a_word(next: char) -> bool {
    next.is_alphanumeric() || next == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "crates/p/src/duration.rs";
    const TEXT: &str = "
/// fn commented() {}
pub(crate) const fn parse(text: &str) {}
impl Duration {
    async fn add(self) {}
}
pub enum Fault {
    Lost,
    Torn { at: usize },
}
#[tokio::test]
async fn it_holds() {}
fn not_a_test() {}
";

    #[test]
    fn items_methods_and_variants_are_found() {
        for path in
            ["parse", "parse()", "duration::parse", "Duration::add", "Fault", "Fault::Lost", "crate::Fault::Torn"]
        {
            assert!(declares(FILE, TEXT, path), "{path}");
        }
    }

    #[test]
    fn what_is_only_mentioned_or_begins_alike_is_not() {
        for path in ["commented", "pars", "parse_all", "Timer::add", "Fault::Late", "text"] {
            assert!(!declares(FILE, TEXT, path), "{path}");
        }
    }

    #[test]
    fn a_test_is_marked_as_one() {
        assert!(has_test(TEXT, "it_holds"));
        assert!(!has_test(TEXT, "not_a_test"));
        assert!(!has_test(TEXT, "gone"));
    }
}
