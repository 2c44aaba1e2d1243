//! Redeeming: the order of rule Z-4, in every combination.

use handoff_protocol::{
    decision::{
        Authorization, BoundTo, DecisionError, ErrorCode, Redeem, Redeemed, Redemption, WaiterRef, redeem,
        terms::AuthorizationState,
    },
    digest::AnyDigest,
    duration::ExactDuration,
    id::{AuthorizationId, ReceiptId, RequestId, Ulid},
    principal::{AuthStrength, Role, Scopes},
    timestamp::Timestamp,
};

use super::scene::{START, json, link, machine, person};

#[derive(Debug, PartialEq)]
enum Outcome {
    First,
    Repeat,
    Mismatch,
    Expired,
    Spent,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Given {
    Agrees,
    Differs,
    Absent,
}

fn digest(letter: &str) -> AnyDigest {
    AnyDigest::parse(&format!("sha256:{}", letter.repeat(64))).unwrap()
}

fn redemption(key: &str, digest: Option<AnyDigest>) -> Redemption {
    Redemption { effect_key: key.to_owned(), redeemed_at: START, effect_digest: digest }
}

fn authorization(bound: Option<AnyDigest>, redemptions: Vec<Redemption>) -> Authorization {
    Authorization {
        id: AuthorizationId::from_ulid(Ulid::from_u128(1)),
        receipt_id: ReceiptId::from_ulid(Ulid::from_u128(2)),
        request_id: RequestId::from_ulid(Ulid::from_u128(3)),
        grants: json("{}"),
        single_use: true,
        expires_at: START.saturating_add(ExactDuration::from_hours(24)),
        bound_to: BoundTo { waiter_ref: WaiterRef::parse("run:1").unwrap(), effect_digest: bound },
        redemptions,
        test_mode: false,
    }
}

fn attempt(
    authorization: &Authorization,
    digest: Option<&AnyDigest>,
    now: Timestamp,
) -> Result<Redeemed, DecisionError> {
    let digest = digest.map(|digest| format!(r#","effect_digest":"{}""#, digest.as_str())).unwrap_or_default();
    let command = Redeem::read(&machine(), &json(&format!(r#"{{"effect_key":"k"{digest}}}"#))).unwrap();
    redeem(authorization, &command, &machine(), now)
}

/// Rule Z-4 as it is written, first line that fits.
/// The case is: known key, digest, bound, expired, spent.
fn rule(case: (bool, Given, bool, bool, bool)) -> Outcome {
    match case {
        (true, Given::Agrees, ..) => Outcome::Repeat,
        (true, Given::Differs | Given::Absent, ..) | (false, Given::Differs | Given::Absent, true, ..) => {
            Outcome::Mismatch
        }
        (false, _, _, true, _) => Outcome::Expired,
        (false, _, _, false, true) => Outcome::Spent,
        (false, _, _, false, false) => Outcome::First,
    }
}

#[test]
fn every_combination_comes_to_what_the_rule_says() {
    let both = [false, true];
    for known in both {
        for given in [Given::Agrees, Given::Differs, Given::Absent] {
            for bound in both {
                for expired in both {
                    for spent in both {
                        let mut redemptions = Vec::new();
                        if spent {
                            redemptions.push(redemption("other", None));
                        }
                        if known {
                            redemptions.push(redemption("k", Some(digest("a"))));
                        }
                        let authorization = authorization(bound.then(|| digest("a")), redemptions);
                        let submitted = match given {
                            Given::Agrees => Some(digest("a")),
                            Given::Differs => Some(digest("b")),
                            Given::Absent => None,
                        };
                        let now = if expired { authorization.expires_at } else { START };
                        let came = match attempt(&authorization, submitted.as_ref(), now) {
                            Ok(Redeemed::First { authorization: after, redeemed_at }) => {
                                assert_eq!(redeemed_at, now);
                                assert_eq!(after.redemptions, [redemption("k", submitted)]);
                                assert_eq!(after.state(now), AuthorizationState::Spent);
                                Outcome::First
                            }
                            Ok(Redeemed::Repeat { redeemed_at }) => {
                                assert_eq!(redeemed_at, START, "the original time");
                                Outcome::Repeat
                            }
                            Err(error) => {
                                assert_eq!(error.request_id(), Some(authorization.request_id));
                                match error.code() {
                                    ErrorCode::EffectDigestMismatch => Outcome::Mismatch,
                                    ErrorCode::AuthorizationExpired => Outcome::Expired,
                                    ErrorCode::AuthorizationSpent => Outcome::Spent,
                                    other => panic!("{other:?}"),
                                }
                            }
                        };
                        let case = (known, given, bound, expired, spent);
                        assert_eq!(came, rule(case), "{case:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_effect_redeemed_without_a_digest_binds_nothing() {
    let authorization = authorization(None, vec![redemption("k", None)]);
    for given in [None, Some(digest("a")), Some(digest("b"))] {
        assert_eq!(attempt(&authorization, given.as_ref(), START), Ok(Redeemed::Repeat { redeemed_at: START }));
    }
}

#[test]
fn what_an_authorization_is_worth_is_computed_spent_first() {
    let open = authorization(None, Vec::new());
    let spent = authorization(None, vec![redemption("k", None)]);
    let just_before = open.expires_at.saturating_sub(std::time::Duration::from_millis(1));
    assert_eq!(open.state(just_before), AuthorizationState::Open);
    assert_eq!(open.state(open.expires_at), AuthorizationState::Expired);
    assert_eq!(spent.state(START), AuthorizationState::Spent);
    assert_eq!(spent.state(open.expires_at), AuthorizationState::Spent);
}

#[test]
fn only_a_machine_with_the_scope_redeems() {
    let mut without = machine();
    without.scopes = Scopes::from(vec!["handoff:requests:write".to_owned()]);
    for principal in [person(Role::Admin), link(AuthStrength::LinkOnly), without] {
        let refused = Redeem::read(&principal, &json("[]")).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InsufficientScope);
    }
}

#[test]
fn an_effect_key_is_bounded_and_a_digest_well_formed() {
    let read = |body: &str| Redeem::read(&machine(), &json(body));
    read(&format!(r#"{{"effect_key":"{}"}}"#, "é".repeat(256))).unwrap();
    read(&format!(r#"{{"effect_key":"k","effect_digest":"blake3:{}"}}"#, "0".repeat(32))).unwrap();
    for body in [
        "{}".to_owned(),
        r#"{"effect_key":""}"#.to_owned(),
        format!(r#"{{"effect_key":"{}"}}"#, "é".repeat(257)),
        r#"{"effect_key":"k","effect_digest":"sha256:"}"#.to_owned(),
        format!(r#"{{"effect_key":"k","effect_digest":"sha256:{}"}}"#, "A".repeat(64)),
        r#"{"effect_key":"k","more":1}"#.to_owned(),
    ] {
        assert_eq!(read(&body).unwrap_err().code(), ErrorCode::InvalidRequest, "{body}");
    }
}
