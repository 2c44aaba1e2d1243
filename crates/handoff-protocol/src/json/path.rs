//! Where in a document something stands: an owned path for reports, a borrowed one for the way down.

use std::fmt;

/// One step of a [`JsonPath`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Segment {
    /// Into an object, by the name of a member.
    Key(String),
    /// Into an array, by place.
    Index(usize),
}

/// A place in a document, shown as `prompt.evidence[0].value`.
///
/// Names that are long or hold anything but `A-Z a-z 0-9 _ . -` are shown as `?`: a path ends up in messages, and
/// messages echo nothing that was submitted. The segments keep them whole.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct JsonPath(Vec<Segment>);

impl JsonPath {
    /// Gives the steps from the root down.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Gives the name of the top-level member that the path leads through, if the root is an object.
    #[must_use]
    pub fn first_key(&self) -> Option<&str> {
        match self.0.first() {
            Some(Segment::Key(name)) => Some(name),
            _ => None,
        }
    }

    /// Tells whether the path is that of the document itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(name) => write_key(f, name, depth == 0)?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A place in a document on the way down: a chain of borrowed steps that costs nothing until it is shown.
///
/// A text becomes a path as it stands, so a reader that starts in the middle can be told where:
/// `Path::from("requires.answer")`. The empty text is the root.
#[derive(Clone, Copy, Debug)]
pub struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Prefix(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The document itself.
    pub const ROOT: Path<'static> = Path { parent: None, step: Step::Prefix("") };

    /// Steps into an object.
    #[must_use]
    pub fn key(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Key(name) }
    }

    /// Steps into an array.
    #[must_use]
    pub fn index(&'p self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }

    /// Tells whether this is the document itself.
    fn is_root(&self) -> bool {
        matches!(self.step, Step::Prefix(""))
    }

    /// Makes the owned path; a text that the path began with becomes one key.
    #[must_use]
    pub fn to_owned(&self) -> JsonPath {
        let mut segments = Vec::new();
        let mut here = Some(self);
        while let Some(path) = here {
            match path.step {
                Step::Prefix("") => {}
                Step::Prefix(name) | Step::Key(name) => segments.push(Segment::Key(name.to_owned())),
                Step::Index(index) => segments.push(Segment::Index(index)),
            }
            here = path.parent;
        }
        segments.reverse();
        JsonPath(segments)
    }
}

impl<'p> From<&'p str> for Path<'p> {
    fn from(prefix: &'p str) -> Self {
        Self { parent: None, step: Step::Prefix(prefix) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Prefix(prefix) => f.write_str(prefix),
            Step::Key(name) => write_key(f, name, self.parent.is_none_or(Path::is_root)),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

fn write_key(f: &mut fmt::Formatter<'_>, name: &str, first: bool) -> fmt::Result {
    if !first {
        f.write_str(".")?;
    }
    f.write_str(if is_showable(name) { name } else { "?" })
}

/// Tells whether a name from outside may appear in a message.
pub(super) fn is_showable(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_path_read_the_same() {
        let root = Path::ROOT;
        let prompt = root.key("prompt");
        let evidence = prompt.key("evidence");
        let item = evidence.index(0);
        let value = item.key("value");
        assert_eq!(value.to_string(), "prompt.evidence[0].value");
        assert_eq!(value.to_owned().to_string(), "prompt.evidence[0].value");
        assert_eq!(value.to_owned().first_key(), Some("prompt"));
        assert_eq!(root.to_string(), "");
        assert!(root.to_owned().is_root());
    }

    #[test]
    fn a_prefix_is_shown_as_it_stands() {
        let prefix = Path::from("requires.answer");
        assert_eq!(prefix.key("fields").to_string(), "requires.answer.fields");
    }

    #[test]
    fn names_that_could_carry_anything_are_not_shown() {
        let root = Path::ROOT;
        for name in ["", "with space", "línea", "line\nbreak", &"x".repeat(65)] {
            let path = root.key(name);
            assert_eq!(path.to_string(), "?");
            assert_eq!(path.to_owned().first_key(), Some(name));
        }
        assert_eq!(root.key(&"x".repeat(64)).to_string().len(), 64);
    }
}
