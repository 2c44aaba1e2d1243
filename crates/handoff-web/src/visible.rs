//! Text of others, so that it reads as it is written: one rule for everything that programs and people send.
//!
//! Characters that change what a reader sees without being seen themselves are shown by name instead: control characters
//! (with them the escape sequences of terminals), overrides, embeddings and isolates of the direction of writing, tags, and
//! what has no width. A title cannot make `approve` look like another word with them. What right-to-left languages need
//! stays: their letters, and the marks and joiners that these scripts are written with. The pages also set each such text
//! apart with `bdi`, so that its direction ends with it.
//!
//! What a person edits is not touched: an input holds exactly what will be sent.

use std::{borrow::Cow, collections::HashMap};

/// A text that stands on one line: line ends count as control characters.
pub(crate) fn line(text: &str) -> String {
    shown(text, false)
}

/// A text of any number of lines.
pub(crate) fn lines(text: &str) -> String {
    shown(&line_ends(text), true)
}

/// The line ends of other systems, as ours.
pub(crate) fn line_ends(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

/// Whether nothing of a text would be seen.
pub(crate) fn is_blank(text: &str) -> bool {
    skeleton(text).is_empty()
}

/// What of a text is seen: texts of one skeleton look alike.
pub(crate) fn skeleton(text: &str) -> String {
    let plain: String = text.chars().map(|character| if is_unseen(character) { ' ' } else { character }).collect();
    plain.split_whitespace().collect()
}

/// A text with every character that is not seen by name; brackets where there is none at all.
pub(crate) fn spelled(text: &str) -> String {
    if text.is_empty() {
        return "\u{27e8}\u{27e9}".to_owned();
    }
    let spell =
        |character| if is_unseen(character) && character != ' ' { name(character) } else { String::from(character) };
    text.chars().map(spell).collect()
}

/// Whether a character is not seen where it stands alone, whatever some scripts need it for.
fn is_unseen(character: char) -> bool {
    character.is_whitespace()
        || is_hidden(character)
        || matches!(character,
            // Joiners, marks of direction, Mongolian and other variation selectors, the blank pattern of Braille.
            '\u{200c}'..='\u{200f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{2800}')
}

/// How many marks may stand on one letter; no language needs more, and each paints further over its neighbors.
const MARKS: usize = 4;

/// Whether a character is drawn onto the one before it. Escapes for debugging know, by the tables of the standard library.
fn is_mark(character: char) -> bool {
    !character.is_ascii() && !character.is_alphanumeric() && character.escape_debug().len() > 1
}

fn shown(text: &str, keeps_lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks = 0_usize;
    for character in text.chars() {
        marks = if is_mark(character) { marks.saturating_add(1) } else { 0 };
        match character {
            '\n' | '\t' if keeps_lines => out.push(character),
            '\n' | '\t' => out.push(' '),
            hidden if is_hidden(hidden) || marks > MARKS => out.push_str(&name(hidden)),
            plain => out.push(plain),
        }
    }
    out
}

/// Whether a character changes what is seen without being seen.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            // Soft hyphen, combining grapheme joiner, Mongolian vowel separator.
            '\u{ad}' | '\u{34f}' | '\u{180e}'
            // No width; line and paragraph separators; overrides and embeddings.
            | '\u{200b}' | '\u{2028}'..='\u{202e}'
            // Invisible operators, isolates, deprecated format characters.
            | '\u{2060}'..='\u{206f}'
            // Khmer vowels that are none, and Hangul fillers, which print as nothing.
            | '\u{17b4}' | '\u{17b5}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            // Byte order mark, interlinear annotation, tags.
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A hidden character by name: the symbols that Unicode has for the first controls, the number for all others.
fn name(character: char) -> String {
    let code = u32::from(character);
    let symbol = match code {
        0..=0x1f => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    };
    symbol.map_or_else(|| format!("\u{27e8}U+{code:04X}\u{27e9}"), String::from)
}

/// Texts as people read them, each with the id of what it names: where two would look alike, each has its id beside it,
/// with what is not seen by name.
pub(crate) fn told_apart(named: Vec<(String, &str)>) -> Vec<String> {
    let skeletons: Vec<String> = named.iter().map(|(text, _)| skeleton(text)).collect();
    let mut alike: HashMap<&str, usize> = HashMap::new();
    for skeleton in &skeletons {
        let count = alike.entry(skeleton).or_default();
        *count = count.saturating_add(1);
    }
    let labels = named.into_iter().zip(&skeletons).map(|((text, id), skeleton)| {
        let is_alone = alike.get(skeleton.as_str()).is_none_or(|count| *count < 2);
        if is_alone { text } else { format!("{text} ({})", spelled(id)) }
    });
    labels.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_escapes_and_what_has_no_width_are_shown_by_name() {
        assert_eq!(line("a\u{202e}evorppa"), "a⟨U+202E⟩evorppa");
        assert_eq!(line("\u{1b}[31mred\u{0}\u{7f}\u{9b}"), "␛[31mred␀␡⟨U+009B⟩");
        assert_eq!(line("zero\u{200b}width\u{e0041}"), "zero⟨U+200B⟩width⟨U+E0041⟩");
        assert_eq!(line("two\nlines\r\n"), "two lines␍ ");
    }

    #[test]
    fn lines_keep_their_ends_and_nothing_else_that_is_hidden() {
        assert_eq!(lines("one\r\ntwo\rthree\n\tfour\u{2066}"), "one\ntwo\nthree\n\tfour⟨U+2066⟩");
    }

    #[test]
    fn marks_that_pile_up_on_one_letter_are_shown_by_name() {
        let piled = |count: usize| format!("Z{}x", "\u{301}".repeat(count));
        assert_eq!(line(&piled(4)), piled(4));
        assert_eq!(line(&piled(6)), format!("Z{}⟨U+0301⟩⟨U+0301⟩x", "\u{301}".repeat(4)));
        assert_eq!(lines("\u{489}".repeat(5).as_str()), format!("{}⟨U+0489⟩", "\u{489}".repeat(4)));
    }

    #[test]
    fn what_nobody_sees_is_blank_and_what_looks_alike_has_one_skeleton() {
        for text in [
            "",
            " \t\n",
            "\u{2800}",
            "\u{3164}\u{ffa0}",
            "\u{200d}\u{fe0f}",
            "\u{200e}",
            "\u{17b4}\u{180b}",
            "\u{e0101}",
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        assert!(!is_blank("a") && !is_blank("⠓") && !is_blank("\u{301}"));
        assert_eq!(skeleton("Ap\u{200d}prove\u{200b} it"), skeleton("Approve  it"));
        assert_eq!((spelled(""), spelled("a b\u{2800}")), ("⟨⟩".to_owned(), "a b⟨U+2800⟩".to_owned()));
    }

    #[test]
    fn what_people_write_in_any_script_stays() {
        for text in [
            "אישור של תשלום",
            "نعم، أوافق\u{200f}",
            "می\u{200c}خواهم",
            "👩\u{200d}🚀 ok",
            "naïve café ½ € 日本語",
            "क्षत्रिय ष्ट्र्य",
            "שָׁלוֹם",
            "ข้อมูลที่",
            "Việt ⠓⠊",
        ] {
            assert_eq!((line(text), lines(text)), (text.to_owned(), text.to_owned()));
        }
    }
}
