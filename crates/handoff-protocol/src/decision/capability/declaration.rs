//! Declarations: what a raise asks to be granted (rules D-2, G-1).

use serde::{Deserialize, Serialize};

use super::{BlastRadius, GrantSession};
use crate::{
    decision::{
        error::DecisionError,
        limits,
        raise::duration,
        requires::Requires,
        terms::{CapabilityScope, CapabilityType},
    },
    digest::AnyDigest,
    duration::ExactDuration,
    id::{GrantHandle, SessionRef},
    json::{DecodeError, Json, ObjectReader},
    principal::Principal,
};

/// One declared capability, without the handle and the digest that its author may have put there: those are ours.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Capability {
    /// What it is.
    #[serde(rename = "type")]
    pub capability_type: CapabilityType,
    /// The most that it may be used for.
    pub scope: CapabilityScope,
    /// Whose it is; the deployment's default provider where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Which one it is, in the provider's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_ref: Option<String>,
    /// What people read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it is for, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Whether an answer can do without it.
    #[serde(default)]
    pub optional: bool,
    /// How long it may be used once an attempt is armed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<ExactDuration>,
    /// What the provider holds sessions to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Json>,
}

/// A whole `requires` as declared, with what is needed to serve it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::decision) struct Declared {
    pub(in crate::decision) json: Json,
    pub(in crate::decision) capabilities: Vec<Capability>,
    /// What each capability may touch, in their order; the engine asks the providers and fills this in.
    pub(in crate::decision) blast_radii: Vec<BlastRadius>,
}

/// A session that an answer says it used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::decision) struct CapabilityUse {
    handle: GrantHandle,
    session_ref: SessionRef,
}

impl Capability {
    /// The wire names of the types that can be declared; `GET /v1/meta` lists them.
    pub const TYPES: [&'static str; 2] =
        [CapabilityType::InteractiveSurface.as_str(), CapabilityType::Document.as_str()];

    /// Reads a declaration. Whatever the client put into `handle` is read and forgotten (rule G-1).
    ///
    /// # Errors
    ///
    /// [`DecodeError`] names the member and the mend.
    pub fn read(reader: ObjectReader<'_, '_>) -> Result<Self, DecodeError> {
        reader.optional_string("handle")?;
        if let Some(digest) = reader.optional_string("blast_radius_digest")? {
            AnyDigest::parse(digest)
                .map_err(|error| reader.error("blast_radius_digest", format!("is not a digest: {error}")))?;
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let capability = Self {
            capability_type: reader.choice("type", CapabilityType::ALL)?,
            scope: reader.choice("scope", CapabilityScope::ALL)?,
            provider: owned(reader.optional_text("provider", 0, limits::PROVIDER_CHARS)?),
            resource_ref: resource_ref(&reader)?,
            label: owned(reader.optional_text("label", 0, limits::LABEL_CHARS)?),
            purpose: owned(reader.optional_text("purpose", 0, limits::PURPOSE_CHARS)?),
            optional: reader.optional_boolean("optional")?.unwrap_or(false),
            ttl: duration(&reader, "ttl")?,
            constraints: reader.optional_object("constraints")?.map(|object| Json::Object(object.json().clone())),
        };
        reader.finish()?;
        Ok(capability)
    }
}

impl Declared {
    /// Keeps a declaration that was read.
    pub(in crate::decision) fn new(json: Json, parsed: &Requires) -> Self {
        Self { json, capabilities: parsed.capabilities.clone(), blast_radii: Vec::new() }
    }

    /// Whether the providers of its capabilities are still to be asked.
    pub(in crate::decision) fn needs_blast_radii(&self) -> bool {
        self.capabilities.len() != self.blast_radii.len()
    }

    /// Whether a declaration that is served is this one, with the handles and digests of its grants put in (rule D-7).
    pub(in crate::decision) fn is_served_as(&self, served: &Json) -> bool {
        without_grants(self.json.clone()) == without_grants(served.clone())
    }
}

/// The name of a resource. An address could be opened, and could carry a password, so it is refused (rule G-2).
fn resource_ref(reader: &ObjectReader<'_, '_>) -> Result<Option<String>, DecodeError> {
    let named = reader.optional_text("resource_ref", 0, limits::RESOURCE_REF_CHARS)?;
    if named.is_some_and(|named| named.contains("://")) {
        return Err(
            reader.error("resource_ref", "must be the provider's own name for the resource, and not an address")
        );
    }
    Ok(named.map(str::to_owned))
}

/// A declaration without what is ours in it.
fn without_grants(mut requires: Json) -> Json {
    if let Some(Json::Array(items)) = requires.as_object_mut().and_then(|all| all.get_mut("capabilities")) {
        for members in items.iter_mut().filter_map(Json::as_object_mut) {
            members.remove("handle");
            members.remove("blast_radius_digest");
        }
    }
    requires
}

/// Refuses a capability without a type, or with one that is not known (rule D-2).
pub(in crate::decision) fn check_types(capabilities: &[Json]) -> Result<(), DecisionError> {
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::CapabilityTypeWithoutCode.is_planted() {
        return Ok(());
    }
    for (place, capability) in capabilities.iter().enumerate() {
        let name = capability.get("type").and_then(Json::as_str);
        if !name.is_some_and(|name| Capability::TYPES.contains(&name)) {
            let path = format!("requires.capabilities[{place}].type");
            return Err(DecisionError::UnsupportedCapabilityType { path });
        }
    }
    Ok(())
}

/// Reads every declaration of a `requires`.
pub(in crate::decision) fn read_all(requires: &ObjectReader<'_, '_>) -> Result<Vec<Capability>, DecodeError> {
    let Some(array) = requires.optional_array("capabilities")? else { return Ok(Vec::new()) };
    array.count_within(0, limits::CAPABILITIES)?;
    array.items().map(|item| Capability::read(item.object()?)).collect()
}

impl CapabilityUse {
    /// Reads what an answer says that it used.
    pub(in crate::decision) fn read_all(answer: &ObjectReader<'_, '_>) -> Result<Vec<Self>, DecodeError> {
        let Some(array) = answer.optional_array("capability_uses")? else { return Ok(Vec::new()) };
        array.count_within(0, limits::CAPABILITY_USES)?;
        let read = |item: ObjectReader<'_, '_>| {
            let fault = |name: &str| item.error(name, "must be one that this server gave out");
            let used = Self {
                handle: GrantHandle::parse(item.string("handle")?).map_err(|_| fault("handle"))?,
                session_ref: SessionRef::parse(item.string("session_ref")?).map_err(|_| fault("session_ref"))?,
            };
            item.finish()?;
            Ok(used)
        };
        array.items().map(|item| read(item.object()?)).collect()
    }
}

/// Checks that what an answer says it used were sessions of its author on this request's grants (rule S-7).
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] names the first that is not.
pub(in crate::decision) fn check_uses(
    uses: &[CapabilityUse],
    sessions: &[GrantSession],
    principal: &Principal,
) -> Result<(), DecisionError> {
    let own = |used: &CapabilityUse| {
        sessions.iter().any(|session| {
            session.session_ref == used.session_ref
                && session.handle == used.handle
                && principal.id() == Some(session.principal_id)
        })
    };
    #[cfg(feature = "planted-faults")]
    let own = |used: &CapabilityUse| own(used) || crate::planted::Fault::ForeignSessionsAccepted.is_planted();
    match uses.iter().position(|used| !own(used)) {
        None => Ok(()),
        Some(place) => Err(DecisionError::invalid(
            format!("capability_uses[{place}]"),
            "must name a session that you opened under a grant of this request",
        )),
    }
}
