//! Every word that the pages say of themselves, in one place.

use handoff_protocol::{
    decision::{
        Field, FieldError, FieldErrorCode, FieldKind, Lacking,
        terms::{OnExpiry, Urgency},
    },
    principal::AuthStrength,
};

pub(crate) const PRODUCT: &str = "Handoff";
pub(crate) const LEAVE: &str = "Leave";
pub(crate) const SKIP: &str = "Skip to content";

pub(crate) const INBOX_TITLE: &str = "Waiting for an answer";
pub(crate) const INBOX_EMPTY: &str = "Nothing is waiting. When a program needs a decision, it shows up here.";
pub(crate) const INBOX_MORE: &str = "Next page";
pub(crate) const INBOX_BACK: &str = "All requests that wait";
pub(crate) const INBOX_READ_ONLY: &str = "you can read this one, not answer it";

pub(crate) const ASKED: &str = "Asked";
pub(crate) const ASKED_BY: &str = "Asked by";
pub(crate) const ASKED_BY_SOMEBODY: &str = "A program without a name";
pub(crate) const WAITER: &str = "Its reference:";
pub(crate) const DEADLINE: &str = "Answer by";
pub(crate) const FRESH_UNTIL: &str = "Your sign-in is fresh until";
pub(crate) const OTHERWISE: &str = "If nobody answers";
pub(crate) const WHY_AUTHORITY: &str = "Why this needs authority";
pub(crate) const EVIDENCE: &str = "To look at first";
pub(crate) const NOT_A_WEB_LINK: &str = "not a web address, so not a link here";
pub(crate) const REFERENCE: &str = "Reference";

pub(crate) const YOUR_ANSWER: &str = "Your answer";
pub(crate) const OPTIONAL: &str = "optional";
pub(crate) const CONFIRM: &str = "I confirm this";
pub(crate) const YES: &str = "Yes";
pub(crate) const NO: &str = "No";
pub(crate) const NO_ANSWER: &str = "No answer";
pub(crate) const DOCUMENT: &str = "JSON.";
pub(crate) const SCHEMA: &str = "It is to follow the schema";
pub(crate) const FILE_REF: &str = "What the file is filed under: a name, a number or an address.";
pub(crate) const NOTE: &str = "Note for the record";
pub(crate) const NOTE_HELP: &str = "Kept with the receipt, for whoever reads it later.";
pub(crate) const NOTE_TOO_LONG: &str = "Shorten the note to 2000 characters.";
pub(crate) const SUBMIT: &str = "Send answer";
pub(crate) const SUBMIT_HELP: &str = "An answer is final. You get a receipt for it.";

pub(crate) const STATE_PENDING: &str = "Waiting for an answer";
pub(crate) const STATE_ANSWERED: &str = "Answered";
pub(crate) const STATE_EXPIRED: &str = "Expired";
pub(crate) const STATE_CANCELLED: &str = "Withdrawn";
pub(crate) const STATE_SUPERSEDED: &str = "Replaced";

pub(crate) const QUESTION: &str = "What was asked";
pub(crate) const RECEIPT_TITLE: &str = "Receipt";
pub(crate) const DECIDED_BY: &str = "Decided by";
pub(crate) const DECIDED_BY_POLICY: &str = "Nobody: the time ran out";
pub(crate) const DECIDED_BY_LINK: &str = "Whoever held a link";
pub(crate) const DECIDED_AT: &str = "When";
pub(crate) const RECEIPT_ID: &str = "Receipt number";
pub(crate) const RECEIPT_DIGEST: &str = "Digest";
pub(crate) const RECEIPT_HEIGHT: &str = "Place in the chain";
pub(crate) const RECEIPT_NOTE: &str = "Note";
pub(crate) const RECEIPT_DECISION: &str = "What was decided";
pub(crate) const RECEIPT_NOTHING: &str = "Confirmed; nothing had to be filled in.";
pub(crate) const RECEIPT_HELP: &str =
    "The digest ties this decision into a chain of receipts, so that a later change to it shows.";
