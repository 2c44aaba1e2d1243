//! The size limits of section 1.2 and the defaults of section 28.

/// `waiter_ref`, in bytes.
pub const WAITER_REF_BYTES: usize = 512;
/// `prompt.title`, in characters.
pub const TITLE_CHARS: usize = 200;
/// `prompt.body`, in characters.
pub const BODY_CHARS: usize = 20_000;
/// Evidence items.
pub const EVIDENCE_ITEMS: usize = 50;
/// Labels of evidence, fields, options and capabilities, in characters.
pub const LABEL_CHARS: usize = 200;
/// `ref` of an evidence item, in characters.
pub const REF_CHARS: usize = 512;
/// Fields of a request.
pub const FIELDS: usize = 64;
/// A field's name, in characters.
pub const FIELD_NAME_CHARS: usize = 64;
/// A field's help, in characters.
pub const HELP_CHARS: usize = 500;
/// Options of a choice.
pub const OPTIONS: usize = 100;
/// An option's id, in characters.
pub const OPTION_ID_CHARS: usize = 128;
/// `value_sink.provider` and `value_sink.op`, in characters.
pub const SINK_NAME_CHARS: usize = 128;
/// `value_sink.ref`, in characters.
pub const SINK_REF_CHARS: usize = 512;
/// Capabilities of a request.
pub const CAPABILITIES: usize = 16;
/// A capability's provider, in characters.
pub const PROVIDER_CHARS: usize = 128;
/// A capability's `resource_ref`, in characters.
pub const RESOURCE_REF_CHARS: usize = 512;
/// A capability's purpose, in characters.
pub const PURPOSE_CHARS: usize = 500;
/// A blast radius' summary, in characters.
pub const BLAST_SUMMARY_CHARS: usize = 300;
/// A blast radius' note, in characters.
pub const BLAST_NOTE_CHARS: usize = 1_000;
/// Identities of a blast radius.
pub const BLAST_IDENTITIES: usize = 100;
/// The origin of an identity, in characters.
pub const ORIGIN_CHARS: usize = 256;
/// `capability_uses` of an answer.
pub const CAPABILITY_USES: usize = 16;
/// Sessions that one grant may have over its life: far more than reconnecting takes, and few enough that a receipt can
/// list them.
pub const GRANT_SESSIONS: u32 = 200;
/// How long a session of a grant lives without a renewal, in seconds (rule G-8).
pub const SESSION_LEASE_SECONDS: u64 = 120;
/// When a session of a grant is best renewed, in milliseconds (rule G-8).
pub const SESSION_RENEW_MILLIS: u64 = 45_000;
/// `authority.assignees`.
pub const ASSIGNEES: usize = 50;
/// Rungs of a ladder.
pub const RUNGS: usize = 10;
/// Channels of a rung, and of a window of quiet hours.
pub const RUNG_CHANNELS: usize = 20;
/// A channel's name, in characters.
pub const CHANNEL_CHARS: usize = 64;
/// The name of a time zone, in characters.
pub const ZONE_CHARS: usize = 64;
/// Deliveries that a request keeps; the oldest that are done make room for new ones. The rungs of a ladder together make no
/// more than this.
pub const DELIVERIES: usize = 200;
/// How many people one place becomes at the most (rule V-9).
pub const PEOPLE_OF_A_PLACE: usize = 50;
/// How often a delivery is tried before it failed (rule V-7).
pub const DELIVERY_ATTEMPTS: u32 = 6;
/// Attempts that a delivery keeps, the latest.
pub const KEPT_ATTEMPTS: usize = 12;
/// A target's value, in characters.
pub const TARGET_VALUE_CHARS: usize = 256;
/// `authority.reason` and the reasons of operations, in characters.
pub const REASON_CHARS: usize = 500;
/// `resume_ref`, in characters.
pub const RESUME_REF_CHARS: usize = 2_048;
/// `resume_payload`, in bytes before base64.
pub const RESUME_PAYLOAD_BYTES: usize = 64 * 1024;
/// `resume_payload`, in characters of base64: no more than this is ever right.
pub const RESUME_PAYLOAD_CHARS: usize = 87_400;
/// `callback.url`, in characters.
pub const CALLBACK_URL_CHARS: usize = 2_048;
/// `callback.secret_ref`, in characters.
pub const SECRET_REF_CHARS: usize = 128;
/// The longest wait between two tries, in seconds, but for jitter (rules H-6, V-7).
pub const RETRY_CAP_SECONDS: u64 = 300;
/// `dedupe_key`, in characters.
pub const DEDUPE_KEY_CHARS: usize = 255;
/// `Idempotency-Key`, in characters.
pub const IDEMPOTENCY_KEY_CHARS: usize = 255;
/// An answer's note, in characters.
pub const NOTE_CHARS: usize = 2_000;
/// Members of an answer's `values`: far more than fields can be declared, and few enough that a refusal stays small.
pub const ANSWER_MEMBERS: usize = 1_000;
/// `effect_key`, in characters.
pub const EFFECT_KEY_CHARS: usize = 256;

/// How deep the body of a call may be nested. What is made of it stands some levels deeper, in a receipt in a request in a
/// list, and has to stay within what this and other readers take, which is 128 levels.
pub const BODY_DEPTH: usize = 120;
/// How many values the body of a call may hold, at all depths together: ten times what 64 fields of 100 options need.
pub const BODY_VALUES: usize = 200_000;

/// How long an attempt window lasts unless the request says otherwise, in seconds.
pub const ATTEMPT_TTL_SECONDS: u64 = 15 * 60;
/// How long an authorization can be redeemed, in seconds.
pub const AUTHORIZATION_TTL_SECONDS: u64 = 24 * 60 * 60;
/// How long a replay record answers repeats at the least, in seconds.
pub const IDEMPOTENCY_TTL_SECONDS: u64 = 24 * 60 * 60;
/// How long a leased waiter may be silent before it is given up, in seconds (W6).
pub const LEASE_SECONDS: u64 = 90;
/// How long a written sign of life stands for the ones after it, in seconds (rule X-10).
pub const LEASE_WRITE_SECONDS: u64 = 30;
/// By how much an escalation puts the deadline off, in seconds (rule CL-6).
pub const ESCALATION_SECONDS: u64 = 15 * 60;
/// The longest long poll, in seconds.
pub const MAX_WAIT_SECONDS: u64 = 30;
/// The largest quorum that is accepted unless the deployment says otherwise (rule A-8).
pub const MAX_QUORUM: u64 = 5;
/// Partial answers of one request: each is on its receipt.
pub const STEPS: usize = 100;
/// How many items a page holds unless the caller says otherwise (section 21).
pub const PAGE: usize = 50;
/// How many items a page holds at the most (section 21).
pub const MAX_PAGE: usize = 200;
/// How many receipts a listing without a limit holds: verifiers walk it against the head (rule E-9).
pub const WHOLE_CHAIN: usize = 1000;
