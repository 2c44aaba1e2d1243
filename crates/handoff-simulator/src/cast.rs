//! Who is in a world: two tenants, each with machines and people.

use handoff_engine::{
    Engine,
    identity::{IdentityError, NewCredential},
};
use handoff_protocol::{
    decision::directory::{Contact, Directory, Person, Zone},
    id::{OrgId, PrincipalId, UserId},
    principal::Role,
    secret::Secret,
};

/// Everybody.
#[derive(Clone, Debug)]
pub struct Cast {
    /// The tenants; most happens in the first.
    pub tenants: Vec<Tenant>,
}

/// The people and machines of a tenant.
#[derive(Clone, Debug)]
pub struct Tenant {
    /// Its id.
    pub id: OrgId,
    /// The tokens of machines.
    pub machines: Vec<String>,
    /// The people.
    pub people: Vec<Member>,
}

/// A person.
#[derive(Clone, Debug)]
pub struct Member {
    /// Their id.
    pub id: UserId,
    /// Their token.
    pub token: String,
    /// What they may decide at first.
    pub role: Role,
}

/// The roles of a tenant's people, in order.
const ROLES: [Role; 5] = [Role::Admin, Role::Editor, Role::Editor, Role::Admin, Role::Viewer];

impl Cast {
    /// Makes two tenants.
    ///
    /// # Errors
    ///
    /// If the store fails, which it does not while a world is being made.
    pub async fn make(engine: &Engine) -> Result<(Self, Vec<(OrgId, Directory)>), IdentityError> {
        let (mut tenants, mut directories) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let id = engine.create_tenant().await?;
            let mut tenant = Tenant { id, machines: Vec::new(), people: Vec::new() };
            for _ in 0..2 {
                let machine = engine.create_machine(id, "a machine").await?;
                let holder = PrincipalId::ServiceAccount(machine);
                let token = engine.issue_key(id, holder, NewCredential::default()).await?;
                tenant.machines.push(token.expose().clone());
            }
            for role in ROLES {
                let person = engine.create_person(id, "a person", role).await?;
                let token = engine.issue_key(id, PrincipalId::User(person), NewCredential::default()).await?;
                tenant.people.push(Member { id: person, token: token.expose().clone(), role });
            }
            let people: Vec<UserId> = tenant.people.iter().map(|person| person.id).collect();
            directories.push((id, directory(&people)));
            tenants.push(tenant);
        }
        Ok((Self { tenants }, directories))
    }
}

/// How people are reached: each in their way, and the first three as a group.
#[must_use]
pub fn directory(people: &[UserId]) -> Directory {
    let listed = people.iter().enumerate().map(|(place, id)| listed(*id, place));
    let directory = listed.fold(Directory::default(), Directory::with_person);
    directory.with_group("ops", people.iter().take(3).copied().collect())
}

/// A person whom some channels reach: the last has no address, and one never confirmed theirs.
fn listed(id: UserId, place: usize) -> Person {
    let contact = |channel: &str| Contact {
        channel: channel.to_owned(),
        address: Secret::new(format!("{channel}-{place}@example.com")),
        verified: place != 2,
    };
    let contacts = if place == 4 { Vec::new() } else { vec![contact("pager"), contact("mail")] };
    Person { id, display: None, role: None, zone: Zone::utc(), quiet: None, contacts }
}
