//! Durations over HTTP: exact spans come to the right instant however long they are, and nothing else is one.

use std::time::Duration;

use handoff_protocol::timestamp::Timestamp;

use crate::world::{World, question};

const DAY: u64 = 24 * 60 * 60;

#[tokio::test]
async fn a_long_deadline_is_the_right_instant_and_stops_at_the_last_one() {
    let world = World::new().await;
    for (ttl, seconds) in [
        ("PT2S", 2),
        ("P1D", DAY),
        ("PT24H", DAY),
        // Beyond what a count of milliseconds in 32 bits can hold.
        ("P25D", 25 * DAY),
        ("P400D", 400 * DAY),
        ("P100W", 700 * DAY),
        ("P18446744073709551615D", u64::MAX),
        ("PT18446744073709551615S", u64::MAX),
    ] {
        let body = question(ttl, "Ship it?").replace(r#""PT1H""#, &format!(r#""{ttl}""#));
        let raised = world.post("/v1/requests", body).token(&world.home.machine).expect(201).await;
        let created = Timestamp::parse(&raised.str("created_at")).unwrap();
        let expires = Timestamp::parse(&raised.str("expires_at")).unwrap();
        assert_eq!(expires, created.saturating_add(Duration::from_secs(seconds)), "{ttl}");
        assert!(expires > created, "{ttl} does not wrap");
    }
    world.pass(Duration::from_secs(25 * DAY - 1)).await;
    let pending = world.get("/v1/requests?state=pending").token(&world.home.machine).expect(200).await;
    assert_eq!(pending.at("data").as_array().map(<[_]>::len), Some(5), "three are due and five are not");
    world.pass(Duration::from_secs(675 * DAY + 1)).await;
    let pending = world.get("/v1/requests?state=pending").token(&world.home.machine).expect(200).await;
    assert_eq!(pending.at("data").as_array().map(<[_]>::len), Some(2), "the endless ones wait on");
}

#[tokio::test]
async fn what_is_no_exact_duration_is_refused_by_its_member() {
    let world = World::new().await;
    for ttl in ["P1M", "P1Y", "P0.5D", "-P1D", "p1d", "PT", "P", "P1D2W", " P1D", "86400", ""] {
        for member in ["ttl", "attempt_ttl"] {
            let body = question("run:1", "Ship it?");
            let body = match member {
                "ttl" => body.replace(r#""PT1H""#, &format!(r#""{ttl}""#)),
                _ => body.replace(r#""ttl":"#, &format!(r#""attempt_ttl":"{ttl}","ttl":"#)),
            };
            let refused = world.post("/v1/requests", body).token(&world.home.machine).expect(400).await;
            assert_eq!(refused.code(), "invalid_request", "{ttl}");
            assert!(refused.str("error.message").contains(&format!("`{member}`")), "{}", refused.text());
        }
    }
}
