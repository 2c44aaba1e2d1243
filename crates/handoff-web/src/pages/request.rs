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
        DecisionError, Lacking, Requires,
        directory::Directory,
        terms::{OnExpiry, RequestState},
        view::RequestView,
    },
    duration::ExactDuration,
    id::RequestId,
    principal::{AuthStrength, FRESH_SECONDS},
    timestamp::Timestamp,
};

use crate::{
    answer_form::{AnswerForm, Faulty},
    control::{Input, SHOWN},
    notice::Notice,
    outcome::Outcome,
    page::{self, Frame},
    prompt::Prompt,
    session::Visitor,
    site::Site,
    when::{Deadline, When},
    words::{self, Saying},
};

/// What a browser says that fetches a page which nobody asked for yet.
const LOOKS_AHEAD: &str = "sec-purpose";

/// `GET /requests/{id}`.
pub(crate) async fn show(
    State(site): State<Site>,
    method: Method,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return page::sign_in(),
        Err(error) => return page::refuse(&error, None),
    };
    match load(&site, &visitor, path).await {
        Ok(loaded) => {
            // The person has seen it (rule V-3), unless their browser only looked ahead. A page of which that could not be
            // noted is a page all the same.
            if method == Method::GET && !headers.contains_key(LOOKS_AHEAD) {
                let _ = site.engine.page_opened(&visitor.principal, loaded.view.id).await;
            }
            respond(StatusCode::OK, &site, &visitor, loaded, &Occasion::Looking)
        }
        Err(error) => page::refuse(&error, Some(&visitor)),
    }
}

/// A request and what it declares.
#[derive(Debug)]
pub(super) struct LoadedRequest {
    pub(super) view: RequestView,
    pub(super) requires: Requires,
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
    let requires = Requires::read(&view.requires).map_err(|_| DecisionError::Internal)?;
    let people = site.engine.people(visitor.principal.tenant).await?;
    Ok(LoadedRequest { view, requires, people })
}

/// Why the page is shown.
#[derive(Debug)]
pub(super) enum Occasion<'a> {
    /// Somebody opened it.
    Looking,
    /// An answer has faults, or the question changed under it.
    Faulty(Faulty<'a>),
    /// An answer came to nothing.
    Refused { saying: Saying, detail: Option<String> },
}

#[derive(Template)]
#[template(path = "request.html")]
struct RequestPage {
    frame: Frame,
    prompt: Prompt,
    state: &'static str,
    /// What the state is called in the stylesheet.
    tone: &'static str,
    urgency: Option<&'static str>,
    facts: Facts,
    notice: Option<Notice>,
    answer_form: Option<AnswerForm>,
    outcome: Option<Outcome>,
}

/// What is known about a request besides what it asks.
struct Facts {
    asked_at: When,
    /// Who asks, where that is known by name.
    asked_by: Option<String>,
    /// What the program that waits calls this.
    waiter: String,
    deadline: Option<Deadline>,
    /// Until when the visitor's sign-in is fresh, where the answer needs that.
    fresh_until: Option<Deadline>,
    otherwise: Option<&'static str>,
    reason: Option<String>,
}

