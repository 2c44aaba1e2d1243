//! How many pages may follow along at once: each holds a connection, so there is an end to it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use handoff_protocol::id::PrincipalId;

/// For one person: more than anybody has tabs open that are in view.
const PER_PERSON: usize = 16;
/// For everybody on this node.
const IN_ALL: usize = 2_000;

/// The streams that are open. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<PrincipalId, usize>>>);

/// An open stream; dropping it ends the count, however the stream ends.
#[derive(Debug)]
pub(crate) struct OpenStream {
    streams: Streams,
    person: PrincipalId,
}

impl Streams {
    /// Counts one more for a person; nothing if that would be too many.
    pub(crate) fn open(&self, person: PrincipalId) -> Option<OpenStream> {
        let mut open = self.lock();
        if open.values().sum::<usize>() >= IN_ALL {
            return None;
        }
        let theirs = open.entry(person).or_default();
        if *theirs >= PER_PERSON {
            return None;
        }
        *theirs = theirs.saturating_add(1);
        Some(OpenStream { streams: self.clone(), person })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PrincipalId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.streams.lock();
        if let Some(theirs) = open.get_mut(&self.person) {
            *theirs = theirs.saturating_sub(1);
            if *theirs == 0 {
                open.remove(&self.person);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use handoff_protocol::id::UserId;

    use super::*;

    #[test]
    fn a_person_has_an_end_of_streams_and_none_is_lost() {
        let person = |text: &str| PrincipalId::User(UserId::parse(text).unwrap());
        let (ada, bob) = (person("usr_01K3M7QW8ZC4YRXB2N6VD9FTHE"), person("usr_01K3M7QW8ZC4YRXB2N6VD9FTHF"));
        let streams = Streams::default();
        let open: Vec<_> = (0..PER_PERSON).map(|_| streams.open(ada).unwrap()).collect();
        assert!(streams.open(ada).is_none() && streams.open(bob).is_some());
        drop(open);
        assert!(streams.open(ada).is_some());
        assert!(streams.lock().is_empty());
    }
}
