//! What a command exits with, so that a script can tell the endings apart.

/// How a command ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done,
    /// Something failed here, or the server's answer made no sense.
    Failed,
    /// The command line was wrong.
    Usage,
    /// The server refused.
    Refused,
    /// The server could not be reached.
    Unreachable,
    /// Nobody answered in time.
    Expired,
    /// The request was cancelled.
    Cancelled,
    /// Another request took its place.
    Superseded,
    /// Something is wrong with an export.
    NotVerified,
    /// The effect was redeemed before.
    Repeated,
    /// It was answered, and not as the effect needs it.
    NotRedeemed,
    /// The terminal went away while it waited.
    HungUp,
    /// Ctrl-C while it waited.
    Interrupted,
    /// Asked to end while it waited.
    Terminated,
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Unreachable => 4,
            Self::Expired => 5,
            Self::Cancelled => 6,
            Self::Superseded => 7,
            Self::NotVerified => 8,
            Self::Repeated => 9,
            Self::NotRedeemed => 10,
            // As a shell tells of a program that a signal ended: 128 and its number.
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

/// The table that `--help` shows.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done; a request was answered
  1  something failed here, or the response was not the protocol's
  2  the command line is wrong
  3  the server refused
  4  the server cannot be reached
  5  the request expired
  6  the request was cancelled
  7  the request was superseded
  8  an export does not verify
  9  the effect was redeemed before: do not repeat it
  10  the answer is not the one that --redeem-if names: nothing was redeemed
  129  the terminal went away while it waited
  130  interrupted (Ctrl-C) while it waited
  143  terminated while it waited";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_code_once() {
        let all = [
            Exit::Done,
            Exit::Failed,
            Exit::Usage,
            Exit::Refused,
            Exit::Unreachable,
            Exit::Expired,
            Exit::Cancelled,
            Exit::Superseded,
            Exit::NotVerified,
            Exit::Repeated,
            Exit::NotRedeemed,
            Exit::HungUp,
            Exit::Interrupted,
            Exit::Terminated,
        ];
        for exit in all {
            let row = format!("\n  {}  ", exit.code());
            assert_eq!(HELP.matches(&row).count(), 1, "{exit:?}");
        }
        assert_eq!(HELP.lines().count(), all.len() + 1);
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating.md")).unwrap();
        let (_, table) = page.split_once("## Exit codes of `handoff`").unwrap();
        let rows: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
        let named: Vec<&str> = rows.iter().flat_map(|row| row.split(", ")).collect();
        for exit in all {
            assert!(named.contains(&exit.code().to_string().as_str()), "{exit:?} is not in docs/operating.md");
        }
    }
}
