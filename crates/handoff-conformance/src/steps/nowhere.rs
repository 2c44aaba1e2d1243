//! Markers that must have come out nowhere.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{failure::Failure, json::hex, story::Story};

/// Looks for each marker in everything that came out in this scenario: replies with their headers, pushes, outputs of
/// hooks, the log, and, where the step says so, the store.
pub(super) async fn play(story: &mut Story, step: &crate::case::Nowhere) -> Result<(), Failure> {
    let mut looked_through = story.remembered();
    let pushes = story.world.receiver.pushes_below(&format!("{}/", story.own_path));
    looked_through.extend(pushes.iter().map(|push| ("a push".to_owned(), push.whole())));
    looked_through.push(("the log".to_owned(), output(story, "log").await?));
    if step.store {
        looked_through.push(("the store".to_owned(), output(story, "store").await?));
    }
    for template in &step.markers {
        let marker = story.scope.text(template).map_err(Failure::of)?;
        if marker.len() < 8 {
            return Err(Failure::of(format!("`{template}` is too short to be looked for")));
        }
        for (form, spelled) in spellings(&marker) {
            if let Some((place, _)) = looked_through.iter().find(|(_, text)| text.contains(&spelled)) {
                return Err(Failure::of(format!("`{template}` was found{form} in {place}")));
            }
        }
    }
    Ok(())
}

/// The ways in which a marker could come out.
fn spellings(marker: &str) -> Vec<(&'static str, String)> {
    let escaped = serde_json::to_string(marker).unwrap_or_default();
    let escaped = escaped.trim_matches('"').to_owned();
    vec![
        ("", marker.to_owned()),
        (", escaped,", escaped),
        (", in base64,", STANDARD.encode(marker).trim_end_matches('=').to_owned()),
        (", in hexadecimal,", hex(marker.as_bytes())),
        (", in hexadecimal,", hex(marker.as_bytes()).to_uppercase()),
    ]
}

/// What a hook prints that shows something whole; nothing at all is no look.
async fn output(story: &Story, name: &str) -> Result<String, Failure> {
    let ran = story.hook(name, &BTreeMap::new()).await?;
    let text = format!("{}{}", ran.stdout, ran.stderr);
    match ran.exit {
        Some(0) if !text.trim().is_empty() => Ok(text),
        Some(0) => Err(Failure::of(format!("the hook `{name}` printed nothing"))),
        _ => Err(Failure::of(format!("the hook `{name}` failed")).upon(crate::json::cut(&text, 600))),
    }
}
