//! The log, at its most talkative, holds nothing that was sent to be kept.

use handoff_protocol::json::{Json, read_str};

use crate::{
    home::{document, machine, person},
    support::deployment::Deployment,
};

on_every_store!(no_token_prompt_or_value_reaches_the_log);

fn no_token_prompt_or_value_reaches_the_log(deployment: &Deployment) {
    for format in ["text", "json"] {
        let loaded = document(&[machine("canary-machine", ""), person("canary-person", r#","display":"canary-name""#)]);
        let variables = [("HANDOFF_BOOTSTRAP_JSON", loaded.as_str()), ("RUST_LOG", "trace"), ("HANDOFF_LOG", format)];
        let server = deployment.serve(&variables);
        let connection = &mut server.connect();
        let body = r#"{"waiter_ref":"run:1","mode":"gated","prompt":{"title":"canary-title","body":"canary-body"},
            "metadata":{"note":"canary-metadata"},"requires":{"v":1,"answer":{"fields":
            [{"name":"why","type":"text","required":true,"label":"canary-label"}]}}}"#;
        let raised = connection.call("POST", "/v1/requests", "canary-machine", body).unwrap();
        assert_eq!(raised.status, 201, "{raised:?}");
        let request = raised.text("id");
        let answer = format!("/v1/requests/{request}/answer");
        let refused = connection.call("POST", &answer, "canary-person", r#"{"values":{"why":{"canary-refused":1}}}"#);
        assert_eq!(refused.unwrap().status, 422);
        let answered =
            connection.call("POST", &answer, "canary-person", r#"{"values":{"why":"canary-value"}}"#).unwrap();
        assert_eq!(answered.status, 200, "{answered:?}");
        let redeem = format!("/v1/authorizations/{}/redeem", answered.text("authorization.id"));
        let redeemed = connection.call("POST", &redeem, "canary-machine", r#"{"effect_key":"canary-effect"}"#);
        assert_eq!(redeemed.unwrap().status, 200);
        assert_eq!(connection.call("GET", "/v1/requests", "canary-stranger", "").unwrap().status, 401);
        assert_eq!(connection.call("POST", "/v1/requests", "canary-machine", r#"{"canary-json"#).unwrap().status, 400);
        connection.send("GET", "/enter/canary-link", "Cookie: handoff_session=canary-session\r\n", "").unwrap();
        assert!(connection.receive().unwrap().status < 500);
        let form = "Origin: null\r\nContent-Type: application/x-www-form-urlencoded\r\n";
        connection.send("POST", "/enter/canary-link", form, "token=canary-form").unwrap();
        assert!(connection.receive().unwrap().status < 500);
        server.terminate();
        let (status, printed, log) = server.wait();
        assert!(status.success());
        assert!(log.lines().count() >= 8, "every call is in the log: {log}");
        for text in [&log, &printed] {
            let found = text.lines().find(|line| line.contains("canary"));
            assert_eq!(found, None);
        }
        if format == "json" {
            assert!(log.lines().all(|line| read_str(line).is_ok()), "{log}");
            let mut call = log.lines().map(|line| read_str(line).unwrap());
            let call = call.find(|line| line.pointer("/fields/message").and_then(Json::as_str) == Some("served"));
            let call = call.unwrap_or_else(|| panic!("no call in {log}"));
            assert_eq!(call.pointer("/span/method").and_then(Json::as_str), Some("POST"));
            assert_eq!(call.get("spans"), None, "a span is told once");
        }
    }
}
