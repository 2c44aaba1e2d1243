//! The page of a request: what is asked, the form to answer it with, or what it came to.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Method, StatusCode},
    response::Response,
};
use handoff_protocol::{
    decision::{
        DecisionError, Lacking, Receipt, Requires,
        directory::Directory,
        terms::{AuthorizationState, Mode, OnExpiry, RequestState},
        view::RequestView,
    },
    duration::ExactDuration,
    id::{PrincipalId, ReceiptId, RequestId},
    json::{from_json, read_str},
    principal::{AuthStrength, FRESH_SECONDS},
    timestamp::Timestamp,
};

use super::{answer, events, inbox};
use crate::{
    answer_form::{AnswerForm, Faulty},
    besides::{self, Besides},
    control::{Input, SHOWN},
    notice::Notice,
    outcome::Outcome,
    page::{self, Frame},
    prompt::Prompt,
    reader::Reader,
    resource::{self, Resource},
    session::Visitor,
    site::Site,
    story::{Happening, story},
    submission::{PART, Written},
    visible,
    when::{Deadline, When},
    words::{Saying, Words, fill},
};

/// How many of the things that people did besides answering are told, the latest.
const DISPOSITIONS: usize = 20;

/// What a browser says that fetches a page which nobody asked for yet.
const LOOKS_AHEAD: &str = "sec-purpose";

/// `GET /requests/{id}`.
pub(crate) async fn show(
    State(site): State<Site>,
    reader: Reader,
    method: Method,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return page::sign_in(&reader),
        Err(error) => return page::refuse(&reader, &error, None),
    };
    match load(&site, &visitor, path).await {
        Ok(loaded) => {
            // The person has seen it (rule V-3), unless their browser only looked ahead. A page of which that could not be
            // noted is a page all the same.
            if method == Method::GET && !headers.contains_key(LOOKS_AHEAD) {
                let _ = site.engine.page_opened(&visitor.principal, loaded.view.id).await;
            }
            respond(StatusCode::OK, &site, &reader, &visitor, loaded, &Occasion::Looking).await
        }
        Err(error) => page::refuse(&reader, &error, Some(&visitor)),
    }
}

/// A request and what it declares.
#[derive(Debug)]
pub(super) struct LoadedRequest {
    pub(super) view: RequestView,
    pub(super) requires: Requires,
    /// The same before partial answers took fields out of it.
    pub(super) whole: Requires,
    /// Who groups and rotations are.
    pub(super) people: Arc<Directory>,
}

/// Loads a request of the visitor's tenant. A path that is no id, an id of nothing and one of another tenant are the
/// same.
pub(super) async fn load(
    site: &Site,
    visitor: &Visitor,
    path: Result<Path<String>, PathRejection>,
) -> Result<LoadedRequest, DecisionError> {
    let Path(text) = path.map_err(|_| DecisionError::RequestNotFound)?;
    let id = RequestId::parse(&text).map_err(|_| DecisionError::RequestNotFound)?;
    load_by_id(site, visitor, id).await
}

/// Loads a request of the visitor's tenant.
pub(super) async fn load_by_id(site: &Site, visitor: &Visitor, id: RequestId) -> Result<LoadedRequest, DecisionError> {
    let view = site.engine.surface(&visitor.principal, id).await?;
    let mut requires = Requires::read(&view.requires).map_err(|_| DecisionError::Internal)?;
    // What is asked of the visitor is what an answer will be held against.
    if let Some(authority) = &view.effective_authority {
        requires.authority = authority.clone();
    }
    let whole = if view.steps.is_empty() {
        requires.clone()
    } else {
        let declared = site.engine.declared(&visitor.principal, id).await?;
        Requires::read(&declared).map_err(|_| DecisionError::Internal)?
    };
    let people = site.engine.people(visitor.principal.tenant).await?;
    Ok(LoadedRequest { view, requires, whole, people })
}

/// Why the page is shown.
#[derive(Debug)]
pub(super) enum Occasion<'a> {
    /// Somebody opened it.
    Looking,
    /// An answer has faults, or the question changed under it.
    Faulty(Faulty<'a>),
    /// An answer came to nothing.
    Refused { saying: Saying, detail: Option<String>, written: Vec<Written> },
    /// Something besides an answer came to nothing; the form for an answer is as it was.
    Undone { saying: Saying, written: Vec<Written> },
}

