//! Without a mouse.

use handoff_browser::{Key, Page};
use handoff_protocol::principal::Role;

use crate::stage::{Stage, YES_NO, sizes};

/// Presses Tab until the focus is on something that says this.
fn tab_to(page: &Page, what: &str) {
    let mut passed = Vec::new();
    for _ in 0..40 {
        page.press(Key::Tab).unwrap();
        let at = page.focus().unwrap();
        if at.contains(what) {
            return;
        }
        passed.push(at);
    }
    panic!("no way by keyboard to {what}: {passed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_done_by_keyboard_alone_with_scripts_and_without_at_both_sizes() {
    let Some(stage) = Stage::new().await else { return };
    for look in sizes().into_iter().flat_map(|look| [look.clone(), look.without_scripts()]) {
        let id = stage.ask("Refund by keyboard?", YES_NO).await;
        let person = stage.person("Ada", Role::Editor).await;
        let page = stage.window(&look);
        page.open(&stage.link(person, None).await).unwrap();
        tab_to(&page, "button");
        page.press(Key::Enter).unwrap();
        page.says("Refund by keyboard?").unwrap();
        // The first thing on every page leads past its frame.
        page.press(Key::Tab).unwrap();
        assert!(page.focus().unwrap().contains("Skip to content"));
        page.press(Key::Enter).unwrap();
        tab_to(&page, "Refund by keyboard?");
        page.press(Key::Enter).unwrap();
        page.says("Your answer lets the program").unwrap();
        tab_to(&page, "v.decision");
        page.press(Key::Space).unwrap();
        page.press(Key::Down).unwrap();
        tab_to(&page, "textarea note");
        page.write("By keyboard.").unwrap();
        tab_to(&page, "Send answer");
        page.press(Key::Enter).unwrap();
        page.says("Ada decided this on").unwrap();
        assert_eq!(stage.decided(id).await.as_deref(), Some(r#"{"decision":"reject"}"#));
        page.close().unwrap();
    }
}
