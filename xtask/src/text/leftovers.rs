//! Marks of unfinished work: what is unfinished is absent from the tree.

/// Words that authors leave for later; assembled, so that this file does not contain them.
const WORDS: [&str; 2] = [concat!("FIX", "ME"), concat!("X", "XX")];

/// Macros that stand for code to be written.
const MACROS: [&str; 2] = [concat!("to", "do!("), concat!("un", "implemented!(")];

/// Says which word left for later a line of any text carries.
pub(crate) fn find_word(line: &str) -> Option<String> {
    let ends = |rest: &str| !rest.chars().next().is_some_and(in_a_word);
    WORDS.iter().find(|word| occurs(line, word, ends)).map(|word| report(word))
}

/// Says which macro for code to be written a line of Rust calls.
pub(crate) fn find_macro(line: &str) -> Option<String> {
    MACROS.iter().find(|call| occurs(line, call, |_| true)).map(|call| report(call))
}

fn report(mark: &str) -> String {
    format!("leaves work undone ({mark})")
}

/// Whether `mark` occurs in `line`, not as the end of a longer word, and followed by what `may_follow` accepts.
fn occurs(line: &str, mark: &str, may_follow: impl Fn(&str) -> bool) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before = line.get(..at).and_then(|start| start.chars().next_back());
        !before.is_some_and(in_a_word) && line.get(at + mark.len()..).is_some_and(&may_follow)
    })
}

fn in_a_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::{MACROS, WORDS, find_macro, find_word};

    #[test]
    fn each_mark_is_found() {
        for word in WORDS {
            assert!(find_word(&format!("// {word}: later")).is_some(), "{word}");
        }
        for call in MACROS {
            assert!(find_macro(&format!("    std::{call})")).is_some(), "{call}");
        }
    }

    #[test]
    fn longer_words_are_not_marks() {
        for word in WORDS {
            assert_eq!(find_word(&format!("name.{word}{word} {word}_ A{word}")), None);
        }
        for call in MACROS {
            assert_eq!(find_macro(&format!("not_a_{call})")), None);
        }
    }
}
