//! The demo: README's first command.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{
    bench::{self, bare, http},
    form::Form,
};

#[tokio::test(flavor = "multi_thread")]
async fn it_needs_nobody_and_keeps_every_promise() {
    for (answer, label) in [("approve", "Refund €240"), ("reject", "Do not refund")] {
        let mut command = bare(&["demo", "--answer", answer]);
        // Nothing leaves this machine, not even to a proxy.
        command.env("HTTP_PROXY", "http://127.0.0.1:1").env("http_proxy", "http://127.0.0.1:1");
        let ran = bench::run(command, "").await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
        for promised in [
            "a program asks: Refund €240 for order 20417?",
            label,
            &format!(r#"gets the typed answer: {{"decision":"{answer}"}}"#),
            "first time true",
            "the same again: first time false",
            "another effect: refused, authorization_spent",
            "verifies offline",
            &format!("{answer} became {}", if answer == "approve" { "reject" } else { "approve" }),
            "--keep DIR",
            "height 1 rcpt_",
            "digest: the receipt does not have the digest that it records",
        ] {
            assert!(ran.out.contains(promised), "{promised}\n{}", ran.out);
        }
        assert!(ran.out.lines().count() <= 14, "few lines:\n{}", ran.out);
        assert!(
            !["hk_", "hp_", "hl_"].iter().any(|beginning| ran.out.contains(beginning)),
            "no token is shown:\n{}",
            ran.out
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_keeps_verifies_and_the_changed_copy_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let keep = directory.path().join("new/demo").display().to_string();
    assert_eq!(bench::run(bare(&["demo", "--answer", "approve", "--keep", &keep]), "").await.code, 0);
    let sound = bench::run(bare(&["verify", &format!("{keep}/export.json")]), "").await;
    assert_eq!(sound.code, 0, "{}", sound.out);
    let changed = bench::run(bare(&["verify", &format!("{keep}/export-changed.json")]), "").await;
    assert_eq!(changed.code, 8, "{}", changed.out);
    assert!(changed.out.contains("height 1 rcpt_"), "{}", changed.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_can_answer_instead() {
    let mut command = bare(&["demo"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let link = loop {
        let line = lines.next_line().await.unwrap().unwrap();
        if let Some((_, rest)) = line.split_once("http://localhost:")
            && rest.contains("/enter/")
        {
            break rest.trim().to_owned();
        }
    };
    let (port, path) = link.split_once('/').unwrap();
    let address = format!("127.0.0.1:{port}").parse().unwrap();

    let (head, _) = http(address, &format!("POST /{path}"), "", "").await;
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    let (page, cookie) = (header("location:"), header("set-cookie:"));
    let cookie = format!("cookie: {}\r\n", cookie.split(';').next().unwrap());
    let (_, html) = http(address, &format!("GET {page}"), &cookie, "").await;
    let mut form = Form::all(&html).into_iter().find(|form| form.action.as_ref() == Some(&page)).unwrap();
    assert!(form.choose("Do not refund"));
    let (head, _) = http(address, &format!("POST {page}"), &cookie, &form.body()).await;
    assert!(head.contains(" 303 "), "{head}");

    let mut rest = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        rest.push_str(&line);
    }
    assert!(rest.contains("you chose \"Do not refund\""), "{rest}");
    assert!(child.wait().await.unwrap().success());
}
