//! Raise (R1): a program asks. Also the raise that joins a pending request (rule K-1, case 3).

use sha2::{Digest as _, Sha256};

use super::{
    body,
    callback::Callback,
    capability::{BlastRadius, Capability, Declared, granted},
    context::{Context, Policy, check_machine, check_scope},
    effects::{Effects, EventType, TimerChange},
    error::{DecisionError, MissingScope},
    expiry_policy::TtlPolicy,
    known::check_assignees,
    ladder,
    lease::lease_end,
    limits,
    outreach::Outreach,
    progress::Progress,
    prompt,
    request::{Request, RequestWaiter},
    requires::{self, Requires},
    resume::Resume,
    reword::reword,
    routing::{Routing, RoutingAsk},
    tenant_policy::{PolicyRouting, PolicyTerms},
    terms::{
        Liveness, Mode, OnExpiry, PresentationBinding, RequestState, Urgency, UrgencyState, WaiterState, WaiterTerminal,
    },
    waiter::Waiter,
    waiter_ref::WaiterRef,
};
use crate::{
    digest::{AnyDigest, Digest},
    duration::ExactDuration,
    id::PrincipalId,
    json::{DecodeError, Json, ObjectReader},
    principal::{Principal, Scope},
    timestamp::Timestamp,
};

/// A raise that can be carried out: its body is checked whole, its numbers are in their stored spelling.
#[derive(Clone, Debug, PartialEq)]
pub struct Raise {
    digest: Digest,
    waiter_ref: WaiterRef,
    dedupe_key: String,
    urgency: Urgency,
    prompt: Json,
    declared: Declared,
    mode: Mode,
    presentation_binding: PresentationBinding,
    liveness: Liveness,
    on_waiter_terminal: WaiterTerminal,
    ttl: Option<ExactDuration>,
    ttl_policy: Option<TtlPolicy>,
    attempt_ttl: ExactDuration,
    routing: Routing,
    terms: Option<PolicyTerms>,
    callback: Option<Callback>,
    resume: Resume,
    effect_digest: Option<AnyDigest>,
    metadata: Option<Json>,
    test_mode: bool,
}

impl Raise {
    /// Reads the body of a raise by a principal, failing closed in the order of rule D-2 and creating nothing.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`] for whoever may not raise, then the contract's code for the first fault of
    /// the body, naming the field and the mend.
    pub fn read(principal: &Principal, mut body: Json, policy: &Policy) -> Result<Self, DecisionError> {
        Self::read_from(principal, &mut body, policy)
    }