#[derive(Template)]
#[template(path = "request.html")]
struct RequestPage {
    words: &'static Words,
    frame: Frame,
    id: RequestId,
    prompt: Prompt,
    state: &'static str,
    /// What the state is called in the stylesheet.
    tone: &'static str,
    /// What the urgency is called in the stylesheet.
    spine: &'static str,
    urgency: Option<&'static str>,
    is_test: bool,
    facts: Facts,
    effect: Effect,
    notice: Option<Notice>,
    /// What was written into a form that came to nothing.
    written: Vec<Written>,
    answer_form: Option<AnswerForm>,
    besides: Option<Besides>,
    /// What may be used on the way.
    resources: Vec<Resource>,
    /// What people did so far.
    story: Vec<Happening>,
    has_receipt: bool,
    outcome: Option<Outcome>,
    /// What a correction says that it should have been.
    corrected: Option<Outcome>,
    /// Who decided and when, in a sentence.
    settled: Option<String>,
    /// What the events of this page go on after; none where nothing can change any more.
    seen: Option<String>,
}

/// What is known about a request besides what it asks.
struct Facts {
    asked_at: When,
    /// Who asks, where that is known by name.
    asked_by: Option<String>,
    /// On whose behalf they ask.
    asked_for: Option<String>,
    /// On whose behalf the visitor answers.
    answered_for: Option<String>,
    /// What the program that waits calls this.
    waiter: String,
    deadline: Option<Deadline>,
    is_pending: bool,
    /// Until when the visitor's sign-in is fresh, where the answer needs that.
    fresh_until: Option<Deadline>,
    otherwise: Option<&'static str>,
    reason: Option<String>,
    version: u64,
    digest: String,
}

/// What an answer lets the program do, in sentences.
struct Effect {
    sentences: Vec<String>,
    /// What it is bound to, where that was fixed beforehand.
    digest: Option<String>,
}

/// Answers with the page of a request as it stands.
pub(super) async fn respond(
    status: StatusCode,
    site: &Site,
    reader: &Reader,
    visitor: &Visitor,
    loaded: LoadedRequest,
    occasion: &Occasion<'_>,
) -> Response {
    let LoadedRequest { view, requires, whole, people } = loaded;
    let words = reader.words;
    let now = site.engine.now();
    let lacking = requires.authority.check(&visitor.principal, &view.also_assigned, &people, now).err();
    let is_pending = view.state == RequestState::Pending;
    let outcome = view.receipt.as_ref().and_then(|sealed| Outcome::read(reader, sealed, &whole));
    let corrected = match view.corrections.last() {
        Some(id) => correction(site, reader, visitor, *id, &whole).await,
        None => None,
    };
    let (mut answer_form, mut besides) = (None, None);
    if is_pending && lacking.is_none() && !matches!(occasion, Occasion::Refused { .. }) {
        let faulty = match occasion {
            Occasion::Faulty(faulty) => Some(*faulty),
            Occasion::Looking | Occasion::Refused { .. } | Occasion::Undone { .. } => None,
        };
        let offers = besides::offers(site, words, visitor, &requires, &people).await;
        let forms = AnswerForm::new(reader, visitor, &view, &requires, faulty);
        match forms.and_then(|form| Ok((form, Besides::new(visitor, &view, offers)?))) {
            Ok((form, others)) => (answer_form, besides) = (Some(form), Some(others)),
            Err(error) => return page::refuse(reader, &error, Some(visitor)),
        }
    }
    let resources =
        if is_pending { resource::resources(site, reader, visitor, &view.requires).await } else { Ok(Vec::new()) };
    let dispositions = site.engine.last_dispositions(&visitor.principal, view.id, DISPOSITIONS).await;
    let (resources, dispositions) = match (resources, dispositions) {
        (Ok(resources), Ok(dispositions)) => (resources, dispositions),
        (Err(error), _) | (_, Err(error)) => return page::refuse(reader, &error, Some(visitor)),
    };
    let receipt: Option<Receipt> = view.receipt.clone().and_then(|sealed| from_json(sealed).ok());
    let story = story(site, reader, visitor, &view, &whole, receipt.as_ref(), &dispositions).await;
    let notice = match (occasion, &answer_form) {
        (Occasion::Refused { saying, detail, .. }, _) => Some(Notice::alert(*saying, detail.as_deref())),
        (Occasion::Faulty(faulty), Some(form)) => {
            let faults = form.faults(words, faulty.fields, &requires);
            let saying = match (faulty.is_stale, faults.is_empty(), faulty.saying) {
                (true, true, _) => words.stale,
                (true, false, _) => words.stale_and_faulty,
                (false, _, Some(saying)) => saying,
                (false, _, None) => words.faulty,
            };
            Some(Notice { faults, ..Notice::alert(saying, None) })
        }
        (Occasion::Undone { saying, .. }, _) => Some(Notice::alert(*saying, None)),
        (Occasion::Faulty(_) | Occasion::Looking, _) => {
            standing(reader, &view, &requires, visitor, lacking, outcome.as_ref())
        }
    };
    let notice = notice.map(|notice| Notice { next: view.superseded_by, ..notice });
    let (state, tone) = match view.state {
        RequestState::Pending => (words.state_pending, "pending"),
        RequestState::Answered => (words.state_answered, "answered"),
        RequestState::Expired => (words.state_expired, "ended"),
        RequestState::Cancelled => (words.state_cancelled, "ended"),
        RequestState::Superseded => (words.state_superseded, "ended"),
    };
    let page = RequestPage {
        words,
        frame: Frame::new(reader, Some(visitor)),
        id: view.id,
        prompt: Prompt::read(&view.prompt, words),
        state,
        tone,
        spine: inbox::tone(view.urgency),
        urgency: words.urgency(view.urgency),
        is_test: view.test_mode,
        facts: Facts::new(site, reader, &view, &requires, visitor, now).await,
        effect: Effect::new(site, reader, &view, requires.authority.quorum),
        notice,
        written: match occasion {
            Occasion::Refused { written, .. } | Occasion::Undone { written, .. } => written.clone(),
            Occasion::Looking | Occasion::Faulty(_) => Vec::new(),
        },
        answer_form,
        besides,
        resources,
        story,
        settled: outcome.as_ref().map(|outcome| settled(words, outcome, has_parts_of_others(&view, receipt.as_ref()))),
        has_receipt: outcome.is_some(),
        outcome,
        corrected,
        seen: is_pending.then(|| events::standing(view.version, view.state)),
    };
    page::render(status, &page)
}

