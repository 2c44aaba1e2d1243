//! Callbacks in the configuration: secrets, named sets of them, endpoints.

use std::{collections::BTreeMap, ops::Range};

use handoff_protocol::{
    callback::{CallbackSecret, MOST_SECRETS},
    decision::{CallbackEndpoint, CallbackFormat, CallbackPolicy, CallbackUrl},
    id::PrincipalId,
};
use toml::{Spanned, de::DeValue};

use super::{ConfigError, file::Reading};

/// The section of named secrets: a name, then its secrets, newest first.
pub(super) const SETS: &str = "callback_secret_sets";
/// The list of endpoints.
pub(super) const ENDPOINTS: &str = "callback_endpoints";

/// What a redacted secret reads: it must not become one.
const REDACTED: &str = "[redacted]";

const SETS_FORM: &str = "`callback_secret_sets` is a section: `[callback_secret_sets]`, and under it \
                         `name = [\"whsec_…\", \"whsec_…\"]`, newest first, or \
                         `name = { owner = \"org_…\", secrets = [\"whsec_…\"] }`";
const ENDPOINT_FORM: &str = "`callback_endpoints` is a list: `[[callback_endpoints]]`, and under it `url`, `owner`, \
                             `secrets` and `format`, each optional text in quotes";

/// The sections as they were read.
#[derive(Debug, Default)]
pub(super) struct CallbackSections {
    named: BTreeMap<String, Vec<CallbackSecret>>,
    owners: BTreeMap<String, PrincipalId>,
    endpoints: Vec<(CallbackEndpoint, ConfigError)>,
}

impl CallbackSections {
    /// Why a channel, which serves every tenant, cannot sign with a set, if it cannot.
    pub(super) fn problem_of_channel(&self, channel: &str, set: &str) -> Option<String> {
        if !self.named.contains_key(set) {
            return Some(format!(
                "the channel `{channel}` names a set of `callback_secret_sets` that is not there; {}",
                self.known()
            ));
        }
        self.owners.contains_key(set).then(|| {
            format!(
                "the channel `{channel}` serves every tenant and names the set {}, which is bound to an owner",
                shown(set)
            )
        })
    }

    /// The sets that there are, for a message.
    fn known(&self) -> String {
        let names: Vec<String> = self.named.keys().map(|name| shown(name)).collect();
        if names.is_empty() { "there is none".to_owned() } else { format!("there are {}", names.join(", ")) }
    }

    /// The sections, once it is known what signs where no name is given: each endpoint can be signed for, in its format.
    pub(super) fn checked(mut self, unnamed: Vec<CallbackSecret>) -> Result<CallbackPolicy, ConfigError> {
        let mut endpoints = Vec::with_capacity(self.endpoints.len());
        for (endpoint, place) in std::mem::take(&mut self.endpoints) {
            let (secrets, name) = match endpoint.secret_ref.as_ref().map(|name| (name, self.named.get(name))) {
                None => (unnamed.as_slice(), "`callback_secrets`".to_owned()),
                Some((name, Some(secrets))) => (secrets.as_slice(), format!("the set {}", shown(name))),
                // What is named and not there is not repeated: it may be a secret that slipped.
                Some((_, None)) => {
                    return Err(place.saying(format!(
                        "its secrets are not configured: it names a set of `callback_secret_sets` that is not there; {}",
                        self.known()
                    )));
                }
            };
            if secrets.is_empty() {
                return Err(place.saying(format!(
                    "its secrets are not configured: {name} holds none; put one there, or name another set with `secrets`"
                )));
            }
            if !endpoint.format.can_be_signed_with(secrets) {
                return Err(place.saying(format!(
                    "for `standard-webhooks`, each of its secrets is `whsec_` and the base64 of 24 to 64 bytes, and one of \
                     {name} is not"
                )));
            }
            let owner = endpoint.secret_ref.as_ref().and_then(|name| self.owners.get(name));
            if let Some(owner) = owner
                && !may_use(endpoint.owner, *owner)
            {
                return Err(place.saying(format!("{name} is bound to an owner that is not the endpoint's")));
            }
            endpoints.push(endpoint);
        }
        Ok(CallbackPolicy { secrets: unnamed, named: self.named, owners: self.owners, endpoints })
    }
}

/// Whether the endpoint of an owner may sign with a set that is bound. Which tenant a machine is of only the store knows,
/// so where it is not the same id, the raise tells.
fn may_use(endpoint: Option<PrincipalId>, set: PrincipalId) -> bool {
    match (endpoint, set) {
        (None, _) => false,
        (Some(PrincipalId::ServiceAccount(_)), PrincipalId::Org(_)) => true,
        (Some(endpoint), set) => endpoint == set,
    }
}

/// A name as a message may hold it: one that is long or strange may be a secret that slipped.
fn shown(name: &str) -> String {
    let plain = name.len() <= 40 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if plain && !name.starts_with("whsec_") { format!("`{name}`") } else { "of another name".to_owned() }
}

