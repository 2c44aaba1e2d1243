//! What nodes tell each other, as the text of notifications.
//!
//! The first line names the node, and each further one a tenant, when its head was moved, and a topic. A line alone with an
//! asterisk says that something was missed; one with a number is a node's word to itself.

use std::{collections::HashMap, fmt::Write as _};

use handoff_engine::store::{Topic, Wake};
use handoff_protocol::id::TenantId;

/// How long a notification may be: the server takes less than 8000 bytes.
const LONGEST: usize = 7900;

/// The line that says that something was missed.
const MISSED: &str = "*";

/// Writes what is to be told, in as few texts as it takes. A topic that no text can hold becomes a word that something was
/// missed.
pub(super) fn write(
    node: &str,
    moved: &HashMap<TenantId, i64>,
    touched: impl IntoIterator<Item = (TenantId, Topic)>,
    missed: bool,
) -> Vec<String> {
    let mut texts = Vec::new();
    let mut text = node.to_owned();
    let mut missed = missed;
    for (tenant, topic) in touched {
        let moved_at = moved.get(&tenant).copied().unwrap_or_default();
        let line = format!("\n{tenant} {moved_at} {}", escape(topic.as_str()));
        if node.len().saturating_add(line.len()) > LONGEST {
            missed = true;
            continue;
        }
        if text.len().saturating_add(line.len()) > LONGEST {
            texts.push(std::mem::replace(&mut text, node.to_owned()));
        }
        text.push_str(&line);
    }
    if text.len() > node.len() {
        texts.push(text);
    }
    if missed {
        texts.push(format!("{node}\n{MISSED}"));
    }
    texts
}

/// A node's word to itself.
pub(super) fn beat(node: &str, number: u64) -> String {
    let mut text = node.to_owned();
    // Writing to a text does not fail.
    let _ = write!(text, "\n{number}");
    text
}

/// Which node a notification is from.
pub(super) fn sender(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

/// What a notification says.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Notice {
    /// Another node committed.
    Told(Told),
    /// This node's own commits, of which its waiters know.
    Own,
    /// This node's word to itself came back.
    Beat(u64),
}

/// What another node committed.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Told {
    /// Whom to wake.
    pub(super) wakes: Vec<Wake>,
    /// When heads of tenants were moved.
    pub(super) moved: HashMap<TenantId, i64>,
}

/// Reads a notification. What cannot be read may have been anything.
pub(super) fn read(node: &str, text: &str) -> Notice {
    let mut lines = text.split('\n');
    if lines.next() == Some(node) {
        return lines.next().and_then(|line| line.parse().ok()).map_or(Notice::Own, Notice::Beat);
    }
    let lines: Vec<&str> = lines.collect();
    if let [line] = lines.as_slice()
        && line.parse::<u64>().is_ok()
    {
        return Notice::Told(Told::default());
    }
    let mut told = Told::default();
    for line in lines {
        match read_line(line) {
            Some((tenant, moved_at, topic)) => {
                told.moved.insert(tenant, moved_at);
                told.wakes.push(Wake::Touched { tenant, topic });
            }
            None => told.wakes.push(Wake::Missed),
        }
    }
    Notice::Told(told)
}

fn read_line(line: &str) -> Option<(TenantId, i64, Topic)> {
    let (tenant, rest) = line.split_once(' ')?;
    let (moved_at, topic) = rest.split_once(' ')?;
    Some((TenantId::parse(tenant).ok()?, moved_at.parse().ok()?, Topic::new(unescape(topic))))
}

/// Without line ends and NUL.
fn escape(topic: &str) -> String {
    topic.replace('\\', "\\\\").replace('\n', "\\n").replace('\0', "\\0")
}

fn unescape(line: &str) -> String {
    let mut topic = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        topic.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('0') => '\0',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    topic
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(texts: &[String]) -> Vec<Wake> {
        texts
            .iter()
            .flat_map(|text| match read("me", text) {
                Notice::Told(told) => told.wakes,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn topics_of_any_kind_come_over_in_texts_that_the_server_takes() {
        let topics: Vec<_> = (0..2000)
            .map(|number| {
                (TenantId::System, Topic::new(format!("waiter/\\n{number}\n\0é \\ {}", "x".repeat(number % 50))))
            })
            .collect();
        let texts = write("other", &HashMap::from([(TenantId::System, 7)]), topics.clone(), false);
        assert!(texts.len() > 1 && texts.iter().all(|text| text.len() < 8000 && !text.contains('\0')));
        let expected: Vec<_> = topics.into_iter().map(|(tenant, topic)| Wake::Touched { tenant, topic }).collect();
        assert_eq!(read_all(&texts), expected);
    }

    #[test]
    fn what_is_too_long_or_cannot_be_read_is_told_as_missed() {
        let long = (TenantId::System, Topic::new("x".repeat(8000)));
        assert_eq!(read_all(&write("other", &HashMap::new(), [long], false)), [Wake::Missed]);
        assert_eq!(read_all(&write("other", &HashMap::new(), [], true)), [Wake::Missed]);
        assert_eq!(read_all(&["other\nnonsense".to_owned()]), [Wake::Missed]);
    }

    #[test]
    fn a_node_knows_its_own_words() {
        assert_eq!(read("me", &beat("me", 7)), Notice::Beat(7));
        assert_eq!(read("me", &beat("other", 7)), Notice::Told(Told::default()));
        let topic = (TenantId::System, Topic::new("a"));
        assert_eq!(read("me", &write("me", &HashMap::new(), [topic], false)[0]), Notice::Own);
    }
}