/// What a correcting receipt says; nothing if it cannot be read, since its number is on the page all the same.
async fn correction(
    site: &Site,
    reader: &Reader,
    visitor: &Visitor,
    id: ReceiptId,
    requires: &Requires,
) -> Option<Outcome> {
    let sealed = site.engine.receipt(&visitor.principal, id).await.ok()?;
    Outcome::read(reader, &read_str(&sealed).ok()?, requires)
}

/// Who decided and when, in a sentence.
fn settled(words: &Words, outcome: &Outcome, has_parts_of_others: bool) -> String {
    match outcome.by_policy {
        Some(saying) => saying.to_owned(),
        None if has_parts_of_others => fill(words.receipt_by_parts, &[&outcome.who, &outcome.at.text]),
        None => fill(words.receipt_by, &[&outcome.who, &outcome.at.text]),
    }
}

/// Whether others gave some of what was decided.
fn has_parts_of_others(view: &RequestView, receipt: Option<&Receipt>) -> bool {
    let decider = receipt.and_then(|receipt| receipt.actor.principal_id);
    view.steps.iter().any(|step| step.by.principal_id.is_none() || step.by.principal_id != decider)
}

/// What there is to say of where a request stands, to somebody who only looks.
fn standing(
    reader: &Reader,
    view: &RequestView,
    requires: &Requires,
    visitor: &Visitor,
    lacking: Option<Lacking>,
    outcome: Option<&Outcome>,
) -> Option<Notice> {
    let words = reader.words;
    match view.state {
        RequestState::Pending => match lacking {
            Some(lacking) => Some(Notice::calm(words.can_only_read(lacking), Some(&words.lacking(lacking)))),
            None => on_the_way(words, view, requires, visitor),
        },
        RequestState::Answered => {
            view.corrections.last().map(|id| Notice::calm(words.corrected, Some(&id.to_string())))
        }
        RequestState::Expired => {
            let at = outcome.map(|outcome| fill(words.lapsed_at, &[&outcome.at.text]));
            Some(Notice::calm(words.expired, at.as_deref()))
        }
        RequestState::Cancelled => Some(Notice::calm(words.cancelled, answer::reason(reader, view).as_deref())),
        RequestState::Superseded => Some(Notice::calm(words.superseded, None)),
    }
}

