//! What only the text of a JSON document tells.
//!
//! The walk here expects text that `serde_json` has accepted. Of other text it tells something or nothing, and it never
//! panics.

use std::collections::BTreeSet;

/// The largest integer that every reader of JSON keeps exactly: 2^53 - 1 (N-1).
const SAFE: i64 = (1 << 53) - 1;

/// What is odd about a document.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Oddities {
    /// Where a name stands for the second time in its object.
    pub duplicates: Vec<String>,
    /// Where a number stands that is not written as a plain integer within the safe bounds, and how it is written.
    pub numbers: Vec<(String, String)>,
}

/// Looks through a whole document.
#[must_use]
pub fn scan(text: &str) -> Oddities {
    let mut oddities = Oddities::default();
    walk(text, &mut |found| match found {
        Found::Value { path, raw } if raw.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {
            if !plain(raw) {
                oddities.numbers.push((path.to_owned(), raw.to_owned()));
            }
        }
        Found::Value { .. } => {}
        Found::Duplicate { path } => oddities.duplicates.push(path.to_owned()),
    });
    oddities
}

/// The exact text of the part that a JSON pointer names.
#[must_use]
pub fn part<'text>(text: &'text str, pointer: &str) -> Option<&'text str> {
    let mut part = None;
    walk(text, &mut |found| {
        if let Found::Value { path, raw } = found
            && path == pointer
        {
            part = Some(raw);
        }
    });
    part
}

/// The exact texts of the elements of the array that a member of the whole holds.
#[must_use]
pub fn elements<'text>(text: &'text str, member: &str) -> Vec<&'text str> {
    let mut elements = Vec::new();
    walk(text, &mut |found| {
        if let Found::Value { path, raw } = found
            && let Some(("", rest)) = path.split_once('/')
            && let Some((name, index)) = rest.split_once('/')
            && name == member
            && index.bytes().all(|byte| byte.is_ascii_digit())
        {
            elements.push(raw);
        }
    });
    elements
}

/// Whether a number is written as an integer, without a sign on zero, that every reader keeps exactly.
fn plain(literal: &str) -> bool {
    literal != "-0" && literal.parse::<i64>().is_ok_and(|number| (-SAFE..=SAFE).contains(&number))
}

enum Found<'text, 'path> {
    /// A value is over, and so is everything within.
    Value { path: &'path str, raw: &'text str },
    /// A name stands again in its object.
    Duplicate { path: &'path str },
}

fn walk<'text>(text: &'text str, visit: &mut dyn FnMut(Found<'text, '_>)) {
    let mut walker = Walker { text, at: 0, path: String::new(), visit };
    let _ = walker.value();
}

struct Walker<'text, 'visit> {
    text: &'text str,
    at: usize,
    path: String,
    visit: &'visit mut dyn FnMut(Found<'text, '_>),
}

impl<'text> Walker<'text, '_> {
    /// Walks over one value. None where the text ends or is not JSON.
    fn value(&mut self) -> Option<()> {
        self.skip(|byte| byte.is_ascii_whitespace());
        let start = self.at;
        match self.peek()? {
            b'{' => self.object()?,
            b'[' => self.array()?,
            b'"' => {
                self.string()?;
            }
            _ => self.skip(|byte| !matches!(byte, b',' | b']' | b'}') && !byte.is_ascii_whitespace()),
        }
        let raw = self.text.get(start..self.at)?;
        (self.visit)(Found::Value { path: &self.path, raw });
        Some(())
    }

    fn object(&mut self) -> Option<()> {
        let mut names = BTreeSet::new();
        self.at += 1;
        loop {
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
            if self.peek()? == b'}' {
                self.at += 1;
                return Some(());
            }
            let name: String = serde_json::from_str(self.string()?).ok()?;
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b':');
            let outer = self.enter(&name);
            if !names.insert(name) {
                (self.visit)(Found::Duplicate { path: &self.path });
            }
            self.value()?;
            self.path.truncate(outer);
        }
    }

    fn array(&mut self) -> Option<()> {
        self.at += 1;
        for index in 0_usize.. {
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
            if self.peek()? == b']' {
                self.at += 1;
                break;
            }
            let outer = self.enter(&index.to_string());
            self.value()?;
            self.path.truncate(outer);
        }
        Some(())
    }

    /// The raw text of a string, its quotes included.
    fn string(&mut self) -> Option<&'text str> {
        let start = self.at;
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return self.text.get(start..self.at);
                }
                _ => self.at += 1,
            }
        }
    }

    /// Adds a part to the path, and returns how long it was before.
    fn enter(&mut self, name: &str) -> usize {
        let outer = self.path.len();
        self.path.push('/');
        self.path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        outer
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, of: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&of) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_given_twice_is_found_at_any_depth_however_it_is_spelled() {
        let text = r#"{"a":[{"b":1,"\u0062":2}],"c":{"a":1}}"#;
        assert_eq!(scan(text).duplicates, ["/a/0/b"]);
    }

    #[test]
    fn numbers_that_are_not_plain_integers_are_found_by_their_text() {
        let text =
            r#"[0,-1,9007199254740991,-9007199254740991,1.0,2e3,-0,9007199254740992,99999999999999999999,"1.5"]"#;
        let found: Vec<_> = scan(text).numbers.into_iter().map(|(_, raw)| raw).collect();
        assert_eq!(found, ["1.0", "2e3", "-0", "9007199254740992", "99999999999999999999"]);
    }

    #[test]
    fn a_part_is_cut_out_to_the_byte() {
        let text = r#"{ "a/b" : { "x" : [ 1 , "\u00e9]" ] } }"#;
        assert_eq!(part(text, "/a~1b"), Some(r#"{ "x" : [ 1 , "\u00e9]" ] }"#));
        assert_eq!(part(text, "/a~1b/x/1"), Some(r#""\u00e9]""#));
        assert_eq!(part(text, ""), Some(text));
        assert_eq!(part(text, "/nothing"), None);
        assert_eq!(elements(r#"{"data":[1, {"data":[2]}],"x":[3]}"#, "data"), ["1", r#"{"data":[2]}"#]);
    }

    #[test]
    fn text_that_is_not_json_is_survived() {
        for text in ["", "{", "[1,", "{\"a", "\"\\", "}", "{\"a\" 1 2"] {
            let _ = scan(text);
        }
    }
}
