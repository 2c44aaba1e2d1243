//! How a person enters: a one-time link becomes a session by an explicit press, never by opening it.

use handoff_protocol::{
    decision::Request,
    duration::ExactDuration,
    id::{OrgId, PrincipalId, RequestId, TenantId, UserId},
    json::Json,
    principal::{AuthStrength, Role, Scopes},
    secret::Secret,
    timestamp::Timestamp,
};

use super::{
    IdentityError,
    documents::{CredentialRecord, LinkRecord, MemberKind},
    sessions,
    tokens::{self, TokenUse},
};
use crate::{
    decision::apply::Writes,
    document::{self, Document as _},
    engine::{Engine, SYSTEM},
    store::RecordKey,
    transaction::{Halt, Outcome},
};

/// How long a session lasts, in seconds.
const SESSION_SECONDS: u64 = 12 * 60 * 60;

/// A link that can still be used. Looking at it changes nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Invitation {
    /// The person's name.
    pub display: Option<String>,
    /// Until when the link can be used.
    pub expires_at: Timestamp,
    /// Where the person is headed.
    pub request_id: Option<RequestId>,
    /// What that request asks, in its own words.
    pub request_title: Option<String>,
}

/// A session that began.
#[derive(Debug)]
pub struct Entered {
    /// The session's token, shown here once.
    pub session: Secret<String>,
    /// Until when the session lasts.
    pub expires_at: Timestamp,
    /// Where the person was headed.
    pub request_id: Option<RequestId>,
}

impl Engine {
    /// Issues a link with which one person can enter, once, before it lapses.
    ///
    /// # Errors
    ///
    /// [`IdentityError::NotFound`] if the tenant has no such person.
    pub async fn issue_link(
        &self,
        tenant: OrgId,
        person: UserId,
        ttl: ExactDuration,
        request_id: Option<RequestId>,
    ) -> Result<Secret<String>, IdentityError> {
        let person = PrincipalId::User(person);
        let member = self.member(tenant, person).await?;
        if member.kind != MemberKind::Person || member.disabled_at.is_some() {
            return Err(IdentityError::NotFound("person"));
        }
        let token = tokens::mint(self.inner.entropy.as_ref(), TokenUse::Link)?;
        let digest = tokens::digest(token.expose());
        self.change(SYSTEM, move |view, moment| {
            let record = LinkRecord {
                digest,
                tenant,
                person,
                request_id,
                created_at: moment.now,
                expires_at: moment.now.saturating_add(ttl),
                used_at: None,
            };
            let mut writes = Writes::default();
            writes.put(None, &record).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await?;
        Ok(token)
    }

    /// Looks at a link without using it, for the page that asks for the press.
    ///
    /// # Errors
    ///
    /// [`IdentityError::LinkNotValid`]; [`IdentityError::Store`] if the store fails.
    pub async fn invitation(&self, token: &str) -> Result<Invitation, IdentityError> {
        let digest = tokens::digest(token);
        let link = self
            .change(SYSTEM, move |view, moment| {
                let link = view.get::<LinkRecord, _>(digest.hex())?.ok_or(IdentityError::LinkNotValid)?.document;
                check_open(&link, moment.now)?;
                Ok(Outcome::Nothing(link))
            })
            .await?;
        let member = self.member(link.tenant, link.person).await.map_err(|_| IdentityError::LinkNotValid)?;
        let request_title = match link.request_id {
            Some(id) => self.title(link.tenant, id).await?,
            None => None,
        };
        Ok(Invitation {
            display: member.display,
            expires_at: link.expires_at,
            request_id: link.request_id,
            request_title,
        })
    }

    /// The title of a request, if there is such a request.
    async fn title(&self, tenant: OrgId, id: RequestId) -> Result<Option<String>, IdentityError> {
        let found = self.inner.store.get(&TenantId::Org(tenant), &[RecordKey::new(Request::KIND, id)]).await?;
        let Some(record) = found.into_iter().next().flatten() else { return Ok(None) };
        let request = document::read::<Request>(&record)?.document;
        Ok(request.prompt.get("title").and_then(Json::as_str).map(str::to_owned))
    }

    /// Uses up a link and begins a session, in one commit. Its person counts as having presented a credential at this
    /// moment (rule A-5).
    ///
    /// # Errors
    ///
    /// [`IdentityError::LinkNotValid`]; of two callers with one link, the second gets this.
    pub async fn enter(&self, token: &str) -> Result<Entered, IdentityError> {
        self.enter_anew(token, None).await
    }

    /// Enters as [`enter`](Self::enter) does, from a browser that had a session: that one ends in the same commit, whoever
    /// it was of, so that no session outlives the next sign-in.
    ///
    /// # Errors
    ///
    /// As [`enter`](Self::enter); the earlier session stays as it was then.
    pub async fn enter_anew(&self, token: &str, earlier: Option<&str>) -> Result<Entered, IdentityError> {
        let session = tokens::mint(self.inner.entropy.as_ref(), TokenUse::Session)?;
        let (link_digest, session_digest) = (tokens::digest(token), tokens::digest(session.expose()));
        let earlier = earlier.map(tokens::digest);
        // Read before the commit: whoever signs out everywhere meanwhile ends this session as well.
        let session_epoch = match self.link(link_digest).await? {
            Some(link) => self.session_epoch(link.tenant, link.person).await?,
            None => 0,
        };
        let (expires_at, request_id) = self
            .change(SYSTEM, move |view, moment| {
                let kept = view.get::<LinkRecord, _>(link_digest.hex())?.ok_or(IdentityError::LinkNotValid)?;
                check_open(&kept.document, moment.now)?;
                let mut used = kept.document.clone();
                used.used_at = Some(moment.now);
                let expires_at = moment.now.saturating_add(ExactDuration::from_seconds(SESSION_SECONDS));
                let credential = CredentialRecord {
                    digest: session_digest,
                    tenant: used.tenant,
                    holder: Some(used.person),
                    // Worth that much while it is fresh, and a session afterwards.
                    strength: AuthStrength::Reauth,
                    scopes: Scopes::All,
                    link_role: Role::Viewer,
                    link_display: None,
                    on_behalf_of: None,
                    test: false,
                    loaded: false,
                    presented_at: Some(moment.now),
                    session_epoch,
                    created_at: moment.now,
                    expires_at: Some(expires_at),
                    revoked_at: None,
                };
                let mut writes = Writes::default();
                writes.put(Some(&kept), &used).map_err(Halt::Broken)?;
                writes.put(None, &credential).map_err(Halt::Broken)?;
                if let Some(earlier) = earlier {
                    sessions::end(view, &mut writes, earlier, moment.now)?;
                }
                Ok(Outcome::Write(writes.finish(&view.mint()), (expires_at, used.request_id)))
            })
            .await?;
        Ok(Entered { session, expires_at, request_id })
    }
}

fn check_open(link: &LinkRecord, now: Timestamp) -> Result<(), IdentityError> {
    if link.used_at.is_some() || now >= link.expires_at { Err(IdentityError::LinkNotValid) } else { Ok(()) }
}
