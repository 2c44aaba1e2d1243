//! Callbacks in the configuration: secrets, named sets of them, endpoints.

use std::{collections::BTreeMap, ops::Range};

use handoff_protocol::{
    callback::CallbackSecret,
    decision::{CallbackEndpoint, CallbackFormat, is_callback_url},
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
                         `name = [\"whsec_…\", \"whsec_…\"]`, newest first";
const ENDPOINT_FORM: &str = "`callback_endpoints` is a list: `[[callback_endpoints]]`, and under it `url`, `owner`, \
                             `secrets` and `format`, each optional text in quotes";

/// The sections as they were read.
#[derive(Debug, Default)]
pub(super) struct CallbackSections {
    named: BTreeMap<String, Vec<CallbackSecret>>,
    endpoints: Vec<(CallbackEndpoint, ConfigError)>,
}

type Checked = (BTreeMap<String, Vec<CallbackSecret>>, Vec<CallbackEndpoint>);

impl CallbackSections {
    /// Whether there is a set of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.named.contains_key(name)
    }

    /// The sections, once it is known what signs where no name is given: each endpoint can be signed for, in its format.
    pub(super) fn checked(self, unnamed: &[CallbackSecret]) -> Result<Checked, ConfigError> {
        let mut endpoints = Vec::with_capacity(self.endpoints.len());
        for (endpoint, place) in self.endpoints {
            let secrets = match &endpoint.secret_ref {
                None => unnamed,
                Some(name) => self.named.get(name).map(Vec::as_slice).unwrap_or_default(),
            };
            if secrets.is_empty() {
                return Err(place.saying(
                    "its secrets are not configured: name a set of `callback_secret_sets`, or set `callback_secrets`",
                ));
            }
            let standard = endpoint.format == CallbackFormat::StandardWebhooks;
            if standard && secrets.iter().any(|secret| secret.check_standard().is_err()) {
                return Err(place.saying(
                    "for `standard-webhooks`, each of its secrets is `whsec_` and the base64 of 24 to 64 bytes",
                ));
            }
            endpoints.push(endpoint);
        }
        Ok((self.named, endpoints))
    }
}

/// Reads secrets that are separated by commas, newest first.
pub(super) fn read_secrets(text: &str) -> Result<Vec<CallbackSecret>, String> {
    text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(secret).collect()
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
                for (set, secrets) in table {
                    let texts = secrets.get_ref().as_array().ok_or_else(|| self.fault(secrets.span(), SETS_FORM))?;
                    let mut read = Vec::new();
                    for text in texts {
                        let form = || self.fault(text.span(), SETS_FORM);
                        let given = text.get_ref().as_str().ok_or_else(form)?;
                        read.push(secret(given).map_err(|problem| self.fault(text.span(), problem))?);
                    }
                    sections.named.insert(set.get_ref().to_string(), read);
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

    fn endpoint(&self, value: &DeValue<'_>, span: Range<usize>) -> Result<CallbackEndpoint, ConfigError> {
        let table = value.as_table().ok_or_else(|| self.fault(span.clone(), ENDPOINT_FORM))?;
        let mut endpoint =
            CallbackEndpoint { owner: None, url: None, secret_ref: None, format: CallbackFormat::default() };
        for (key, value) in table {
            let text = value.get_ref().as_str().ok_or_else(|| self.fault(value.span(), ENDPOINT_FORM))?;
            let fault = |problem: &str| self.fault(value.span(), problem);
            match key.get_ref().as_ref() {
                "url" if is_callback_url(text) => endpoint.url = Some(text.to_owned()),
                "url" => {
                    return Err(fault(
                        "`url`: expected an absolute `http` or `https` address without user and fragment",
                    ));
                }
                "owner" => {
                    let owner = PrincipalId::parse(text);
                    endpoint.owner = Some(owner.map_err(|_| {
                        fault("`owner`: expected the id of a machine, `sa_…`, or of a tenant, `org_…`")
                    })?);
                }
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
