//! Secrets: a value that only a sink sees, and what asking for one entails (section 17, rule A-2).

use handoff_protocol::{
    decision::{
        Amend, Answer, DecisionError, ErrorCode, FieldErrorCode, Policy, Raise, Request, Requires, amend,
        idempotency::IdempotencyKey,
        sink::{SinkSubmission, check_submission},
        terms::RequestState,
    },
    json::Json,
    principal::{AuthStrength, Principal, Role},
    secret::Secret,
};

use super::scene::{Scene, ask, json, link, machine, person, with};

const PASSWORD: &str = r#"{"name":"password","type":"secret","required":true}"#;
const EMAIL: &str = r#"{"name":"email","type":"text","required":true}"#;

/// Signing in: a text and a secret, for the sink `vault/1`.
fn sign_in() -> String {
    with(&ask(&format!("{EMAIL},{PASSWORD}")), "requires.answer.value_sink", r#"{"ref":"vault/1"}"#)
}

fn refusal(body: &str) -> DecisionError {
    match Raise::read(&machine(), json(body), &Policy::default()) {
        Err(error) => error,
        Ok(_) => panic!("accepted: {body}"),
    }
}

fn faults(error: &DecisionError) -> Vec<(&str, FieldErrorCode)> {
    error.fields().iter().map(|field| (field.name.as_str(), field.code)).collect()
}

#[test]
fn a_secret_is_answered_by_saying_that_it_was_given_and_by_nothing_else() {
    let mut scene = Scene::new();
    let asked = scene.raise(&ask(PASSWORD));
    for raw in [
        r#""hunter2""#,
        "7",
        "true",
        "[]",
        "{}",
        r#"{"provided":false}"#,
        r#"{"provided":"yes"}"#,
        r#"{"provided":true,"value":"hunter2"}"#,
        r#"[{"provided":true}]"#,
    ] {
        let body = format!(r#"{{"values":{{"password":{raw}}}}}"#);
        let refused = scene.answer(&asked, &person(Role::Admin), &body).unwrap_err();
        assert_eq!(faults(&refused), [("password", FieldErrorCode::SecretValueNotPermitted)], "{raw}");
        assert!(!format!("{refused} {refused:?} {:?}", refused.fields()).contains("hunter2"));
    }
    let given = scene.answer(&asked, &person(Role::Admin), r#"{"values":{"password":{"provided":true}}}"#).unwrap();
    assert_eq!(given.request.state, RequestState::Answered);
    let missing = scene.answer(&asked, &person(Role::Admin), r#"{"values":{"password":null}}"#).unwrap_err();
    assert_eq!(faults(&missing), [("password", FieldErrorCode::Required)]);
}

#[test]
fn the_first_fault_that_is_named_is_the_secret() {
    let mut scene = Scene::new();
    let asked = scene.raise(&sign_in());
    let refused =
        scene.answer(&asked, &person(Role::Admin), r#"{"values":{"extra":1,"password":"hunter2"}}"#).unwrap_err();
    assert_eq!(
        faults(&refused),
        [
            ("password", FieldErrorCode::SecretValueNotPermitted),
            ("email", FieldErrorCode::Required),
            ("extra", FieldErrorCode::UndeclaredField),
        ]
    );
}

#[test]
fn a_text_may_have_gone_to_the_sink_where_the_request_declares_one() {
    let given = r#"{"values":{"email":{"provided":true},"password":{"provided":true}}}"#;
    let mut scene = Scene::new();
    let with_sink = scene.raise(&sign_in());
    let _answered = scene.answer(&with_sink, &person(Role::Admin), given).unwrap();
    let without = scene.raise(&with(&ask(&format!("{EMAIL},{PASSWORD}")), "dedupe_key", r#""2""#));
    let refused = scene.answer(&without, &person(Role::Admin), given).unwrap_err();
    assert_eq!(faults(&refused), [("email", FieldErrorCode::WrongType)]);
    for near in [r#"{"provided":true,"x":1}"#, r#"{"provided":1}"#, "{}"] {
        let body = with(given, "values.email", near);
        let refused = scene.answer(&with_sink, &person(Role::Admin), &body).unwrap_err();
        assert_eq!(faults(&refused), [("email", FieldErrorCode::WrongType)], "{near}");
    }
}

#[test]
fn what_a_declaration_of_a_secret_may_not_hold_is_refused() {
    for body in [
        ask(r#"{"name":"a","type":"secret","initial":"hunter2"}"#),
        ask(r#"{"name":"a","type":"secret","options":[]}"#),
        ask(r#"{"name":"a","type":"secret","sink_ref":"vault/1"}"#),
        with(&sign_in(), "requires.answer.value_sink", r#"{"ref":"https://vault.example.com/1"}"#),
        with(&sign_in(), "requires.answer.value_sink", r#"{"ref":"x://"}"#),
        with(&sign_in(), "requires.answer.value_sink", r#"{"provider":"p"}"#),
        with(&sign_in(), "requires.answer.value_sink", r#"{"ref":""}"#),
        with(&sign_in(), "requires.answer.value_sink", r#"{"ref":"a","url":"b"}"#),
        with(&sign_in(), "requires.answer.value_sink", r#""a""#),
    ] {
        assert_eq!(refusal(&body).code(), ErrorCode::InvalidRequest, "{body}");
        assert!(!refusal(&body).to_string().contains("hunter2"));
    }
}

#[test]
fn a_default_answer_carries_no_secret_whether_it_would_be_used_or_not() {
    let policy = |policy: &str, answer: &str| {
        with(
            &ask(PASSWORD),
            "ttl_policy",
            &format!(r#"{{"on_expiry":"{policy}","default_answer":{{"password":{answer}}}}}"#),
        )
    };
    for name in ["default", "park", "escalate", "expire_and_deny"] {
        let refused = refusal(&policy(name, r#""hunter2""#));
        assert_eq!(refused.code(), ErrorCode::InvalidRequest, "{name}");
        assert!(refused.to_string().contains("password") && !refused.to_string().contains("hunter2"), "{refused}");
        let body = policy(name, r#"{"provided":true}"#);
        Raise::read(&machine(), json(&body), &Policy::default()).unwrap();
    }
}

#[test]
fn an_amendment_cannot_make_a_secret_of_what_the_default_answer_says_in_the_open() {
    let mut scene = Scene::new();
    let text = ask(r#"{"name":"password","type":"text"}"#);
    let open = with(&text, "ttl_policy", r#"{"on_expiry":"park","default_answer":{"password":"hunter2"}}"#);
    let (request, waiter) = scene.raise(&open);
    let body = format!(r#"{{"requires":{{"v":1,"answer":{{"fields":[{PASSWORD}]}}}}}}"#);
    let command = Amend::read(&machine(), json(&body), &Policy::default()).unwrap();
    let refused = amend(&request, &command, &machine(), &waiter, &mut scene.context()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidRequest);
    assert!(!refused.to_string().contains("hunter2"));
}

#[test]
fn a_secret_sets_a_floor_under_the_authority_that_the_receipt_records() {
    let given = r#"{"values":{"password":{"provided":true}}}"#;
    let mut scene = Scene::new();
    scene.policy.link_only_permitted = true;
    let low = with(&ask(PASSWORD), "requires.authority", r#"{"min_role":"viewer","auth_strength":"link_only"}"#);
    let asked = scene.raise(&low);
    for who in [person(Role::Editor), person(Role::Viewer), link(AuthStrength::LinkOnly)] {
        let refused = scene.answer(&asked, &who, given).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    }
    let shown = Requires::read(&asked.0.requires).unwrap();
    assert_eq!(shown.authority.min_role, Role::Admin, "what surfaces show is what is needed");
    let settled = scene.answer(&asked, &person(Role::Admin), given).unwrap();
    let receipt = json(&settled.receipt.unwrap().text);
    let required = receipt.get("authority").and_then(|authority| authority.get("required")).unwrap();
    assert_eq!(required.get("min_role"), Some(&Json::from("admin")));
    assert_eq!(required.get("auth_strength"), Some(&Json::from("session")));

    let high = with(&ask(PASSWORD), "requires.authority", r#"{"min_role":"viewer","auth_strength":"mfa"}"#);
    let asked = scene.raise(&high);
    assert_eq!(asked.0.requires().unwrap().authority.auth_strength, AuthStrength::Mfa);
}

#[test]
fn the_floor_stays_when_the_secret_goes() {
    let mut scene = Scene::new();
    let (request, waiter) = scene.raise(&ask(PASSWORD));
    let body = r#"{"requires":{"v":1,"answer":{"fields":[{"name":"a","type":"boolean"}]}}}"#;
    let command = Amend::read(&machine(), json(body), &Policy::default()).unwrap();
    let amended = amend(&request, &command, &machine(), &waiter, &mut scene.context()).unwrap().request;
    assert_eq!(amended.requires().unwrap().authority.min_role, Role::Admin);

    let (request, waiter) = scene.raise(&ask(r#"{"name":"b","type":"boolean"}"#));
    assert_eq!(request.requires().unwrap().authority.min_role, Role::Viewer);
    let body = format!(r#"{{"requires":{{"v":1,"answer":{{"fields":[{PASSWORD}]}}}}}}"#);
    let command = Amend::read(&machine(), json(&body), &Policy::default()).unwrap();
    let amended = amend(&request, &command, &machine(), &waiter, &mut scene.context()).unwrap().request;
    assert_eq!(amended.requires().unwrap().authority.min_role, Role::Admin);
}

#[test]
fn submitted_names_must_be_declared_and_nothing_of_a_value_is_ever_said() {
    let mut scene = Scene::new();
    let (request, _) = scene.raise(&sign_in());
    let mut check = |values: &str| {
        let body = Secret::new(json(&format!(r#"{{"values":{values}}}"#)));
        let submission = SinkSubmission::read(&person(Role::Admin), body)?;
        check_submission(&request, "vault/1", &submission.names(), &person(Role::Admin), &scene.context())?;
        Ok::<_, DecisionError>(submission.names().iter().map(str::to_owned).collect::<Vec<_>>())
    };
    assert_eq!(check(r#"{"password":"hunter2","email":"x"}"#).unwrap(), ["password", "email"]);
    assert!(check("{}").unwrap().is_empty());
    for (values, named) in [
        (r#"{"password":"hunter2","smuggled":"hunter2"}"#, "values.smuggled"),
        (r#"{"password":null}"#, "values.password"),
        (r#"["hunter2"]"#, "values"),
        (r#""hunter2""#, "values"),
    ] {
        let refused = check(values).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidRequest, "{values}");
        let said = format!("{refused} {refused:?}");
        assert!(said.contains(named) && !said.contains("hunter2"), "{said}");
    }
    let long = format!(r#"{{"{}":"hunter2"}}"#, "x".repeat(200));
    assert!(!check(&long).unwrap_err().to_string().contains("xxx"), "a name that may be a value is not repeated");
}

#[test]
fn a_submission_needs_the_authority_of_an_answer_and_a_pending_request() {
    let mut scene = Scene::new();
    let (request, waiter) = scene.raise(&sign_in());
    let submit = |scene: &mut Scene, request: &Request, who: &Principal| {
        let submission = SinkSubmission::read(who, Secret::new(json(r#"{"values":{"email":"x"}}"#)))?;
        check_submission(request, "vault/1", &submission.names(), who, &scene.context())
    };
    let code = |result: Result<(), DecisionError>| result.unwrap_err().code();
    assert_eq!(code(submit(&mut scene, &request, &machine())), ErrorCode::RequesterMayNotAnswer);
    assert_eq!(code(submit(&mut scene, &request, &link(AuthStrength::Session))), ErrorCode::InsufficientScope);
    assert_eq!(code(submit(&mut scene, &request, &person(Role::Editor))), ErrorCode::InsufficientAuthority);
    submit(&mut scene, &request, &person(Role::Admin)).unwrap();
    let given = r#"{"values":{"email":{"provided":true},"password":{"provided":true}}}"#;
    let settled = scene.answer(&(request, waiter), &person(Role::Admin), given).unwrap().request;
    assert_eq!(code(submit(&mut scene, &settled, &person(Role::Admin))), ErrorCode::AlreadyAnswered);
}

#[test]
fn what_is_kept_of_a_submission_cannot_be_tried_out_without_its_key() {
    let digest = |body: &str, key: &str| {
        let body = Secret::new(json(body));
        let submission = SinkSubmission::read(&person(Role::Admin), body).unwrap();
        submission.digest(&IdempotencyKey::parse(key).unwrap()).map(|digest| digest.to_string())
    };
    let body = r#"{"values":{"a":"x","b":4.0}}"#;
    let first = digest(body, "k1").unwrap();
    assert_eq!(first, digest(r#"{"values":{"b":4,"a":"x"}}"#, "k1").unwrap());
    assert_ne!(first, digest(body, "k2").unwrap());
    assert_ne!(first, digest(r#"{"values":{"a":"y","b":4}}"#, "k1").unwrap());
    let refused = digest(r#"{"values":{"a":{"hunter2":0.5}}}"#, "k1").unwrap_err();
    assert!(!refused.to_string().contains("hunter2"), "{refused}");
}

#[test]
fn values_are_not_printed() {
    let body = Secret::new(json(r#"{"values":{"password":"hunter2"}}"#));
    let submission = SinkSubmission::read(&person(Role::Admin), body).unwrap();
    assert!(!format!("{submission:?}").contains("hunter2"));
    assert_eq!(submission.into_values().expose().to_text(), r#"{"password":"hunter2"}"#);
    assert!(Answer::read(&person(Role::Admin), json(r#"{"values":{"password":{"provided":true}}}"#)).is_ok());
}

#[test]
fn a_step_that_gives_a_secret_keeps_its_name_alone_and_the_floor_and_the_sink_stay() {
    let mut scene = Scene::new();
    let asked = scene.raise(&sign_in());
    let given = r#"{"values":{"password":{"provided":true}},"partial":true}"#;
    let step = scene.answer(&asked, &person(Role::Admin), given).unwrap().request;
    let open = Requires::read(&step.requires).unwrap();
    assert!(open.field("password").is_none(), "what is left to give is the user");
    assert_eq!(step.requires().unwrap().authority.min_role, Role::Admin);
    assert_eq!(step.sink_refs(), ["vault/1"]);
    let stepped = (step, asked.1);
    let rest = r#"{"values":{"email":"dana"}}"#;
    let refused = scene.answer(&stepped, &person(Role::Editor), rest).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    let raw = r#"{"values":{"password":"hunter2"},"partial":true}"#;
    let refused = scene.answer(&stepped, &person(Role::Admin), raw).unwrap_err();
    assert_eq!(faults(&refused), [("password", FieldErrorCode::SecretValueNotPermitted)]);
    let settled = scene.answer(&stepped, &person(Role::Admin), rest).unwrap();
    let receipt = json(&settled.receipt.unwrap().text);
    let steps = receipt.get("steps").and_then(Json::as_array).unwrap();
    assert_eq!(steps[0].get("secret_fields").map(Json::to_text).as_deref(), Some(r#"["password"]"#));
    let values = receipt.get("decision").and_then(|decision| decision.get("values")).unwrap();
    assert_eq!(values.to_text(), r#"{"password":{"provided":true},"email":"dana"}"#);
}

#[test]
fn whoever_passes_a_request_on_or_is_unable_leaves_no_secret_behind() {
    let mut scene = Scene::new();
    let asked = scene.raise(&sign_in());
    for rest in
        [r#""disposition":"unable""#, r#""disposition":"delegate","delegate_to":{"kind":"role","value":"admin"}"#]
    {
        let raw = format!(r#"{{"values":{{"password":"hunter2"}},{rest}}}"#);
        let refused = scene.answer(&asked, &person(Role::Admin), &raw).unwrap_err();
        assert_eq!(faults(&refused), [("password", FieldErrorCode::SecretValueNotPermitted)], "{rest}");
        assert!(!format!("{refused:?}").contains("hunter2"));
        let fine = format!(r#"{{"values":{{}},{rest}}}"#);
        let _recorded = scene.answer(&asked, &person(Role::Admin), &fine).unwrap();
    }
}