    /// Reads a body that its caller keeps, with its numbers brought into their stored spelling.
    ///
    /// What a deployment takes changes with its configuration; whether a raise that is refused now was taken before, under
    /// the same key (rule K-1, case 1), is told by its body.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_from(principal: &Principal, body: &mut Json, policy: &Policy) -> Result<Self, DecisionError> {
        check_machine(principal, Scope::RequestsWrite)?;
        // Before any of it is looked at: a ladder is work, and none is done for whoever may not give one.
        if RoutingAsk::is_said(body.get("routing")) {
            check_scope(principal, Scope::RequestsRoute)?;
        }
        // Looked at before anything else, so that a newer client learns first what this server does not know.
        if let Some(declared) = body.get("requires").filter(|declared| !declared.is_null()) {
            requires::check_vocabulary(declared)?;
        }
        let digest = body::digest(body)?;
        let body = &*body;
        let reader = ObjectReader::new(body, "")?;
        let waiter_ref = WaiterRef::parse(reader.string("waiter_ref")?)?;
        prompt::check(reader.value("prompt")?)?;
        let declared = reader.required("requires")?;
        let parsed = Requires::read(declared)?;
        parsed.authority.check_quorum(policy)?;
        check_standing_quorum(&parsed, policy)?;
        let test_mode = reader.optional_boolean("test_mode")?.unwrap_or(false);
        #[cfg(feature = "planted-faults")]
        let principal = &super::planted::unmarked(principal);
        if principal.test && !test_mode {
            return Err(DecisionError::InsufficientScope(MissingScope::TestMode));
        }
        let title =
            body.get("prompt").and_then(|prompt| prompt.get("title")).and_then(Json::as_str).unwrap_or_default();
        let dedupe_key = match reader.optional_text("dedupe_key", 0, limits::DEDUPE_KEY_CHARS)? {
            Some(key) => format!("given:{key}"),
            None => derived_dedupe_key(&waiter_ref, declared, title)?,
        };
        // What is raised to try things out is never the same question as one that is meant.
        let dedupe_key = if test_mode { format!("test:{dedupe_key}") } else { dedupe_key };
        // What the tenant's policy says holds where the raise says nothing (section 24).
        let standing = policy.tenant.as_ref().map(|versioned| &versioned.policy);
        let defaults = standing.map(|standing| &standing.defaults);
        let ttl = duration(&reader, "ttl")?.or_else(|| defaults.and_then(|defaults| defaults.ttl));
        let ttl_policy = match reader.optional_object("ttl_policy")? {
            Some(declared) => Some(TtlPolicy::read(declared, &parsed, policy.schemas.as_ref())?),
            None => match defaults.and_then(|defaults| defaults.ttl_policy.as_ref()) {
                Some(standing) => Some(TtlPolicy::read_standing(standing, &parsed, policy.schemas.as_ref())?),
                None => ttl.map(|_| TtlPolicy::undeclared()),
            },
        };
        let liveness = reader
            .optional_choice("liveness", Liveness::ALL)?
            .or_else(|| defaults.and_then(|defaults| defaults.liveness))
            .unwrap_or(Liveness::Durable);
        let urgency = reader.optional_choice("urgency", Urgency::ALL)?.unwrap_or(Urgency::Normal);
        let asked = reader.optional_object("routing")?.map(RoutingAsk::read).transpose()?.unwrap_or_default();
        let routing = route(&reader, &asked, urgency, policy)?;
        let metadata = reader.optional_object("metadata")?.map(|object| Json::Object(object.json().clone()));
        #[cfg(feature = "planted-faults")]
        let metadata = super::planted::with_reference(metadata, body);
        let raise = Self {
            digest,
            waiter_ref,
            dedupe_key,
            urgency,
            prompt: reader.required("prompt")?.clone(),
            declared: Declared::new(requires::served(declared.clone()), &parsed),
            mode: reader.optional_choice("mode", Mode::ALL)?.unwrap_or(Mode::Advisory),
            presentation_binding: reader
                .optional_choice("presentation_binding", PresentationBinding::ALL)?
                .unwrap_or(PresentationBinding::Advisory),
            liveness,
            on_waiter_terminal: reader
                .optional_choice("on_waiter_terminal", WaiterTerminal::ALL)?
                .or_else(|| defaults.and_then(|defaults| defaults.on_waiter_terminal))
                .unwrap_or_else(|| WaiterTerminal::undeclared(liveness)),
            ttl,
            ttl_policy,
            attempt_ttl: duration(&reader, "attempt_ttl")?
                .or_else(|| defaults.and_then(|defaults| defaults.attempt_ttl))
                .unwrap_or_else(|| ExactDuration::from_seconds(limits::ATTEMPT_TTL_SECONDS)),
            // What is raised to try things out reaches nobody (section 3).
            routing: if test_mode { routing.in_sandbox() } else { routing },
            terms: policy.tenant.as_ref().map(|versioned| versioned.terms()),
            callback: callback(principal, &reader, policy)?,
            resume: Resume::read(&reader, policy.continuation.as_deref())?,
            effect_digest: reader
                .optional_string("effect_digest")?
                .map(|text| {
                    AnyDigest::parse(text)
                        .map_err(|error| reader.error("effect_digest", format!("is not a digest: {error}")))
                })
                .transpose()?,
            metadata,
            test_mode,
        };
        reader.finish()?;
        Ok(raise)
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Who waits.
    #[must_use]
    pub fn waiter_ref(&self) -> &WaiterRef {
        &self.waiter_ref
    }

    /// The capabilities that it asks for.
    #[must_use]
    pub fn capabilities(&self) -> &[Capability] {
        &self.declared.capabilities
    }

    /// Whether the providers of its capabilities are still to be asked.
    #[must_use]
    pub fn needs_blast_radii(&self) -> bool {
        self.declared.needs_blast_radii()
    }

    /// Says what each capability may touch, in their order: what their providers said just now (rule G-5).
    #[must_use]
    pub fn with_blast_radii(mut self, blast_radii: Vec<BlastRadius>) -> Self {
        self.declared.blast_radii = blast_radii;
        self
    }

    /// What joins this raise to a pending request of the same waiter (rules K-1, K-3).
    #[must_use]
    pub fn dedupe_key(&self) -> &str {
        &self.dedupe_key
    }
}

