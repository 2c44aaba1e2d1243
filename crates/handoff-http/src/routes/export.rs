//! `/v1/export`: the caller's own receipts as a bundle that verifies offline, written while it is read.

use axum::extract::State;
use futures::stream::{self, StreamExt as _};
use handoff_engine::{export::Export, store::StoreError};

use crate::{
    api::Api,
    extract::Caller,
    refusal::Refusal,
    reply::{self, Reply},
};

pub(super) async fn read(State(api): State<Api>, caller: Caller) -> Reply {
    let mut export = api.engine.export_own(&caller.0).await?;
    // What fails before anything is sent is answered like any failure; later, the connection breaks off.
    let first = piece(&mut export).await.map_err(|_| Refusal::internal())?;
    let rest = stream::try_unfold(export, async |mut export| Ok(piece(&mut export).await?.map(|text| (text, export))));
    Ok(reply::pieces(stream::iter(first).map(Ok::<_, StoreError>).chain(rest)))
}

async fn piece(export: &mut Export) -> Result<Option<String>, StoreError> {
    export.next().await.inspect_err(|error| tracing::error!(%error, "an export cannot go on"))
}