/// What was given already, to somebody who may answer: their own answer where it is not enough alone, or parts.
fn on_the_way(words: &Words, view: &RequestView, requires: &Requires, visitor: &Visitor) -> Option<Notice> {
    let visitor = visitor.principal.id();
    if view.endorsements.iter().any(|endorser| endorser.principal_id.is_some() && endorser.principal_id == visitor) {
        let needed = words.must_agree(requires.authority.quorum, view.endorsements.len());
        return Some(Notice::calm(words.endorsed, Some(&needed)));
    }
    (!view.steps.is_empty()).then(|| Notice::calm(words.given_in_part, None))
}

/// Who asks, by name.
pub(super) fn asker(view: &RequestView) -> Option<String> {
    view.raised_by_display.as_deref().filter(|name| !visible::is_blank(name)).map(visible::line)
}

/// Until when the visitor's sign-in is worth what the answer needs, where that passes (rule A-5).
fn fresh_until(requires: &Requires, visitor: &Visitor, now: Timestamp) -> Option<Timestamp> {
    let principal = &visitor.principal;
    let presented_at = match requires.authority.auth_strength {
        AuthStrength::Reauth if principal.grade(now) == AuthStrength::Reauth => principal.reauth_at,
        AuthStrength::Mfa if principal.grade(now) == AuthStrength::Mfa => principal.mfa_at,
        _ => None,
    };
    presented_at.map(|at| at.saturating_add(ExactDuration::from_seconds(FRESH_SECONDS)))
}

impl Facts {
    async fn new(
        site: &Site,
        reader: &Reader,
        view: &RequestView,
        requires: &Requires,
        visitor: &Visitor,
        now: Timestamp,
    ) -> Self {
        let policy = view.ttl_policy.as_ref().map(|policy| policy.on_expiry);
        let is_pending = view.state == RequestState::Pending;
        let ends = view.expires_at.is_some() || policy == Some(OnExpiry::Park);
        let deadline = |at: Option<Timestamp>| at.filter(|_| is_pending).map(|at| Deadline::new(reader, at, now));
        Self {
            asked_at: When::new(reader, view.created_at),
            asked_by: asker(view),
            asked_for: name_of(site, visitor, view.raised_on_behalf_of).await,
            answered_for: name_of(site, visitor, visitor.principal.on_behalf_of).await.filter(|_| is_pending),
            waiter: visible::line(view.waiter_ref.as_str()),
            deadline: deadline(view.expires_at),
            is_pending,
            fresh_until: deadline(fresh_until(requires, visitor, now)),
            otherwise: (is_pending && ends).then(|| reader.words.otherwise(policy)),
            reason: requires.authority.reason.as_deref().map(visible::lines),
            version: view.version,
            digest: view.rendered_digest.to_string(),
        }
    }
}

/// What a member of the visitor's tenant is called; its id where it has no name.
async fn name_of(site: &Site, visitor: &Visitor, id: Option<PrincipalId>) -> Option<String> {
    let id = id?;
    let member = site.engine.member(visitor.principal.tenant, id).await.ok();
    let name = member.and_then(|member| member.display).filter(|name| !visible::is_blank(name));
    Some(name.map_or_else(|| id.to_string(), |name| visible::line(&name)))
}

impl Effect {
    fn new(site: &Site, reader: &Reader, view: &RequestView, quorum: u64) -> Self {
        let words = reader.words;
        let digest = view.effect_digest.as_ref().map(|digest| digest.as_str().to_owned());
        let Some(authorization) = &view.authorization else {
            let hours = site.engine.policy().authorization_ttl.seconds() / 3600;
            let once = words.effect_once_for(quorum, hours);
            let mode = match view.mode {
                Mode::Gated => words.effect_gated,
                Mode::Advisory if quorum > 1 => words.effect_advisory_quorum,
                Mode::Advisory => words.effect_advisory,
            };
            return Self { sentences: vec![once, mode.to_owned()], digest };
        };
        let sentence = match authorization.state {
            AuthorizationState::Open => fill(words.effect_open, &[&When::new(reader, authorization.expires_at).text]),
            AuthorizationState::Expired => words.effect_expired.to_owned(),
            AuthorizationState::Spent => {
                let at = authorization.redemptions.first().map_or(authorization.expires_at, |first| first.redeemed_at);
                fill(words.effect_spent, &[&When::new(reader, at).text])
            }
        };
        Self { sentences: vec![sentence], digest }
    }
}
