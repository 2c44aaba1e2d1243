//! Who calls: bearer tokens and the session cookie.

use crate::world::{World, question};

#[tokio::test]
async fn no_credential_and_a_bad_one_are_told_apart_and_bad_ones_are_not() {
    let world = World::new().await;
    let missing = world.get("/v1/requests").expect(401).await;
    assert_eq!(missing.code(), "authentication_required");
    assert_eq!(missing.header("www-authenticate"), Some("Bearer"));
    let unknown = world.get("/v1/requests").token("hk_unknown").expect(401).await;
    assert_eq!(unknown.code(), "invalid_api_key");
    world.engine.revoke(&world.home.viewer).await.unwrap();
    let revoked = world.get("/v1/requests").token(&world.home.viewer).expect(401).await;
    assert_eq!(revoked.body, unknown.body);
    let good = format!("Bearer {}", world.home.machine);
    for malformed in ["Bearer", "", "Basic dXNlcjpwYXNz", &format!("{good} {good}"), &world.home.machine] {
        let refused = world.get("/v1/requests").header("authorization", malformed).expect(401).await;
        assert_eq!(refused.body, unknown.body, "{malformed}");
    }
    let twice = world.get("/v1/requests").header("authorization", &good).header("authorization", &good);
    assert_eq!(twice.expect(401).await.body, unknown.body);
    let not_text = world.get("/v1/requests").header_bytes("authorization", b"Bearer \xff");
    assert_eq!(not_text.expect(401).await.body, unknown.body);
    world.get("/v1/requests").header("authorization", &format!("bEARER {}", world.home.machine)).expect(200).await;
}

#[tokio::test]
async fn a_bearer_token_wins_over_the_cookie_also_when_it_is_no_good() {
    let world = World::new().await;
    let cookie = |token: &str| format!("theme=dark; handoff_session={token}; x=y");
    let by_cookie = world.get("/v1/requests").header("cookie", &cookie(&world.home.editor));
    by_cookie.expect(200).await;
    let both = world.get("/v1/requests").header("cookie", &cookie(&world.home.editor)).token("hk_unknown");
    assert_eq!(both.expect(401).await.code(), "invalid_api_key");
    let good_bearer = world.get("/v1/requests").header("cookie", &cookie("unknown")).token(&world.home.machine);
    good_bearer.expect(200).await;
    let bad_cookie = world.get("/v1/requests").header("cookie", &cookie("unknown"));
    assert_eq!(bad_cookie.expect(401).await.code(), "invalid_api_key");
}

#[tokio::test]
async fn a_foreign_form_cannot_act_with_the_cookie() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let path = format!("/v1/requests/{request}/answer");
    let answer = || {
        let call = world.post(&path, r#"{"values":{"decision":"approve"}}"#);
        call.header("cookie", &format!("handoff_session={}", world.home.editor))
    };
    assert_eq!(answer().expect(400).await.code(), "invalid_request");
    for form in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"]
    {
        assert_eq!(answer().header("content-type", form).expect(400).await.code(), "invalid_request", "{form}");
    }
    answer().header("content-type", "Application/JSON; charset=utf-8").expect(200).await;
}

#[tokio::test]
async fn with_a_bearer_token_the_content_type_is_not_looked_at() {
    let world = World::new().await;
    let call = world.post("/v1/requests", question("run:1", "Ship it?")).token(&world.home.machine);
    call.header("content-type", "text/plain").expect(201).await;
}

#[tokio::test]
async fn meta_and_keys_need_no_credential_and_survive_a_bad_one() {
    let world = World::new().await;
    let meta = world.get("/v1/meta").expect(200).await;
    assert_eq!(
        meta.text(),
        format!(
            "{{{},{},{}}}",
            r#""protocol_version":"0.1","conformance_level":1,"extensions":[]"#,
            concat!(
                r#""field_types":["choice","text","number","boolean","secret","attestation","document","file_ref"],"#,
                r#""capability_types":["interactive_surface","document"]"#
            ),
            concat!(
                r#""max_wait_seconds":30,"core_version":""#,
                env!("CARGO_PKG_VERSION"),
                r#"","channels":["inapp"]"#
            ),
        )
    );
    let keys = world.get("/v1/keys").expect(200).await;
    assert_eq!(keys.str("keys.0.crv"), "Ed25519");
    for (path, open) in [("/v1/meta", &meta), ("/v1/keys", &keys), ("/.well-known/handoff-keys.json", &keys)] {
        let bad = world.get(path).header("authorization", "nonsense").header("cookie", "handoff_session=x");
        assert_eq!(bad.expect(200).await.body, open.body);
        assert_eq!(open.header("cache-control"), Some("public, max-age=60"));
    }
}
