//! Whether a deployment does all that a policy asks for. What it does not do is refused, so that nobody believes in a limit
//! that is not there.

use super::{TenantPolicy, secrets};
use crate::{
    callback::CallbackSecret,
    decision::callback::CallbackPolicy,
    json::{DecodeError, Json},
};

/// How long one push may take (rule H-6).
const PUSH_SECONDS: u64 = 10;

impl TenantPolicy {
    /// Checks that everything that this policy asks for is done here: that its endpoint can be signed for, and that it
    /// asks for nothing that this server leaves undone.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] names the first member that asks for too much, and the mend. The policy is not to be applied then,
    /// as a whole.
    pub fn check_carried_out(&self, callbacks: &CallbackPolicy) -> Result<(), DecodeError> {
        let named = callbacks.named.values().flatten();
        let configured: Vec<&str> = callbacks.secrets.iter().chain(named).map(CallbackSecret::expose).collect();
        self.refuse_secrets(&configured)?;
        self.check_endpoints(callbacks)?;
        let ruled = self.document.get("channels").and_then(Json::as_array).unwrap_or_default();
        if let Some(place) = ruled.iter().position(|rule| rule.get("config_ref").is_some()) {
            let problem = "must be left out: a channel is configured under its own name";
            return Err(DecodeError::new(format!("channels[{place}].config_ref"), problem));
        }
        if self.record_navigations.as_deref().is_some_and(|level| level != "origin") {
            let problem =
                "can only be `origin`: this server records the origins that were visited, no less and no more";
            return Err(DecodeError::new("capabilities.record_navigations", problem));
        }
        let kept = [
            ("receipts", &self.retention.receipts),
            ("rendered_copies", &self.retention.rendered_copies),
            ("delivery_attempts", &self.retention.delivery_attempts),
        ];
        if let Some((name, _)) = kept.into_iter().find(|(_, window)| window.is_some()) {
            let problem = "must be left out: this server keeps everything and removes nothing by age";
            return Err(DecodeError::new(format!("retention.{name}"), problem));
        }
        Ok(())
    }

    /// Refuses this policy if one of these secrets stands anywhere in it.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] names the place and never repeats the secret.
    pub fn refuse_secrets(&self, configured: &[&str]) -> Result<(), DecodeError> {
        secrets::refuse_these(&self.document, configured)
    }

    fn check_endpoints(&self, callbacks: &CallbackPolicy) -> Result<(), DecodeError> {
        let mut active = 0_usize;
        for (place, endpoint) in self.callbacks.iter().enumerate() {
            let fault = |member: &str, problem: &str| {
                Err(DecodeError::new(format!("callbacks.endpoints[{place}].{member}"), problem))
            };
            if endpoint.max_attempts.is_some() {
                return fault("max_attempts", "must be left out: signals are pushed until they are acknowledged");
            }
            if endpoint.timeout_seconds.is_some_and(|seconds| seconds != PUSH_SECONDS) {
                return fault("timeout_seconds", "can only be 10: it is the same for every push");
            }
            if !endpoint.is_active {
                continue;
            }
            if self.disables(&endpoint.url) {
                return fault("url", "must not stand twice: another entry says `disabled` of the same address");
            }
            active = active.saturating_add(1);
            if active > 1 {
                return fault(
                    "state",
                    "must be `disabled` but for one: signals go to one default endpoint of a tenant",
                );
            }
            match endpoint.secret_refs.as_slice() {
                [] if callbacks.active(None).is_empty() => {
                    return fault("secret_refs", "must name a configured set of secrets, since none is active unnamed");
                }
                [] => {}
                [name] if callbacks.active_in(name, self.org_id).is_empty() => {
                    let problem = "must name a set of secrets that this server is configured with \
                                   (`callback_secret_sets`) and that is bound to nobody or to this tenant";
                    return fault("secret_refs[0]", problem);
                }
                [_] => {}
                _ => {
                    let problem =
                        "must name one set: both secrets of a change stand in one `callback_secret_sets` entry";
                    return fault("secret_refs", problem);
                }
            }
        }
        Ok(())
    }
}
