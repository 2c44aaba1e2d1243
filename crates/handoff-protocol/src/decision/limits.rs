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
/// `authority.assignees`.
pub const ASSIGNEES: usize = 50;
/// A target's value, in characters.
pub const TARGET_VALUE_CHARS: usize = 256;
/// `authority.reason` and the reasons of operations, in characters.
pub const REASON_CHARS: usize = 500;
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
