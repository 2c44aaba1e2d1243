//! The rules that comments in the code name: each must be one that a reader finds in the specification.

use super::chapter::Rule;

/// The letters that rules of the decision protocol begin with, and whether a hyphen follows.
const FAMILIES: [(&str, bool); 28] = [
    ("B", true),
    ("N", true),
    ("LIM", true),
    ("T", true),
    ("P", true),
    ("SC", true),
    ("K", true),
    ("A", true),
    ("M", true),
    ("D", true),
    ("F", true),
    ("S", true),
    ("R", false),
    ("C", true),
    ("CL", true),
    ("O", true),
    ("V", true),
    ("W", false),
    ("X", true),
    ("E", true),
    ("Z", true),
    ("G", true),
    ("K-S", false),
    ("L", true),
    ("H", true),
    ("ER", true),
    ("HC", true),
    ("Q", true),
];

/// Names of rules in comments that no chapter has.
pub(crate) fn find(path: &str, text: &str, rules: &[Rule]) -> Vec<String> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((_, comment)) = line.split_once("//") else { continue };
        for word in comment.split(|next: char| !next.is_alphanumeric() && next != '-') {
            if is_mention(word) && !rules.iter().any(|rule| rule.id == word) {
                findings.push(format!("{path}:{}: names {word}, which is no rule of the specification", index + 1));
            }
        }
    }
    findings
}

/// Whether a word is the name of a rule.
fn is_mention(word: &str) -> bool {
    FAMILIES.iter().any(|(letters, hyphen)| {
        let rest =
            word.strip_prefix(letters).and_then(|rest| if *hyphen { rest.strip_prefix('-') } else { Some(rest) });
        rest.is_some_and(|rest| {
            let digits = rest.strip_suffix('b').unwrap_or(rest);
            (1..=2).contains(&digits.len()) && digits.chars().all(|digit| digit.is_ascii_digit())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_from_other_words_with_numbers() {
        for word in ["B-6", "R14", "K-S7", "C-6b", "ER-3", "W1"] {
            assert!(is_mention(word), "{word}");
        }
        for word in ["UTF-8", "SHA-256", "R", "B-", "PT4H", "P1D", "K-Sx", "ED25519", "R2024"] {
            assert!(!is_mention(word), "{word}");
        }
    }

    #[test]
    fn a_rule_that_no_chapter_has_is_named_with_its_line() {
        let text = "let a = 1;\n/// As rule B-99 says.\nlet b = \"B-98\";\n";
        assert_eq!(find("a.rs", text, &[]), ["a.rs:2: names B-99, which is no rule of the specification"]);
    }
}
