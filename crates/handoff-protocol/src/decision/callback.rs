//! Where the signals of a request are pushed: what a raise declares, and what the deployment configured (section 19).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{callback_url::CallbackUrl, limits};
use crate::{
    callback::CallbackSecret,
    digest::Digest,
    id::{OrgId, PrincipalId},
    json::{DecodeError, ObjectReader},
    principal::Principal,
};

/// Where the signals of a request are pushed, as it was settled at the raise.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Callback {
    /// The address.
    pub url: String,
    /// Which secrets sign (rule H-4); the deployment's unnamed ones if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<String>,
    /// In which format.
    #[serde(default, skip_serializing_if = "CallbackFormat::is_handoff")]
    pub format: CallbackFormat,
}

/// The headers that carry signatures.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallbackFormat {
    /// Those of section 19.
    #[default]
    Handoff,
    /// Those of Standard Webhooks.
    StandardWebhooks,
}

/// What a deployment configured about callbacks.
#[derive(Clone, Debug, Default)]
pub struct CallbackPolicy {
    /// The active secrets of whoever names none, newest first.
    pub secrets: Vec<CallbackSecret>,
    /// The active secrets by the name that `secret_ref` gives, newest first.
    pub named: BTreeMap<String, Vec<CallbackSecret>>,
    /// Who alone may use the secrets of a name: a machine, or a whole tenant. A name that is not here is everybody's.
    pub owners: BTreeMap<String, PrincipalId>,
    /// What is known of endpoints and of their owners.
    pub endpoints: Vec<CallbackEndpoint>,
}

/// An endpoint, or what holds for whoever owns it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CallbackEndpoint {
    /// Whose it is: a machine, or a whole tenant; everybody's if none.
    pub owner: Option<PrincipalId>,
    /// Its address. It is the default of its owner. Without one, what follows holds for whatever address the owner gives.
    pub url: Option<String>,
    /// Which secrets sign.
    pub secret_ref: Option<String>,
    /// In which format.
    pub format: CallbackFormat,
}

impl CallbackFormat {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
    fn is_handoff(&self) -> bool {
        *self == Self::Handoff
    }

    /// Whether each of some secrets can sign in this format: all of them sign, or none does.
    #[must_use]
    pub fn can_be_signed_with(self, secrets: &[CallbackSecret]) -> bool {
        match self {
            Self::Handoff => true,
            Self::StandardWebhooks => secrets.iter().all(|secret| secret.check_standard().is_ok()),
        }
    }
}

impl Callback {
    /// The digest of the address: what is kept and told of it where the address itself must not stand.
    #[must_use]
    pub fn url_digest(&self) -> Digest {
        Digest::of(self.url.as_bytes())
    }

    /// What stands for the host that it is connected to: the same for every address of one scheme, host and port.
    #[must_use]
    pub fn destination(&self) -> Digest {
        CallbackUrl::parse(&self.url).map_or_else(|_| self.url_digest(), |url| url.destination())
    }
}

impl CallbackEndpoint {
    /// How closely this concerns a principal; none if not at all.
    fn closeness(&self, principal: &Principal) -> Option<u8> {
        closeness(self.owner, principal)
    }
}

/// How closely what an owner has concerns a principal: its own before its tenant's before everybody's; none if not at all.
fn closeness(owner: Option<PrincipalId>, principal: &Principal) -> Option<u8> {
    match owner {
        None => Some(0),
        Some(PrincipalId::Org(tenant)) => (tenant == principal.tenant).then_some(1),
        owner => (owner == principal.id()).then_some(2),
    }
}

impl CallbackPolicy {
    /// Whether anything could ever be signed.
    #[must_use]
    pub fn can_sign(&self) -> bool {
        !self.secrets.is_empty() || self.named.values().any(|secrets| !secrets.is_empty())
    }

