//! How a person enters: a one-time link becomes a session by an explicit press, never by opening it.

use handoff_protocol::{
    duration::ExactDuration,
    id::{OrgId, PrincipalId, RequestId, UserId},
    principal::{AuthStrength, Role, Scopes},
    secret::Secret,
    timestamp::Timestamp,
};

use super::{
    IdentityError,
    documents::{CredentialRecord, LinkRecord, MemberKind},
    tokens::{self, TokenUse},
};
use crate::{
    decision::apply::Writes,
    engine::{Engine, SYSTEM},
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
    /// [`IdentityError::LinkNotValid`].
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
        Ok(Invitation { display: member.display, expires_at: link.expires_at })
    }

    /// Uses up a link and begins a session, in one commit.
    ///
    /// # Errors
    ///
    /// [`IdentityError::LinkNotValid`]; of two callers with one link, the second gets this.
    pub async fn enter(&self, token: &str) -> Result<Entered, IdentityError> {
        let session = tokens::mint(self.inner.entropy.as_ref(), TokenUse::Session)?;
        let (link_digest, session_digest) = (tokens::digest(token), tokens::digest(session.expose()));
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
                    strength: AuthStrength::Session,
                    scopes: Scopes::All,
                    link_role: Role::Viewer,
                    on_behalf_of: None,
                    test: false,
                    created_at: moment.now,
                    expires_at: Some(expires_at),
                    revoked_at: None,
                };
                let mut writes = Writes::default();
                writes.put(Some(&kept), &used).map_err(Halt::Broken)?;
                writes.put(None, &credential).map_err(Halt::Broken)?;
                Ok(Outcome::Write(writes.finish(&view.mint()), (expires_at, used.request_id)))
            })
            .await?;
        Ok(Entered { session, expires_at, request_id })
    }
}

fn check_open(link: &LinkRecord, now: Timestamp) -> Result<(), IdentityError> {
    if link.used_at.is_some() || now >= link.expires_at { Err(IdentityError::LinkNotValid) } else { Ok(()) }
}
