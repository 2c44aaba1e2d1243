//! Markers that must have come out nowhere.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use regex::Regex;

use crate::{failure::Failure, json::hex, matcher::is_id, story::Story};

/// Looks for each marker in everything that came out in this scenario: replies with their headers, pushes, outputs of
/// hooks, the log, and, where the step says so, the store.
pub(super) async fn play(story: &mut Story, step: &crate::case::Nowhere) -> Result<(), Failure> {
    let mut looked_through = story.remembered();
    let evidence = Evidence::of(&looked_through);
    let pushes = story.world.receiver.pushes_below(&format!("{}/", story.own_path));
    looked_through.extend(pushes.iter().map(|push| ("a push".to_owned(), push.whole())));
    let log = output(story, "log").await?;
    evidence.stands_in("log", &log, &[&evidence.calls, &evidence.ids])?;
    looked_through.push(("the log".to_owned(), log));
    if step.store {
        let store = output(story, "store").await?;
        evidence.stands_in("store", &store, &[&evidence.ids])?;
        looked_through.push(("the store".to_owned(), store));
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

/// What must stand in a log or a store that is really looked at: things of this scenario, which the server named.
struct Evidence {
    /// Ids of requests.
    ids: Vec<String>,
    /// Ids of calls.
    calls: Vec<String>,
}

impl Evidence {
    fn of(replies: &[(String, String)]) -> Self {
        let mut evidence = Self { ids: Vec::new(), calls: Vec::new() };
        for (_, text) in replies {
            let ids = text.match_indices("req_").filter_map(|(at, _)| text.get(at..at + 30));
            evidence.ids.extend(ids.filter(|id| is_id("req", id)).map(str::to_owned));
            let calls = text.lines().filter_map(|line| line.strip_prefix("x-request-id: "));
            evidence.calls.extend(calls.map(str::to_owned));
        }
        evidence
    }

    /// Fails where nothing of this scenario is found: whoever looks there would find nothing else either.
    fn stands_in(&self, name: &str, text: &str, marks: &[&Vec<String>]) -> Result<(), Failure> {
        let marks: BTreeSet<&String> = marks.iter().copied().flatten().collect();
        if marks.iter().any(|mark| text.contains(mark.as_str())) {
            return Ok(());
        }
        let problem = "printed nothing of this scenario, so that nothing could be found in it";
        let looked_for = if marks.is_empty() { "; no reply named a request" } else { "" };
        Err(Failure::of(format!("the hook `{name}` {problem}{looked_for}")))
    }
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
    fn what_shows_nothing_of_the_scenario_is_no_look() {
        let id = "req_01K3M7QW8ZC4YRXB2N6VD9FTHE";
        let reply = format!("200\nx-request-id: call-17\n\n{{\"id\":\"{id}\",\"other\":\"req_é\"}}");
        let evidence = Evidence::of(&[("a reply".to_owned(), reply)]);
        assert_eq!(
            (evidence.ids.as_slice(), evidence.calls.as_slice()),
            (&[id.to_owned()][..], &["call-17".to_owned()][..])
        );
        evidence.stands_in("store", &format!("INSERT … {id} …"), &[&evidence.ids]).unwrap();
        let empty = evidence.stands_in("store", "x", &[&evidence.ids]).unwrap_err().to_string();
        assert!(empty.contains("the hook `store` printed nothing of this scenario"), "{empty}");
    }

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