/// Answers with the page of a request as it stands.
pub(super) fn respond(
    status: StatusCode,
    site: &Site,
    visitor: &Visitor,
    loaded: LoadedRequest,
    occasion: &Occasion<'_>,
) -> Response {
    let LoadedRequest { view, requires, people } = loaded;
    let now = site.engine.now();
    let lacking = requires.authority.check(&visitor.principal, &view.also_assigned, &people, now).err();
    let is_pending = view.state == RequestState::Pending;
    let outcome = view.receipt.as_ref().and_then(|sealed| Outcome::read(sealed, &requires));
    let mut answer_form = None;
    if is_pending && lacking.is_none() && !matches!(occasion, Occasion::Refused { .. }) {
        let faulty = match occasion {
            Occasion::Faulty(faulty) => Some(*faulty),
            Occasion::Looking | Occasion::Refused { .. } => None,
        };
        match AnswerForm::new(visitor, &view, &requires, faulty) {
            Ok(form) => answer_form = Some(form),
            Err(error) => return page::refuse(&error, Some(visitor)),
        }
    }
    let notice = match (occasion, &answer_form) {
        (Occasion::Refused { saying, detail }, _) => Some(Notice::alert(*saying, detail.as_deref())),
        (Occasion::Faulty(faulty), Some(form)) => {
            let faults = form.faults(faulty.fields, &requires);
            let saying = match (faulty.is_stale, faults.is_empty()) {
                (true, true) => words::STALE,
                (true, false) => words::STALE_AND_FAULTY,
                (false, _) => words::FAULTY,
            };
            Some(Notice { faults, ..Notice::alert(saying, None) })
        }
        (Occasion::Faulty(_) | Occasion::Looking, _) => standing(&view, &requires, visitor, lacking),
    };
    let notice = notice.map(|notice| Notice { next: view.superseded_by, ..notice });
    let (state, tone) = match view.state {
        RequestState::Pending => (words::STATE_PENDING, "pending"),
        RequestState::Answered => (words::STATE_ANSWERED, "answered"),
        RequestState::Expired => (words::STATE_EXPIRED, "ended"),
        RequestState::Cancelled => (words::STATE_CANCELLED, "ended"),
        RequestState::Superseded => (words::STATE_SUPERSEDED, "ended"),
    };
    let page = RequestPage {
        frame: Frame::new(Some(visitor)),
        prompt: Prompt::read(&view.prompt),
        state,
        tone,
        urgency: words::urgency(view.urgency),
        facts: Facts::new(&view, &requires, visitor, now),
        notice,
        answer_form,
        outcome,
    };
    page::render(status, &page)
}

/// What there is to say of where a request stands, to somebody who only looks.
fn standing(view: &RequestView, requires: &Requires, visitor: &Visitor, lacking: Option<Lacking>) -> Option<Notice> {
    match view.state {
        RequestState::Pending => match lacking {
            Some(lacking) => Some(Notice::calm(words::can_only_read(lacking), Some(&words::lacking(lacking)))),
            None => on_the_way(view, requires, visitor),
        },
        RequestState::Answered => None,
        RequestState::Expired => Some(Notice::calm(words::EXPIRED, None)),
        RequestState::Cancelled => Some(Notice::calm(words::CANCELLED, view.cancel_reason.as_deref())),
        RequestState::Superseded => Some(Notice::calm(words::SUPERSEDED, None)),
    }
}

/// What was given already, to somebody who may answer: their own answer where it is not enough alone, or parts.
fn on_the_way(view: &RequestView, requires: &Requires, visitor: &Visitor) -> Option<Notice> {
    let visitor = visitor.principal.id();
    if view.endorsements.iter().any(|endorser| endorser.principal_id.is_some() && endorser.principal_id == visitor) {
        let needed = words::must_agree(requires.authority.quorum, view.endorsements.len());
        return Some(Notice::calm(words::ENDORSED, Some(&needed)));
    }
    (!view.steps.is_empty()).then(|| Notice::calm(words::GIVEN_IN_PART, None))
}

/// Who asks, by name.
pub(super) fn asker(view: &RequestView) -> Option<String> {
    view.raised_by_display.clone().filter(|name| !name.trim().is_empty())
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
    fn new(view: &RequestView, requires: &Requires, visitor: &Visitor, now: Timestamp) -> Self {
        let policy = view.ttl_policy.as_ref().map(|policy| policy.on_expiry);
        let is_pending = view.state == RequestState::Pending;
        let ends = view.expires_at.is_some() || policy == Some(OnExpiry::Park);
        Self {
            asked_at: When(view.created_at),
            asked_by: asker(view),
            waiter: view.waiter_ref.as_str().to_owned(),
            deadline: view.expires_at.filter(|_| is_pending).map(|at| Deadline { at: When(at), now }),
            fresh_until: fresh_until(requires, visitor, now)
                .filter(|_| is_pending)
                .map(|at| Deadline { at: When(at), now }),
            otherwise: (is_pending && ends).then(|| words::otherwise(policy)),
            reason: requires.authority.reason.clone(),
        }
    }
}
