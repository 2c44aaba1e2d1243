//! The proof of a decision.

use handoff_protocol::{
    bundle::{self, Trust},
    principal::Role,
};

use crate::world::{World, YES_NO, answer_form};

#[tokio::test]
async fn a_proof_is_a_file_that_verifies_and_shows_one_decision() {
    let world = World::new().await;
    let (first, second) = (world.ask(YES_NO).await, world.ask(r#"[{"name":"a","type":"boolean"}]"#).await);
    let mut ada = world.entered("Ada", Role::Editor).await;
    ada.get(&format!("/requests/{first}/proof")).await.is(404);
    for id in [second, first] {
        let page = ada.get(&format!("/requests/{id}")).await;
        let form = answer_form(&page, id);
        let form = if id == first { form.pick("v.decision", "Refund it") } else { form };
        ada.send(&form).await.is(303);
    }
    let page = ada.get(&format!("/requests/{first}")).await;
    page.says("Download proof").says("It shows no other decision.");
    let proof = ada.get(&format!("/requests/{first}/proof")).await;
    assert_eq!(proof.is(200).header("content-type"), Some("application/json"));
    let expected = format!("attachment; filename=\"handoff-proof-{first}.json\"");
    assert_eq!(proof.header("content-disposition"), Some(expected.as_str()));
    assert_eq!(proof.header("cache-control"), Some("no-store"));
    assert!(proof.body.contains(&first.to_string()) && !proof.body.contains(&second.to_string()));
    let report = bundle::verify(proof.body.as_bytes(), &Trust::default()).unwrap();
    assert_eq!((report.is_sound(), report.receipts), (true, 1), "{report:?}");
    let forged = proof.body.replace("\"approve\"", "\"reject\"");
    assert!(!bundle::verify(forged.as_bytes(), &Trust::default()).unwrap().is_sound());
    let mut stranger = world.browser();
    stranger.get(&format!("/requests/{first}/proof")).await.is(401);
}
