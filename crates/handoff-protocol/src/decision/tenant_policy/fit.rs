//! Whether a deployment can do what a policy asks of raises that say nothing themselves.

use super::TenantPolicy;
use crate::{
    decision::{context::Policy, routing::RoutingAsk, terms::Urgency},
    json::DecodeError,
};

impl TenantPolicy {
    /// Checks this policy against what the deployment takes: what no raise could ask for, no policy can either.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] naming the member: a quorum above the deployment's maximum (rule A-8), a ladder that makes more
    /// deliveries than a request keeps.
    pub fn check(&self, standing: &Policy) -> Result<(), DecodeError> {
        let quorum = self.defaults.authority.as_ref().map_or(1, |authority| authority.quorum);
        if quorum > standing.max_quorum {
            let problem = format!("must be from 1 to {} on this server", standing.max_quorum);
            return Err(DecodeError::new("defaults.authority.quorum", problem));
        }
        for (name, urgency) in Urgency::ALL {
            let routing = self.routing.resolve(&RoutingAsk::default(), *urgency, &standing.ladder);
            let of_its_own = self.routing.ladders.iter().any(|(of, _)| of == urgency);
            let member =
                if of_its_own { format!("routing.ladders.{name}") } else { "routing.default_targets".to_owned() };
            routing.check_rows().map_err(|problem| DecodeError::new(member, problem))?;
        }
        Ok(())
    }
}