/// Refuses more secrets than receivers look at (section 19: a verifier need not read an endless header).
fn not_too_many(secrets: Vec<CallbackSecret>) -> Result<Vec<CallbackSecret>, String> {
    if secrets.len() > MOST_SECRETS {
        return Err(format!(
            "at most {MOST_SECRETS} secrets can be active at once: each of them signs each push, and receivers refuse more"
        ));
    }
    Ok(secrets)
}

/// Reads secrets that are separated by commas, newest first.
pub(super) fn read_secrets(text: &str) -> Result<Vec<CallbackSecret>, String> {
    let secrets = text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(secret);
    not_too_many(secrets.collect::<Result<_, _>>()?)
}

fn secret(text: &str) -> Result<CallbackSecret, String> {
    if text == REDACTED {
        return Err("this stands where a secret was; put the secret itself".to_owned());
    }
    CallbackSecret::new(text).map_err(|error| error.to_string())
}

impl Reading<'_> {
    /// Reads one of the sections of callbacks; false for anything else.
    pub(super) fn callbacks(
        &self,
        sections: &mut CallbackSections,
        name: &str,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<bool, ConfigError> {
        match name {
            SETS => {
                let table = value.get_ref().as_table().ok_or_else(|| self.fault(value.span(), SETS_FORM))?;
                for (set, value) in table {
                    let (secrets, owner) = self.set(value)?;
                    let set = set.get_ref().to_string();
                    sections.owners.extend(owner.map(|owner| (set.clone(), owner)));
                    sections.named.insert(set, secrets);
                }
            }
            ENDPOINTS => {
                let list = value.get_ref().as_array().ok_or_else(|| self.fault(value.span(), ENDPOINT_FORM))?;
                for endpoint in list {
                    let read = self.endpoint(endpoint.get_ref(), endpoint.span())?;
                    sections.endpoints.push((read, self.fault(endpoint.span(), "")));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// One set: its secrets, or a table of them and of whose they are.
    fn set(&self, value: &Spanned<DeValue<'_>>) -> Result<(Vec<CallbackSecret>, Option<PrincipalId>), ConfigError> {
        let form = || self.fault(value.span(), SETS_FORM);
        let (secrets, owner) = match value.get_ref() {
            DeValue::Table(table) => {
                let (mut secrets, mut owner) = (None, None);
                for (key, value) in table {
                    match key.get_ref().as_ref() {
                        "secrets" => secrets = Some(value),
                        "owner" => {
                            let text = value.get_ref().as_str().ok_or_else(form)?;
                            owner = Some(self.owner(text, value.span())?);
                        }
                        _ => return Err(self.fault(key.span(), SETS_FORM)),
                    }
                }
                (secrets.ok_or_else(form)?, owner)
            }
            _ => (value, None),
        };
        let mut read = Vec::new();
        for text in secrets.get_ref().as_array().ok_or_else(form)? {
            let given = text.get_ref().as_str().ok_or_else(|| self.fault(text.span(), SETS_FORM))?;
            read.push(secret(given).map_err(|problem| self.fault(text.span(), problem))?);
        }
        let read = not_too_many(read).map_err(|problem| self.fault(secrets.span(), problem))?;
        Ok((read, owner))
    }

    fn owner(&self, text: &str, span: Range<usize>) -> Result<PrincipalId, ConfigError> {
        let owner = PrincipalId::parse(text).ok();
        owner
            .filter(|owner| matches!(owner, PrincipalId::ServiceAccount(_) | PrincipalId::Org(_)))
            .ok_or_else(|| self.fault(span, "`owner`: expected the id of a machine, `sa_…`, or of a tenant, `org_…`"))
    }

    fn endpoint(&self, value: &DeValue<'_>, span: Range<usize>) -> Result<CallbackEndpoint, ConfigError> {
        let table = value.as_table().ok_or_else(|| self.fault(span.clone(), ENDPOINT_FORM))?;
        let mut endpoint =
            CallbackEndpoint { owner: None, url: None, secret_ref: None, format: CallbackFormat::default() };
        for (key, value) in table {
            let text = value.get_ref().as_str().ok_or_else(|| self.fault(value.span(), ENDPOINT_FORM))?;
            let fault = |problem: &str| self.fault(value.span(), problem);
            match key.get_ref().as_ref() {
                "url" if text.contains(REDACTED) => {
                    return Err(fault("`url`: this stands where an address was; put the address itself"));
                }
                "url" => {
                    CallbackUrl::parse(text).map_err(|problem| fault(&format!("`url`: {problem}")))?;
                    endpoint.url = Some(text.to_owned());
                }
                "owner" => endpoint.owner = Some(self.owner(text, value.span())?),
                "secrets" => endpoint.secret_ref = Some(text.to_owned()),
                "format" => {
                    endpoint.format = match text {
                        "handoff" => CallbackFormat::Handoff,
                        "standard-webhooks" => CallbackFormat::StandardWebhooks,
                        _ => return Err(fault("`format`: expected `handoff` or `standard-webhooks`")),
                    };
                }
                _ => return Err(self.fault(key.span(), ENDPOINT_FORM)),
            }
        }
        if endpoint.owner.is_none() && endpoint.url.is_none() {
            return Err(self.fault(span, "an endpoint has a `url`, an `owner`, or both"));
        }
        Ok(endpoint)
    }
}
