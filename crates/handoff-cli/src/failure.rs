//! How a command fails: one line that says what happened and how to mend it.

use handoff_client::{ClientError, Refusal};
use handoff_engine::IdentityError;
use handoff_protocol::decision::ErrorCode;

use crate::exit::Exit;

/// A command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What to exit with.
    pub(crate) exit: Exit,
    /// The line for people.
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// The command line was wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Something failed here.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let exit = match &error {
            ClientError::Refused(refusal) => {
                let mend = mend(refusal).map(|mend| format!("; {mend}")).unwrap_or_default();
                return Self::new(Exit::Refused, format!("{refusal}{mend}"));
            }
            ClientError::Transport(_) => {
                return Self::new(
                    Exit::Unreachable,
                    format!("{error}; is it running, and is HANDOFF_URL (or --url) its address?"),
                );
            }
            ClientError::Configuration(_) => Exit::Usage,
            _ => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

/// What helps, where the server cannot know it.
fn mend(refusal: &Refusal) -> Option<String> {
    if let (true, Some(id)) = (refusal.is(ErrorCode::AlreadyAnswered), refusal.request_id) {
        return Some(format!("see `handoff show {id}`"));
    }
    let mends = [
        (ErrorCode::AuthenticationRequired, "set HANDOFF_API_KEY to a key; `handoff keys issue NAME` makes one"),
        (ErrorCode::InvalidApiKey, "it may be revoked, expired, or of another server"),
        (
            ErrorCode::RequesterMayNotAnswer,
            "set HANDOFF_PERSON_TOKEN to a person's token; `handoff person key` makes one",
        ),
        (ErrorCode::RequestNotFound, "`handoff list` shows the requests of this tenant"),
    ];
    mends.iter().find(|(code, _)| refusal.is(*code)).map(|(_, mend)| (*mend).to_owned())
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        Self::failed(error.to_string())
    }
}
