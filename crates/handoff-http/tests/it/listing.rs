//! Listings: exact rows, pages that join without a gap, filters that are never ignored.

use handoff_protocol::json::Json;

use crate::world::World;

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
        "/v1/requests?channel=inapp",
        "/v1/requests?created_after=2026-01-01T00:00:00Z",
        "/v1/receipts?cursor=-1",
        "/v1/receipts?limit=ten",
        "/v1/receipts?created_before=2026-01-01T00:00:00Z",
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
