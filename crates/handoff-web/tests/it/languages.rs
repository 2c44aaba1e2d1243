//! Languages, zones, and that no template says anything by itself.

use std::{fs, path::Path};

use handoff_protocol::principal::Role;

use crate::{
    html,
    world::{World, YES_NO, answer_form},
};

#[tokio::test]
async fn the_pages_speak_the_language_that_the_browser_asks_for() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let german = [("Accept-Language", "de-AT,de;q=0.9,en;q=0.5")];
    let page = ada.call("GET", &format!("/requests/{id}"), &german, "").await;
    page.is(200).says("Was Ihre Antwort bewirkt").says("Antwort senden").says("1. Januar 2026, 00:00 Uhr UTC");
    assert!(page.body.contains("<html lang=\"de\""));
    let form = answer_form(&page, id);
    let headers = [german[0], ("Origin", "http://handoff.test")];
    ada.post(&form.action, &headers, &form.encode()).await.is(422).says("Bitte wählen Sie eines.");
}

#[tokio::test]
async fn a_chosen_language_and_zone_are_remembered_and_lead_back() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get("/settings").await;
    let form = html::form(&page.is(200).body, "/settings");
    assert_eq!(form.get("back"), Some("/settings"));
    let path = format!("/requests/{id}");
    let body = format!("language=de&zone=Europe%2FBerlin&back={}", path.replace('/', "%2F"));
    let reply = ada.post("/settings", &[], &body).await;
    assert_eq!(reply.is(303).header("location"), Some(path.as_str()));
    let cookies: Vec<_> = reply.headers.iter().filter(|(name, _)| name == "set-cookie").collect();
    assert_eq!(cookies.len(), 2);
    assert!(cookies.iter().all(|(_, cookie)| cookie.ends_with("; HttpOnly; SameSite=Lax")), "{cookies:?}");
    ada.follow(&reply).await.says("1. Januar 2026, 01:00 Uhr UTC+1").says("Zeiten in Europe/Berlin");
    for (sent, location) in [
        ("back=https%3A%2F%2Fevil.example", "/"),
        ("back=%2F%2Fevil.example", "/"),
        ("back=%2F%5Cevil.example", "/"),
        ("language=xx&zone=Nowhere%2FCity", "/"),
    ] {
        let reply = ada.post("/settings", &[], sent).await;
        assert_eq!(reply.is(303).header("location"), Some(location), "{sent}");
        assert_eq!(reply.header("set-cookie"), None);
    }
    ada.post("/settings", &[("Origin", "https://evil.example")], "language=en").await.is(403);
}

#[test]
fn no_template_says_anything_by_itself() {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let mut seen = 0;
    for entry in fs::read_dir(templates).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        // What askama computes and what it leaves out, then every tag; attributes that people read or hear are words too.
        let text = without(&without(&without(&text, "{#", "#}"), "{%", "%}"), "{{", "}}");
        for attribute in ["title", "aria-label", "placeholder", "alt", "data-said", "data-counter"] {
            for (place, _) in text.match_indices(&format!(" {attribute}=\"")) {
                let value = text[place..].split('"').nth(1).unwrap();
                assert!(value.is_empty(), "{attribute}={value} in {path:?}");
            }
        }
        let said = without(&text, "<", ">").replace("&nbsp;", "");
        let letters: String = said.chars().filter(|letter| letter.is_alphabetic()).collect();
        assert_eq!(letters, "", "in {path:?}");
        seen += 1;
    }
    assert!(seen > 10);
}

fn without(text: &str, open: &str, close: &str) -> String {
    let mut parts = text.split(open);
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest.push_str(part.split_once(close).expect("what opens closes").1);
    }
    rest
}
