//! Absolute paths that exist on one machine only.

/// Directories in which people and machines keep checkouts; assembled, so that this file does not name them itself.
const ROOTS: [&str; 4] = [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/"), concat!("/", "tmp/")];

/// Says which path of one machine a line names.
///
/// The same words inside a longer path or an address are somebody's route.
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
    use super::{ROOTS, find};

    #[test]
    fn an_absolute_path_of_one_machine_is_found() {
        for root in ROOTS {
            for line in [format!("{root}x"), format!("cd {root}x"), format!("(\"{root}x\")"), format!("a={root}x:b")] {
                assert!(find(&line).is_some(), "{line}");
            }
        }
    }

    #[test]
    fn routes_and_relative_paths_are_not() {
        for root in ROOTS {
            for line in
                [format!("POST /v1{root}x"), format!("{{base}}{root}x"), format!("..{root}x"), format!("target{root}")]
            {
                assert_eq!(find(&line), None, "{line}");
            }
        }
        assert_eq!(find("/workspace and /var/lib/handoff"), None);
    }

    #[test]
    fn a_later_occurrence_counts_too() {
        let [root, ..] = ROOTS;
        assert!(find(&format!("/v1{root}x is kept in {root}x")).is_some());
    }
}
