//! The page of a request: what is asked, the form to answer it with, or what it came to.

use askama::Template;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use handoff_protocol::{
    decision::{
        DecisionError, FieldError, Requires,
        terms::{OnExpiry, RequestState, Urgency},
        view::RequestView,
    },
    id::RequestId,
};

use crate::{
    control::{Control, Input},
    form::Form,
    outcome::Outcome,
    page::{self, Frame},
    prompt::Prompt,
    session::Visitor,
    site::Site,
    when::When,
    words::{self, Saying},
};

/// `GET /requests/{id}`.
pub(crate) async fn show(
    State(site): State<Site>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return page::sign_in(),
        Err(error) => return page::refuse(&error, None),
    };
    match load(&site, &visitor, path).await {
        Ok(loaded) => respond(StatusCode::OK, &visitor, loaded, Occasion::Looking),
        Err(error) => page::refuse(&error, Some(&visitor)),
    }
}

/// A request and what it declares.
#[derive(Debug)]
pub(super) struct LoadedRequest {
    pub(super) view: RequestView,
    pub(super) requires: Requires,
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
    Ok(LoadedRequest { view, requires })
}

/// Why the page is shown.
#[derive(Debug)]
pub(super) enum Occasion<'a> {
    /// Somebody opened it.
    Looking,
    /// An answer has faults.
    Faulty { form: &'a Form, fields: &'a [FieldError], note_too_long: bool },
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
    waiter: String,
    deadline: Option<When>,
    otherwise: Option<&'static str>,
    reason: Option<String>,
}

/// Something to say above everything else.
struct Notice {
    title: &'static str,
    text: String,
    /// Links into the form, or words about what has no place in it.
    faults: Vec<Fault>,
    /// Where to go instead.
    next: Option<RequestId>,
    is_alert: bool,
}

struct Fault {
    /// The input's name, where there is one.
    input: Option<String>,
    text: String,
}

struct AnswerForm {
    action: RequestId,
    csrf: String,
    nonce: String,
    rendered_digest: String,
    controls: Vec<Control>,
    note: String,
    note_error: Option<&'static str>,
}

/// Answers with the page of a request as it stands.
pub(super) fn respond(
    status: StatusCode,
    visitor: &Visitor,
    loaded: LoadedRequest,
    occasion: Occasion<'_>,
) -> Response {
    let LoadedRequest { view, requires } = loaded;
    let lacking = requires.authority.check(&visitor.principal).err();
    let is_pending = view.state == RequestState::Pending;
    let outcome = view.receipt.as_ref().and_then(|sealed| Outcome::read(sealed, &requires));
    let mut notice = match (&occasion, view.state) {
        (Occasion::Refused { saying, detail }, _) => Some(Notice::alert(*saying, detail.as_deref())),
        (Occasion::Faulty { .. }, RequestState::Pending) => Some(Notice {
            title: words::ERRORS_TITLE,
            text: words::ERRORS_TEXT.to_owned(),
            faults: Vec::new(),
            next: None,
            is_alert: true,
        }),
        (_, RequestState::Pending) => lacking.map(|lacking| {
            let lacking = words::lacking(lacking);
            Notice { is_alert: false, ..Notice::alert(words::MAY_NOT_ANSWER, Some(&lacking)) }
        }),
        (_, RequestState::Answered) => None,
        (_, RequestState::Expired) => Some(Notice { is_alert: false, ..Notice::alert(words::EXPIRED, None) }),
        (_, RequestState::Cancelled) => {
            Some(Notice { is_alert: false, ..Notice::alert(words::CANCELLED, view.cancel_reason.as_deref()) })
        }
        (_, RequestState::Superseded) => Some(Notice { is_alert: false, ..Notice::alert(words::SUPERSEDED, None) }),
    };
    if let Some(notice) = &mut notice {
        notice.next = view.superseded_by;
    }
    let mut answer_form = None;
    if is_pending && lacking.is_none() && !matches!(occasion, Occasion::Refused { .. }) {
        match AnswerForm::new(visitor, &view, &requires, &occasion) {
            Ok(form) => answer_form = Some(form),
            Err(error) => return page::refuse(&error, Some(visitor)),
        }
    }
    if let (Some(notice), Some(form), Occasion::Faulty { fields, .. }) = (&mut notice, &answer_form, &occasion) {
        notice.faults = form.faults(fields, &requires);
    }
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
        urgency: matches!(view.urgency, Urgency::High | Urgency::Critical).then(|| view.urgency.as_str()),
        facts: Facts::new(&view, &requires),
        notice,
        answer_form,
        outcome,
    };
    page::render(status, &page)
}

impl Facts {
    fn new(view: &RequestView, requires: &Requires) -> Self {
        let policy = view.ttl_policy.as_ref().map(|policy| policy.on_expiry);
        let is_pending = view.state == RequestState::Pending;
        let ends = view.expires_at.is_some() || policy == Some(OnExpiry::Park);
        Self {
            asked_at: When(view.created_at),
            waiter: view.waiter_ref.as_str().to_owned(),
            deadline: view.expires_at.filter(|_| is_pending).map(When),
            otherwise: (is_pending && ends).then(|| words::otherwise(policy)),
            reason: requires.authority.reason.clone(),
        }
    }
}

impl Notice {
    fn alert(saying: Saying, detail: Option<&str>) -> Self {
        let parts: Vec<&str> =
            [Some(saying.text), detail].into_iter().flatten().filter(|text| !text.is_empty()).collect();
        Self { title: saying.title, text: parts.join(" "), faults: Vec::new(), next: None, is_alert: true }
    }
}

impl AnswerForm {
    fn new(
        visitor: &Visitor,
        view: &RequestView,
        requires: &Requires,
        occasion: &Occasion<'_>,
    ) -> Result<Self, DecisionError> {
        let (submitted, errors, note_too_long) = match occasion {
            Occasion::Faulty { form, fields, note_too_long } => (Some(*form), *fields, *note_too_long),
            Occasion::Looking | Occasion::Refused { .. } => (None, [].as_slice(), false),
        };
        Ok(Self {
            action: view.id,
            csrf: visitor.csrf(),
            nonce: nonce()?,
            rendered_digest: view.rendered_digest.to_string(),
            controls: requires.fields.iter().map(|field| Control::new(field, submitted, errors)).collect(),
            note: submitted.and_then(|form| form.get("note")).unwrap_or_default().to_owned(),
            note_error: note_too_long.then_some(words::NOTE_TOO_LONG),
        })
    }

    /// Every fault in the order of the page, what has no place on it last.
    fn faults(&self, errors: &[FieldError], requires: &Requires) -> Vec<Fault> {
        let inputs = self.controls.iter().filter_map(|control| {
            control.error.as_ref()?;
            Some(Fault { input: Some(control.name.clone()), text: control.title.clone() })
        });
        let note = self.note_error.map(|_| Fault { input: Some("note".to_owned()), text: words::NOTE.to_owned() });
        let strays = errors.iter().filter(|error| requires.field(&error.name).is_none());
        let strays = strays.map(|error| Fault { input: None, text: words::stray_error(error) });
        inputs.chain(note).chain(strays).collect()
    }
}

/// What makes two presses of one button one answer: 128 random bits a form.
fn nonce() -> Result<String, DecisionError> {
    let mut bytes = [0; 16];
    if let Err(error) = getrandom::fill(&mut bytes) {
        tracing::error!(%error, "no nonce can be drawn");
        return Err(DecisionError::Internal);
    }
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
