//! Text that means harm is text.

use handoff_browser::Look;
use serde_json::Value;

use crate::stage::{Stage, sizes};

#[tokio::test(flavor = "multi_thread")]
async fn hostile_titles_bodies_labels_and_options_render_as_text() {
    let Some(stage) = Stage::new().await else { return };
    let hostile = r#"</title></textarea><script>alert(1)</script><img src=x onerror=alert(2)>\" onmouseover=\"alert(3) \u202eevorppa\u202c \u001b[31mred {{7*7}} [x](javascript:alert(4))"#;
    let body = format!(
        r#"{{"waiter_ref":"<img src=x onerror=alert(5)>","prompt":{{"title":"{hostile}","body":"{hostile}\n\n[y](javascript:alert(6)) <svg onload=alert(7)>","evidence":[
            {{"kind":"link","label":"{hostile}","url":"javascript:alert(8)"}},
            {{"kind":"text","label":"T","value":"{hostile}"}},
            {{"kind":"table","label":"{hostile}","value":{{"columns":["{hostile}"],"rows":[["{hostile}"]]}}}}]}},
            "requires":{{"v":1,"authority":{{"reason":"{hostile}"}},"answer":{{"fields":[
            {{"name":"a","label":"{hostile}","help":"{hostile}","type":"text"}},
            {{"name":"b","label":"{hostile}","type":"choice","required":true,"options":[{{"id":"</option><script>alert(9)</script>","label":"{hostile}"}}]}}]}}}}}}"#
    );
    let id = stage.raise(&body).await;
    let page = stage.entered("<b>Mallory</b>\u{202e}", &Look::desktop()).await;
    for address in [stage.base.clone(), stage.address(id)] {
        page.open(&address).unwrap();
        page.says("<script>alert(1)</script><img src=x onerror=alert(2)>").unwrap();
        page.says("⟨U+202E⟩evorppa⟨U+202C⟩ ␛[31mred {{7*7}}").unwrap();
        check(&page);
    }
    page.click("[name='v.b']").unwrap();
    page.click("form.answer button.primary").unwrap();
    page.says("Download proof").unwrap();
    check(&page);
}

fn check(page: &handoff_browser::Page) {
    assert_eq!(page.events("Page.javascriptDialogOpening"), Vec::<Value>::new());
    let planted = "document.querySelectorAll('img, script:not([src]), main svg, main b, [onerror], [onload], [onmouseover], a[href^=javascript]').length";
    assert_eq!(page.evaluate(planted).unwrap(), Value::from(0));
    let hidden = "/[\\u202a-\\u202e\\u2066-\\u2069\\u001b]/.test(document.body.innerText + document.title)";
    assert_eq!(page.evaluate(hidden).unwrap(), Value::Bool(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn text_from_right_to_left_reads_from_right_to_left_and_ends_with_itself() {
    let Some(stage) = Stage::new().await else { return };
    let fields = r#"[{"name":"d","label":"החלטה","type":"choice","required":true,"options":[{"id":"a","label":"לאשר 100 ₪"},{"id":"b","label":"לדחות"}]}]"#;
    let id = stage.raise(&format!(
        r#"{{"waiter_ref":"w","prompt":{{"title":"לאשר את התשלום?","body":"שלום, זה תשלום של 100 ₪.\n\n- אחד\n- שתיים"}},"requires":{{"v":1,"answer":{{"fields":{fields}}}}}}}"#
    )).await;
    let page = stage.entered("Ada", &Look::phone()).await;
    page.open(&stage.address(id)).unwrap();
    let direction = |selector: &str| {
        page.evaluate(&format!("getComputedStyle(document.querySelector('{selector}')).direction")).unwrap()
    };
    assert_eq!(direction("h1 bdi"), Value::from("rtl"));
    assert_eq!(direction(".body p"), Value::from("rtl"));
    assert_eq!(direction(".choice bdi"), Value::from("rtl"));
    assert_eq!(direction(".by"), Value::from("ltr"));
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_piles_up_or_never_breaks_stays_within_its_place() {
    let Some(stage) = Stage::new().await else { return };
    let piled = "Z\u{33f}\u{30d}\u{32e}\u{35a}\u{311}\u{315}\u{303}".repeat(20);
    let wide = "W".repeat(180);
    let options = format!(
        r#"[{{"id":"a","label":"{piled}"}},{{"id":"b","label":"{wide}"}},{{"id":"c","label":"{}"}}]"#,
        "\u{fdfd}".repeat(100)
    );
    let fields = format!(r#"[{{"name":"d","label":"{piled}","type":"choice","required":true,"options":{options}}}]"#);
    let ids = [stage.ask(&piled, &fields).await, stage.ask(&wide, &fields.replace("true", "false")).await];
    for look in sizes() {
        let page = stage.entered("Ada", &look).await;
        for address in [stage.base.clone(), stage.address(ids[0]), stage.address(ids[1])] {
            page.open(&address).unwrap();
            let fits = "[...document.querySelectorAll('html, main, .card, .choice')].every((one) => one.scrollWidth <= one.clientWidth + 1)";
            assert_eq!(page.evaluate(fits).unwrap(), Value::Bool(true), "{address}");
            let clipped = "[...document.querySelectorAll('.choice, .inbox li')].every((one) => getComputedStyle(one).overflowY === 'clip')";
            assert_eq!(page.evaluate(clipped).unwrap(), Value::Bool(true), "{address}");
        }
    }
}
