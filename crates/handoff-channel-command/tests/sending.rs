//! Deliveries through real programs.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use handoff_channel_command::CommandChannel;
use handoff_engine::channel::{Channel as _, Message};
use handoff_protocol::{
    decision::{
        Outgoing, SendReport,
        directory::{Person, Zone},
        terms::{AttemptOutcome, Urgency},
    },
    id::{DeliveryId, RequestId, UserId},
    json::{Json, read_str},
    secret::Secret,
};

const ADDRESS: &str = "anna+c4n4ry@example.com";

fn message() -> Message {
    let id = "01K3M7QW9A8ZC4YRXB2N6VD9FT";
    let person = Person {
        id: UserId::parse(&format!("usr_{id}")).unwrap(),
        display: Some("Anna".to_owned()),
        role: None,
        zone: Zone::parse("Europe/Berlin").unwrap(),
        quiet: None,
        contacts: Vec::new(),
    };
    let outgoing = Outgoing {
        delivery_id: DeliveryId::parse(&format!("dlv_{id}")).unwrap(),
        attempt: 2,
        request_id: RequestId::parse(&format!("req_{id}")).unwrap(),
        version: 1,
        channel: "pager".to_owned(),
        rung: 1,
        urgency: Urgency::High,
        title: "Refund \"240\"\nto 'order' $(id)?".to_owned(),
        body: None,
        expires_at: None,
        person,
        address: Secret::new(ADDRESS.to_owned()),
    };
    Message { outgoing, surface_url: "https://handoff.example.com/requests/req_1".to_owned() }
}

/// A channel through a shell that runs a script: to start a file that was just written can fail while other tests fork.
fn shell(folder: &Path, text: &str) -> CommandChannel {
    let path = folder.join("program");
    fs::write(&path, text).unwrap();
    CommandChannel::new("pager", "/bin/sh").argument(path)
}

async fn sent(text: &str) -> SendReport {
    let folder = tempfile::tempdir().unwrap();
    shell(folder.path(), text).send(&message()).await
}

#[tokio::test]
async fn a_program_gets_the_delivery_on_its_input_and_nothing_of_it_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let text = format!(
        "/bin/cat > {}; echo \"$@\" > {}; /usr/bin/env > {}; /bin/cat /proc/$$/cmdline > {} 2>/dev/null; exit 0",
        at("input"),
        at("arguments"),
        at("environment"),
        at("cmdline")
    );
    let channel = shell(folder.path(), &text).argument("--quietly").variable("PAGER_REGION", "north");
    assert_eq!(channel.send(&message()).await, SendReport::accepted().status("exit 0"));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let input = read_str(read("input").trim_end()).unwrap();
    for (member, value) in [
        ("type", "handoff.delivery"),
        ("address", ADDRESS),
        ("title", "Refund \"240\"\nto 'order' $(id)?"),
        ("urgency", "high"),
        ("surface_url", "https://handoff.example.com/requests/req_1"),
    ] {
        assert_eq!(input.get(member).and_then(Json::as_str), Some(value), "{member}");
    }
    assert_eq!(input.get("person").and_then(|person| person.get("time_zone")).unwrap().as_str(), Some("Europe/Berlin"));
    assert_eq!(read("arguments"), "--quietly\n");
    let environment = read("environment");
    assert!(environment.contains("PAGER_REGION=north"), "{environment}");
    // A shell sets a few of its own; nothing of this process is there.
    for (name, _) in
        std::env::vars().filter(|(name, _)| !["PWD", "SHLVL", "_", "OLDPWD", "PATH"].contains(&name.as_str()))
    {
        assert!(!environment.lines().any(|line| line.starts_with(&format!("{name}="))), "{name}");
    }
    for elsewhere in ["arguments", "environment", "cmdline"] {
        assert!(!read(elsewhere).contains("c4n4ry"), "{elsewhere}");
    }
}

#[tokio::test]
async fn the_exit_says_what_came_of_it() {
    for (text, outcome) in [
        ("exit 0", AttemptOutcome::Accepted),
        ("exec 0<&-; exit 0", AttemptOutcome::Accepted),
        ("exit 67", AttemptOutcome::PermanentFailure),
        ("exit 78", AttemptOutcome::Suppressed),
        ("exit 75", AttemptOutcome::TransientFailure),
        ("exit 1", AttemptOutcome::TransientFailure),
        ("kill -9 $$", AttemptOutcome::TransientFailure),
    ] {
        assert_eq!(sent(text).await.outcome(), outcome, "{text}");
    }
}

#[tokio::test]
async fn a_program_that_hangs_is_ended_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let channel = shell(folder.path(), &format!("while :; do : > {}; done", mark.display()));
    let channel = channel.time_limit(Duration::from_millis(300));
    let began = Instant::now();
    assert_eq!(channel.send(&message()).await.outcome(), AttemptOutcome::Timeout);
    assert!(began.elapsed() < Duration::from_secs(5));
    // It writes no more once it is gone, which takes the system a moment.
    for _ in 0..100 {
        fs::remove_file(&mark).unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(50)).await;
        if !mark.exists() {
            return;
        }
    }
    assert!(!mark.exists(), "the program runs on");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_a_channel_that_is_not_configured() {
    let report = CommandChannel::new("pager", "/nowhere/at/all").send(&message()).await;
    assert_eq!(report.outcome(), AttemptOutcome::Suppressed);
    assert!(!format!("{report:?}").contains("nowhere"));
}

#[tokio::test]
async fn a_program_that_exits_without_reading_took_the_message_once() {
    let folder = tempfile::tempdir().unwrap();
    // More than a pipe holds, and somebody holds the pipe open who never reads.
    let mut long = message();
    long.outgoing.body = Some("\u{1F600}".repeat(20_000));
    let channel = shell(folder.path(), "exec 3<&0; /bin/sleep 5 <&3 &\nexit 0").time_limit(Duration::from_secs(4));
    assert_eq!(channel.send(&long).await, SendReport::accepted().status("exit 0"));
}

#[tokio::test]
async fn what_a_program_started_ends_with_it_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = format!("while :; do : > {}; done &\n/bin/sleep 600", mark.display());
    let channel = shell(folder.path(), &script).time_limit(Duration::from_millis(300));
    assert_eq!(channel.send(&message()).await.outcome(), AttemptOutcome::Timeout);
    for _ in 0..100 {
        fs::remove_file(&mark).unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(50)).await;
        if !mark.exists() {
            return;
        }
    }
    panic!("what the program started runs on");
}