/// The ladder of a raise (rule V-10): what it says itself, where it may, then what its tenant and its deployment say.
fn route(
    reader: &ObjectReader<'_, '_>,
    asked: &RoutingAsk,
    urgency: Urgency,
    policy: &Policy,
) -> Result<Routing, DecisionError> {
    let standing = policy.tenant.as_ref().map(|versioned| &versioned.policy.routing);
    if !asked.is_empty() && standing.is_some_and(|standing| !standing.allow_request_override) {
        let problem = "must be left out: this tenant's policy says who is reached, and allows no request to say it";
        return Err(reader.error("routing", problem).into());
    }
    let nothing = PolicyRouting::default();
    let routing = standing.unwrap_or(&nothing).resolve(asked, urgency, &policy.ladder);
    let brought_by = match (&asked.ladder, &asked.targets) {
        (Some(_), _) => "routing.ladder",
        (None, Some(_)) => "routing.targets",
        (None, None) => "routing",
    };
    routing.check_rows().map_err(|problem| DecisionError::invalid(brought_by, problem))?;
    Ok(routing)
}

/// Refuses a request that would get a quorum from its tenant's policy which this deployment takes from nobody (rule A-8).
fn check_standing_quorum(declared: &Requires, policy: &Policy) -> Result<(), DecisionError> {
    let standing = policy.tenant.as_ref().and_then(|versioned| versioned.policy.defaults.authority.as_ref());
    match standing.filter(|_| !declared.declares_authority) {
        Some(standing) if standing.quorum > policy.max_quorum => {
            let problem = format!(
                "must be given, with a `quorum` from 1 to {}: this tenant's policy asks for more than this server takes",
                policy.max_quorum
            );
            Err(DecisionError::invalid("requires.authority", problem))
        }
        Some(_) | None => Ok(()),
    }
}

/// Where signals are pushed: what the raise says, otherwise what its tenant and its deployment say (section 19).
fn callback(
    principal: &Principal,
    reader: &ObjectReader<'_, '_>,
    policy: &Policy,
) -> Result<Option<Callback>, DecisionError> {
    let standing = policy.tenant.as_ref().map(|versioned| &versioned.policy);
    let Some(standing) = standing.filter(|standing| !standing.callbacks.is_empty()) else {
        return Ok(policy.callbacks.read(principal, reader)?);
    };
    let read = standing.callbacks_over(&policy.callbacks).read(principal, reader)?;
    if read.as_ref().is_some_and(|callback| standing.disables(&callback.url)) {
        return Err(reader
            .error("callback", "must name another address: this tenant's policy disabled this one")
            .into());
    }
    Ok(read)
}

pub(super) fn duration(reader: &ObjectReader<'_, '_>, name: &str) -> Result<Option<ExactDuration>, DecodeError> {
    reader
        .optional_string(name)?
        .map(|text| {
            ExactDuration::parse(text).map_err(|error| reader.error(name, format!("must be a duration: {error}")))
        })
        .transpose()
}

/// The key of a raise that gives none (rule K-3).
fn derived_dedupe_key(waiter_ref: &WaiterRef, requires: &Json, title: &str) -> Result<String, DecisionError> {
    let mut hash = Sha256::new();
    hash.update(waiter_ref.as_str());
    hash.update(requires.canonical().map_err(|_| DecisionError::Internal)?);
    hash.update(Json::from(title).canonical().map_err(|_| DecisionError::Internal)?);
    let digest: [u8; 32] = hash.finalize().into();
    Ok(format!("derived:{}", Digest::from_bytes(digest).hex()))
}

