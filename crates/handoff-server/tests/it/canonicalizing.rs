//! `handoffd canonicalize`: bytes that a stranger can take a digest of, without any configuration.

use std::{
    fs,
    io::Write as _,
    process::{Output, Stdio},
};

use handoff_protocol::digest::Digest;

use crate::support::process::{handoffd, run};

/// A document, and its canonical form.
const FORMS: &[(&str, &str)] = &[
    (r#" { "b" : 4.0 , "a" : [ 3e2, -0.0, 0.10e1 ] } "#, r#"{"a":[300,0,1],"b":4}"#),
    // Above U+FFFF sorts before U+E000 to U+FFFF, and the empty name before all.
    (
        "{\"\u{e000}\":1,\"\u{1f600}\":2,\"\":3,\"a\":{\"z\":[],\"y\":{}}}",
        "{\"\":3,\"a\":{\"y\":{},\"z\":[]},\"\u{1f600}\":2,\"\u{e000}\":1}",
    ),
    ("\"\\u00e9\\/\\u0001\\n\\u001f\\u007f\\u2028\\ud83d\\ude00\"", "\"é/\\u0001\\n\\u001f\u{7f}\u{2028}😀\""),
    ("[9007199254740991,-9007199254740991]", "[9007199254740991,-9007199254740991]"),
    ("null", "null"),
    ("true", "true"),
    ("-0", "0"),
    ("-5", "-5"),
    ("\"\"", "\"\""),
    ("[]", "[]"),
    ("{}", "{}"),
];

/// What has no canonical form, and what is said of it; none of it is repeated.
const REFUSED: &[(&str, &str)] = &[
    ("1.5", "the value is not an integer"),
    (r#"{"amount":[1,{"hunter2 ":1e-1}]}"#, "`amount[1].?` is not an integer"),
    ("9007199254740992", "the value is out of the safe range of +/-9007199254740991"),
    ("-1234567890123456789012345678901234567890", "the value is out of the safe range"),
    ("1e400", "the value is out of the safe range"),
    ("", "unexpected end of the text at byte 0"),
    (r#"{"a":1,"a":1}"#, "duplicate member name at byte 7"),
    (r#"{"a":1,"b":{"c":1,"\u0063":2}}"#, "duplicate member name at byte 18"),
    (r#""\ud800""#, "lone surrogate escape"),
    (r#""\udc00hunter2""#, "lone surrogate escape"),
    ("[1,]", "expected a value"),
    ("01", "malformed number"),
    ("NaN", "expected a value"),
    ("{} {}", "unexpected text after the value"),
    ("\u{feff}{}", "unexpected byte order mark"),
];

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The standard input of a command with a document in it.
fn from_input(document: &[u8]) -> Output {
    let mut command = handoffd(&["canonicalize", "--path", "-"], &[]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(document).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_document_is_printed_with_its_length_and_its_digest_or_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("document.json");
    for (document, canonical) in FORMS {
        let alone = run(&["canonicalize", "--json", document], &[]);
        assert_eq!(text(&alone.stdout), *canonical, "exactly, without the end of a line");
        fs::write(&file, document).unwrap();
        let named = run(&["canonicalize", "--path", file.to_str().unwrap()], &[]);
        let lines = format!("{canonical}\nbytes={}\nsha256={}\n", canonical.len(), Digest::of(canonical).hex());
        assert_eq!(text(&named.stdout), lines);
        let piped = from_input(document.as_bytes());
        assert_eq!(text(&piped.stdout), lines);
        for output in [alone, named, piped] {
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        }
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "it makes no file");
}

#[test]
fn the_digest_of_a_known_document_is_the_one_that_other_programs_find() {
    let output = from_input(br#"{"a":1}"#);
    let digest = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862";
    assert_eq!(text(&output.stdout), format!("{{\"a\":1}}\nbytes=7\nsha256={digest}\n"));
}

#[test]
fn what_has_no_canonical_form_is_refused_by_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("document.json");
    for (document, words) in REFUSED {
        fs::write(&file, document).unwrap();
        for output in [
            run(&["canonicalize", "--json", document], &[]),
            run(&["canonicalize", "--path", file.to_str().unwrap()], &[]),
            from_input(document.as_bytes()),
        ] {
            let said = text(&output.stderr);
            assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""), "{document}");
            assert!(said.starts_with("handoffd: ") && said.contains(words) && said.lines().count() == 1, "{said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
    let output = from_input(b"\"\xff\"");
    assert!(!output.status.success() && text(&output.stderr).contains("invalid UTF-8 at byte 1"), "{output:?}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(text(&from_input(deep.as_bytes()).stderr).contains("nesting deeper than 128 levels"));
}

#[test]
fn exactly_one_document_is_asked_for_and_a_missing_file_is_named() {
    for arguments in [&["canonicalize"][..], &["canonicalize", "--json", "1", "--path", "-"]] {
        let output = run(arguments, &[]);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
        assert!(text(&output.stderr).starts_with("handoffd: "), "{output:?}");
    }
    let output = run(&["canonicalize", "--path", "nowhere/document.json"], &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.starts_with("handoffd: the document `nowhere/document.json` cannot be read: "), "{said}");
}

#[cfg(unix)]
#[test]
fn what_has_no_end_is_read_up_to_a_limit_and_refused_in_words() {
    let output = run(&["canonicalize", "--path", "/dev/zero"], &[]);
    let said = "handoffd: the document `/dev/zero` is longer than 16777216 bytes, the most that is read of one\n";
    assert_eq!((output.status.code(), text(&output.stdout), text(&output.stderr)), (Some(1), "", said));
    // One of exactly that length is read, however many values it has.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("document.json");
    let mut longest = format!("[{}0]", "0,".repeat(1_000_000));
    longest.push_str(&" ".repeat(16_777_216 - longest.len()));
    fs::write(&file, &longest).unwrap();
    let output = run(&["canonicalize", "--path", file.to_str().unwrap()], &[]);
    assert!(text(&output.stdout).contains("\nbytes=2000003\n"), "{}", text(&output.stderr));
    longest.push(' ');
    fs::write(&file, &longest).unwrap();
    assert_eq!(run(&["canonicalize", "--path", file.to_str().unwrap()], &[]).status.code(), Some(1));
}

#[test]
fn no_configuration_is_looked_at() {
    let broken = [("HANDOFF_DATABASE_URL", "nonsense"), ("HANDOFF_CONFIG", "/nowhere"), ("RUST_LOG", "=,=")];
    let output = run(&["canonicalize", "--json", "[2.0]"], &broken);
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("[2]", ""));
}

#[test]
fn what_the_documentation_says_is_printed_is_printed() {
    let page = include_str!("../../../../docs/operator-commands.md");
    let printed = from_input(br#"{"b":4.0,"a":[3e2,-0.0]}"#);
    assert!(page.contains(&format!("```text\n{}```", text(&printed.stdout))));
    let mut rows = 0;
    for row in page.lines().filter(|row| row.contains("handoffd: ") && row.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`').trim()).collect();
        let output = from_input(if cells[1] == "an empty file" { b"" } else { cells[1].as_bytes() });
        assert_eq!(text(&output.stderr).trim_end(), cells[2], "{row}");
        rows += 1;
    }
    assert_eq!(rows, 5);
}
