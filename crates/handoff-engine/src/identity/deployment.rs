//! What the server that runs on a store says of itself, for commands that open the store beside it.

use serde::{Deserialize, Serialize};

use super::IdentityError;
use crate::{
    decision::apply::Writes,
    document::Document,
    engine::{Engine, SYSTEM},
    store::{IndexRow, RecordKind},
    transaction::{Halt, Outcome},
};

const DEPLOYMENT: RecordKind = RecordKind::from_static("deployment");
/// There is one deployment a store.
const ID: &str = "server";

/// What the last server that was started on this store said of itself (system tenant).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Deployment {
    public_base: String,
}

impl Document for Deployment {
    const KIND: RecordKind = DEPLOYMENT;

    fn id(&self) -> String {
        ID.to_owned()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

impl Engine {
    /// Records the base of the addresses that people open, for whoever makes such an address beside the server. Repeating
    /// it writes nothing.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn announce_public_base(&self) -> Result<(), IdentityError> {
        let announced = Deployment { public_base: self.public_base().to_owned() };
        self.change(SYSTEM, move |view, _| {
            let kept = view.get::<Deployment, _>(ID)?;
            if kept.as_ref().is_some_and(|kept| kept.document == announced) {
                return Ok(Outcome::Nothing(()));
            }
            let mut writes = Writes::default();
            writes.put(kept.as_ref(), &announced).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    /// The base of the addresses that people open, as the last server on this store announced it; none before the first.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn announced_public_base(&self) -> Result<Option<String>, IdentityError> {
        self.change(SYSTEM, |view, _| {
            let kept = view.get::<Deployment, _>(ID)?;
            Ok(Outcome::Nothing(kept.map(|kept| kept.document.public_base)))
        })
        .await
    }
}
