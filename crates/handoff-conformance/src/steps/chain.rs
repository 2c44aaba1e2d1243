//! The whole chain, fetched and recomputed.

use reqwest::Client;
use serde_json::{Value, json};

use crate::{
    case::Chain,
    chain::{Head, agree, receipts_of, walk},
    failure::Failure,
    http::{Outgoing, Reply},
    story::Story,
};

/// More pages than any chain of a test has.
const PAGES: usize = 10_000;

/// Fetches the head, the chain and the head again, and walks the chain.
pub(super) async fn play(story: &mut Story, step: &Chain) -> Result<(), Failure> {
    let scope = &story.scope;
    let credential = scope.text(&step.credential).map_err(Failure::of)?;
    let before = head(story, &credential).await?;
    let texts = receipts(story, &credential, step.limit).await?;
    let after = head(story, &credential).await?;
    // Long chains take a while, and must not hold up other scenarios.
    let (texts, links) = tokio::task::spawn_blocking(move || (walk(&texts), texts))
        .await
        .map(|(links, texts)| (texts, links))
        .map_err(|error| Failure::of(error.to_string()))?;
    let links = links.map_err(Failure::of)?;
    agree(&links, &before, &after).map_err(Failure::of)?;
    for template in &step.contains {
        let id = story.scope.text(template).map_err(Failure::of)?;
        if !links.iter().any(|link| link.id == id) {
            return Err(Failure::of(format!("the chain of {} receipts has no `{id}`", links.len())));
        }
    }
    story.met += 1;
    let receipts: Vec<Value> = texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
    let last = links.last();
    let result = json!({
        "height": links.len(),
        "digest": last.map_or(crate::chain::GENESIS, |link| &link.digest),
        "org_id": after.tenant,
        "receipts": receipts,
    });
    story.hold("the chain", step.expect.as_ref(), Some(&result))?;
    story.keep(&step.keep, Some(&result), &result.to_string())
}

async fn head(story: &Story, credential: &str) -> Result<Head, Failure> {
    let reply = get(story, credential, "/v1/receipts/chain-head", &[]).await?;
    let text = |name| reply.json().and_then(|json| json.get(name)).and_then(Value::as_str).map(str::to_owned);
    let height = reply.json().and_then(|json| json.get("height")).and_then(Value::as_u64);
    match (text("org_id"), height, text("head_digest")) {
        (Some(tenant), Some(height), Some(digest)) => Ok(Head { tenant, height, digest }),
        _ => Err(Failure::of("the head has no `org_id`, `height` and `head_digest`").upon(reply.brief())),
    }
}

/// The texts of all receipts: the first page as a verifier asks for it, without a limit unless the step names one, and
/// those that follow.
async fn receipts(story: &Story, credential: &str, limit: Option<u64>) -> Result<Vec<String>, Failure> {
    let mut texts = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let limit = limit.map(|limit| ("limit", limit.to_string()));
        let query: Vec<_> = limit.into_iter().chain(cursor.map(|cursor| ("cursor", cursor))).collect();
        let reply = get(story, credential, "/v1/receipts", &query).await?;
        let page = receipts_of(&reply.text).map_err(|problem| Failure::of(problem).upon(reply.brief()))?;
        if let Some((_, most)) = query.iter().find(|(name, _)| *name == "limit")
            && most.parse::<usize>().is_ok_and(|most| page.len() > most)
        {
            return Err(Failure::of(format!("a page has {} receipts, and its limit is {most}", page.len())));
        }
        texts.extend(page.into_iter().map(str::to_owned));
        let next = reply.json().and_then(|json| json.get("next_cursor")).and_then(Value::as_str);
        match next {
            Some(next) => cursor = Some(next.to_owned()),
            None => return Ok(texts),
        }
    }
    Err(Failure::of("the pages of receipts never end"))
}

/// Fetches with a credential; the reply must be a 200.
pub(super) async fn get(
    story: &Story,
    credential: &str,
    path: &str,
    query: &[(&str, String)],
) -> Result<Reply, Failure> {
    let profile = &story.world.profile;
    let token = &profile.credential(credential).map_err(Failure::of)?.token;
    let mut outgoing = Outgoing::new("GET", &format!("{}{path}", profile.base_url)).map_err(Failure::of)?;
    outgoing.header("authorization", &format!("Bearer {token}")).map_err(Failure::of)?;
    for (name, value) in query {
        outgoing.url.query_pairs_mut().append_pair(name, value);
    }
    let client: &Client = &story.world.client;
    let reply = outgoing.send(client).await.map_err(|none| Failure::of(none.to_string()))?;
    story.remember(&format!("GET {path}"), reply.whole());
    if reply.status == 200 {
        Ok(reply)
    } else {
        Err(Failure::of(format!("GET {path} is not a 200")).upon(reply.brief()))
    }
}
