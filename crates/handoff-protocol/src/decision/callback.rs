//! Where the signals of a request are pushed: what a raise declares, and what the deployment configured (section 19).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::limits;
use crate::{
    callback::CallbackSecret,
    digest::Digest,
    id::PrincipalId,
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
}

impl Callback {
    /// The digest of the address: what is kept and told of it where the address itself must not stand.
    #[must_use]
    pub fn url_digest(&self) -> Digest {
        Digest::of(self.url.as_bytes())
    }
}

impl CallbackEndpoint {
    /// How closely this concerns a principal: its own before its tenant's before everybody's; none if not at all.
    fn closeness(&self, principal: &Principal) -> Option<u8> {
        match self.owner {
            None => Some(0),
            Some(PrincipalId::Org(tenant)) => (tenant == principal.tenant).then_some(1),
            owner => (owner == principal.id()).then_some(2),
        }
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
            return Ok(default.map(|(url, endpoint)| Callback {
                url: url.clone(),
                secret_ref: endpoint.secret_ref.clone(),
                format: endpoint.format,
            }));
        };
        let url = declared.string("url")?;
        if !is_callback_url(url) {
            return Err(declared.error(
                "url",
                "must be an absolute `http` or `https` address without user and fragment, of at most 2048 characters",
            ));
        }
        let given = declared.optional_text("secret_ref", 0, limits::SECRET_REF_CHARS)?;
        let known = concerned
            .iter()
            .find(|(_, endpoint)| endpoint.url.as_deref() == Some(url))
            .or_else(|| concerned.iter().find(|(_, endpoint)| endpoint.url.is_none()))
            .map(|(_, endpoint)| *endpoint);
        let secret_ref = given.map(str::to_owned).or_else(|| known.and_then(|endpoint| endpoint.secret_ref.clone()));
        if self.active(secret_ref.as_deref()).is_empty() {
            return Err(match given {
                Some(_) => declared.error("secret_ref", "names no active callback secret of this server"),
                None => raise.error(
                    "callback",
                    "needs a callback secret, and none is active; configure one, or name one with `secret_ref`",
                ),
            });
        }
        let callback =
            Callback { url: url.to_owned(), secret_ref, format: known.map(|known| known.format).unwrap_or_default() };
        declared.finish()?;
        Ok(Some(callback))
    }
}

/// Whether a text is an address that a callback can have. What its host resolves to is for the moment of the push.
#[must_use]
pub fn is_callback_url(text: &str) -> bool {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    let scheme = ["https://", "http://"].into_iter().find(|scheme| lower.starts_with(scheme));
    let Some(rest) = scheme.and_then(|scheme| text.get(scheme.len()..)) else { return false };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(authority, |(host, _)| host);
    text.len() <= limits::CALLBACK_URL_CHARS
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"#\\\"<>^`{|}".contains(&byte))
        && !host.is_empty()
        && !authority.contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_absolute_and_plain() {
        for url in [
            "http://127.0.0.1:8080/cb",
            "https://example.com",
            "HTTPS://example.com/a?b=c%20d",
            "http://[::1]:80/",
            "http://[::1]",
            "http://2130706433/",
        ] {
            assert!(is_callback_url(url), "{url}");
        }
        let long = format!("https://example.com/{}", "a".repeat(2048));
        for text in [
            "",
            "http:",
            "http://",
            "http:///path",
            "http://:80/",
            "ftp://example.com",
            "example.com",
            "//example.com",
            "https://user@example.com",
            "https://example.com/#part",
            "https://example.com/a b",
            "https://example.com/\r\nx: y",
            "https://exämple.com",
            "javascript://example.com",
            &long,
        ] {
            assert!(!is_callback_url(text), "{text}");
        }
    }
}
