//! Replay records: what a key is unique under, and what a repeat finds.

use handoff_protocol::{
    decision::{
        ErrorCode,
        idempotency::{IdempotencyKey, Operation, Replay, ReplayOutcome, ReplayScope, find},
    },
    digest::Digest,
    duration::ExactDuration,
    id::{RequestId, Ulid},
    principal::{AuthStrength, Identity, Role},
};

use super::scene::{START, link, machine, machine_of, person};

#[test]
fn keys_of_principals_operations_and_objects_never_touch() {
    let mut other_link = link(AuthStrength::LinkOnly);
    other_link.identity = Identity::Link(Digest::of("another link"));
    let mut ids = Vec::new();
    for principal in [machine(), machine_of(9), person(Role::Viewer), link(AuthStrength::LinkOnly), other_link] {
        for operation in [Operation::Raise, Operation::Answer, Operation::Cancel] {
            for object in
                [None, Some(1), Some(2)].map(|object| object.map(|id| RequestId::from_ulid(Ulid::from_u128(id))))
            {
                for key in ["k", "K", "k "] {
                    ids.push(
                        ReplayScope::new(&principal, operation, object, &IdempotencyKey::parse(key).unwrap()).id(),
                    );
                }
            }
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
    // A role is not part of who somebody is.
    let key = IdempotencyKey::parse("k").unwrap();
    let scope = |role| ReplayScope::new(&person(role), Operation::Answer, None, &key);
    assert_eq!(scope(Role::Viewer), scope(Role::Admin));
}

#[test]
fn a_key_is_1_to_255_printable_characters() {
    for good in ["x".to_owned(), "é".repeat(255), "a b".to_owned()] {
        IdempotencyKey::parse(&good).unwrap();
    }
    for bad in [String::new(), "x".repeat(256), "a\nb".to_owned(), "a\0".to_owned()] {
        IdempotencyKey::parse(&bad).unwrap_err();
    }
}

#[test]
fn a_repeat_is_found_while_it_lives_and_another_body_is_refused() {
    let (one, two) = (Digest::of("1"), Digest::of("2"));
    let id = RequestId::from_ulid(Ulid::from_u128(1));
    let expires_at = START.saturating_add(ExactDuration::from_hours(24));
    let raise = Replay { digest: one, outcome: ReplayOutcome::Request(id), expires_at };
    assert_eq!(find(None, one, None, START), Ok(None));
    assert_eq!(find(Some(&raise), one, None, START), Ok(Some(&raise.outcome)));
    let refused = find(Some(&raise), two, None, START).unwrap_err();
    assert_eq!((refused.code(), refused.request_id()), (ErrorCode::IdempotencyKeyReused, Some(id)));
    // At its end it is gone, whatever the body.
    for digest in [one, two] {
        assert_eq!(find(Some(&raise), digest, None, expires_at), Ok(None));
    }
    let just_before = expires_at.saturating_sub(std::time::Duration::from_millis(1));
    assert!(find(Some(&raise), one, None, just_before).unwrap().is_some());
    let answer = Replay { outcome: ReplayOutcome::Body("{}".to_owned()), ..raise };
    assert_eq!(find(Some(&answer), two, None, START).unwrap_err().request_id(), None);
    assert_eq!(find(Some(&answer), two, Some(id), START).unwrap_err().request_id(), Some(id));
}
