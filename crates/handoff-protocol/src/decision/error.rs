//! How a decision operation is refused: one enum, whose codes are the contract's (section 20).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error_code::ErrorCode;
use crate::{
    id::{ReceiptId, RequestId},
    json::DecodeError,
    principal::Scope,
    timestamp::Timestamp,
};

/// A refusal. Its message names the field and the mend and never repeats a submitted value.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// A body, path, query or header is not what it must be. The caller's fault.
    #[error("{0}")]
    InvalidRequest(DecodeError),

    /// `requires.v` is missing or names a version that is not implemented (rule D-2).
    #[error("`requires.v` must be 1, the one version that this server implements; no request was created")]
    UnsupportedRequiresVersion,

    /// A field has no type, or one that is not implemented (rule D-2).
    #[error("`{path}` is not a field type that this server implements; `GET /v1/meta` lists them")]
    UnsupportedFieldType {
        /// Which field's type.
        path: String,
    },

    /// A capability has no type, or one that is not implemented (rule D-2).
    #[error("`{path}` is not a capability type that this server implements; `GET /v1/meta` lists them")]
    UnsupportedCapabilityType {
        /// Which capability's type.
        path: String,
    },

    /// No credential was sent (rule P-2).
    #[error("authentication is required: send `Authorization: Bearer <token>` or the session cookie")]
    AuthenticationRequired,

    /// The credential authenticates nobody (rule P-2).
    #[error("the credential is not valid")]
    InvalidApiKey,

    /// The credential lacks a scope, or the operation is not for this kind of principal (rules P-5, P-8).
    #[error("{0}")]
    InsufficientScope(MissingScope),

    /// The answerer's role, strength or assignment does not satisfy the request (rule A-3).
    #[error("this request needs more authority: {lacking}")]
    InsufficientAuthority {
        /// The request.
        request_id: RequestId,
        /// What is lacking.
        lacking: Lacking,
    },

    /// A machine tried to act as a person (rules P-4, P-5).
    #[error("a machine cannot answer: only a person can, whoever raised the request")]
    RequesterMayNotAnswer {
        /// The request, when it is known to be of this tenant.
        request_id: Option<RequestId>,
    },

    /// A link tried to answer where the deployment does not permit it (rule A-6).
    #[error("this deployment does not permit answers by link alone; sign in to answer")]
    AuthStrengthNotPermitted {
        /// The request.
        request_id: RequestId,
    },

    /// There is no such request, receipt or delivery in this tenant.
    #[error("there is no such request")]
    RequestNotFound,

    /// There is no such delivery in this tenant, or nothing can follow it (rule V-12).
    #[error(
        "there is no delivery of this id that could be sent again: what was suppressed, failed or ended stays as it is"
    )]
    NothingToSendAgain,

    /// No request was ever raised under this waiter reference in this tenant (rule X-7).
    #[error("nothing was ever raised under this waiter_ref")]
    WaiterNotFound,

    /// There is no such signal in this tenant.
    #[error("there is no such signal")]
    SignalNotFound,

    /// There is no such authorization in this tenant.
    #[error("there is no such authorization")]
    AuthorizationNotFound,

    /// There is no such grant or session in this tenant, or not for this person, or not any more (rules G-7, G-10).
    #[error("there is no such grant or session, or it can no longer be used")]
    CapabilityNotFound,

    /// The grant's time is over; arming the attempt again renews it (rule G-4).
    #[error("this grant expired at {expired_at}; whoever waits can arm the attempt again")]
    CapabilityExpired {
        /// The request that it belongs to.
        request_id: RequestId,
        /// When.
        expired_at: Timestamp,
    },

    /// The person accepted another description of what the resource touches (rule G-7).
    #[error("`accepted_blast_radius_digest` is not the digest of what this grant may touch; read the grant again")]
    BlastRadiusMismatch {
        /// The request that the grant belongs to.
        request_id: RequestId,
    },

    /// Another person holds the grant (rule G-7).
    #[error("this grant is held by another person")]
    GrantAlreadyHeld {
        /// The request that the grant belongs to.
        request_id: RequestId,
    },

    /// A person's answer stands.
    #[error("{request_id} was answered at {answered_at}")]
    AlreadyAnswered {
        /// The request.
        request_id: RequestId,
        /// The receipt that stands.
        receipt_id: ReceiptId,
        /// When it was answered.
        answered_at: Timestamp,
    },

    /// The request's deadline ended it.
    #[error("{request_id} expired at {expired_at}")]
    RequestExpired {
        /// The request.
        request_id: RequestId,
        /// The policy receipt.
        receipt_id: Option<ReceiptId>,
        /// When it expired.
        expired_at: Timestamp,
    },

    /// The request was cancelled; the reason is its owner's, meant for the person answering.
    #[error("{request_id} was cancelled: {reason}")]
    RequestCancelled {
        /// The request.
        request_id: RequestId,
        /// Why.
        reason: String,
    },

    /// The request was superseded by another.
    #[error("{request_id} was superseded by {superseded_by}")]
    RequestSuperseded {
        /// The request.
        request_id: RequestId,
        /// The one that took its place.
        superseded_by: RequestId,
    },

    /// Somebody began to answer, so what they are shown stays as it is (R2).
    #[error("{request_id} is being answered; supersede it if its substance changed")]
    RequestInProgress {
        /// The request.
        request_id: RequestId,
    },

    /// The answer does not show that its person saw what is asked now (rule S-5).
    #[error("`rendered_digest` is missing or is not of the version that is asked now; show the request again")]
    PresentationStale {
        /// The request.
        request_id: RequestId,
    },

    /// The key was used before with another body (rules K-1, K-6).
    #[error("this Idempotency-Key was used before with another body; send a new key")]
    IdempotencyKeyReused {
        /// The request that the operation was about, if any.
        request_id: Option<RequestId>,
    },

    /// The authorization was spent on another effect (rule Z-4).
    #[error("this authorization was already spent on another effect")]
    AuthorizationSpent {
        /// The request that it came from.
        request_id: RequestId,
    },

    /// The authorization's time is over (rule Z-4).
    #[error("this authorization expired at {expired_at}")]
    AuthorizationExpired {
        /// The request that it came from.
        request_id: RequestId,
        /// When.
        expired_at: Timestamp,
    },

    /// The effect is not the one that was authorized (rules Z-4, Z-6).
    #[error("`effect_digest` does not match the effect that this authorization is bound to")]
    EffectDigestMismatch {
        /// The request that it came from.
        request_id: RequestId,
    },

    /// Values break the declaration; each is named (section 7).
    #[error("{} of the submitted values cannot be accepted; `fields` says which and why", .fields.len())]
    AnswerValidationFailed {
        /// The request, once known.
        request_id: Option<RequestId>,
        /// What is wrong, field by field.
        fields: Vec<FieldError>,
    },

    /// The sink did not take values in time, or said no. It is an outside party, so that is no failure of ours (section
    /// 20). A repeat is safe: the sink knows it by the same name under the same key.
    #[error(
        "the place that these values should go to did not take them; nothing was kept here, and it is safe to send them \
         again"
    )]
    SinkUnavailable {
        /// The request that declares the place.
        request_id: RequestId,
    },

    /// The provider of a capability could not be asked, or failed. It is an outside party, like a sink. At a raise this is
    /// no breach of the rule that a raise is never refused for a delivery: nothing was created that a ladder could retry.
    #[error(
        "the provider of a capability did not answer as it should; nothing was created or changed that a repeat would do \
         twice, and it is safe to try again"
    )]
    ProviderUnavailable {
        /// The request, where there is one already.
        request_id: Option<RequestId>,
    },

    /// What everything is kept in cannot be reached now. Nothing was kept, and it is safe to try again in a moment.
    ///
    /// Its code is [`ErrorCode::InternalError`]: a failure of the store is ours (section 20), and a raise never gets
    /// [`ErrorCode::DeliveryUnavailable`]. Over HTTP its status is 503, with a time to come back.
    #[error(
        "what this server keeps its data in cannot be reached; nothing was kept, and it is safe to try again in a moment"
    )]
    StoreUnavailable,

    /// What everything is kept in was lost before it said whether it kept this (section 20). Nobody knows but the store.
    #[error(
        "it is not known whether this was kept, since what this server keeps its data in was lost meanwhile; the same call with \
         the same Idempotency-Key tells"
    )]
    OutcomeUnknown,

    /// Something failed on our side; nothing about it is the caller's fault.
    #[error("something failed on our side; the call can be repeated with the same Idempotency-Key")]
    Internal,
}

