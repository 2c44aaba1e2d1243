//! How many pages may follow along at once: each holds a connection, so there is an end to it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use handoff_protocol::id::{OrgId, PrincipalId};

/// For one person: more than anybody has tabs open that are in view.
const PER_PERSON: usize = 16;
/// For everybody on this node.
const IN_ALL: usize = 2_000;
/// For one tenant: a share that leaves others theirs.
const PER_TENANT: usize = IN_ALL / 4;

/// The streams that are open. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<OrgId, Tenant>>>);

/// The streams of one tenant, by person.
type Tenant = HashMap<PrincipalId, usize>;

/// An open stream; dropping it ends the count, however the stream ends.
#[derive(Debug)]
pub(crate) struct OpenStream {
    streams: Streams,
    tenant: OrgId,
    person: PrincipalId,
}

impl Streams {
    /// Counts one more for a person of a tenant; nothing if that would be too many.
    pub(crate) fn open(&self, tenant: OrgId, person: PrincipalId) -> Option<OpenStream> {
        let mut open = self.lock();
        let in_all: usize = open.values().flat_map(HashMap::values).sum();
        let of_tenant = open.get(&tenant).map_or(0, |people| people.values().sum());
        let of_person = open.get(&tenant).and_then(|people| people.get(&person)).copied().unwrap_or_default();
        if in_all >= IN_ALL || of_tenant >= PER_TENANT || of_person >= PER_PERSON {
            return None;
        }
        open.entry(tenant).or_default().insert(person, of_person.saturating_add(1));
        Some(OpenStream { streams: self.clone(), tenant, person })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OrgId, Tenant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.streams.lock();
        let Some(people) = open.get_mut(&self.tenant) else { return };
        if let Some(theirs) = people.get_mut(&self.person) {
            *theirs = theirs.saturating_sub(1);
            people.retain(|_, streams| *streams > 0);
        }
        if people.is_empty() {
            open.remove(&self.tenant);
        }
    }
}

#[cfg(test)]
mod tests {
    use handoff_protocol::id::{Ulid, UserId};

    use super::*;

    fn tenant(number: u128) -> OrgId {
        OrgId::from_ulid(Ulid::from_u128(number))
    }

    fn person(number: u128) -> PrincipalId {
        PrincipalId::User(UserId::from_ulid(Ulid::from_u128(number)))
    }

    #[test]
    fn a_person_has_an_end_of_streams_and_none_is_lost() {
        let (team, ada, bob) = (tenant(1), person(1), person(2));
        let streams = Streams::default();
        let open: Vec<_> = (0..PER_PERSON).map(|_| streams.open(team, ada).unwrap()).collect();
        assert!(streams.open(team, ada).is_none() && streams.open(team, bob).is_some());
        assert!(streams.open(tenant(2), ada).is_some(), "the same id in another tenant is somebody else");
        drop(open);
        assert!(streams.open(team, ada).is_some());
        assert!(streams.lock().is_empty());
    }

    #[test]
    fn a_tenant_takes_no_more_than_its_share() {
        let streams = Streams::default();
        let open: Vec<_> = (0..).map_while(|number| streams.open(tenant(1), person(number))).take(IN_ALL).collect();
        assert_eq!(open.len(), PER_TENANT);
        assert!(streams.open(tenant(2), person(0)).is_some());
    }
}
