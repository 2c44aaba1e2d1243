//! Several people on one request at the same moment: parts, agreement, passing on. It ends once, whoever was first.

use std::{collections::HashSet, sync::Arc, time::Duration};

use handoff_engine::{Engine, identity::NewCredential};
use handoff_protocol::{
    bundle::{Trust, verify},
    decision::{
        DecisionError, ErrorCode,
        terms::{RequestState, SignalType},
        view::AnswerResult,
    },
    id::{PrincipalId, RequestId},
    json::Json,
    principal::{Principal, Role},
};
use tokio::{sync::Barrier, task::JoinSet};

use super::world::{World, YES, add_person, ask, ask_with, code, json, key_of};

const NO: &str = r#"{"values":{"decision":"no"}}"#;
const UNABLE: &str = r#"{"values":{},"disposition":"unable","note":"on leave"}"#;
const PASS_ON: &str = r#"{"values":{},"disposition":"delegate","delegate_to":{"kind":"role","value":"admin"}}"#;

/// The question of `ask`, on which so many must agree.
fn council(waiter: &str, quorum: u64) -> String {
    ask(waiter, "one").replace(r#""requires":{"#, &format!(r#""requires":{{"authority":{{"quorum":{quorum}}},"#))
}

async fn people(world: &World, count: usize) -> Vec<Principal> {
    let mut people = Vec::new();
    for _ in 0..count {
        people.push(add_person(&world.engine, world.tenant, Role::Editor).await);
    }
    people
}

/// Lets each person send one body, all at the same moment.
async fn at_once(
    engine: &Engine,
    id: RequestId,
    calls: Vec<(Principal, &'static str)>,
) -> Vec<Result<AnswerResult, DecisionError>> {
    let barrier = Arc::new(Barrier::new(calls.len()));
    let mut tasks = JoinSet::new();
    for (person, body) in calls {
        let (engine, barrier) = (engine.clone(), Arc::clone(&barrier));
        tasks.spawn(async move {
            barrier.wait().await;
            engine.answer(&person, id, json(body), None).await
        });
    }
    tasks.join_all().await
}

async fn is_sound(world: &World) -> bool {
    let text = world.engine.export(world.tenant).await.unwrap().text().await.unwrap();
    verify(text.as_bytes(), &Trust::default()).unwrap().is_sound()
}

fn endorsers(receipt: &Json) -> HashSet<String> {
    let listed = receipt.pointer("/authority/endorsements").and_then(Json::as_array).unwrap();
    listed.iter().map(|one| one.get("principal_id").and_then(Json::as_str).unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_32_who_answer_at_once_as_many_as_are_needed_count_and_the_others_learn_it() {
    let world = World::new().await;
    let people = people(&world, 32).await;
    for round in 0..8 {
        let waiter = format!("run:{round}");
        let id = world.raised(&council(&waiter, 5)).await;
        let before = world.receipts().await.len();
        // In every other round they do not agree at first.
        let says = |place: usize| if round % 2 == 1 && place.is_multiple_of(2) { NO } else { YES };
        let calls = people.iter().enumerate().map(|(place, person)| (person.clone(), says(place))).collect();
        let came = at_once(&world.engine, id, calls).await;
        let settled: Vec<_> = came.iter().flatten().filter(|result| result.receipt.is_some()).collect();
        let recorded = came.iter().flatten().filter(|result| result.receipt.is_none()).count();
        let late: Vec<_> = came.iter().filter_map(|result| result.as_ref().err()).collect();
        assert_eq!(settled.len(), 1);
        assert!(late.iter().all(|refused| refused.code() == ErrorCode::AlreadyAnswered));
        assert!((4..=8).contains(&recorded) && recorded + late.len() == 31, "{recorded}");
        assert!(round % 2 == 1 || recorded == 4, "{recorded}");

        let receipts = world.receipts().await;
        assert_eq!(receipts.len(), before + 1);
        let agreed = endorsers(receipts.last().unwrap());
        let decider = receipts.last().unwrap().pointer("/actor/principal_id").and_then(Json::as_str).unwrap();
        assert!(agreed.len() == 5 && agreed.contains(decider), "{agreed:?}");
        let signals = world.signals(&waiter).await;
        assert_eq!((signals.len(), signals[0].signal_type), (1, SignalType::Answered));
        let events = world.events_of(id).await;
        assert_eq!(events.iter().filter(|event| *event == "request.endorsed").count(), recorded);
        assert_eq!(events.iter().filter(|event| *event == "request.answered").count(), 1);
    }
    assert!(is_sound(&world).await);
    assert_eq!(world.next_timer().await, None, "no window is left behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_they_do_at_once_the_request_ends_once() {
    const PART: &str = r#"{"values":{"decision":"no"},"partial":true}"#;
    let world = World::new().await;
    let people = people(&world, 10).await;
    for round in 0..20 {
        let waiter = format!("run:{round}");
        let id = world.raised(&council(&waiter, 2)).await;
        let before = world.receipts().await.len();
        let bodies = [PART, UNABLE, PASS_ON, YES, PART, YES, UNABLE, PASS_ON, NO, PART];
        let turned = bodies.iter().cycle().skip(round).take(10);
        let calls = people.iter().cloned().zip(turned.copied()).collect();
        let amend = world.engine.amend(&world.machine, id, json(r#"{"prompt":{"title":"two"}}"#), None);
        let arm = world.engine.arm_attempt(&world.machine, id, json("{}"), None);
        let (came, amended, _) = tokio::join!(at_once(&world.engine, id, calls), amend, arm);
        for refused in came.iter().filter_map(|result| result.as_ref().err()).chain(amended.as_ref().err()) {
            let expected = [ErrorCode::AlreadyAnswered, ErrorCode::RequestInProgress];
            assert!(expected.contains(&refused.code()), "{refused}");
        }
        let request = world.request(id).await;
        assert_eq!(request.state, RequestState::Answered);
        assert_eq!(came.iter().flatten().filter(|result| result.receipt.is_some()).count(), 1);
        assert_eq!((world.receipts().await.len() - before, world.signals(&waiter).await.len()), (1, 1));
        let receipt = request.receipt.unwrap();
        assert_eq!(endorsers(&receipt).len(), 2);
        let events = world.events_of(id).await;
        let parts = events.iter().filter(|event| *event == "request.step_recorded").count();
        let steps = receipt.get("steps").and_then(Json::as_array).unwrap().len();
        assert_eq!(steps, if parts == 0 { 0 } else { parts + 1 });
        let listed = world.engine.dispositions(&world.machine, id, None, None).await.unwrap().data;
        let disposed = events.iter().filter(|event| *event == "request.disposition_recorded").count();
        assert_eq!(listed.len(), disposed);
        let numbers: Vec<u64> = listed.iter().map(|one| one.n).collect();
        assert_eq!(numbers, (1..=u64::try_from(disposed).unwrap()).collect::<Vec<_>>());
    }
    assert!(is_sound(&world).await);
}

#[tokio::test]
async fn each_is_replayed_under_its_key_after_the_end_and_acts_once() {
    let world = World::new().await;
    let other = add_person(&world.engine, world.tenant, Role::Editor).await;
    let id = world.raised(&council("run:1", 2)).await;
    let bodies = [(r#"{"values":{"decision":"no"},"partial":true}"#, "a"), (UNABLE, "b"), (PASS_ON, "c"), (YES, "d")];
    let answer = |body: &str, key: &str| {
        let (body, key) = (json(body), key_of(key));
        let world = &world;
        async move { world.engine.answer(&world.person, id, body, Some(&key)).await }
    };
    let mut first = Vec::new();
    for (body, key) in bodies {
        let result = answer(body, key).await.unwrap();
        assert_eq!((result.request.state, result.receipt, result.authorization), (RequestState::Pending, None, None));
        first.push(result);
    }
    let before = world.events().await.len();
    for round in 0..2 {
        for ((body, key), first) in bodies.iter().zip(&first) {
            assert_eq!(answer(body, key).await.unwrap(), *first);
            assert_eq!(code(answer(NO, key).await), ErrorCode::IdempotencyKeyReused);
        }
        if round == 0 {
            assert_eq!(world.events().await.len(), before);
            world.engine.answer(&other, id, json(YES), None).await.unwrap();
        }
    }
    assert_eq!(world.receipts().await.len(), 1);
    assert_eq!(world.engine.dispositions(&world.machine, id, None, None).await.unwrap().data.len(), 2);
}

#[tokio::test]
async fn somebody_who_lost_their_place_since_counts_as_they_stood_when_they_agreed() {
    let world = World::new().await;
    let lesser = world.engine.create_person(world.tenant, "was an editor", Role::Editor).await.unwrap();
    let gone = PrincipalId::User(lesser);
    let token = world.engine.issue_key(world.tenant, gone, NewCredential::default()).await.unwrap();
    let gone_principal = world.engine.authenticate(Some(token.expose())).await.unwrap();
    let other = add_person(&world.engine, world.tenant, Role::Editor).await;
    let body = council("run:1", 2).replace(r#""quorum":2"#, r#""quorum":2,"min_role":"editor""#);
    let id = world.raised(&body).await;
    world.engine.answer(&gone_principal, id, json(YES), None).await.unwrap();
    world.engine.set_role(world.tenant, lesser, Role::Viewer).await.unwrap();
    // They can take nothing back, and what they said stands (rule A-1: judged when it was said).
    let refused = world.engine.answer(&gone_principal, id, json(NO), None).await;
    assert_eq!(code(refused), ErrorCode::InsufficientAuthority);
    let settled = world.engine.answer(&other, id, json(YES), None).await.unwrap();
    assert!(settled.receipt.is_some());
    assert!(endorsers(&world.receipts().await[0]).contains(&gone.to_string()));
}

#[tokio::test]
async fn a_step_that_dies_before_its_event_leaves_nothing() {
    let trigger = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let armed = Arc::clone(&trigger);
    let world = World::with_label_hook(Arc::new(move |label| {
        if label == "answer_after_state_write" && armed.load(std::sync::atomic::Ordering::SeqCst) {
            std::panic::panic_any("planted by a test");
        }
    }))
    .await;
    let id = world.raised(&council("run:1", 2)).await;
    let before = world.request(id).await;
    for body in [r#"{"values":{"decision":"no"},"partial":true}"#, UNABLE, PASS_ON, YES] {
        let failed = world.engine.answer(&world.person, id, json(body), None).await;
        assert_eq!(code(failed), ErrorCode::InternalError);
    }
    assert_eq!(world.request(id).await, before);
    assert!(world.engine.dispositions(&world.machine, id, None, None).await.unwrap().data.is_empty());
    assert_eq!(world.events_of(id).await, ["request.raised"]);
}

#[tokio::test]
async fn a_deadline_ends_what_was_only_agreed_to_in_part() {
    let world = World::new().await;
    let page = r#""ttl":"PT1H","routing":{"ladder":[{"after":"PT0S","channels":["inapp"]}]}"#;
    let body = ask_with("run:1", "one", page).replace(r#""requires":{"#, r#""requires":{"authority":{"quorum":3},"#);
    let id = world.raised(&body).await;
    world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    for minutes in [15, 45] {
        world.clock.advance(Duration::from_secs(minutes * 60));
        world.engine.run_due_timers().await.unwrap();
    }
    let request = world.request(id).await;
    assert_eq!((request.state, request.authorization), (RequestState::Expired, None));
    let receipt = request.receipt.unwrap();
    assert_eq!(receipt.pointer("/authority/endorsements").unwrap().to_text(), "[]");
    assert!(request.endorsements.is_empty());
    let kinds: Vec<SignalType> = world.signals("run:1").await.iter().map(|signal| signal.signal_type).collect();
    assert_eq!(kinds, [SignalType::AttemptLapsed, SignalType::Expired]);
    assert_eq!(world.next_timer().await, None);
}
