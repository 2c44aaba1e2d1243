//! A chapter's rules, read from its Markdown.
//!
//! A rule begins with a heading `### ID · Title` and ends with the next heading. Paragraphs that begin with
//! "Implemented by" and "Tested by" hold its links; one that begins with "Level:" says from which level on it binds.

use crate::tree::resolve;

/// What stands between the id and the title.
const BETWEEN: &str = " · ";

/// A rule, a requirement or an invariant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Rule {
    /// How it is referred to: `B-6`, `R5`, `C-6b`, `I12`.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// The chapter, seen from the root of the tree.
    pub chapter: String,
    /// The lowest level that it binds at.
    pub level: u8,
    /// Where it is implemented.
    pub implemented: Vec<Link>,
    /// What would miss it.
    pub tested: Vec<Link>,
}

/// A link to a name in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Link {
    /// The name, as it stands between backticks.
    pub name: String,
    /// The file, seen from the root of the tree.
    pub file: String,
}

impl Rule {
    /// Whether it is a requirement or an invariant: these say what must be shown, and are implemented by the rules.
    pub(crate) fn is_requirement(&self) -> bool {
        self.id.starts_with("C-") || self.is_invariant()
    }

    /// Whether it is an invariant.
    pub(crate) fn is_invariant(&self) -> bool {
        self.id.strip_prefix('I').is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit()))
    }
}

/// Reads a chapter and adds its rules, and what is wrong with them, to what was found before.
pub(crate) fn read(path: &str, text: &str, rules: &mut Vec<Rule>, findings: &mut Vec<String>) {
    let mut current: Option<Rule> = None;
    let mut in_code = false;
    let mut paragraph = String::new();
    for (index, line) in text.lines().chain([""]).enumerate() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        if !in_code && line.starts_with('#') {
            finish(&mut paragraph, &mut current, path, findings);
            rules.extend(current.take());
            if let Some(heading) = line.strip_prefix("### ") {
                match heading.split_once(BETWEEN) {
                    Some((id, title)) if is_id(id) => {
                        if let Some(first) = rules.iter().find(|rule| rule.id == id) {
                            findings.push(format!("{path}:{}: {id} stands in {} too", index + 1, first.chapter));
                        }
                        current = Some(Rule {
                            id: id.to_owned(),
                            title: title.trim().to_owned(),
                            chapter: path.to_owned(),
                            level: 1,
                            implemented: Vec::new(),
                            tested: Vec::new(),
                        });
                    }
                    _ => findings.push(format!("{path}:{}: a heading of this rank reads `### ID · Title`", index + 1)),
                }
            }
        } else if line.trim().is_empty() {
            finish(&mut paragraph, &mut current, path, findings);
        } else if !in_code {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    rules.extend(current);
}

/// Takes up a paragraph that has ended.
fn finish(paragraph: &mut String, rule: &mut Option<Rule>, path: &str, findings: &mut Vec<String>) {
    let text = std::mem::take(paragraph);
    let Some(rule) = rule else { return };
    if let Some(rest) = text.strip_prefix("Level:") {
        match rest.trim().trim_end_matches('.').parse() {
            Ok(level) => rule.level = level,
            Err(_) => findings.push(format!("{path}: {}: a level is a number", rule.id)),
        }
        return;
    }
    // Both may stand in one paragraph.
    let tested = text.find("Tested by");
    if text.starts_with("Implemented by") {
        let part = text.get(..tested.unwrap_or(text.len())).unwrap_or(&text);
        rule.implemented.extend(links(part, path));
    }
    if let Some(begin) = tested.filter(|begin| *begin == 0 || text.starts_with("Implemented by")) {
        rule.tested.extend(links(text.get(begin..).unwrap_or_default(), path));
    }
}

/// The links whose text is a name in backticks.
fn links(text: &str, chapter: &str) -> Vec<Link> {
    text.split("[`")
        .skip(1)
        .filter_map(|rest| {
            let (name, rest) = rest.split_once("`](")?;
            let (target, _) = rest.split_once(')')?;
            let target = target.split_once('#').map_or(target, |(file, _)| file);
            Some(Link { name: name.to_owned(), file: resolve(chapter, target) })
        })
        .collect()
}

/// Whether it looks like an id: capital letters, a hyphen or not, digits, one small letter at most.
fn is_id(text: &str) -> bool {
    let rest = text.trim_start_matches(|next: char| next.is_ascii_uppercase() || next == '-');
    let digits = rest.trim_end_matches(|last: char| last.is_ascii_lowercase());
    rest.len() < text.len()
        && rest.len() - digits.len() <= 1
        && !digits.is_empty()
        && digits.chars().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAPTER: &str = "# Foundations

Before the rules.

### B-6 · Durations

A duration is exact.

```text
### not a heading
```

Implemented by [`Duration::parse`](../../crates/p/src/duration.rs) and
[`add`](../../crates/p/src/add.rs#L3). Tested by [`durations`](../../conformance/cases/rules/durations.json).

### C-6b · Links

Level: 2.

Tested by [`C-6b`](../../conformance/cases/requirements/C-6b.json).

## Another part
";

    fn rules_of(text: &str) -> (Vec<Rule>, Vec<String>) {
        let (mut rules, mut findings) = (Vec::new(), Vec::new());
        read("spec/decisions/01.md", text, &mut rules, &mut findings);
        (rules, findings)
    }

    #[test]
    fn rules_come_with_their_links_as_seen_from_the_root() {
        let (rules, findings) = rules_of(CHAPTER);
        assert_eq!(findings, Vec::<String>::new());
        let names =
            |links: &[Link]| links.iter().map(|link| format!("{} {}", link.name, link.file)).collect::<Vec<_>>();
        assert_eq!(rules.len(), 2);
        assert_eq!((rules[0].id.as_str(), rules[0].title.as_str(), rules[0].level), ("B-6", "Durations", 1));
        assert_eq!(
            names(&rules[0].implemented),
            ["Duration::parse crates/p/src/duration.rs", "add crates/p/src/add.rs"]
        );
        assert_eq!(names(&rules[0].tested), ["durations conformance/cases/rules/durations.json"]);
        assert_eq!((rules[1].id.as_str(), rules[1].level), ("C-6b", 2));
        assert!(rules[1].is_requirement() && !rules[0].is_requirement());
    }

    #[test]
    fn a_rule_twice_and_a_heading_that_is_none_are_named_with_their_line() {
        let (_, findings) = rules_of("### B-6 · One\n\n### B-6 · Two\n\n### Of durations\n");
        assert_eq!(
            findings,
            [
                "spec/decisions/01.md:3: B-6 stands in spec/decisions/01.md too",
                "spec/decisions/01.md:5: a heading of this rank reads `### ID · Title`",
            ]
        );
    }

    #[test]
    fn ids_are_told_from_words() {
        for id in ["B-6", "R14", "C-6b", "K-S7", "LIM-1", "I21"] {
            assert!(is_id(id), "{id}");
        }
        for word in ["Durations", "B-", "6", "B-6bc", "b-6", ""] {
            assert!(!is_id(word), "{word}");
        }
    }
}
