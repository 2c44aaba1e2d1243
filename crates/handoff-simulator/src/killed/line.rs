//! How lines are written: words with tabs between them. What is told is the time, a verb and what it needs; what is
//! answered is whether it was done, and facts, each a name and a value.

/// What a node answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// It was done, and these are facts that came of it.
    Done(Vec<(String, String)>),
    /// It was refused, with this code.
    Refused(String),
}

impl Answer {
    /// As a line.
    #[must_use]
    pub fn to_line(&self) -> String {
        match self {
            Self::Done(facts) => {
                facts.iter().fold("done".to_owned(), |line, (name, value)| format!("{line}\t{name}={value}"))
            }
            Self::Refused(code) => format!("refused\t{code}"),
        }
    }

    /// From a line, if it is a whole one.
    #[must_use]
    pub fn from_line(line: &str) -> Option<Self> {
        let mut words = line.strip_suffix('\n')?.split('\t');
        match words.next()? {
            "done" => {
                let fact = |word: &str| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
                words.map(fact).collect::<Option<_>>().map(Self::Done)
            }
            "refused" => Some(Self::Refused(words.next()?.to_owned())),
            _ => None,
        }
    }

    /// The values of a name, in order.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let facts = if let Self::Done(facts) = self { facts.as_slice() } else { &[] };
        facts.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written_and_half_a_line_is_none() {
        let facts = vec![("receipt".to_owned(), "rec_1".to_owned()), ("a".to_owned(), "b=c".to_owned())];
        for answer in [Answer::Done(Vec::new()), Answer::Done(facts), Answer::Refused("already_answered".to_owned())] {
            let line = answer.to_line() + "\n";
            assert_eq!(Answer::from_line(&line), Some(answer));
            assert_eq!(Answer::from_line(line.trim_end()), None);
        }
    }
}
