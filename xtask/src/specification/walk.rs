//! Rules, code and cases held against each other, in every direction.

use std::collections::BTreeMap;

use super::case::Case;
use super::chapter::{Link, Rule};
use super::declared::{declares, has_test};

/// The requirements that the protocol was given: a suite without one of them would prove less than it says.
const REQUIREMENTS: u8 = 26;

/// The invariants, likewise.
const INVARIANTS: u8 = 21;

/// Everything that does not lead where it says. `read` gives the text of a file of the tree.
pub(crate) fn links(rules: &[Rule], cases: &[Case], read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut files = BTreeMap::new();
    let mut text_of =
        |file: &str| -> Option<String> { files.entry(file.to_owned()).or_insert_with(|| read(file)).clone() };
    let mut findings = Vec::new();
    for rule in rules {
        let place = format!("{}: {}", rule.chapter, rule.id);
        if rule.implemented.is_empty() && !rule.is_requirement() {
            findings.push(format!("{place}: says nowhere what implements it"));
        }
        if rule.tested.is_empty() {
            findings.push(format!("{place}: says nowhere what tests it"));
        }
        for link in &rule.implemented {
            findings.extend(match text_of(&link.file) {
                None => Some(format!("{place}: {} is not there", link.file)),
                Some(text) if declares(&link.file, &text, &link.name) => None,
                Some(_) => Some(format!("{place}: {} declares no {}", link.file, link.name)),
            });
        }
        for link in &rule.tested {
            findings.extend(tested(rule, link, cases, text_of(&link.file)).map(|fault| format!("{place}: {fault}")));
        }
    }
    findings.extend(cases.iter().flat_map(|case| unanswered(case, rules)));
    findings.extend(missing(rules));
    findings
}

/// What is wrong with one link to what tests a rule.
fn tested(rule: &Rule, link: &Link, cases: &[Case], text: Option<String>) -> Option<String> {
    let Some(text) = text else { return Some(format!("{} is not there", link.file)) };
    if link.file.ends_with(".rs") {
        return (!has_test(&text, &link.name)).then(|| format!("{} has no test {}", link.file, link.name));
    }
    match cases.iter().find(|case| case.path == link.file) {
        None => Some(format!("{} is no case", link.file)),
        Some(case) if case.id != link.name => Some(format!("{} is the case {}, not {}", link.file, case.id, link.name)),
        Some(case) if !case.tested().any(|id| id == rule.id) => Some(format!("{} does not say so back", link.file)),
        Some(_) => None,
    }
}

/// What a case says it tests and nothing links to it for.
fn unanswered(case: &Case, rules: &[Rule]) -> Vec<String> {
    let mut findings: Vec<String> = case
        .tested()
        .filter_map(|id| match rules.iter().find(|rule| rule.id == id) {
            None => Some(format!("{}: tests {id}, which is no rule of the specification", case.path)),
            Some(rule) if rule.tested.iter().any(|link| link.file == case.path) => None,
            Some(rule) => Some(format!("{}: tests {id}, and {} does not link to it", case.path, rule.chapter)),
        })
        .collect();
    if case.tested().next().is_none() {
        findings.push(format!("{}: says of no rule that it tests it", case.path));
    }
    findings
}

/// Requirements and invariants that no chapter has.
fn missing(rules: &[Rule]) -> Vec<String> {
    let requirements = (1..=REQUIREMENTS).map(|number| format!("C-{number}")).chain(["C-6b".to_owned()]);
    let invariants = (1..=INVARIANTS).map(|number| format!("I{number}"));
    requirements
        .chain(invariants)
        .filter(|id| !rules.iter().any(|rule| rule.id == *id))
        .map(|id| format!("spec/decisions: has no {id}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::case;
    use crate::specification::chapter;

    const TEXT: &str = "### B-6 · Durations\n\nImplemented by [`parse`](../../src/a.rs). \
                        Tested by [`B-1`](../../conformance/cases/B-1.json), [`it_holds`](../../src/a.rs).\n";
    const SOURCE: &str = "fn parse() {}\n#[test]\nfn it_holds() {}\n";
    const CASE: &str = r#"{"case": "B-1", "rules": ["B-6"]}"#;

    fn found(text: &str, source: &str, case: &str) -> Vec<String> {
        let (mut rules, mut findings) = (Vec::new(), Vec::new());
        chapter::read("spec/decisions/01.md", text, &mut rules, &mut findings);
        let cases = [case::read("conformance/cases/B-1.json", case).expect("it is a case")];
        findings.extend(links(&rules, &cases, |path| match path {
            "src/a.rs" => Some(source.to_owned()),
            "conformance/cases/B-1.json" => Some(case.to_owned()),
            _ => None,
        }));
        findings.retain(|finding| !finding.starts_with("spec/decisions: has no "));
        findings
    }

    #[test]
    fn what_leads_where_it_says_is_no_finding() {
        assert_eq!(found(TEXT, SOURCE, CASE), Vec::<String>::new());
    }

    #[test]
    fn each_link_that_leads_nowhere_is_a_finding() {
        let place = "spec/decisions/01.md: B-6";
        assert_eq!(
            found(TEXT, "fn other() {}\n", CASE),
            [format!("{place}: src/a.rs declares no parse"), format!("{place}: src/a.rs has no test it_holds")]
        );
        assert_eq!(
            found(TEXT, SOURCE, r#"{"case": "B-1", "rules": ["B-7"]}"#),
            [
                format!("{place}: conformance/cases/B-1.json does not say so back"),
                "conformance/cases/B-1.json: tests B-7, which is no rule of the specification".to_owned()
            ]
        );
        assert_eq!(
            found("### B-6 · Durations\n\nText.\n", SOURCE, CASE),
            [
                format!("{place}: says nowhere what implements it"),
                format!("{place}: says nowhere what tests it"),
                "conformance/cases/B-1.json: tests B-6, and spec/decisions/01.md does not link to it".to_owned()
            ]
        );
    }

    #[test]
    fn a_requirement_that_no_chapter_has_is_missed() {
        let missing = missing(&[]);
        assert_eq!(missing.len(), 48);
        assert!(missing.contains(&"spec/decisions: has no C-6b".to_owned()), "{missing:?}");
    }
}
