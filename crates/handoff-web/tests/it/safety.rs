//! What must not work, and what browsers are told.

use handoff_protocol::{json::read_str, principal::Role};

use crate::{
    html,
    world::{World, YES_NO, answer_form},
};

#[tokio::test]
async fn reading_changes_nothing_by_any_method_over_every_link() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    world.engine.arm_attempt(&world.machine, id, read_str("{}").unwrap(), None).await.unwrap();
    let person = world.person("Bob", Role::Editor).await;
    let link = world.link(person, Some(id)).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let before = world.snapshot().await;
    let session = ada.cookie.clone();
    let mut seen = vec!["/".to_owned(), link.clone(), "/leave".to_owned(), format!("/requests/{id}/")];
    let mut next = 0;
    while let Some(path) = seen.get(next).cloned() {
        next += 1;
        for method in ["HEAD", "OPTIONS", "GET"] {
            let reply = ada.call(method, &path, &[], "").await;
            let links = html::tags(&reply.body);
            let links = links.iter().flat_map(|tag| [tag.get("href"), tag.get("action")]);
            for found in links.filter(|found| found.starts_with('/')).map(str::to_owned) {
                if !seen.contains(&found) {
                    seen.push(found);
                }
            }
        }
    }
    assert!(seen.contains(&format!("/requests/{id}")), "{seen:?}");
    assert_eq!(world.snapshot().await, before);
    assert_eq!(ada.cookie, session);
    ada.get("/").await.is(200);
    world.browser().post(&link, &[], "").await.is(303);
}

#[tokio::test]
async fn a_form_without_the_token_of_its_session_is_refused() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let mut bob = world.entered("Bob", Role::Editor).await;
    let path = format!("/requests/{id}");
    let (page, other) = (ada.get(&path).await, bob.get(&path).await);
    let form = answer_form(&page, id).pick("v.decision", "Refund it");
    let stolen = answer_form(&other, id).get("csrf").unwrap().to_owned();
    let own = form.get("csrf").unwrap().to_owned();
    assert_ne!(Some(&own), ada.cookie.as_ref(), "the token does not give the session away");
    for forged in [form.clone().without("csrf"), form.clone().forge("csrf", ""), form.clone().forge("csrf", &stolen)] {
        ada.send(&forged).await.is(403).says("This form cannot be accepted");
    }
    assert_eq!(world.decided(id).await, None);
    ada.post("/leave", &[], "").await.is(403);
    ada.get("/").await.is(200);
    ada.send(&form).await.is(303);
}

#[tokio::test]
async fn a_form_from_another_origin_is_refused() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let person = world.person("Bob", Role::Editor).await;
    let link = world.link(person, None).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).pick("v.decision", "Refund it");
    let leave = html::form(&page.body, "/leave");
    let host = world.address.to_string();
    let foreign = ["https://evil.example", "null", "", &format!("http://{host}.evil.example"), &host];
    for origin in foreign {
        let headers = [("Origin", origin)];
        ada.post(&form.action, &headers, &form.encode()).await.is(403).says("This form cannot be accepted");
        ada.post("/leave", &headers, &leave.encode()).await.is(403);
        world.browser().post(&link, &headers, "").await.is(403);
    }
    assert_eq!(world.decided(id).await, None);
    // Behind a proxy the host can be another than the public one; both are ours.
    world.browser().post(&link, &[("Origin", "http://handoff.test")], "").await.is(303);
    ada.post(&form.action, &[("Origin", "HTTP://Handoff.Test")], &form.encode()).await.is(303);
}

#[tokio::test]
async fn the_host_of_a_call_is_no_origin_of_ours_and_two_origins_are_none() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).pick("v.decision", "Refund it");
    let foreign: [&[(&str, &str)]; 4] = [
        &[("Host", "rebound.example"), ("Origin", "http://rebound.example")],
        &[("Origin", "http://handoff.test"), ("Origin", "https://evil.example")],
        &[("Origin", "http://handoff.test"), ("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "cross-site")],
    ];
    for headers in foreign {
        ada.post(&form.action, headers, &form.encode()).await.is(403).says("This form cannot be accepted");
    }
    assert_eq!(world.decided(id).await, None);
    let ours = [("Origin", "http://handoff.test"), ("Sec-Fetch-Site", "same-origin")];
    ada.post(&form.action, &ours, &form.encode()).await.is(303);
}

#[tokio::test]
async fn bodies_that_are_no_forms_are_refused() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).pick("v.decision", "Refund it");
    let (path, body) = (form.action.clone(), form.encode());
    ada.post(&path, &[], &format!("{body}&x=%FF")).await.is(400).says("could not be read");
    ada.post(&path, &[], &format!("{body}&x={}", "y".repeat(256 * 1024))).await.is(413).says("too large");
    ada.call("POST", &path, &[("Content-Type", "text/plain")], &body).await.is(415);
    ada.send(&form.clone().without("nonce")).await.is(400).says("could not be read");
    ada.send(&form.clone().forge("nonce", "")).await.is(400);
    ada.send(&form.clone().forge("rendered_digest", "nonsense")).await.is(400);
    assert_eq!(world.decided(id).await, None);
    let padding = 250 * 1024 - body.len();
    ada.post(&path, &[], &format!("{body}&x={}", "y".repeat(padding))).await.is(303);
}

#[tokio::test]
async fn every_page_forbids_scripts_frames_referrers_and_caches() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let pages = [
        "/".to_owned(),
        format!("/requests/{id}"),
        "/requests/x".to_owned(),
        "/enter/x".to_owned(),
        "/leave".to_owned(),
    ];
    for path in pages {
        let page = ada.get(&path).await;
        let policy = page.header("content-security-policy").unwrap();
        let (before, rest) = policy.split_once("style-src 'sha256-").unwrap();
        let (_, after) = rest.split_once('\'').unwrap();
        assert_eq!(before, "default-src 'none'; script-src 'self'; connect-src 'self'; ");
        assert_eq!(after, "; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"), "{path}");
        // Under `no-referrer` browsers send `Origin: null` with our own forms; the page lets them say the origin.
        assert!(page.body.contains(r#"<meta name="referrer" content="strict-origin">"#), "{path}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        for forbidden in ["<script>", " style=", " onclick", "http://", "//cdn"] {
            // The one address in the frame names the namespace of the icon.
            let body = page.body.replace("xmlns='http://www.w3.org/2000/svg'", "");
            assert!(!body.contains(forbidden), "{forbidden} on {path}");
        }
    }
}

#[tokio::test]
async fn the_script_is_kept_for_good_under_a_name_of_its_content() {
    let world = World::new().await;
    let page = world.browser().get("/").await;
    let tags = html::tags(&page.body);
    let scripts: Vec<_> = tags.iter().filter(|tag| tag.name == "script").collect();
    assert_eq!(scripts.len(), 1, "one script, and no other");
    let script = world.browser().get(scripts[0].get("src")).await;
    assert_eq!(script.is(200).header("content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(script.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(script.header("x-content-type-options"), Some("nosniff"));
}

#[tokio::test]
async fn methods_that_a_path_does_not_take_get_a_page() {
    let world = World::new().await;
    let mut browser = world.browser();
    browser.call("DELETE", "/", &[], "").await.is(405).says("That cannot be done here");
    browser.get("/leave").await.is(405);
}