/// Creates the request (R1; rule K-1, case 4).
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] for a capability that goes beyond what the tenant's policy accepts, and for an assignee
/// who can be nobody;
/// [`DecisionError::Internal`]. Everything else was checked when the [`Raise`] was read.
pub fn raise(
    raise: &Raise,
    principal: &Principal,
    waiter: Option<&Waiter>,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    let now = context.now;
    let raised_by = requester(principal)?;
    let id = context.mint.next();
    let asked = Requires::read(&raise.declared.json)?;
    check_assignees(&asked, &context.policy.directory)?;
    let asked_secret = asked.has_secrets();
    let limits = raise.terms.as_ref().map(|terms| terms.capabilities.clone()).unwrap_or_default();
    let granted = granted(&raise.declared, &[], id, raise.attempt_ttl, &limits, context)?;
    let parked = raise.ttl_policy.as_ref().is_some_and(|policy| policy.on_expiry == OnExpiry::Park);
    let expires_at = raise.ttl.filter(|_| !parked).map(|ttl| now.saturating_add(ttl));
    let keyring = context.policy.continuation.as_deref();
    let continuation = raise.resume.keep(principal.tenant, id, keyring, context.mint)?;
    #[cfg(feature = "planted-faults")]
    let continuation = continuation.filter(|_| !crate::planted::Fault::ContinuationLost.is_planted());
    let mut request = Request {
        id,
        state: RequestState::Pending,
        version: 1,
        org_id: principal.tenant,
        waiter_ref: raise.waiter_ref.clone(),
        dedupe_key: raise.dedupe_key.clone(),
        urgency: raise.urgency,
        urgency_state: UrgencyState::Attention,
        prompt: raise.prompt.clone(),
        asked_secret,
        requires: granted.requires,
        mode: raise.mode,
        presentation_binding: raise.presentation_binding,
        liveness: raise.liveness,
        on_waiter_terminal: raise.on_waiter_terminal,
        ttl: raise.ttl,
        ttl_policy: raise.ttl_policy.clone(),
        attempt_ttl: raise.attempt_ttl,
        routing: raise.routing.clone(),
        callback: raise.callback.clone(),
        continued: continuation.is_some(),
        effect_digest: raise.effect_digest.clone(),
        metadata: raise.metadata.clone(),
        raised_by,
        raised_by_display: principal.display.clone(),
        raised_on_behalf_of: principal.on_behalf_of,
        created_at: now,
        expires_at,
        attempt_expires_at: None,
        attempt_notified: false,
        answered_at: None,
        ended_at: None,
        cancel_reason: None,
        superseded_by: None,
        supersedes: None,
        test_mode: raise.test_mode,
        deliveries: Vec::new(),
        outreach: Outreach::default(),
        terms: raise.terms.clone(),
        waiter: RequestWaiter { state: WaiterState::Armed, unacked: 0 },
        progress: Progress::default(),
        receipt: None,
        corrections: Vec::new(),
        authorization: None,
        granted: !granted.open.is_empty(),
        open_grants: granted.open,
    };
    ladder::fire_due(&mut request, context);
    let mut effects = Effects::of(request);
    effects.continuation = continuation;
    effects.waiter = Some(joined_by(waiter, raise, raised_by, raise.liveness, now));
    effects.grants = granted.minted;
    let policy = raise.terms.as_ref().map(|terms| ("policy_version", Json::from(terms.version)));
    let raised = [("waiter_ref_digest", Json::from(raise.waiter_ref.digest().to_string()))];
    effects.event(EventType::RequestRaised, raised.into_iter().chain(policy));
    effects.timers.extend(effects.request.deadline().map(TimerChange::SetDeadline));
    if raise.liveness == Liveness::Leased {
        effects.timers.push(TimerChange::SetLease(lease_end(now)));
    }
    Ok(effects)
}

/// Joins a pending request that asks the same: newer words replace the old, at the next version (rule K-1, case 3).
///
/// Once somebody began to answer, what they are shown stays (R2). The very same words join all the same and change
/// nothing, so that a program that asks again after a crash finds its request.
///
/// # Errors
///
/// [`DecisionError::RequestInProgress`] for other words once somebody began to answer;
/// [`DecisionError::InvalidRequest`] if the pending request's default answer could not settle what the newer raise
/// requires (rule D-5 holds for a request as long as it is pending), or if the newer raise is bound to another effect;
/// [`DecisionError::Internal`].
pub fn join(
    raise: &Raise,
    principal: &Principal,
    pending: &Request,
    waiter: Option<&Waiter>,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    let raised_by = requester(principal)?;
    // The newer words replace the old; what the authorization will be bound to stays as it was declared, and whoever
    // binds it to another effect must not believe that it is (rule Z-6).
    if raise.effect_digest.is_some() && raise.effect_digest != pending.effect_digest {
        let mend = "is not that of the pending request which asks the same; supersede that one, or ask under another \
                    `dedupe_key`";
        return Err(DecodeError::new("effect_digest", mend).into());
    }
    let mut effects = if !pending.is_in_progress() {
        reword(pending, Some(&raise.prompt), Some(&raise.declared), "raised_again", context)?
    } else if raise.prompt == pending.prompt && raise.declared.is_served_as(pending.declared()) {
        Effects::of(pending.clone())
    } else {
        return Err(DecisionError::RequestInProgress { request_id: pending.id });
    };
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::JoinKeepsOldWords.is_planted() {
        effects = Effects::of(pending.clone());
    }
    effects.waiter = Some(joined_by(waiter, raise, raised_by, pending.liveness, context.now));
    Ok(effects)
}

fn requester(principal: &Principal) -> Result<PrincipalId, DecisionError> {
    principal.id().ok_or(DecisionError::Internal)
}

/// The waiter that this raise waits with. Asking is a sign of life where something leased waits.
fn joined_by(
    waiter: Option<&Waiter>,
    raise: &Raise,
    principal: PrincipalId,
    liveness: Liveness,
    now: Timestamp,
) -> Waiter {
    let mut waiter = waiter.cloned().unwrap_or_else(|| Waiter::new(raise.waiter_ref.clone()));
    waiter.add_owner(principal);
    if liveness == Liveness::Leased {
        waiter.seen_at = Some(now);
    }
    waiter
}
