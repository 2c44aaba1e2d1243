//! Vocabularies: each wire name is the contract's, and reads back as what was written.

use handoff_protocol::{
    decision::{
        ErrorCode,
        terms::{
            ActorType, AttemptOutcome, AuthorizationState, ClearanceSource, DecisionSource, DeliveryState, Disposition,
            Effective, Grade, Liveness, Mode, OnExpiry, PresentationBinding, ReceiptKind, RequestState, SignalType,
            Suppression, TargetKind, Urgency, UrgencyState, WaiterState, WaiterTerminal,
        },
    },
    json::{Json, from_json, to_json},
    principal::{AuthStrength, Role},
};

macro_rules! names_are {
    ($($term:ident: $names:literal),+ $(,)?) => {
        $(
            let names: Vec<&str> = $names.split(' ').collect();
            assert_eq!($term::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names, stringify!($term));
            for (name, value) in $term::ALL {
                assert_eq!((value.as_str(), to_json(&value).unwrap()), (*name, Json::from(*name)));
                assert_eq!(from_json::<$term>(Json::from(*name)).unwrap(), *value);
            }
        )+
    };
}

#[test]
fn every_term_is_spelled_as_the_contract_spells_it() {
    names_are! {
        RequestState: "pending answered expired cancelled superseded",
        Urgency: "low normal high critical",
        UrgencyState: "attention waiting",
        Liveness: "durable leased",
        WaiterTerminal: "keep cancel",
        Mode: "advisory gated",
        PresentationBinding: "advisory strict",
        OnExpiry: "escalate expire_and_deny default park",
        Effective: "deny default",
        Disposition: "decide delegate unable",
        SignalType: "answered expired cancelled superseded attempt_lapsed",
        DecisionSource: "human policy runtime_inference",
        WaiterState: "armed signalled delivering acked orphaned released",
        TargetKind: "principal role group rotation anyone",
        Grade: "dispatched delivered seen acted",
        DeliveryState: "queued suppressed sending dispatched retrying failed delivered bounced seen acted stale cancelled",
        ReceiptKind: "decision policy correction",
        ActorType: "user policy runtime anonymous_link",
        ClearanceSource: "human_assertion runtime_inference timeout",
        AuthorizationState: "open spent expired",
        AttemptOutcome: "accepted transient_failure permanent_failure timeout suppressed",
        Suppression: "no_recipient no_address channel_unknown channel_not_configured duplicate quiet_hours consent_missing",
    }
    for (name, role) in Role::ALL {
        assert_eq!((role.as_str(), to_json(&role).unwrap()), (name, Json::from(name)));
    }
    for (name, strength) in AuthStrength::ALL {
        assert_eq!((strength.as_str(), to_json(&strength).unwrap()), (name, Json::from(name)));
    }
}

#[test]
fn roles_strengths_and_grades_rise() {
    assert!(Role::ALL.is_sorted_by_key(|(_, role)| *role));
    assert!(AuthStrength::ALL.is_sorted_by_key(|(_, strength)| *strength));
    assert!(Grade::ALL.is_sorted_by_key(|(_, grade)| *grade));
}

#[test]
fn every_code_travels_under_its_own_name() {
    for code in ErrorCode::ALL {
        assert_eq!(to_json(&code).unwrap(), Json::from(code.as_str()));
    }
}

#[test]
fn only_pending_is_not_final() {
    for (_, state) in RequestState::ALL {
        assert_eq!(state.is_final(), *state != RequestState::Pending);
    }
}
