//! What a person can do with a request besides answering it: pass it on, or say that they cannot answer (rule S-2).

use handoff_protocol::{
    decision::{DecisionError, Requires, Target, directory::Directory, terms::TargetKind, view::RequestView},
    id::{PrincipalId, RequestId},
    json::{Json, Object},
    principal::Role,
};

use crate::{answer_form::nonce, form::Form, session::Visitor, site::Site, visible, words::Words};

/// How many people one page offers. Where there are more, groups and roles reach them.
const PEOPLE: usize = 200;

/// The two forms, for a template.
#[derive(Debug)]
pub(crate) struct Besides {
    pub(crate) action: RequestId,
    pub(crate) csrf: String,
    pub(crate) rendered_digest: String,
    pub(crate) pass_on_nonce: String,
    pub(crate) unable_nonce: String,
    pub(crate) offers: Vec<Offer>,
}

/// Somebody whom the request can be passed on to.
#[derive(Debug)]
pub(crate) struct Offer {
    /// What it travels as.
    pub(crate) tag: String,
    pub(crate) label: String,
    pub(crate) target: Target,
}

impl Besides {
    pub(crate) fn new(visitor: &Visitor, view: &RequestView, offers: Vec<Offer>) -> Result<Self, DecisionError> {
        Ok(Self {
            action: view.id,
            csrf: visitor.csrf(),
            rendered_digest: view.rendered_digest.to_string(),
            pass_on_nonce: nonce()?,
            unable_nonce: nonce()?,
            offers,
        })
    }
}

/// Whom a visitor can pass a request on to: people whose role is high enough, by name, then groups and rotations, then
/// everybody of a role. People are those of the directory, or where it has none, the tenant's members.
pub(crate) async fn offers(
    site: &Site,
    words: &Words,
    visitor: &Visitor,
    requires: &Requires,
    directory: &Directory,
) -> Vec<Offer> {
    let known: Vec<(PrincipalId, Option<String>, Option<Role>)> = if !directory.has_people() {
        let members = site.engine.members(visitor.principal.tenant).await.unwrap_or_default();
        let members = members.into_iter().filter(|member| member.disabled_at.is_none());
        members.map(|member| (member.id, member.display, Some(member.role))).collect()
    } else {
        let people = directory.people();
        people.map(|person| (PrincipalId::User(person.id), person.display.clone(), person.role)).collect()
    };
    let needed = requires.authority.min_role;
    let is_offered = |(id, _, role): &(PrincipalId, Option<String>, Option<Role>)| {
        let is_person = matches!(id, PrincipalId::User(_));
        is_person && Some(*id) != visitor.principal.id() && role.is_none_or(|role| role >= needed)
    };
    let mut people: Vec<Offer> = known
        .into_iter()
        .filter(is_offered)
        .map(|(id, display, _)| {
            let name = display.filter(|name| !visible::is_blank(name)).map(|name| visible::line(&name));
            Offer::new(name.unwrap_or_else(|| id.to_string()), Target::person(id))
        })
        .collect();
    people.sort_by(|one, other| (&one.label, &one.tag).cmp(&(&other.label, &other.tag)));
    people.truncate(PEOPLE);
    let named = people.iter().map(|offer| (offer.label.clone(), offer.target.value.as_str())).collect();
    let labels = visible::told_apart(named);
    for (offer, label) in people.iter_mut().zip(labels) {
        offer.label = label;
    }
    let place = |target: Target| Offer::new(words.target(&target), target);
    let roles = Role::ALL.iter().filter(|(_, role)| *role >= needed);
    let roles = roles.map(|(name, _)| Target { kind: TargetKind::Role, value: (*name).to_owned() });
    people.into_iter().chain(directory.places().map(place)).chain(roles.map(place)).collect()
}

impl Offer {
    fn new(label: String, target: Target) -> Self {
        Self { tag: format!("{}:{}", target.kind.as_str(), target.value), label, target }
    }
}

/// The body that passes a request on to whom a form picked.
pub(crate) fn pass_on(form: &Form, to: &Target) -> Json {
    let mut body = disposition(form, "delegate");
    let to = Json::object([("kind", Json::from(to.kind.as_str())), ("value", Json::from(to.value.as_str()))]);
    body.insert("delegate_to", to);
    Json::Object(body)
}

/// The body that says that its person cannot answer.
pub(crate) fn unable(form: &Form) -> Json {
    Json::Object(disposition(form, "unable"))
}

fn disposition(form: &Form, disposition: &str) -> Object {
    let mut body = Object::new();
    body.insert("values", Object::new());
    body.insert("disposition", disposition);
    if let Some(note) = form.get("note").filter(|note| !note.trim().is_empty()) {
        body.insert("note", note);
    }
    if let Some(shown) = form.get("rendered_digest") {
        body.insert("rendered_digest", shown);
    }
    body
}
