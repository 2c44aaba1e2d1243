//! Listing: pages bounded in number and in bytes, and nothing missed or shown twice.

use handoff_engine::decision::RequestFilter;

use crate::world::World;

#[tokio::test]
async fn a_page_of_large_requests_is_short_and_its_cursor_brings_the_rest() {
    let world = World::new().await;
    let mut raised = Vec::new();
    for number in 0..12 {
        let padding = "x".repeat(900_000);
        let body = format!(
            r#"{{"waiter_ref":"w{number}","prompt":{{"title":"Q"}},"requires":{{"v":1}},"metadata":{{"padding":"{padding}"}}}}"#
        );
        raised.push(world.raised(&body).await);
    }
    let mut filter = RequestFilter { limit: Some(200), ..RequestFilter::default() };
    let mut listed = Vec::new();
    let mut pages = 0;
    loop {
        let page = world.engine.requests(&world.machine, &filter).await.unwrap();
        assert!((1..=4).contains(&page.data.len()), "{} requests of 0.9 MB on one page", page.data.len());
        assert_eq!(page.has_more, page.next_cursor.is_some());
        listed.extend(page.data.iter().map(|request| request.id));
        pages += 1;
        match page.data.last() {
            Some(last) if page.has_more => filter.after = Some(last.id),
            _ => break,
        }
    }
    assert_eq!(listed, raised);
    assert_eq!(pages, 3);
}
