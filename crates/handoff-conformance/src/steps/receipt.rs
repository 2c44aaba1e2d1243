//! One receipt, fetched and recomputed by itself.

use super::chain::get;
use crate::{case::ReceiptCheck, chain::link, failure::Failure, story::Story};

/// Fetches a receipt by its id and recomputes its digest from the bytes that were served.
pub(super) async fn play(story: &mut Story, step: &ReceiptCheck) -> Result<(), Failure> {
    let scope = &story.scope;
    let credential = scope.text(&step.credential).map_err(Failure::of)?;
    let id = scope.text(&step.id).map_err(Failure::of)?;
    let path = scope.path("/v1/receipts/").map_err(Failure::of)? + &id;
    let reply = get(story, &credential, &path, &[]).await?;
    let link = link(&reply.text).map_err(|problem| Failure::of(problem).upon(reply.brief()))?;
    if link.id != id {
        return Err(Failure::of(format!("it says that it is `{}`", link.id)).upon(reply.brief()));
    }
    story.met += 1;
    story.hold("the receipt", step.expect.as_ref(), reply.json()).map_err(|failure| failure.upon(reply.brief()))?;
    story.keep(&step.keep, reply.json(), &reply.text)
}