pub(crate) const ATTESTED: &str = "Confirmed";
pub(crate) const NONE_CHOSEN: &str = "None";
pub(crate) const COUNTS_AS_REFUSAL: &str = "The time ran out without an answer. That counts as a refusal.";
pub(crate) const DEFAULT_TAKEN: &str = "The time ran out without an answer. The declared default counts.";
pub(crate) const ENDED_UNANSWERED: &str = "The time ran out without an answer.";
pub(crate) const NEWER_REQUEST: &str = "Open the request that replaced it";

pub(crate) const ENTER_TITLE: &str = "Enter";
pub(crate) const ENTER_AS: &str = "This link is for";
pub(crate) const ENTER_SOMEBODY: &str = "one person of your team";
pub(crate) const ENTER_ASKS: &str = "It leads to this request:";
pub(crate) const ENTER_TEXT: &str =
    "It works once. After you press the button you are signed in on this device, and the link is used up.";
pub(crate) const ENTER_UNTIL: &str = "Valid until";
pub(crate) const ENTER_SUBMIT: &str = "Enter";
pub(crate) const ENTER_NOT_YOU: &str = "Not you? Close this page; nothing has happened yet.";

/// A title and a paragraph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saying {
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) const SIGN_IN: Saying = Saying {
    title: "You are not signed in",
    text: "To see this page, open the one-time link that was sent to you. If you have none, or it was used already, ask whoever runs Handoff for a new one.",
};
pub(crate) const SIGN_IN_AGAIN: Saying = Saying {
    title: "You are not signed in any more",
    text: "So your answer was not recorded. Open a one-time link to enter again, then answer. If you have none, ask whoever runs Handoff for a new one.",
};
pub(crate) const NOT_FOUND: Saying = Saying {
    title: "There is nothing here",
    text: "No request has this address. The link may be cut off, or belong to another team: open it again whole, or ask whoever sent it.",
};
pub(crate) const LINK_NOT_VALID: Saying = Saying {
    title: "This link does not work any more",
    text: "It was used already, its time is over, or it was cut off. Nothing happened. If you entered with it on this device, your requests are still open to you; otherwise ask whoever sent it for a new one.",
};
pub(crate) const FORM_NOT_OURS: Saying = Saying {
    title: "This form cannot be accepted",
    text: "It was not sent from a page that was made for your session, so nothing was done. Open the page again and send it from there.",
};
pub(crate) const FORM_MALFORMED: Saying = Saying {
    title: "This form could not be read",
    text: "It arrived damaged or incomplete, so nothing was recorded. Open the page again and send it from there.",
};
pub(crate) const FORM_TOO_LARGE: Saying = Saying {
    title: "This form is too large",
    text: "More was filled in than can be accepted at once, so nothing was recorded. Shorten the texts and send it again.",
};
pub(crate) const WRONG_METHOD: Saying = Saying {
    title: "That cannot be done here",
    text: "This address does not take that kind of call. Go back, and press the button on the page.",
};
pub(crate) const FORBIDDEN: Saying = Saying {
    title: "Your sign-in does not allow this",
    text: "You are signed in, but what you signed in with does not open this page. Ask whoever runs Handoff for a link of your own.",
};
pub(crate) const BROKEN: Saying = Saying {
    title: "Something failed on our side",
    text: "It is not your fault. If you were sending an answer, sending it again is safe: it counts once.",
};

pub(crate) const FAULTY: Saying = Saying {
    title: "Your answer was not sent yet",
    text: "Nothing was recorded. Mend what is marked and send it again.",
};
pub(crate) const STALE: Saying = Saying {
    title: "The question changed while you were reading",
    text: "So your answer was not recorded. Read the question again as it stands now, look over what you filled in, and send it again.",
};
pub(crate) const STALE_AND_FAULTY: Saying = Saying {
    title: "The question changed while you were reading",
    text: "Your answer was not recorded. Read the question again as it stands now, mend what is marked, and send it again.",
};
pub(crate) const TOO_LATE_OTHERS: Saying =
    Saying { title: "Somebody answered before you", text: "Your answer was not recorded. What stands is this:" };
