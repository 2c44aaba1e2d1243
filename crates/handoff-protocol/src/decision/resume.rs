//! Continuation of a request (section 18): what its runtime handed over, kept apart from the request, and given back in
//! each of its signals and nowhere else.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use super::{error::DecisionError, limits};
use crate::{
    continuation::{self, Keyring, OpenError, Place, Sealed},
    id::{Mint, OrgId, RequestId},
    json::{DecodeError, Json, ObjectReader},
};

/// The member that a payload comes in, and that it is sealed for.
const PAYLOAD: &str = "resume_payload";

/// What a raise hands over. `Debug` shows nothing of it.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Resume {
    reference: Option<String>,
    payload: Option<Vec<u8>>,
}

/// Continuation data as it is kept. `Debug` shows nothing of what was handed over.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct Continuation {
    /// Whose it is.
    pub request_id: RequestId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resume_ref: Option<String>,
    /// The sealed payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_payload: Option<Sealed>,
}

/// What a signal gives back, byte for byte as it was handed over (rule L-2). `Debug` shows nothing of it.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Resumed {
    /// `resume_ref`.
    pub reference: Option<String>,
    /// `resume_payload`, in base64.
    pub payload: Option<String>,
}

impl Resume {
    /// Reads what a raise hands over; a payload only where there is a key to keep it under (rules L-1, L-4).
    pub(super) fn read(raise: &ObjectReader<'_, '_>, keyring: Option<&Keyring>) -> Result<Self, DecodeError> {
        let reference = raise.optional_text("resume_ref", 0, limits::RESUME_REF_CHARS)?.map(str::to_owned);
        let Some(text) = raise.optional_string(PAYLOAD)? else { return Ok(Self { reference, payload: None }) };
        if keyring.is_none() {
            return Err(
                raise.error(PAYLOAD, "needs a continuation key, and this server has none; `GET /v1/meta` tells")
            );
        }
        let malformed = || raise.error(PAYLOAD, "must be base64 in its canonical form, with padding");
        let payload = STANDARD.decode(text);
        #[cfg(feature = "planted-faults")]
        let payload = payload.or_else(|error| {
            if crate::planted::Fault::MalformedPayloadAccepted.is_planted() {
                Ok(text.as_bytes().to_vec())
            } else {
                Err(error)
            }
        });
        let payload = payload.map_err(|_| malformed())?;
        if payload.len() > limits::RESUME_PAYLOAD_BYTES {
            return Err(raise.error(PAYLOAD, "must be at most 65536 bytes before base64"));
        }
        Ok(Self { reference, payload: Some(payload) })
    }

    /// What is kept of it for a request; nothing if nothing was handed over.
    pub(super) fn keep(
        &self,
        tenant: OrgId,
        request_id: RequestId,
        keyring: Option<&Keyring>,
        mint: &mut Mint,
    ) -> Result<Option<Continuation>, DecisionError> {
        if *self == Self::default() {
            return Ok(None);
        }
        let place = Place { tenant, request: request_id, field: PAYLOAD };
        let resume_payload = match &self.payload {
            None => None,
            Some(payload) => {
                let keyring = keyring.ok_or(DecisionError::Internal)?;
                Some(continuation::seal(keyring, place, mint.bytes(), payload).ok_or(DecisionError::Internal)?)
            }
        };
        Ok(Some(Continuation { request_id, resume_ref: self.reference.clone(), resume_payload }))
    }
}

impl Continuation {
    /// Gives back what was handed over.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the key is not configured any more, or what is kept was altered; what can be given back then is
    /// [`without_payload`](Self::without_payload).
    pub fn resume(&self, tenant: OrgId, keyring: Option<&Keyring>) -> Result<Resumed, OpenError> {
        let payload = match &self.resume_payload {
            None => None,
            Some(sealed) => Some(STANDARD.encode(self.open(sealed, tenant, keyring)?)),
        };
        Ok(Resumed { reference: self.resume_ref.clone(), payload })
    }

    /// What can be saved of a record that is no longer one: whose it is, and its reference if that still is a text.
    #[must_use]
    pub fn salvage(request_id: RequestId, record: Option<&Json>) -> Self {
        let reference = record.and_then(|record| record.get("resume_ref")).and_then(Json::as_str);
        Self { request_id, resume_ref: reference.map(str::to_owned), resume_payload: None }
    }

    /// The same with nothing sealed: for a payload that opens no more. Its signals go on, and give a reference back if
    /// there is one.
    #[must_use]
    pub fn without_payload(&self) -> Self {
        Self { resume_payload: None, ..self.clone() }
    }

    /// Checks that the payload opens.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn check(&self, tenant: OrgId, keyring: Option<&Keyring>) -> Result<(), OpenError> {
        match &self.resume_payload {
            None => Ok(()),
            Some(sealed) => self.open(sealed, tenant, keyring).map(drop),
        }
    }

    /// The same under the current key; nothing if it is already, or seals nothing.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn reseal(&self, tenant: OrgId, keyring: &Keyring, mint: &mut Mint) -> Result<Option<Self>, OpenError> {
        let Some(sealed) = &self.resume_payload else { return Ok(None) };
        if keyring.ids().next() == Some(&sealed.key) {
            return Ok(None);
        }
        let payload = self.open(sealed, tenant, Some(keyring))?;
        let resealed = continuation::seal(keyring, self.place(tenant), mint.bytes(), &payload);
        Ok(resealed.map(|sealed| Self { resume_payload: Some(sealed), ..self.clone() }))
    }

    fn open(&self, sealed: &Sealed, tenant: OrgId, keyring: Option<&Keyring>) -> Result<Vec<u8>, OpenError> {
        let keyring = keyring.ok_or_else(|| OpenError::UnknownKey(sealed.key.clone()))?;
        continuation::open(keyring, self.place(tenant), sealed)
    }

    fn place(&self, tenant: OrgId) -> Place {
        Place { tenant, request: self.request_id, field: PAYLOAD }
    }
}

impl fmt::Debug for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Debug for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Continuation").field("request_id", &self.request_id).finish_non_exhaustive()
    }
}

impl fmt::Debug for Resumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
