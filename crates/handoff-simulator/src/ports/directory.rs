//! A directory of people.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use handoff_engine::directory::{Directory, DirectoryError};
use handoff_protocol::{decision::directory::Directory as People, id::OrgId};

use super::trouble::{Behavior, Trouble};
use crate::scheduler::lock;

/// A directory that fails now and then.
pub struct Rolodex {
    trouble: Trouble,
    people: Mutex<HashMap<OrgId, Arc<People>>>,
    /// One call in eight is a chance to fail: it is asked at nearly everything.
    asked: Mutex<u64>,
}

impl Rolodex {
    pub(super) fn new(trouble: Trouble) -> Self {
        Self { trouble, people: Mutex::default(), asked: Mutex::new(0) }
    }

    /// Says who the people of a tenant are.
    pub fn set(&self, tenant: OrgId, people: People) {
        lock(&self.people).insert(tenant, Arc::new(people));
    }
}

#[async_trait]
impl Directory for Rolodex {
    async fn people(&self, tenant: OrgId) -> Result<Arc<People>, DirectoryError> {
        let asked = {
            let mut asked = lock(&self.asked);
            *asked = asked.wrapping_add(1);
            *asked
        };
        if asked.is_multiple_of(32) && self.trouble.is_on() {
            let behavior = self.trouble.port("directory failed", "directory hung").await;
            if behavior != Behavior::Well {
                return Err(DirectoryError("planned".to_owned()));
            }
        }
        Ok(lock(&self.people).get(&tenant).map(Arc::clone).unwrap_or_default())
    }
}
