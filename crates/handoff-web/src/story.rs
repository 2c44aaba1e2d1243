//! What people did with a request on the way to its answer: who gave which part, who agreed, to whom it was passed on.

use std::collections::HashMap;

use handoff_protocol::{
    decision::{
        Receipt, RecordedDisposition, Requires, Target,
        terms::{Disposition, TargetKind},
        view::RequestView,
    },
    id::PrincipalId,
    timestamp::Timestamp,
};

use crate::{
    reader::Reader,
    session::Visitor,
    site::Site,
    visible,
    when::When,
    words::{Words, field_title, fill},
};

/// One thing that somebody did.
#[derive(Debug)]
pub(crate) struct Happening {
    pub(crate) text: String,
    pub(crate) at: When,
    /// Their words.
    pub(crate) note: Option<String>,
}

/// One thing before it is put into words.
struct Event {
    at: Timestamp,
    text: String,
    note: Option<String>,
}

/// Tells what came before the answer, oldest first. The names come from the record, or else from the members of the
/// tenant: a receipt's steps do not say who gave them, and the request does.
pub(crate) async fn story(
    site: &Site,
    reader: &Reader,
    visitor: &Visitor,
    view: &RequestView,
    whole: &Requires,
    receipt: Option<&Receipt>,
    dispositions: &[RecordedDisposition],
) -> Vec<Happening> {
    let words = reader.words;
    let mut names = Names { site, visitor, known: HashMap::new() };
    let mut events = Vec::new();
    for step in &view.steps {
        let who = names.of(words, step.by.display.as_deref(), step.by.principal_id).await;
        let text = fill(words.story_gave, &[&who, &titles(whole, &step.recorded.fields_provided)]);
        events.push(Event { at: step.recorded.at, text, note: None });
    }
    if let Some((receipt, last)) = receipt.and_then(|receipt| Some((receipt, receipt.steps.get(view.steps.len())?)))
        && !last.fields_provided.is_empty()
    {
        let who = names.of(words, receipt.actor.display.as_deref(), receipt.actor.principal_id).await;
        let text = fill(words.story_gave, &[&who, &titles(whole, &last.fields_provided)]);
        events.push(Event { at: last.at, text, note: None });
    }
    for endorser in &view.endorsements {
        let who = names.of(words, None, endorser.principal_id).await;
        events.push(Event { at: endorser.at, text: fill(words.story_answered, &[&who]), note: None });
    }
    for agreed in receipt.map(|receipt| receipt.authority.endorsements.as_slice()).unwrap_or_default() {
        let who = names.of(words, None, agreed.principal_id).await;
        let text = fill(words.story_agreed, &[&who]);
        events.push(Event { at: agreed.at, text, note: agreed.note.clone() });
    }
    for done in dispositions {
        let who = names.of(words, done.by.display.as_deref(), done.by.principal_id).await;
        let text = match (&done.disposition, &done.delegate_to) {
            (Disposition::Delegate, Some(to)) => {
                let to = names.of_target(words, to).await;
                fill(words.story_passed_on, &[&who, &to])
            }
            (Disposition::Unable, _) => fill(words.story_unable, &[&who]),
            (Disposition::Delegate | Disposition::Decide, _) => continue,
        };
        events.push(Event { at: done.at, text, note: done.note.clone() });
    }
    events.sort_by_key(|event| event.at);
    let happening = |event: Event| Happening {
        text: event.text,
        at: When::new(reader, event.at),
        note: event.note.filter(|note| !visible::is_blank(note)).map(|note| visible::lines(&note)),
    };
    events.into_iter().map(happening).collect()
}

/// What fields are called on the page, in a row.
fn titles(whole: &Requires, names: &[String]) -> String {
    let title = |name: &String| whole.field(name).map_or_else(|| visible::line(name), field_title);
    names.iter().map(title).collect::<Vec<_>>().join(", ")
}

/// What the members of the visitor's tenant are called, each asked for once.
struct Names<'a> {
    site: &'a Site,
    visitor: &'a Visitor,
    known: HashMap<PrincipalId, String>,
}

impl Names<'_> {
    /// A person by the name that was recorded, or else by what they are called now.
    async fn of(&mut self, words: &Words, display: Option<&str>, id: Option<PrincipalId>) -> String {
        if let Some(name) = display.filter(|name| !visible::is_blank(name)) {
            return visible::line(name);
        }
        let Some(id) = id else { return words.decided_by_link.to_owned() };
        if let Some(name) = self.known.get(&id) {
            return name.clone();
        }
        let member = self.site.engine.member(self.visitor.principal.tenant, id).await.ok();
        let name = member.and_then(|member| member.display).filter(|name| !visible::is_blank(name));
        let name = name.map_or_else(|| id.to_string(), |name| visible::line(&name));
        self.known.insert(id, name.clone());
        name
    }

    async fn of_target(&mut self, words: &Words, target: &Target) -> String {
        match (target.kind, PrincipalId::parse(&target.value)) {
            (TargetKind::Principal, Ok(id)) => self.of(words, None, Some(id)).await,
            _ => words.target(target),
        }
    }
}