pub(crate) const TOO_LATE_YOURS: Saying = Saying {
    title: "You answered this already",
    text: "This second answer was not recorded. What stands is your first one:",
};
pub(crate) const TOO_LATE_EXPIRED: Saying =
    Saying { title: "The time to answer is over", text: "Your answer was not recorded." };
pub(crate) const TOO_LATE_CANCELLED: Saying =
    Saying { title: "This request was withdrawn", text: "Your answer was not recorded." };
pub(crate) const TOO_LATE_SUPERSEDED: Saying =
    Saying { title: "This request was replaced by another", text: "Your answer was not recorded." };
pub(crate) const EXPIRED: Saying = Saying { title: "The time to answer is over", text: "" };
pub(crate) const CANCELLED: Saying =
    Saying { title: "This request was withdrawn", text: "No answer is needed any more." };
pub(crate) const SUPERSEDED: Saying =
    Saying { title: "This request was replaced by another", text: "No answer is needed here any more." };
pub(crate) const MAY_NOT_ANSWER: Saying =
    Saying { title: "You can read this request, but not answer it", text: "Somebody else has to decide." };
pub(crate) const NOT_ENOUGH_AUTHORITY: Saying =
    Saying { title: "You may not answer this request", text: "Your answer was not recorded." };
pub(crate) const STRENGTH_READING: Saying =
    Saying { title: "You can read this request, but not answer it yet", text: "" };
pub(crate) const STRENGTH_ANSWERING: Saying =
    Saying { title: "You may not answer this request yet", text: "Your answer was not recorded." };
pub(crate) const NO_SECOND_FACTOR: Saying =
    Saying { title: "You can read this request, but not answer it here", text: "" };

pub(crate) const ENDORSED: Saying = Saying {
    title: "Your answer is recorded",
    text: "It counts once enough others give the same one. Until then you can change it: send another.",
};
pub(crate) const GIVEN_IN_PART: Saying = Saying {
    title: "A part of this was answered already",
    text: "What is still needed is below; what was given before counts with it.",
};

/// How many must agree, and how many have answered.
pub(crate) fn must_agree(quorum: u64, answered: usize) -> String {
    let answered = if answered == 1 { "1 person has".to_owned() } else { format!("{answered} people have") };
    format!("{answered} answered so far; {quorum} must agree.")
}

/// What the form says of sending it.
pub(crate) fn submit_help(quorum: u64) -> String {
    if quorum > 1 {
        return format!("It counts once {quorum} people give the same answer; texts may differ.");
    }
    SUBMIT_HELP.to_owned()
}

/// What to say first to somebody who reads and lacks something to answer.
pub(crate) fn can_only_read(lacking: Lacking) -> Saying {
    match lacking {
        Lacking::Strength(AuthStrength::Mfa) => NO_SECOND_FACTOR,
        Lacking::Strength(_) => STRENGTH_READING,
        Lacking::Role(_) | Lacking::Assignment => MAY_NOT_ANSWER,
    }
}

/// What to say first to somebody who answered and lacks something.
pub(crate) fn may_not_answer(lacking: Lacking) -> Saying {
    match lacking {
        Lacking::Strength(AuthStrength::Reauth) => STRENGTH_ANSWERING,
        Lacking::Strength(_) | Lacking::Role(_) | Lacking::Assignment => NOT_ENOUGH_AUTHORITY,
    }
}

/// How urgent it is, where that is worth a word.
pub(crate) fn urgency(urgency: Urgency) -> Option<&'static str> {
    match urgency {
        Urgency::Low | Urgency::Normal => None,
        Urgency::High => Some("Urgent"),
        Urgency::Critical => Some("Critical"),
    }
}

