//! Pages that tell the truth: to who comes late, to two at once; and links that nothing but a press uses up.

use std::{env, time::Duration};

use handoff_browser::Look;
use handoff_protocol::principal::Role;

use crate::stage::{Stage, YES_NO, sizes};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_opened_before_the_deadline_and_pressed_after_says_that_it_lapsed_when_and_that_nothing_was_done() {
    let Some(stage) = Stage::new().await else { return };
    for look in sizes() {
        let body = format!(
            r#"{{"waiter_ref":"w","prompt":{{"title":"Refund?"}},"requires":{{"v":1,"answer":{{"fields":{YES_NO}}}}},
                "ttl":"PT1H","ttl_policy":{{"on_expiry":"expire_and_deny"}}}}"#
        );
        let begun = stage.engine.now();
        let id = stage.raise(&body).await;
        // Without scripts, since the page would notice by itself otherwise.
        let page = stage.entered("Ada", &look.without_scripts()).await;
        page.open(&stage.address(id)).unwrap();
        page.click("[name='v.decision']").unwrap();
        stage.clock.advance(Duration::from_secs(3600));
        stage.engine.run_due_timers().await.unwrap();
        page.click("form.answer button.primary").unwrap();
        page.says("The time to answer is over").unwrap();
        let hour = begun.saturating_add(Duration::from_secs(3600)).to_string();
        let hour = hour.split_once('T').unwrap().1.get(..5).unwrap().to_owned();
        page.says(&format!("It lapsed on 1 January 2026, {hour} UTC, before your answer arrived, so nothing was done"))
            .unwrap();
        assert_eq!(stage.decided(id).await.as_deref(), Some("{}"), "nobody's answer");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_who_answer_at_once_each_see_the_truth() {
    let Some(stage) = Stage::new().await else { return };
    let id = stage.ask("Refund?", YES_NO).await;
    let windows = [
        stage.entered("Ada", &Look::desktop().without_scripts()).await,
        stage.entered("Bob", &Look::phone().without_scripts()).await,
    ];
    for (place, page) in windows.iter().enumerate() {
        page.open(&stage.address(id)).unwrap();
        page.click(&format!("label.choice:nth-of-type({}) input", place + 1)).unwrap();
    }
    std::thread::scope(|scope| {
        for page in &windows {
            scope.spawn(|| page.click("form.answer button.primary").unwrap());
        }
    });
    for page in &windows {
        page.says("Download proof").unwrap();
    }
    let decided = stage.decided(id).await.unwrap();
    let (winner, loser) = if decided.contains("approve") { (0, 1) } else { (1, 0) };
    let (names, labels) = (["Ada", "Bob"], ["Refund it", "Do not refund"]);
    let won = windows[winner].text().unwrap();
    assert!(won.contains(&format!("{} decided this on", names[winner])) && !won.contains("Somebody answered"), "{won}");
    let lost = windows[loser].text().unwrap();
    for words in
        ["Somebody answered before you", "Your answer was not recorded", &format!("{} answered on", names[winner])]
    {
        assert!(lost.contains(words), "{words} is not in {lost}");
    }
    for text in [won, lost] {
        assert!(text.contains(labels[winner]), "{text}");
    }
}

/// What a mail scanner does: opens each link in a browser, runs what is there, and waits to see what happens.
async fn scan(wait: Duration) {
    let Some(stage) = Stage::new().await else { return };
    let id = stage.ask("Refund?", YES_NO).await;
    let person = stage.person("Ada", Role::Editor).await;
    let links = [stage.link(person, None).await, stage.link(person, Some(id)).await];
    let before = stage.snapshot().await;
    let mut windows = Vec::new();
    for address in
        links.iter().cloned().chain([stage.base.clone(), stage.address(id), format!("{}/settings", stage.base)])
    {
        let page = stage.window(&Look::desktop().agent("Mozilla/5.0 (compatible; MailScanner/1.0)"));
        page.open(&address).unwrap();
        windows.push((address, page));
    }
    tokio::time::sleep(wait).await;
    for (address, page) in &windows {
        assert_eq!(
            page.address().unwrap().trim_end_matches('/'),
            address.trim_end_matches('/'),
            "nothing moved on by itself"
        );
    }
    assert_eq!(stage.snapshot().await, before);
    // Both links are as good as new.
    for link in links {
        let page = stage.window(&Look::phone());
        page.open(&link).unwrap();
        page.click("main form button").unwrap();
        page.says("Refund?").unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scanner_that_runs_scripts_and_does_not_press_changes_nothing() {
    scan(Duration::from_millis(500)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "waits for half a minute, as scanners do; the test above waits half a second always"]
async fn a_scanner_that_waits_for_thirty_seconds_changes_nothing() {
    let seconds = if env::var_os("HANDOFF_FULL").is_some() { 30 } else { 1 };
    scan(Duration::from_secs(seconds)).await;
}
