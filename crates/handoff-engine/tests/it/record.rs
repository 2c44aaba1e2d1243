//! The record: what is served is what was sealed, the chain is whole, and a crash leaves all or nothing.

use std::{
    panic::panic_any,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use handoff_engine::{clock::Clock as _, decision::ReceiptFilter};
use handoff_protocol::{
    bundle::{Trust, verify},
    chain::Head,
    decision::{ErrorCode, terms::RequestState},
    digest::Digest,
    id::ReceiptId,
    signature::KeySet,
};

use super::world::{World, ask, ask_with, code, json};

#[tokio::test]
async fn a_receipt_is_served_to_the_byte_as_it_was_sealed_wherever_it_appears() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    assert_eq!(code(world.engine.request_receipt(&world.machine, id).await), ErrorCode::RequestNotFound);
    let minted = world.answer(id, "k").await.unwrap().receipt.unwrap();
    let sealed = world.engine.request_receipt(&world.machine, id).await.unwrap();
    assert_eq!(world.engine.receipt(&world.machine, minted.id).await.unwrap(), sealed);
    assert_eq!(world.request(id).await.receipt.unwrap().to_text(), sealed);
    let page = world.engine.receipts(&world.machine, ReceiptFilter::default()).await.unwrap();
    assert_eq!(page.data[0].as_str(), sealed);
    let digest = json(&sealed).get("chain").unwrap().get("digest").unwrap().as_str().unwrap().to_owned();
    assert_eq!(digest, minted.digest.to_string());
    let signature = world.engine.receipt_signature(&world.machine, minted.id).await.unwrap();
    let keys = KeySet::from_jwks(&world.engine.key_set().await.unwrap()).unwrap();
    keys.verify(&minted.digest, &signature).unwrap();
    // A cancelled request never has one.
    let other = world.raised(&ask("run:1", "two")).await;
    world.cancel(other, "k").await.unwrap();
    assert_eq!(code(world.engine.request_receipt(&world.machine, other).await), ErrorCode::RequestNotFound);
}

#[tokio::test]
async fn the_chain_of_a_tenant_is_whole_from_its_first_receipt_to_its_head() {
    let world = World::new().await;
    let head = world.engine.chain_head(&world.machine).await.unwrap();
    assert_eq!((head.height, head.head_digest), (0, Digest::zero()));
    let empty = world.engine.export(world.tenant).await.unwrap().text().await.unwrap();
    assert!(verify(empty.as_bytes(), &Trust::default()).unwrap().is_sound());
    for place in 0..6 {
        let id = world.raised(&ask_with("run:1", &place.to_string(), r#""ttl":"PT1M""#)).await;
        if place % 2 == 0 {
            world.answer(id, "k").await.unwrap();
        } else {
            world.clock.advance(Duration::from_secs(60));
            world.engine.run_due_timers().await.unwrap();
        }
    }
    let head = world.engine.chain_head(&world.machine).await.unwrap();
    let anchor = Head { height: head.height, digest: head.head_digest };
    let keys = KeySet::from_jwks(&world.engine.key_set().await.unwrap()).unwrap();
    let text = world.engine.export(world.tenant).await.unwrap().text().await.unwrap();
    let report = verify(text.as_bytes(), &Trust { keys: Some(keys), anchors: vec![anchor] }).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    assert_eq!((report.receipts, report.signed, report.head, report.limits.len()), (6, 6, Some(anchor), 0));
    // Pages follow the chain.
    let mut filter = ReceiptFilter { limit: Some(4), ..ReceiptFilter::default() };
    let first = world.engine.receipts(&world.machine, filter).await.unwrap();
    assert_eq!((first.data.len(), first.has_more, first.next_cursor.as_deref()), (4, true, Some("4")));
    filter.after_height = 4;
    let second = world.engine.receipts(&world.machine, filter).await.unwrap();
    assert_eq!((second.data.len(), second.has_more, second.next_cursor), (2, false, None));
    let ids: Vec<ReceiptId> = [first.data, second.data]
        .concat()
        .iter()
        .map(|receipt| ReceiptId::parse(json(receipt.as_str()).get("id").unwrap().as_str().unwrap()).unwrap())
        .collect();
    assert!(ids.is_sorted(), "the order of ids is the order of the chain");
}

#[tokio::test]
async fn an_answer_that_dies_between_state_and_events_leaves_nothing() {
    let armed = Arc::new(AtomicBool::new(false));
    let trigger = Arc::clone(&armed);
    let world = World::with_label_hook(Arc::new(move |label| {
        if label == "answer_after_state_write" && trigger.load(Ordering::SeqCst) {
            panic_any("planted by a test");
        }
    }))
    .await;
    let id = world.raised(&ask("run:1", "one")).await;
    let before = world.request(id).await;
    armed.store(true, Ordering::SeqCst);
    assert_eq!(code(world.answer(id, "k").await), ErrorCode::InternalError);
    assert_eq!(world.request(id).await, before);
    assert_eq!(
        (world.events_of(id).await.len(), world.receipts().await.len(), world.signals("run:1").await.len()),
        (1, 0, 0)
    );
    armed.store(false, Ordering::SeqCst);
    world.answer(id, "k").await.unwrap();
    assert_eq!(world.request(id).await.state, RequestState::Answered);
    assert_eq!(world.events_of(id).await, ["request.raised", "request.answered"]);
}

#[tokio::test]
async fn ids_rise_in_the_order_of_commits_also_when_the_clock_stands_or_goes_back() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for place in 0..12 {
        if place == 6 {
            world.clock.set(world.clock.now().saturating_sub(Duration::from_secs(3600)));
        }
        let id = world.raised(&ask("run:1", &place.to_string())).await;
        world.answer(id, "k").await.unwrap();
        ids.push(id);
    }
    assert!(ids.is_sorted());
    assert_eq!(world.requests().await, ids);
    let receipts: Vec<_> = world.receipts().await.iter().map(|receipt| receipt.get("id").unwrap().to_text()).collect();
    assert_eq!((receipts.len(), receipts.is_sorted()), (12, true));
}

#[tokio::test]
async fn an_export_of_many_pages_holds_what_was_there_when_it_began() {
    let world = World::new().await;
    for number in 0..130 {
        let id = world.raised(&ask(&format!("run:{number}"), "one")).await;
        world.answer(id, &format!("k{number}")).await.unwrap();
    }
    let mut export = world.engine.export(world.tenant).await.unwrap();
    let mut pieces = vec![export.next().await.unwrap().unwrap()];
    let id = world.raised(&ask("run:late", "one")).await;
    world.answer(id, "late").await.unwrap();
    while let Some(piece) = export.next().await.unwrap() {
        pieces.push(piece);
    }
    assert_eq!(
        (pieces.len(), export.next().await.unwrap()),
        (3, None),
        "64 receipts a piece, and nothing behind the end"
    );
    let report = verify(pieces.concat().as_bytes(), &Trust::default()).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    assert_eq!((report.receipts, report.signed), (130, 130));
}
