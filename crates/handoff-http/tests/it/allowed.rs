//! Where our document differs from the contract, and why.

const ADDITIVE: &str = "reading Q-6: in the contract's schemas and fixtures, closed out by its OpenAPI document";
const STRICT: &str = "what is no JSON is refused wherever a body is read (rule B-1)";
const LEFT_OUT: &str =
    "people of a place for whom a request keeps no delivery are counted, and not dropped without a word";
const SECTION_22: &str = "the endpoint's row in section 22 has this refusal, the contract's document leaves it out";
const OUTSIDE: &str = "a sink or a provider that fails is an outside party, and no failure of ours (section 20)";

/// Where, what, and why. A star stands for anything.
pub(crate) const ALLOWED: [(&str, &str, &str); 40] = [
    // What we accept.
    (
        "*body.requires",
        "may have other members",
        "reading Q-16: beyond `x-` members, unknown ones are refused (rule D-3)",
    ),
    ("*body.requires.answer.fields[].max_len", "goes beyond maximum", "numbers stay within +/-(2^53 - 1) (rule N-1)"),
    ("*body.requires.capabilities[].type", "may be any value", "an unknown type has a refusal of its own (rule D-2)"),
    ("*body.routing.ladder[].channels[]", "goes beyond minLength", "no name names no channel"),
    ("*body.routing.ladder[].channels", "goes beyond maxItems", "each is a delivery for each target, and none is free"),
    (
        "answerRequest body.values",
        "goes beyond maxProperties",
        "no request declares a tenth as many; a refusal stays small",
    ),
    ("submitSinkValues body.values", "goes beyond maxProperties", "no request declares a tenth as many"),
    ("listRequests assignee", "goes beyond pattern", "what is no principal is a bad value, so 400 (section 21)"),
    ("*Idempotency-Key", "is not taken", "a repeat is known by what it names, so that no key is needed (rule K-8)"),
    // What we answer.
    ("answerRequest 200.receipt", "may be null", "reading Q-7"),
    ("*.decision.receipt_id", "may be null", "members that do not apply are null (rule X-3)"),
    ("*decision.effective", "is not declared", ADDITIVE),
    ("*decision.delegated_to", "is not declared", "a receipt names the last delegation (rule S-2)"),
    (
        "*requires.capabilities[].constraints",
        "is not declared",
        "taken where it is sent (rule G-1), served as declared",
    ),
    (
        "*requires.capabilities[].handle",
        "may be left out",
        "it may be on the way in (rule G-1), and always is there on the way out (rule D-7)",
    ),
    ("*capabilities_exercised[].close_reason", "is not declared", ADDITIVE),
    ("*capabilities_exercised[].role_at_grant", "is not declared", ADDITIVE),
    ("*deliveries[].attempts[].next_attempt_at", "is not declared", ADDITIVE),
    ("*deliveries[].suppressed_reason", "is not declared", ADDITIVE),
    ("*deliveries[].left_out", "is not declared", LEFT_OUT),
    ("listRequestDeliveries 200.data[].attempts[].next_attempt_at", "is not declared", ADDITIVE),
    ("listRequestDeliveries 200.data[].suppressed_reason", "is not declared", ADDITIVE),
    ("listRequestDeliveries 200.data[].left_out", "is not declared", LEFT_OUT),
    ("getDelivery 200.attempts[].next_attempt_at", "is not declared", ADDITIVE),
    ("getDelivery 200.suppressed_reason", "is not declared", ADDITIVE),
    ("getDelivery 200.left_out", "is not declared", LEFT_OUT),
    ("listSignalAttempts 200.push", "is not declared", "a tenant is told that its endpoint is disabled (rule H-8)"),
    ("*rendered.binding", "is not declared", ADDITIVE),
    ("*rendered.diverged", "is not declared", ADDITIVE),
    ("*authority.endorsements", "is not declared", "every endorser is listed (rule A-8)"),
    ("*.error.code", r#""internal_error""#, "a failure of ours is never the caller's 400 (section 20)"),
    ("getRequest 400", "is not declared", SECTION_22),
    ("pollWaiterSignals 404", "is not declared", SECTION_22),
    ("reattachWaiter 404", "is not declared", SECTION_22),
    ("submitSinkValues 503", "is not declared", OUTSIDE),
    ("resolveCapabilityGrant 503", "is not declared", OUTSIDE),
    ("amendRequest 503", "is not declared", OUTSIDE),
    ("revokeCapabilityGrant 400", "is not declared", STRICT),
    ("reattachWaiter 400", "is not declared", STRICT),
    ("redeliverDelivery 400", "is not declared", STRICT),
];
