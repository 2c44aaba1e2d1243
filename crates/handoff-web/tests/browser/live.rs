//! Pages that keep up while they are open.

use handoff_browser::Look;
use handoff_protocol::{id::PrincipalId, json::read_str, principal::Role};
use serde_json::Value;

use crate::stage::{Stage, YES_NO};

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_shows_what_is_raised_and_drops_what_is_settled_without_taking_the_focus() {
    let Some(stage) = Stage::new().await else { return };
    let first = stage.ask("First", YES_NO).await;
    let page = stage.entered("Ada", &Look::desktop()).await;
    page.says("First").unwrap();
    page.evaluate("document.querySelector('.inbox a').focus()").unwrap();
    let second = stage.ask("Second", r#"[{"name":"a","type":"boolean"}]"#).await;
    page.says("Second").unwrap();
    page.until("the change is said", "document.getElementById('live').textContent === 'The list has changed.'")
        .unwrap();
    assert!(page.focus().unwrap().contains("First"), "the focus stays where it was");
    let reason = read_str(r#"{"reason":"done"}"#).unwrap();
    stage.engine.cancel(&stage.machine, second, reason.clone(), None).await.unwrap();
    page.until("the second is gone", "!document.body.innerText.includes('Second')").unwrap();
    stage.engine.cancel(&stage.machine, first, reason, None).await.unwrap();
    page.says("Nothing waits for you.").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_settled_elsewhere_says_so_and_takes_no_answer() {
    let Some(stage) = Stage::new().await else { return };
    let id = stage.ask("Refund?", YES_NO).await;
    let ada = stage.entered("Ada", &Look::desktop()).await;
    let bob = stage.entered("Bob", &Look::phone()).await;
    ada.open(&stage.address(id)).unwrap();
    bob.open(&stage.address(id)).unwrap();
    bob.click("[name='v.decision']").unwrap();
    bob.click("form.answer button.primary").unwrap();
    bob.says("Bob decided this on").unwrap();
    ada.says("This has been settled while you were reading").unwrap();
    ada.says("Bob decided this on").unwrap();
    ada.says("Nothing was sent from here.").unwrap();
    let disabled = "[...document.querySelectorAll('#answer button, #answer textarea')].every((one) => one.disabled)";
    assert_eq!(ada.evaluate(disabled).unwrap(), Value::Bool(true));
    ada.click("#live a").unwrap();
    ada.says("Download proof").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_changes_says_so_and_keeps_what_was_filled_in() {
    let Some(stage) = Stage::new().await else { return };
    let id = stage.ask("Pay 10?", YES_NO).await;
    let ada = stage.entered("Ada", &Look::desktop()).await;
    ada.open(&stage.address(id)).unwrap();
    ada.click("#note").unwrap();
    ada.write("half a thought").unwrap();
    let body = read_str(r#"{"prompt":{"title":"Pay 1000?"}}"#).unwrap();
    stage.engine.amend(&stage.machine, id, body, None).await.unwrap();
    ada.says("The question has changed while you were reading").unwrap();
    let kept = ada.evaluate("document.getElementById('note').value").unwrap();
    assert_eq!(kept, Value::from("half a thought"));
    let barred = "document.querySelector('#answer button').disabled && !document.getElementById('note').disabled";
    assert_eq!(ada.evaluate(barred).unwrap(), Value::Bool(true), "what changed cannot be answered from here");
    ada.click("#live a").unwrap();
    ada.says("Pay 1000?").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_signed_out_meanwhile_is_told_and_keeps_what_was_filled_in() {
    let Some(stage) = Stage::new().await else { return };
    let id = stage.ask("Pay 10?", YES_NO).await;
    let person = stage.person("Ada", Role::Editor).await;
    let ada = stage.window(&Look::desktop());
    ada.open(&stage.link(person, Some(id)).await).unwrap();
    ada.click("main form button").unwrap();
    ada.says("Pay 10?").unwrap();
    ada.click("#note").unwrap();
    ada.write("half a thought").unwrap();
    stage.engine.end_sessions(stage.tenant, PrincipalId::User(person)).await.unwrap();
    let body = read_str(r#"{"prompt":{"title":"Pay 1000?"}}"#).unwrap();
    stage.engine.amend(&stage.machine, id, body, None).await.unwrap();
    ada.says("You are not signed in any more").unwrap();
    let kept = ada.evaluate("document.getElementById('note').value").unwrap();
    assert_eq!(kept, Value::from("half a thought"));
}
