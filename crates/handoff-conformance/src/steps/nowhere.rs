//! Markers that must have come out nowhere.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use regex::Regex;

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
    let mut wanted = Vec::new();
    for template in &step.markers {
        let marker = story.scope.text(template).map_err(Failure::of)?;
        if marker.len() < 8 {
            return Err(Failure::of(format!("`{template}` is too short to be looked for")));
        }
        wanted.extend(spellings(&marker).into_iter().map(|(form, spelled)| (template.clone(), form, spelled)));
    }
    // Stores and logs grow; what looks through them must not hold up other scenarios.
    let found = tokio::task::spawn_blocking(move || find(&wanted, &looked_through)).await;
    match found.map_err(|error| Failure::of(error.to_string()))? {
        Some(found) => Err(Failure::of(found)),
        None => Ok(()),
    }
}

/// The first place where one of the markers is found, in words. All markers are looked for in one pass.
fn find(wanted: &[(String, &str, String)], looked_through: &[(String, String)]) -> Option<String> {
    let any: Vec<_> = wanted.iter().map(|(.., spelled)| regex::escape(spelled)).collect();
    let any = match Regex::new(&any.join("|")) {
        Ok(any) => any,
        Err(error) => return Some(format!("the markers cannot be looked for: {error}")),
    };
    let (place, found) = looked_through.iter().find_map(|(place, text)| Some((place, any.find(text)?.as_str())))?;
    let (marker, form, _) = wanted.iter().find(|(.., spelled)| spelled == found)?;
    Some(format!("`{marker}` was found{form} in {place}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_however_it_is_spelled() {
        let marker = "can\"ary-marker";
        let wanted: Vec<_> =
            spellings(marker).into_iter().map(|(form, text)| ("${c}".to_owned(), form, text)).collect();
        let in_text = |text: &str| find(&wanted, &[("a reply".to_owned(), format!("before {text} after"))]);
        assert_eq!(in_text("nothing of it"), None);
        assert_eq!(in_text(marker).unwrap(), "`${c}` was found in a reply");
        assert_eq!(in_text("can\\\"ary-marker").unwrap(), "`${c}` was found, escaped, in a reply");
        let encoded = STANDARD.encode(marker);
        assert_eq!(in_text(&encoded).unwrap(), "`${c}` was found, in base64, in a reply");
        let digits = hex(marker.as_bytes());
        for digits in [digits.to_uppercase(), digits] {
            assert_eq!(in_text(&digits).unwrap(), "`${c}` was found, in hexadecimal, in a reply");
        }
    }
}
