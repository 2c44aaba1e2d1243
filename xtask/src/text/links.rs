//! Links of Markdown pages: what they point to within the tree is there, headings included.

use std::collections::BTreeSet;

use crate::tree::resolve;

/// What a link of a page points to within the tree.
#[derive(Debug, Eq, PartialEq)]
struct Target {
    /// The file or directory, seen from the root; empty for the page itself.
    path: String,
    /// The heading, as it stands in the address.
    anchor: Option<String>,
}

/// Links of the page that lead nowhere. `exists` knows the files and directories of the tree, `read` their text.
pub(crate) fn find(
    page: &str,
    text: &str,
    exists: impl Fn(&str) -> bool,
    read: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut findings = Vec::new();
    for (number, line) in prose(text) {
        for target in targets(page, line) {
            let path = if target.path.is_empty() { page } else { &target.path };
            if !exists(path) {
                findings.push(format!("{page}:{number}: links to {path}, which is not there"));
                continue;
            }
            let Some(anchor) = target.anchor.filter(|_| path.ends_with(".md")) else { continue };
            if !read(path).is_some_and(|text| anchors(&text).contains(&anchor)) {
                findings.push(format!("{page}:{number}: links to a heading of {path} that is not there: #{anchor}"));
            }
        }
    }
    findings
}

/// The lines outside code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            return None;
        }
        (!in_code).then_some((index + 1, line))
    })
}

/// What the links of a line point to, addresses of the network apart.
fn targets<'line>(page: &'line str, line: &'line str) -> impl Iterator<Item = Target> + 'line {
    line.split("](").skip(1).filter_map(move |rest| {
        let address = rest.split([')', ' ']).next()?;
        if address.contains(':') {
            return None;
        }
        let (path, anchor) = address.split_once('#').map_or((address, None), |(path, anchor)| (path, Some(anchor)));
        let path = if path.is_empty() { String::new() } else { resolve(page, path) };
        Some(Target { path, anchor: anchor.map(str::to_owned) })
    })
}

/// The addresses of a page's headings: small letters, blanks as hyphens, no punctuation, repeats numbered.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let address: String = heading
            .trim()
            .to_lowercase()
            .chars()
            .filter(|next| next.is_alphanumeric() || matches!(next, ' ' | '-' | '_'))
            .map(|next| if next == ' ' { '-' } else { next })
            .collect();
        let repeats = (1..).map(|number| format!("{address}-{number}"));
        let free = std::iter::once(address.clone()).chain(repeats).find(|address| !found.contains(address));
        found.extend(free);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::find;

    const OTHER: &str = "# B-6 · Durations\n\n## Again\n\n## Again\n\n```\n# no heading\n```\n";

    fn found(line: &str) -> Vec<String> {
        let exists = |path: &str| ["docs/a.md", "docs/b.md", "crates"].contains(&path);
        find("docs/a.md", line, exists, |_| Some(OTHER.to_owned()))
    }

    #[test]
    fn links_that_lead_somewhere_are_no_finding() {
        for line in [
            "[b](b.md)",
            "[b](b.md#b-6--durations), [c](../crates/) and [d](b.md#again-1)",
            "[web](https://example.com/x.md) [mail](mailto:a@example.com)",
            "```\n[nothing](nowhere.md)\n```",
        ] {
            assert_eq!(found(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn a_file_and_a_heading_that_are_not_there_are_named_with_their_line() {
        assert_eq!(
            found("one\n[c](c.md) [h](b.md#no-heading)"),
            [
                "docs/a.md:2: links to docs/c.md, which is not there",
                "docs/a.md:2: links to a heading of docs/b.md that is not there: #no-heading"
            ]
        );
    }
}
