//! Finding a value by RFC 6901 pointer.

use super::Json;

impl Json {
    /// Follows a JSON pointer (RFC 6901): the empty text is the value itself, `/a/0` the first item of member `a`.
    ///
    /// Nothing comes back for a pointer that leads nowhere, and none for one that is malformed.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |here, token| match here {
            Self::Object(object) if token.contains('~') => object.get(&unescape(token)?),
            Self::Object(object) => object.get(token),
            Self::Array(items) => items.get(place(token)?),
            _ => None,
        })
    }
}

fn unescape(token: &str) -> Option<String> {
    let mut name = String::with_capacity(token.len());
    let mut characters = token.chars();
    while let Some(character) = characters.next() {
        name.push(match character {
            '~' => match characters.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            plain => plain,
        });
    }
    Some(name)
}

fn place(token: &str) -> Option<usize> {
    let canonical = token == "0" || (token.starts_with(|c: char| ('1'..='9').contains(&c)));
    if canonical { token.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::{Json, read_str};

    #[test]
    fn pointers_follow_names_places_and_escapes() {
        let value = read_str(r#"{"a":[{"b":1},2],"m~n":3,"x/y":4,"":5,"0":6}"#).unwrap();
        let at = |pointer: &str| value.pointer(pointer).map(Json::to_text);
        assert_eq!(at("/a/0/b").as_deref(), Some("1"));
        assert_eq!(at("/a/1").as_deref(), Some("2"));
        assert_eq!(at("/m~0n").as_deref(), Some("3"));
        assert_eq!(at("/x~1y").as_deref(), Some("4"));
        assert_eq!(at("/").as_deref(), Some("5"));
        assert_eq!(at("/0").as_deref(), Some("6"));
        assert_eq!(value.pointer(""), Some(&value));
    }

    #[test]
    fn pointers_that_lead_nowhere_find_nothing() {
        let value = read_str(r#"{"a":[1,2]}"#).unwrap();
        for pointer in ["a", "/b", "/a/2", "/a/01", "/a/-", "/a/+1", "/a/", "/a/0/0", "/~2", "/~"] {
            assert_eq!(value.pointer(pointer), None, "{pointer}");
        }
    }
}
