//! What a first use weighs, and that it takes one round trip.

use handoff_protocol::principal::Role;

use crate::{html, world::World};

#[tokio::test]
async fn a_first_use_is_one_answer_and_everything_is_under_a_hundred_kilobytes() {
    let world = World::new().await;
    let body = "A sentence of some length, which stands for what people write. ".repeat(300);
    let id = world
        .raise(&format!(r#"{{"waiter_ref":"w","prompt":{{"title":"Go on?","body":"{body}"}},"requires":{{"v":1}}}}"#))
        .await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let tags = html::tags(&page.is(200).body);
    let blocking = tags.iter().filter(|tag| {
        tag.get("rel") == "stylesheet" || (tag.name == "script" && !tag.has("defer")) || tag.name == "img"
    });
    assert_eq!(blocking.count(), 0, "nothing has to arrive before the page is of use");
    let script = tags.iter().find(|tag| tag.name == "script").unwrap().get("src").to_owned();
    let script = ada.get(&script).await;
    let whole = page.body.len() + script.is(200).body.len();
    assert!(whole < 100_000, "{whole} bytes, with a body of {}", body.len());
    let bare = ada.get("/settings").await.is(200).body.len();
    assert!(bare < 60_000, "{bare}");
    println!("a long request {} bytes, the script {} bytes", page.body.len(), script.body.len());
}
