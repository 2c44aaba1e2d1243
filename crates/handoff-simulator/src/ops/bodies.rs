//! The bodies that clients send.

use handoff_protocol::json::{Json, read_str};

use crate::{board::Shape, cast::Tenant, client::Doing, rng::Rng};

/// JSON that the simulator wrote itself.
pub(crate) fn json(text: &str) -> Json {
    read_str(text).unwrap_or(Json::Null)
}

const CHOICE: &str = r#"{"name":"decision","type":"choice","required":true,"options":[{"id":"yes","label":"Yes"},{"id":"no","label":"No"}]}"#;

/// What a raise asks.
pub(super) fn raise(doing: &mut Doing<'_>) -> (Json, Shape) {
    let waiters = doing.world.plan.knobs.waiters;
    let rng = &mut doing.rng;
    let kinds = [(10, Shape::Choice), (5, Shape::Parts), (4, Shape::Council), (3, Shape::Secret), (5, Shape::Surface)];
    let shape = rng.weigh(&kinds).unwrap_or(Shape::Choice);
    let waiter = format!("run:{}", rng.below(waiters));
    let title = format!("Question {} of {}", rng.below(1_000), doing.name);
    let mut members = vec![
        format!(r#""waiter_ref":"{waiter}""#),
        format!(r#""prompt":{{"title":"{title}"}}"#),
        format!(r#""requires":{}"#, requires(shape, &doing.name)),
    ];
    let rng = &mut doing.rng;
    if rng.chance(120) {
        members.push(format!(r#""dedupe_key":"question {}""#, rng.below(4)));
    }
    if rng.chance(450) {
        let ttl = rng.pick(&["PT5S", "PT20S", "PT45S", "PT2M", "PT1H"]).copied().unwrap_or("PT20S");
        members.push(format!(r#""ttl":"{ttl}""#));
        let policy = match rng.below(5) {
            0 => Some(r#"{"on_expiry":"escalate"}"#.to_owned()),
            1 => Some(r#"{"on_expiry":"expire_and_deny"}"#.to_owned()),
            2 if shape == Shape::Choice => {
                Some(r#"{"on_expiry":"default","default_answer":{"decision":"no"}}"#.to_owned())
            }
            3 => Some(r#"{"on_expiry":"park","reminder_every":"PT1M"}"#.to_owned()),
            _ => None,
        };
        members.extend(policy.map(|policy| format!(r#""ttl_policy":{policy}"#)));
    }
    if rng.chance(500) {
        let ttl = rng.pick(&["PT3S", "PT15S", "PT1M", "PT10M"]).copied().unwrap_or("PT15S");
        members.push(format!(r#""attempt_ttl":"{ttl}""#));
    }
    if rng.chance(250) {
        members.push(r#""liveness":"leased""#.to_owned());
        if rng.chance(600) {
            members.push(r#""on_waiter_terminal":"keep""#.to_owned());
        }
    } else if rng.chance(100) {
        members.push(r#""on_waiter_terminal":"cancel""#.to_owned());
    }
    if rng.chance(350) {
        members.push(format!(r#""callback":{{"url":"https://receiver-{}.example/cb"}}"#, rng.below(3)));
    }
    if rng.chance(200) {
        members.push(r#""resume_ref":"place","resume_payload":"cGF5bG9hZA==""#.to_owned());
    }
    if rng.chance(200) {
        members.push(format!(r#""effect_digest":"sha256:{}""#, "e".repeat(64)));
    }
    if rng.chance(150) {
        members.push(r#""presentation_binding":"strict""#.to_owned());
    }
    if rng.chance(500)
        && let Some(ladder) = ladder(doing)
    {
        members.push(format!(r#""routing":{{"ladder":[{ladder}]}}"#));
    }
    (json(&format!("{{{}}}", members.join(","))), shape)
}

/// What a scripted raise asks, with further members.
pub(crate) fn scripted(shape: Shape, name: &str, more: &str) -> Json {
    let requires = requires(shape, name);
    json(&format!(r#"{{"waiter_ref":"run:0","prompt":{{"title":"{name}"}},"requires":{requires}{more}}}"#))
}

fn requires(shape: Shape, name: &str) -> String {
    let (before, fields) = match shape {
        Shape::Choice => (String::new(), CHOICE.to_owned()),
        Shape::Parts => (
            String::new(),
            format!(r#"{CHOICE},{{"name":"reason","type":"text","required":true}},{{"name":"more","type":"text"}}"#),
        ),
        Shape::Council => (r#""authority":{"quorum":2},"#.to_owned(), CHOICE.to_owned()),
        Shape::Secret => (
            String::new(),
            r#"{"name":"password","type":"secret","required":true,"sink_ref":"snk_01K3M7QW8ZC4YRXB2N6VD9FTHF"}"#
                .to_owned(),
        ),
        Shape::Surface => (
            format!(
                r#""capabilities":[{{"type":"interactive_surface","scope":"drive","resource_ref":"opaque:{name}"}}],"#
            ),
            CHOICE.to_owned(),
        ),
    };
    let sink =
        if shape == Shape::Secret { r#","value_sink":{"provider":"vault","ref":"opaque:password"}"# } else { "" };
    format!(r#"{{"v":1,{before}"answer":{{"fields":[{fields}]{sink}}}}}"#)
}

/// A ladder of one to three rungs, within a minute.
fn ladder(doing: &mut Doing<'_>) -> Option<String> {
    let cast = doing.cast()?;
    let rng = &mut doing.rng;
    let count = rng.between(1, 3);
    let afters = ["PT0S", "PT6S", "PT30S"];
    let rungs: Option<Vec<String>> = (0..count)
        .map(|place| {
            let after = afters.get(usize::try_from(place).ok()?)?;
            let channels = rng.pick(&[
                r#""inapp""#,
                r#""pager""#,
                r#""mail""#,
                r#""pager","mail""#,
                r#""inapp","pager""#,
                r#""fax""#,
            ])?;
            Some(format!(r#"{{"after":"{after}","channels":[{channels}],"to":{}}}"#, target(rng, cast)?))
        })
        .collect();
    Some(rungs?.join(","))
}

/// Somebody of a tenant.
pub(super) fn target(rng: &mut Rng, cast: &Tenant) -> Option<String> {
    Some(match rng.below(5) {
        0 => r#"{"kind":"anyone","value":"*"}"#.to_owned(),
        1 => r#"{"kind":"role","value":"editor"}"#.to_owned(),
        2 => r#"{"kind":"group","value":"ops"}"#.to_owned(),
        _ => format!(r#"{{"kind":"principal","value":"{}"}}"#, rng.pick(&cast.people)?.id),
    })
}

/// What a person answers to a shape. A part is given of what has parts.
pub(super) fn answer(rng: &mut Rng, shape: Shape, whole: bool) -> String {
    let decision = if rng.chance(700) { "yes" } else { "no" };
    let values = match shape {
        Shape::Choice | Shape::Council | Shape::Surface => format!(r#"{{"decision":"{decision}"}}"#),
        Shape::Secret => r#"{"password":{"provided":true}}"#.to_owned(),
        Shape::Parts if whole => format!(r#"{{"decision":"{decision}","reason":"because"}}"#),
        Shape::Parts => match rng.below(3) {
            0 => format!(r#"{{"decision":"{decision}"}}"#),
            1 => r#"{"reason":"because"}"#.to_owned(),
            _ => r#"{"more":"words"}"#.to_owned(),
        },
    };
    let partial = if shape == Shape::Parts && !whole { r#","partial":true"# } else { "" };
    format!(r#""values":{values}{partial}"#)
}