    /// The active secrets of a name, newest first; none that are active is the same as none that are known.
    #[must_use]
    pub fn active(&self, secret_ref: Option<&str>) -> &[CallbackSecret] {
        match secret_ref {
            None => &self.secrets,
            Some(name) => self.named.get(name).map(Vec::as_slice).unwrap_or_default(),
        }
    }

    /// The active secrets of a name that whoever is in a tenant may use.
    pub(super) fn active_in(&self, name: &str, tenant: OrgId) -> &[CallbackSecret] {
        match self.owners.get(name) {
            None => self.active(Some(name)),
            Some(owner) if *owner == PrincipalId::Org(tenant) => self.active(Some(name)),
            Some(_) => &[],
        }
    }

    /// The active secrets of a name that a principal may use: those of a name that is bound to others are as unknown as a
    /// name that is not there (rule H-10: what one tenant signs with must not sign for another).
    fn active_for(&self, secret_ref: Option<&str>, principal: &Principal) -> &[CallbackSecret] {
        let owner = secret_ref.and_then(|name| self.owners.get(name)).copied();
        if closeness(owner, principal).is_some() { self.active(secret_ref) } else { &[] }
    }

    /// Reads the `callback` of a raise, or takes the default endpoint of whoever raises. What would be pushed unsigned is
    /// refused (rule H-4).
    pub(super) fn read(
        &self,
        principal: &Principal,
        raise: &ObjectReader<'_, '_>,
    ) -> Result<Option<Callback>, DecodeError> {
        let mut concerned: Vec<(u8, &CallbackEndpoint)> =
            self.endpoints.iter().filter_map(|endpoint| Some((endpoint.closeness(principal)?, endpoint))).collect();
        concerned.sort_by_key(|(closeness, _)| std::cmp::Reverse(*closeness));
        let Some(declared) = raise.optional_object("callback")? else {
            let default = concerned.iter().find_map(|(_, endpoint)| Some((endpoint.url.as_ref()?, endpoint)));
            let Some((url, endpoint)) = default else { return Ok(None) };
            let callback =
                Callback { url: url.clone(), secret_ref: endpoint.secret_ref.clone(), format: endpoint.format };
            if let Some(problem) = self.problem(&callback, principal) {
                return Err(raise.error("callback", format!("is the default endpoint of this server, and {problem}")));
            }
            return Ok(Some(callback));
        };
        let url = declared.string("url")?;
        CallbackUrl::parse(url).map_err(|error| declared.error("url", error.to_string()))?;
        let given = declared.optional_text("secret_ref", 0, limits::SECRET_REF_CHARS)?;
        let known = concerned
            .iter()
            .find(|(_, endpoint)| endpoint.url.as_deref() == Some(url))
            .or_else(|| concerned.iter().find(|(_, endpoint)| endpoint.url.is_none()))
            .map(|(_, endpoint)| *endpoint);
        let secret_ref = given.map(str::to_owned).or_else(|| known.and_then(|endpoint| endpoint.secret_ref.clone()));
        let format = known.map(|known| known.format).unwrap_or_default();
        let callback = Callback { url: url.to_owned(), secret_ref, format };
        if let Some(problem) = self.problem(&callback, principal) {
            return Err(match given {
                Some(_) => declared.error("secret_ref", problem),
                None => raise.error("callback", problem),
            });
        }
        declared.finish()?;
        Ok(Some(callback))
    }

    /// Why a callback could not be signed for a principal, if it could not (rule H-4).
    fn problem(&self, callback: &Callback, principal: &Principal) -> Option<&'static str> {
        let secrets = self.active_for(callback.secret_ref.as_deref(), principal);
        if secrets.is_empty() {
            return Some(match callback.secret_ref {
                Some(_) => "names no active callback secret of this server",
                None => "needs a callback secret, and none is active; configure one, or name one with `secret_ref`",
            });
        }
        (!callback.format.can_be_signed_with(secrets)).then_some(
            "must lead to secrets that can sign for this endpoint: its format is `standard-webhooks`, where each secret is \
             `whsec_` and the base64 of 24 to 64 bytes; name such a set, or have one configured",
        )
    }
}
