//! Where our document differs from the contract, and why.

/// Operations that this build does not serve: escalation and reassignment, callbacks, capabilities, sinks, deliveries of
/// their own.
pub(crate) const NOT_SERVED: [&str; 11] = [
    "escalateRequest",
    "reassignRequest",
    "listSignalAttempts",
    "getCapabilityGrant",
    "revokeCapabilityGrant",
    "resolveCapabilityGrant",
    "renewGrantSession",
    "releaseGrantSession",
    "submitSinkValues",
    "getDelivery",
    "redeliverDelivery",
];

const NO_CAPABILITIES: &str = "this build offers no capabilities, and refuses by name rather than ignoring";
const NO_SECRETS: &str = "this build takes no secrets and has no sinks, and refuses by name rather than ignoring";
const NO_ROUTING: &str = "this build has the in-app page and no other channel, so there is nothing to route";
const NO_DIRECTORY: &str = "this build knows neither groups nor rotations, so that nobody could ever answer";
const NO_CALLBACKS: &str = "this build pushes nothing: a callback that would never come is refused";
const NO_CONTINUATION: &str = "level 1: what the server would not give back is refused (rule L-4)";
const ADDITIVE: &str = "reading Q-6: in the contract's schemas and fixtures, closed out by its OpenAPI document";
const SECTION_22: &str = "the endpoint's row in section 22 has this refusal, the contract's document leaves it out";

/// Where, what, and why. A star stands for anything.
pub(crate) const ALLOWED: [(&str, &str, &str); 31] = [
    // What we accept.
    (
        "*body.requires",
        "may have other members",
        "reading Q-16: beyond `x-` members, unknown ones are refused (rule D-3)",
    ),
    ("*body.requires.answer.fields[].max_len", "goes beyond maximum", "numbers stay within +/-(2^53 - 1) (rule N-1)"),
    ("*body.requires.answer.fields[].type", r#""secret""#, NO_SECRETS),
    ("*body.requires.answer.fields[].sink_ref", "is not declared", NO_SECRETS),
    ("*body.requires.answer.value_sink", "is not declared", NO_SECRETS),
    ("*body.requires.authority.assignees[].kind", r#""group""#, NO_DIRECTORY),
    ("*body.requires.authority.assignees[].kind", r#""rotation""#, NO_DIRECTORY),
    ("*body.requires.capabilities", "goes beyond maxItems", NO_CAPABILITIES),
    ("raiseRequest body.callback", "is not declared", NO_CALLBACKS),
    ("raiseRequest body.resume_payload", "is not declared", NO_CONTINUATION),
    ("raiseRequest body.resume_ref", "is not declared", NO_CONTINUATION),
    ("raiseRequest body.routing", "is not declared", NO_ROUTING),
    ("raiseRequest body.ttl_policy.reminder_every", "is not declared", NO_ROUTING),
    ("answerRequest body.capability_uses", "goes beyond maxItems", NO_CAPABILITIES),
    ("answerRequest body.delegate_to.kind", r#""group""#, NO_DIRECTORY),
    ("answerRequest body.delegate_to.kind", r#""rotation""#, NO_DIRECTORY),
    (
        "answerRequest body.values",
        "goes beyond maxProperties",
        "no request declares a tenth as many; a refusal stays small",
    ),
    ("listRequests assignee", "goes beyond pattern", "what is no principal is a bad value, so 400 (section 21)"),
    ("*Idempotency-Key", "is not taken", "a repeat is known by what it names, so that no key is needed (rule K-8)"),
    // What we answer.
    ("answerRequest 200.receipt", "may be null", "reading Q-7"),
    ("*.decision.receipt_id", "may be null", "members that do not apply are null (rule X-3)"),
    ("*decision.effective", "is not declared", ADDITIVE),
    ("*decision.delegated_to", "is not declared", "a receipt names the last delegation (rule S-2)"),
    ("*rendered.binding", "is not declared", ADDITIVE),
    ("*rendered.diverged", "is not declared", ADDITIVE),
    ("*authority.endorsements", "is not declared", "every endorser is listed (rule A-8)"),
    ("*.error.code", r#""internal_error""#, "a failure of ours is never the caller's 400 (section 20)"),
    ("getRequest 400", "is not declared", SECTION_22),
    ("pollWaiterSignals 404", "is not declared", SECTION_22),
    ("reattachWaiter 404", "is not declared", SECTION_22),
    ("reattachWaiter 400", "is not declared", "what is no JSON is refused wherever a body is read (rule B-1)"),
];
