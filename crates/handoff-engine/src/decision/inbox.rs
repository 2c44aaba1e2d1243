//! The inbox: pending requests in the order in which they want an answer, and of them those that a person may answer.
//!
//! A pending request stands in the index `request.inbox` once for everybody, and once for each way in which somebody may
//! answer it: by a role alone, or as an assignee. Within each of these, rows sort by urgency, then by deadline, then by
//! age. A person's inbox is the merge of the few runs that their role and their id open, so it is exact however much else
//! is pending, and reads no more than a page from each run.

use std::collections::BTreeMap;

use handoff_protocol::{
    decision::{
        DecisionError, Request, check_scope, limits,
        terms::{TargetKind, Urgency},
        view::RequestView,
    },
    digest::Digest,
    json::Json,
    principal::{Principal, Role, Scope},
};

use super::{internal, keys, tenant_of};
use crate::{
    document,
    engine::Engine,
    store::{IndexRow, IndexScan, Order},
};

/// How many bytes of sort key tell where a request stands among others: urgency, deadline, id.
const PLACE: usize = 1 + 8 + 16;

/// Whose requests are wanted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum InboxScope {
    /// Those that the person may answer, by role and assignment; a sign-in that is not fresh enough is no obstacle, since
    /// entering again removes it.
    #[default]
    Mine,
    /// Everything that is pending in the tenant.
    All,
}

/// Where a request stands in the inbox; what the next page begins after.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct InboxPlace([u8; PLACE]);

/// One page of the inbox.
#[derive(Clone, Debug, PartialEq)]
pub struct Inbox {
    /// The requests, most urgent first.
    pub requests: Vec<RequestView>,
    /// What the next page begins after; none on the last.
    pub next: Option<InboxPlace>,
}

impl InboxPlace {
    /// Where a request stands: the urgent before the patient, then what ends sooner, then what was asked earlier.
    fn of(request: &Request) -> Self {
        let rank = match request.urgency {
            Urgency::Critical => 0_u8,
            Urgency::High => 1,
            Urgency::Normal => 2,
            Urgency::Low => 3,
        };
        let deadline = request.deadline().map_or([u8::MAX; 8], keys::time_bytes);
        let id = keys::ulid_bytes(request.id.ulid());
        let mut place = [0; PLACE];
        let bytes = std::iter::once(rank).chain(deadline).chain(id);
        place.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
        Self(place)
    }

    /// Reads what [`Display`](std::fmt::Display) wrote; nothing for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut place = [0; PLACE];
        if text.len() != PLACE * 2 {
            return None;
        }
        for (slot, pair) in place.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
            let value = digit(pair.first())?.checked_mul(16)?.checked_add(digit(pair.get(1))?)?;
            *slot = u8::try_from(value).ok()?;
        }
        Some(Self(place))
    }
}

impl std::fmt::Display for InboxPlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl Engine {
    /// One page of the pending requests that wait for a person, or of all in their tenant, most urgent first.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`].
    pub async fn inbox(
        &self,
        principal: &Principal,
        scope: InboxScope,
        after: Option<InboxPlace>,
        limit: usize,
    ) -> Result<Inbox, DecisionError> {
        check_scope(principal, Scope::RequestsRead)?;
        let limit = limit.clamp(1, limits::MAX_PAGE);
        let mut found = BTreeMap::new();
        for run in runs_of(principal, scope) {
            let scan = IndexScan {
                tenant: tenant_of(principal),
                index: keys::INBOX,
                prefix: run.as_bytes().to_vec(),
                after: after.map(|place| key(&run, place)),
                order: Order::Ascending,
                // One more than wanted tells whether more follow.
                limit: limit.saturating_add(1),
            };
            for row in self.inner.store.scan(scan).await.map_err(|error| internal(&error))?.rows {
                let request: Request = document::read(&row.record).map_err(|error| internal(&error))?.document;
                // Whoever may answer in two ways sees it once.
                found.insert(InboxPlace::of(&request), request);
            }
        }
        let has_more = found.len() > limit;
        let page: Vec<(InboxPlace, Request)> = found.into_iter().take(limit).collect();
        let next = page.last().filter(|_| has_more).map(|(place, _)| *place);
        let mut requests = Vec::with_capacity(page.len());
        for (_, request) in page {
            requests.push(self.view(tenant_of(principal), request).await?);
        }
        Ok(Inbox { requests, next })
    }
}

/// The rows of a pending request.
pub(super) fn rows(request: &Request) -> Vec<IndexRow> {
    let place = InboxPlace::of(request);
    let authority = request.requires.get("authority");
    let text = |json: Option<&Json>| json.and_then(Json::as_str).map(str::to_owned);
    let role = text(authority.and_then(|authority| authority.get("min_role")));
    let role = role.unwrap_or_else(|| Role::default().as_str().to_owned());
    let assignees = authority.and_then(|authority| authority.get("assignees")).and_then(Json::as_array);
    let mut runs = vec![everybody()];
    match assignees.filter(|assignees| !assignees.is_empty()) {
        None => runs.push(run(&role, TargetKind::Anyone.as_str(), "")),
        Some(assignees) => runs.extend(assignees.iter().map(|target| {
            let (kind, value) = (text(target.get("kind")), text(target.get("value")));
            let anyone = kind.as_deref() == Some(TargetKind::Anyone.as_str());
            let value = value.filter(|_| !anyone).unwrap_or_default();
            run(&role, &kind.unwrap_or_default(), &value)
        })),
    }
    // An assignee may be named twice, and a row stands once.
    runs.sort_unstable_by_key(|run| *run.as_bytes());
    runs.dedup();
    runs.iter().map(|run| IndexRow { index: keys::INBOX, sort_key: key(run, place) }).collect()
}

/// The runs that a person's inbox is merged from (rules ).
fn runs_of(principal: &Principal, scope: InboxScope) -> Vec<Digest> {
    if scope == InboxScope::All {
        return vec![everybody()];
    }
    let held = || Role::ALL.iter().filter(|(_, role)| *role <= principal.role);
    let mut runs = Vec::new();
    for (needed, _) in held() {
        runs.push(run(needed, TargetKind::Anyone.as_str(), ""));
        runs.extend(held().map(|(role, _)| run(needed, TargetKind::Role.as_str(), role)));
        runs.extend(principal.id().map(|id| run(needed, TargetKind::Principal.as_str(), &id.to_string())));
    }
    runs
}

/// Names are of any length and sort keys are not, so a run goes by a digest.
fn run(role: &str, kind: &str, value: &str) -> Digest {
    Digest::of(format!("{role}\n{kind}\n{value}"))
}

fn everybody() -> Digest {
    Digest::of("everybody")
}

fn key(run: &Digest, place: InboxPlace) -> Vec<u8> {
    [run.as_bytes().as_slice(), &place.0].concat()
}