/// What becomes of a request that nobody answers.
pub(crate) fn otherwise(policy: Option<OnExpiry>) -> &'static str {
    match policy {
        Some(OnExpiry::Default) => "The declared default counts.",
        Some(OnExpiry::Park) => "It stays open.",
        Some(OnExpiry::ExpireAndDeny | OnExpiry::Escalate) | None => "It counts as a refusal.",
    }
}

/// What is lacking, to the person who lacks it.
pub(crate) fn lacking(lacking: Lacking) -> String {
    match lacking {
        Lacking::Role(role) => format!("It needs the role \u{201c}{}\u{201d} or a higher one.", role.as_str()),
        Lacking::Strength(AuthStrength::Reauth) => {
            "It needs a sign-in of the last five minutes, and yours is older. Open a new one-time link to enter again, then answer within five minutes. If you have none, ask whoever runs Handoff for one.".to_owned()
        }
        Lacking::Strength(AuthStrength::Mfa) => {
            "It needs a second factor of the last five minutes, and these pages have no way to take one.".to_owned()
        }
        Lacking::Strength(AuthStrength::Session | AuthStrength::LinkOnly) => "It needs a full sign-in.".to_owned(),
        Lacking::Assignment => "It was given to certain people, and you are not one of them.".to_owned(),
    }
}

/// What a field is called on the page: its label, or else its name as people write, "Po number" for `po_number`.
pub(crate) fn field_title(field: &Field) -> String {
    if let Some(label) = field.label.as_ref().filter(|label| !label.trim().is_empty()) {
        return label.clone();
    }
    let words = field.name.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// What is wrong with a field, to the person who filled it in.
pub(crate) fn field_error(kind: &FieldKind, error: &FieldError) -> String {
    match (error.code, kind) {
        (FieldErrorCode::Required, FieldKind::Attestation) | (FieldErrorCode::AttestationMustBeTrue, _) => {
            "Tick this to confirm it.".to_owned()
        }
        (FieldErrorCode::Required, FieldKind::Choice { multi: true, .. }) => "Choose at least one.".to_owned(),
        (FieldErrorCode::Required, FieldKind::Choice { .. } | FieldKind::Boolean) => "Choose one.".to_owned(),
        (FieldErrorCode::Required, _) => "Fill this in.".to_owned(),
        (FieldErrorCode::NotAnOption, _) => "Choose from what is shown.".to_owned(),
        (_, FieldKind::Number { min, max }) => number(*min, *max),
        (FieldErrorCode::OutOfRange, FieldKind::Document { .. }) => {
            "Numbers in it can only be whole, with 15 digits at the most; put others in quotes.".to_owned()
        }
        (FieldErrorCode::SchemaViolation, _) => "This does not follow the schema.".to_owned(),
        (FieldErrorCode::OutOfRange, FieldKind::Text { max_len: Some(max) }) => {
            format!("Shorten this to {max} characters.")
        }
        (_, _) => error
            .message
            .as_ref()
            .map_or_else(|| "This cannot be accepted as it is.".to_owned(), |message| format!("This {message}.")),
    }
}

/// What is wrong with something that has no field on the page.
pub(crate) fn stray_error(error: &FieldError) -> String {
    let message = error.message.as_deref().unwrap_or("cannot be accepted");
    format!("\u{201c}{}\u{201d} {message}.", error.name)
}

/// What a number field takes.
pub(crate) fn number(min: Option<i64>, max: Option<i64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("Enter a whole number from {min} to {max}."),
        (Some(min), None) => format!("Enter a whole number of {min} or more."),
        (None, Some(max)) => format!("Enter a whole number of {max} or less."),
        (None, None) => "Enter a whole number of 15 digits at the most.".to_owned(),
    }
}

/// What a text field takes, where that is limited.
pub(crate) fn text_limit(max: u64) -> String {
    format!("{max} characters at the most.")
}