/// What a caller lacks for an operation.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MissingScope {
    /// The credential does not carry this scope.
    #[error("this needs the scope `{}`", .0.as_str())]
    Scope(Scope),
    /// Only machines raise and redeem (rule P-8).
    #[error("only a machine may do this: nobody both asks and decides")]
    MachineOnly,
    /// Only an owner of this request may do this (section 9).
    #[error("only a principal that raised under the waiter_ref of {0} may do this")]
    OwnerOnly(RequestId),
    /// The waiter belongs to those who raised under it (section 9).
    #[error("only a program that raised under this waiter can say that it ended")]
    WaiterOwnerOnly,
    /// A test key may only raise what says that it is a test, and touch nothing else (section 3).
    #[error("a test key may only raise with `test_mode: true`, and change nothing but such requests")]
    TestMode,
    /// Links answer and do nothing else.
    #[error("a link may only answer")]
    NotForLinks,
}

/// What an answerer lacks.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Lacking {
    /// A higher role.
    #[error("the role `{}` or a higher one", .0.as_str())]
    Role(crate::principal::Role),
    /// A stronger authentication.
    #[error("authentication of strength `{}`", .0.as_str())]
    Strength(crate::principal::AuthStrength),
    /// To be among the assignees.
    #[error("to be one of its assignees")]
    Assignment,
    /// A grant that goes so far (rule G-7).
    #[error("a grant of the scope `{}`", .0.as_str())]
    Scope(super::terms::CapabilityScope),
}

