//! What a server says of itself, before anything is tried.

use serde_json::Value;

use crate::{
    http::{After, Outgoing, client},
    profile::Profile,
};

/// Asks the server what it is. A reply of any kind will do: that nothing is there, or something of another level than the
/// profile says, would only show that the profile is wrong.
///
/// # Errors
///
/// No server answers, or it claims another level; with the mend.
pub async fn look(profile: &Profile) -> Result<Option<Value>, String> {
    let url = format!("{}/v1/meta", profile.base_url);
    let client = client(profile.patience.call(), After::Close)?;
    let reply = Outgoing::new("GET", &url)?.send(&client).await;
    let reply = reply.map_err(|none| {
        format!("no server answers at {url}: {}; is `base_url` right, and without `/v1`?", none.problem)
    })?;
    let meta = reply.json().filter(|_| reply.status == 200).cloned();
    match meta.as_ref().and_then(|meta| meta.get("conformance_level")).and_then(Value::as_u64) {
        Some(claimed) if claimed != u64::from(profile.level) => {
            let level = profile.level;
            Err(format!("the server claims level {claimed} at {url}, and `level` in the profile is {level}"))
        }
        _ => Ok(meta),
    }
}
