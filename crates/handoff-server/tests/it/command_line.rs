//! A command line that cannot be used is refused in words of ours: what stands on it may be a secret, or words for a person.

use crate::support::process::{handoffd, run};

const TENANT: &str = "org_01K3M7QW8ZC4YRXB2N6VD9FTHE";

/// Command lines with words in them that nobody is to read again, and what is said of each.
const REFUSED: &[(&[&str], &str)] = &[
    (
        &["inject-channel-message", "--request", "r", "--text", "Pay", "hunter2"],
        "put a text with blanks in it into quotes",
    ),
    (&["canonicalize", "--json", "1", "hunter2"], "a word stands where none is taken"),
    (&["canonicalize", "--json", "hunter2", "--path", "-"], "`--json <TEXT>` and `--path <FILE>` exclude each other"),
    (&["canonicalize"], "`<--path <FILE>|--json <TEXT>>` is missing"),
    (&["serve", "--", "hunter2"], "a word stands where none is taken"),
    (&["verify-chain", "--tenant", "hunter2"], "`--tenant <REF>`: expected `org_` followed by 26 characters"),
    (&["verify-chain", "--tenant", ""], "`--tenant <REF>`"),
    (&["verify-chain", "--tenat", TENANT], "an option is not known here; `--tenant` may have been meant"),
    (&["dev", "--port", "hunter2"], "`--port <PORT>`: expected a number from 0 to 65535"),
    (&["dev", "--port=70123"], "`--port <PORT>`: expected a number from 0 to 65535"),
    (&["dump-events", "--request", "a", "--request", "hunter2"], "`--request <ID>` is given more than once"),
    (&["dump-events", "--request", "a", "--long=hunter2"], "`--long` has a value too many"),
    (&["dump-events", "--request"], "`--request <ID>` needs a value"),
    (&["dump-events", "--long"], "`--request <ID>` is missing"),
    (&["--hunter2=hunter2"], "an option is not known here"),
    (&["-xhunter2"], "an option is not known here"),
    (&["hunter2"], "there is no such command"),
    (&["migrat"], "there is no such command; `migrate` may have been meant"),
    (&["config", "hunter2"], "there is no such command"),
    (&["help", "hunter2"], "there is no such command"),
    (&["continuation", "reseal", "--forget-key", "a", "hunter2"], "a word stands where none is taken"),
    (&["continuation"], "a command is missing"),
];

#[test]
fn nothing_that_stands_on_a_command_line_is_repeated_and_the_reason_says_what_is_wrong() {
    for (arguments, reason) in REFUSED {
        let output = run(arguments, &[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}: {said}");
        assert!(said.starts_with("handoffd: ") && said.lines().next().unwrap().contains(reason), "{said}");
        for word in ["hunter2", "Pay", "70123", TENANT] {
            assert!(!said.contains(word), "{arguments:?}: {said}");
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_text_is_refused_without_being_repeated() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    let output = handoffd(&["canonicalize", "--json"], &[]).arg(OsStr::from_bytes(b"hunter2\xff")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("handoffd: an argument is not UTF-8") && !said.contains("hunter2"), "{said}");
}