/// What is wrong with one submitted value.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FieldError {
    /// The field's name, as submitted or declared.
    pub name: String,
    /// What is wrong.
    pub code: FieldErrorCode,
    /// The mend, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The codes of section 7.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FieldErrorCode {
    /// The value's JSON type is not the field's.
    WrongType,
    /// Not one of the options.
    NotAnOption,
    /// Too long, too small, too large, or not an integer that survives every JSON parser.
    OutOfRange,
    /// A raw value in a secret field.
    SecretValueNotPermitted,
    /// An attestation is `true` or not given.
    AttestationMustBeTrue,
    /// The document does not satisfy its schema.
    SchemaViolation,
    /// A required field is missing or null.
    Required,
    /// No such field was declared.
    UndeclaredField,
}

impl DecisionError {
    /// An invalid request at a path, with the mend.
    #[must_use]
    pub fn invalid(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::InvalidRequest(DecodeError::new(path, problem))
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidRequest(_) => ErrorCode::InvalidRequest,
            Self::UnsupportedRequiresVersion => ErrorCode::UnsupportedRequiresVersion,
            Self::UnsupportedFieldType { .. } => ErrorCode::UnsupportedFieldType,
            Self::UnsupportedCapabilityType { .. } => ErrorCode::UnsupportedCapabilityType,
            Self::AuthenticationRequired => ErrorCode::AuthenticationRequired,
            Self::InvalidApiKey => ErrorCode::InvalidApiKey,
            Self::InsufficientScope(_) => ErrorCode::InsufficientScope,
            Self::InsufficientAuthority { .. } => ErrorCode::InsufficientAuthority,
            Self::RequesterMayNotAnswer { .. } => ErrorCode::RequesterMayNotAnswer,
            Self::AuthStrengthNotPermitted { .. } => ErrorCode::AuthStrengthNotPermitted,
            Self::RequestNotFound | Self::NothingToSendAgain => ErrorCode::RequestNotFound,
            Self::WaiterNotFound => ErrorCode::WaiterNotFound,
            Self::SignalNotFound => ErrorCode::SignalNotFound,
            Self::AuthorizationNotFound => ErrorCode::AuthorizationNotFound,
            Self::CapabilityNotFound => ErrorCode::CapabilityNotFound,
            Self::CapabilityExpired { .. } => ErrorCode::CapabilityExpired,
            Self::BlastRadiusMismatch { .. } => ErrorCode::BlastRadiusMismatch,
            Self::GrantAlreadyHeld { .. } => ErrorCode::GrantAlreadyHeld,
            Self::AlreadyAnswered { .. } => ErrorCode::AlreadyAnswered,
            Self::RequestExpired { .. } => ErrorCode::RequestExpired,
            Self::RequestCancelled { .. } => ErrorCode::RequestCancelled,
            Self::RequestSuperseded { .. } => ErrorCode::RequestSuperseded,
            Self::RequestInProgress { .. } => ErrorCode::RequestInProgress,
            Self::PresentationStale { .. } => ErrorCode::PresentationStale,
            Self::IdempotencyKeyReused { .. } => ErrorCode::IdempotencyKeyReused,
            Self::AuthorizationSpent { .. } => ErrorCode::AuthorizationSpent,
            Self::AuthorizationExpired { .. } => ErrorCode::AuthorizationExpired,
            Self::EffectDigestMismatch { .. } => ErrorCode::EffectDigestMismatch,
            Self::AnswerValidationFailed { .. } => ErrorCode::AnswerValidationFailed,
            Self::SinkUnavailable { .. } | Self::ProviderUnavailable { .. } => ErrorCode::DeliveryUnavailable,
            Self::StoreUnavailable | Self::OutcomeUnknown | Self::Internal => ErrorCode::InternalError,
        }
    }

    /// Whether it is a failure on our side, which says nothing about the caller or what was asked for.
    #[must_use]
    pub const fn is_ours(&self) -> bool {
        matches!(self, Self::StoreUnavailable | Self::OutcomeUnknown | Self::Internal)
    }

    /// The request it is about, when that is known to be of the caller's tenant.
    #[must_use]
    pub const fn request_id(&self) -> Option<RequestId> {
        match self {
            Self::InsufficientAuthority { request_id, .. }
            | Self::AuthStrengthNotPermitted { request_id }
            | Self::AlreadyAnswered { request_id, .. }
            | Self::RequestExpired { request_id, .. }
            | Self::RequestCancelled { request_id, .. }
            | Self::RequestSuperseded { request_id, .. }
            | Self::RequestInProgress { request_id }
            | Self::PresentationStale { request_id }
            | Self::AuthorizationSpent { request_id }
            | Self::AuthorizationExpired { request_id, .. }
            | Self::EffectDigestMismatch { request_id }
            | Self::CapabilityExpired { request_id, .. }
            | Self::BlastRadiusMismatch { request_id }
            | Self::GrantAlreadyHeld { request_id }
            | Self::SinkUnavailable { request_id }
            | Self::InsufficientScope(MissingScope::OwnerOnly(request_id)) => Some(*request_id),
            Self::RequesterMayNotAnswer { request_id }
            | Self::IdempotencyKeyReused { request_id }
            | Self::ProviderUnavailable { request_id }
            | Self::AnswerValidationFailed { request_id, .. } => *request_id,
            _ => None,
        }
    }

    /// The receipt that stands, for settled conflicts.
    #[must_use]
    pub const fn receipt_id(&self) -> Option<ReceiptId> {
        match self {
            Self::AlreadyAnswered { receipt_id, .. } => Some(*receipt_id),
            Self::RequestExpired { receipt_id, .. } => *receipt_id,
            _ => None,
        }
    }

    /// The request that took this one's place.
    #[must_use]
    pub const fn superseded_by(&self) -> Option<RequestId> {
        match self {
            Self::RequestSuperseded { superseded_by, .. } => Some(*superseded_by),
            _ => None,
        }
    }

    /// What is wrong, field by field.
    #[must_use]
    pub fn fields(&self) -> &[FieldError] {
        match self {
            Self::AnswerValidationFailed { fields, .. } => fields,
            _ => &[],
        }
    }
}

impl From<DecodeError> for DecisionError {
    fn from(error: DecodeError) -> Self {
        Self::InvalidRequest(error)
    }
}
