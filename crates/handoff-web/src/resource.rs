//! What a person may use on the way to an answer, and what that may touch (rules G-5, G-6). No address is part of it.

use handoff_protocol::{
    decision::{
        DecisionError,
        capability::GrantView,
        terms::{CapabilityScope, CapabilityType, SharedWith},
    },
    id::GrantHandle,
    json::Json,
};

use crate::{
    reader::Reader,
    session::Visitor,
    site::Site,
    visible,
    when::Deadline,
    words::{Words, fill},
};

/// A resource for a template.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) title: String,
    pub(crate) purpose: Option<String>,
    pub(crate) is_optional: bool,
    /// What it may be used for, with whom it is shared, and what more there is to know, in sentences.
    pub(crate) sentences: Vec<String>,
    /// What using it may touch, in its provider's words.
    pub(crate) reach: Vec<String>,
    /// Where it is signed in, and as whom.
    pub(crate) identities: Vec<String>,
    /// Until when it can be used; none once that is over.
    pub(crate) until: Option<Deadline>,
}

/// Reads what a request offers.
///
/// # Errors
///
/// [`DecisionError`] if it cannot be read; what lapsed or is gone is said to be.
pub(crate) async fn resources(
    site: &Site,
    reader: &Reader,
    visitor: &Visitor,
    requires: &Json,
) -> Result<Vec<Resource>, DecisionError> {
    let declared = requires.get("capabilities").and_then(Json::as_array).unwrap_or_default();
    let mut resources = Vec::new();
    for item in declared {
        let handle = item.get("handle").and_then(Json::as_str).and_then(|text| GrantHandle::parse(text).ok());
        let grant = match handle {
            Some(handle) => match site.engine.grant(&visitor.principal, handle).await {
                Ok(grant) => Some(grant),
                Err(DecisionError::CapabilityExpired { .. } | DecisionError::CapabilityNotFound) => None,
                Err(error) => return Err(error),
            },
            None => None,
        };
        let grant = grant.filter(|grant| grant.revoked_at.is_none());
        resources.push(Resource::new(site, reader, visitor, item, grant));
    }
    Ok(resources)
}

impl Resource {
    fn new(site: &Site, reader: &Reader, visitor: &Visitor, declared: &Json, grant: Option<GrantView>) -> Self {
        let words = reader.words;
        let text = |name: &str| {
            let text = declared.get(name).and_then(Json::as_str).filter(|text| !visible::is_blank(text));
            text.map(visible::line)
        };
        let drives = declared.get("scope").and_then(Json::as_str) == Some(CapabilityScope::Drive.as_str());
        let mut sentences = vec![if drives { words.resource_drive } else { words.resource_view }.to_owned()];
        let (mut reach, mut identities, mut until) = (Vec::new(), Vec::new(), None);
        match grant {
            None => sentences.push(words.resource_over.to_owned()),
            Some(grant) => {
                let radius = grant.blast_radius;
                sentences.push(words.shared_with(radius.shared_with).to_owned());
                sentences.extend(radius.principals.map(|count| fill(words.resource_users, &[&count.to_string()])));
                sentences.extend(radius.reversible.map(|reversible| {
                    if reversible { words.resource_reversible } else { words.resource_irreversible }.to_owned()
                }));
                if grant.bound_principal_id.is_some() && grant.bound_principal_id != visitor.principal.id() {
                    sentences.push(words.resource_held.to_owned());
                }
                reach.push(visible::lines(&radius.summary));
                reach.extend(radius.note.as_deref().map(visible::lines));
                identities.extend(radius.identities.iter().map(|one| match one.label.as_deref() {
                    Some(label) => format!("{} ({})", visible::line(&one.origin), visible::line(label)),
                    None => visible::line(&one.origin),
                }));
                until = Some(Deadline::new(reader, grant.expires_at, site.engine.now()));
            }
        }
        let is_document = declared.get("type").and_then(Json::as_str) == Some(CapabilityType::Document.as_str());
        let fallback = if is_document { words.resource_document } else { words.resource_surface };
        Self {
            title: text("label").unwrap_or_else(|| fallback.to_owned()),
            purpose: text("purpose"),
            is_optional: declared.get("optional").and_then(Json::as_bool).unwrap_or(false),
            sentences,
            reach,
            identities,
            until,
        }
    }
}

impl Words {
    fn shared_with(&self, shared: SharedWith) -> &'static str {
        match shared {
            SharedWith::Isolated => self.resource_isolated,
            SharedWith::Request => self.resource_request,
            SharedWith::Space => self.resource_space,
            SharedWith::Org => self.resource_org,
        }
    }
}
