//! Listings: exact rows, pages that join without a gap, filters that are never ignored.

use std::{collections::BTreeMap, time::Duration};

use handoff_protocol::json::{Json, read_str};

use crate::world::{World, question};

fn ids(page: &Json) -> Vec<String> {
    let items = page.get("data").and_then(Json::as_array).unwrap();
    items.iter().map(|item| item.get("id").and_then(Json::as_str).unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_of_requests_join_without_a_gap_while_more_are_raised() {
    let world = World::new().await;
    let mut raised = Vec::new();
    for place in 0..5 {
        raised.push(world.raise(&format!("run:{place}")).await.str("id"));
    }
    let mut seen = Vec::new();
    let mut path = "/v1/requests?limit=2".to_owned();
    loop {
        let page = world.get(&path).token(&world.home.machine).expect(200).await;
        seen.extend(ids(&page.json()));
        if seen.len() == 2 {
            raised.push(world.raise("run:late").await.str("id"));
        }
        let Some(cursor) = page.at("next_cursor").as_str().map(str::to_owned) else { break };
        assert_eq!(page.at("has_more"), Json::Bool(true));
        path = format!("/v1/requests?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, raised);
}

#[tokio::test]
async fn requests_are_filtered_by_states_and_by_the_exact_waiter() {
    let world = World::new().await;
    let answered = world.raise("run:1").await.str("id");
    let pending = world.raise("run:1/a b").await.str("id");
    let cancelled = world.raise("run:2").await.str("id");
    world.approve(&answered).await;
    let cancel = world.post(&format!("/v1/requests/{cancelled}/cancel"), r#"{"reason":"x"}"#);
    cancel.token(&world.home.machine).expect(200).await;
    let list = async |query: &str| {
        ids(&world.get(&format!("/v1/requests?{query}")).token(&world.home.machine).expect(200).await.json())
    };
    assert_eq!(list("state=pending").await, std::slice::from_ref(&pending));
    assert_eq!(list("state=cancelled&state=answered").await, [answered.clone(), cancelled.clone()]);
    assert_eq!(list("waiter_ref=run%3A1%2Fa+b").await, std::slice::from_ref(&pending));
    assert_eq!(list("waiter_ref=run:1&state=answered").await, std::slice::from_ref(&answered));
    assert_eq!(list("waiter_ref=run:1&state=pending").await, Vec::<String>::new());
    assert_eq!(list("limit=1000&unknown=1").await, [answered.clone(), pending, cancelled]);
    assert_eq!(list("limit=0").await, [answered]);
}

#[tokio::test]
async fn a_query_that_cannot_be_honored_is_refused() {
    let world = World::new().await;
    let bad = [
        "/v1/requests?state=open",
        "/v1/requests?state=",
        "/v1/requests?limit=ten",
        "/v1/requests?cursor=zzz",
        "/v1/requests?waiter_ref=",
        "/v1/requests?waiter_ref=%FF",
        "/v1/requests?assignee=usr_x",
        "/v1/requests?assignee=",
        "/v1/requests?channel=",
        "/v1/requests?channel=inapp&channel=email",
        "/v1/requests?created_after=2026-01-01",
        "/v1/requests?created_before=soon",
        "/v1/receipts?cursor=-1",
        "/v1/receipts?cursor=99999999999999999999999",
        "/v1/receipts?limit=ten",
        "/v1/receipts?created_after=",
        "/v1/receipts?created_before=1767225600",
    ];
    for path in bad {
        let reply = world.get(path).token(&world.home.machine).expect(400).await;
        assert_eq!(reply.code(), "invalid_request", "{path}");
    }
}

#[tokio::test]
async fn receipts_come_in_chain_order_whole_or_in_pages() {
    let world = World::new().await;
    let mut minted = Vec::new();
    for place in 0..3 {
        let request = world.raise(&format!("run:{place}")).await.str("id");
        minted.push(world.approve(&request).await.str("receipt.id"));
    }
    let whole = world.get("/v1/receipts").token(&world.home.machine).expect(200).await;
    assert_eq!(ids(&whole.json()), minted);
    assert_eq!(whole.at("next_cursor"), Json::Null);
    let first = world.get("/v1/receipts?limit=2").token(&world.home.machine).expect(200).await;
    assert_eq!(ids(&first.json()), minted[..2]);
    let path = format!("/v1/receipts?limit=2&cursor={}", first.str("next_cursor"));
    let rest = world.get(&path).token(&world.home.machine).expect(200).await;
    assert_eq!(ids(&rest.json()), minted[2..]);
    assert_eq!(rest.at("has_more"), Json::Bool(false));
}

#[tokio::test]
async fn requests_are_filtered_by_when_they_were_raised_also_where_a_clock_stepped_back() {
    let world = World::new().await;
    let start = world.time_now();
    let mut raised = Vec::new();
    // The third is raised when the clock has gone back an hour: its id still sorts after the second's.
    for (place, second) in [0_u64, 3600, 60, 7200].into_iter().enumerate() {
        world.time.set(start.saturating_add(Duration::from_secs(second)));
        raised.push(world.raise(&format!("run:{place}")).await.str("id"));
    }
    let at = |second: u64| start.saturating_add(Duration::from_secs(second)).to_string();
    let list = async |query: String| {
        let page = world.get(&format!("/v1/requests?{query}")).token(&world.home.machine).expect(200).await;
        let places = ids(&page.json()).iter().map(|id| raised.iter().position(|other| other == id).unwrap()).collect();
        let places: Vec<usize> = places;
        places
    };
    assert_eq!(list(format!("created_after={}", at(0))).await, [0, 1, 2, 3]);
    assert_eq!(list(format!("created_after={}", at(60))).await, [1, 2, 3]);
    assert_eq!(list(format!("created_after={}", at(61))).await, [1, 3]);
    assert_eq!(list(format!("created_before={}", at(3600))).await, [0, 2]);
    assert_eq!(list(format!("created_before={}", at(3601))).await, [0, 1, 2]);
    assert_eq!(list(format!("created_after={}&created_before={}", at(60), at(7200))).await, [1, 2]);
    assert_eq!(list(format!("created_after={}&state=pending&limit=1", at(60))).await, [1]);
    assert_eq!(list(format!("created_after={}&waiter_ref=run:2", at(60))).await, [2]);
    assert_eq!(list(format!("created_after={}&cursor={}", at(60), raised[1])).await, [2, 3]);
    assert_eq!(list(format!("created_after={}&cursor={}", at(3600), raised[0])).await, [1, 3]);
    assert_eq!(list(format!("created_after={}", at(7201))).await, Vec::<usize>::new());
    let finer = at(60).replace('Z', ".0001Z");
    assert_eq!(list(format!("created_after={finer}")).await, [1, 3]);
    assert_eq!(list(format!("created_before={finer}")).await, [0, 2]);
}

#[tokio::test]
async fn requests_are_filtered_by_whom_they_reach_and_how() {
    let world = World::new().await;
    let editor = world.principal(&world.home.editor).await;
    let viewer = world.principal(&world.home.viewer).await;
    let named = world.raise("run:1").await.str("id");
    let anyone = world.raise("run:2").await.str("id");
    let trial = question("run:3", "?").replace(r#""ttl":"#, r#""test_mode":true,"ttl":"#);
    let trial = world.post("/v1/requests", trial).token(&world.home.machine).expect(201).await.str("id");
    world.retarget(&named, editor).await;
    let list = async |query: String| {
        ids(&world.get(&format!("/v1/requests?{query}")).token(&world.home.machine).expect(200).await.json())
    };
    assert_eq!(list(format!("assignee={editor}")).await, std::slice::from_ref(&named));
    assert_eq!(list(format!("assignee={editor}&channel=inapp&state=pending")).await, std::slice::from_ref(&named));
    assert_eq!(list(format!("assignee={editor}&channel=email")).await, Vec::<String>::new());
    assert_eq!(list(format!("assignee={viewer}")).await, Vec::<String>::new());
    assert_eq!(list("channel=inapp".to_owned()).await, [named, anyone]);
    assert_eq!(list("channel=sandbox".to_owned()).await, [trial]);
}

#[tokio::test]
async fn receipts_are_filtered_by_when_they_were_decided() {
    let world = World::new().await;
    let start = world.time_now();
    let mut minted = Vec::new();
    for (place, second) in [10_u64, 20, 15, 30].into_iter().enumerate() {
        let request = world.raise(&format!("run:{place}")).await.str("id");
        world.time.set(start.saturating_add(Duration::from_secs(second)));
        minted.push(world.approve(&request).await.str("receipt.id"));
    }
    let at = |second: u64| start.saturating_add(Duration::from_secs(second)).to_string();
    let page =
        async |query: String| world.get(&format!("/v1/receipts?{query}")).token(&world.home.machine).expect(200).await;
    let list = async |query: String| ids(&page(query).await.json());
    assert_eq!(list(format!("created_after={}", at(15))).await, minted[1..]);
    assert_eq!(list(format!("created_before={}", at(20))).await, [minted[0].clone(), minted[2].clone()]);
    assert_eq!(list(format!("created_after={}&created_before={}", at(16), at(30))).await, [minted[1].clone()]);
    let first = page(format!("created_before={}&limit=1", at(20))).await;
    assert_eq!((ids(&first.json()), first.at("has_more")), (vec![minted[0].clone()], Json::Bool(true)));
    let rest = page(format!("created_before={}&limit=1&cursor={}", at(20), first.str("next_cursor"))).await;
    assert_eq!((ids(&rest.json()), rest.at("next_cursor")), (vec![minted[2].clone()], Json::Null));
}

#[tokio::test]
async fn each_of_ten_thousand_requests_is_listed_once_while_others_come_and_go() {
    let world = World::new().await;
    let machine = world.engine.authenticate(Some(&world.home.machine)).await.unwrap();
    let editor = world.engine.authenticate(Some(&world.home.editor)).await.unwrap();
    let raise = async |waiter: String| {
        let body = read_str(&question(&waiter, "Ship it?")).unwrap();
        world.engine.raise(&machine, body, None).await.unwrap().request.id
    };
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut there = Vec::new();
    for place in 0..10_000 {
        there.push(raise(format!("run:{place}")).await);
        world.time.advance(Duration::from_millis(1));
    }
    let (mut path, mut pages) = ("/v1/requests?limit=200".to_owned(), 0);
    loop {
        let page = world.get(&path).token(&world.home.machine).expect(200).await;
        for id in ids(&page.json()) {
            *seen.entry(id).or_default() += 1;
        }
        // Between two pages: one more is raised, one that was listed and one that was not yet are answered.
        raise(format!("late:{pages}")).await;
        for place in [pages * 150, 9_999 - pages * 100] {
            let body = read_str(r#"{"values":{"decision":"approve"}}"#).unwrap();
            let _ = world.engine.answer(&editor, there[place], body, None).await;
        }
        pages += 1;
        let Some(cursor) = page.at("next_cursor").as_str().map(str::to_owned) else { break };
        path = format!("/v1/requests?limit=200&cursor={cursor}");
    }
    assert!(pages >= 50, "{pages}");
    assert!(there.iter().all(|id| seen.get(&id.to_string()) == Some(&1)));
    assert!(seen.values().all(|times| *times == 1));
}

#[tokio::test]
async fn pages_are_bounded_by_what_they_serve_and_cursors_bring_the_rest() {
    let world = World::new().await;
    let machine = &world.home.machine;
    let fields = r#"{"name":"doc","type":"document"}"#;
    let large = format!(r#"{{"values":{{"doc":"{}"}}}}"#, "x".repeat(3 << 20));
    let mut asked = Vec::new();
    for place in 0..7 {
        let body = format!(
            r#"{{"waiter_ref":"run:1","prompt":{{"title":"{place}"}},"requires":{{"v":1,"answer":{{"fields":[{fields}]}}}}}}"#
        );
        let id = world.post("/v1/requests", body).token(machine).expect(201).await.str("id");
        world.post(&format!("/v1/requests/{id}/answer"), large.clone()).token(&world.home.editor).expect(200).await;
        asked.push(id);
    }
    for (path, member, bound) in [("/v1/requests?limit=200", "id", 12 << 20), ("/v1/receipts", "request_id", 20 << 20)]
    {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let next = if path.contains('?') { "&" } else { "?" };
            let path = if cursor.is_empty() { path.to_owned() } else { format!("{path}{next}cursor={cursor}") };
            let page = world.get(&path).token(machine).expect(200).await;
            assert!(page.body.len() < bound, "{path}: {} bytes", page.body.len());
            let json = page.json();
            let rows = json.get("data").unwrap().as_array().unwrap();
            seen.extend(rows.iter().map(|row| row.get(member).unwrap().as_str().unwrap().to_owned()));
            match page.at("next_cursor").as_str() {
                Some(next) => cursor = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(seen, asked, "{path}");
    }
    let (mut seen, mut after) = (Vec::new(), 0);
    loop {
        let page = world.get(&format!("/v1/waiters/run:1/signals?after={after}")).token(machine).expect(200).await;
        assert!(page.body.len() < 8 << 20, "{} bytes of signals", page.body.len());
        let json = page.json();
        let rows = json.get("data").unwrap().as_array().unwrap();
        seen.extend(rows.iter().map(|row| row.get("request_id").unwrap().as_str().unwrap().to_owned()));
        if page.at("has_more") == Json::Bool(false) {
            break;
        }
        after = seen.len();
    }
    assert_eq!(seen, asked);
    world.get("/v1/waiters/run:1/signals?after=x").token(machine).expect(400).await;
}
