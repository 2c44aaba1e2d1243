//! Absolute paths that exist on one machine only.

/// Directories in which people and machines keep checkouts; assembled, so that this file does not name them itself.
const ROOTS: [&str; 4] = [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/"), concat!("/", "tmp/")];

/// Says which path of one machine a line names.
///
/// The same words inside a longer path or an address (`/v1/work/outcomes`, `{base}/work/`) are somebody's route.
pub(crate) fn find(line: &str) -> Option<String> {
    let root = ROOTS.iter().find(|root| {
        line.match_indices(*root).any(|(at, _)| {
            let before = line.get(..at).and_then(|start| start.chars().next_back());
            before.is_none_or(|before| !continues_a_path(before))
        })
    })?;
    Some(format!("names a path of one machine ({root})"))
}

fn continues_a_path(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '~' | '/' | '}' | ')' | '>' | '*')
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn an_absolute_path_of_one_machine_is_found() {
        for line in
            ["/work/main", "cd /root/.cargo", "let x = \"/tmp/db\";", "(/home/ada/x)", "DB=/tmp/db", "a:/work/b"]
        {
            assert!(find(line).is_some(), "{line}");
        }
    }

    #[test]
    fn routes_and_relative_paths_are_not() {
        for line in
            ["POST /v1/work/outcomes", "{base}/work/x", "target/tmp/x", "../work/x", "/workspace", "/var/lib/handoff"]
        {
            assert_eq!(find(line), None, "{line}");
        }
    }

    #[test]
    fn a_later_occurrence_counts_too() {
        assert!(find("/v1/work/x is kept in /work/x").is_some());
    }
}
