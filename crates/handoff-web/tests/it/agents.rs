//! Whoever opens links without being asked to: scanners, previews, crawlers.

use handoff_protocol::principal::Role;

use crate::world::{World, YES_NO};

const AGENTS: [&str; 5] = [
    "Mozilla/5.0 (compatible; MailScanner/1.0; +https://scanner.example)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
    "curl/8.5.0",
    "",
];

#[tokio::test]
async fn twenty_gets_and_heads_by_five_user_agents_on_every_link_that_is_sent_change_nothing() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let person = world.person("Ada", Role::Editor).await;
    let links = [world.link(person, None).await, world.link(person, Some(id)).await];
    let before = world.snapshot().await;
    for link in links.iter().cloned().chain([format!("/requests/{id}"), "/".to_owned()]) {
        let mut seen = Vec::new();
        for agent in AGENTS {
            for round in 0..20 {
                let mut browser = world.browser();
                let method = if round % 2 == 0 { "GET" } else { "HEAD" };
                let reply = browser.call(method, &link, &[("User-Agent", agent)], "").await;
                assert_eq!(browser.cookie, None, "{agent}");
                seen.push((method, reply.status, reply.body));
            }
        }
        // Everybody is shown the same, and the head of a page has no body.
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 2, "{link}");
        assert!(seen.iter().any(|(method, _, body)| *method == "HEAD" && body.is_empty()));
    }
    assert_eq!(world.snapshot().await, before);
    for link in links {
        world.browser().post(&link, &[], "").await.is(303);
    }
}
