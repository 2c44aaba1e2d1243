//! What the tests stand on: a tenant, its people and machines, a moment, and documents with one thing changed.

use std::sync::Arc;

use handoff_protocol::{
    chain::Head,
    decision::{
        Answer, Context, DecisionError, Effects, Fired, Policy, Raise, Request, Routing, Waiter, answer,
        capability::{BlastRadius, Capabilities},
        expire, raise,
    },
    digest::Digest,
    id::{Mint, OrgId, ServiceAccountId, Ulid, UserId},
    json::{Json, Number, read_str},
    principal::{AuthStrength, Identity, Principal, Role, Scopes},
    timestamp::Timestamp,
};

/// The moment at which every scene begins.
pub(crate) const START: Timestamp = Timestamp::from_unix_seconds(1_785_000_000);

/// A moment of one tenant, with ids to mint and a policy.
pub(crate) struct Scene {
    pub(crate) now: Timestamp,
    pub(crate) policy: Policy,
    /// What the request of the scene holds.
    pub(crate) capabilities: Capabilities,
    mint: Mint,
}

impl Scene {
    /// A scene whose ladder is the page alone; [`climbing`](Self::climbing) has the whole.
    pub(crate) fn new() -> Self {
        let mut routing = Routing::starter();
        routing.ladder.truncate(1);
        let policy = Policy { ladder: Arc::new(routing), ..Policy::default() };
        Self { now: START, policy, capabilities: Capabilities::NONE, mint: Mint::new(START, Ulid::MIN, [7; 32]) }
    }

    /// A scene with the starter ladder.
    pub(crate) fn climbing() -> Self {
        Self { policy: Policy::default(), ..Self::new() }
    }

    pub(crate) fn context(&mut self) -> Context<'_> {
        Context { now: self.now, mint: &mut self.mint, policy: &self.policy, capabilities: &self.capabilities }
    }

    /// Raises a body as a machine.
    pub(crate) fn raise(&mut self, body: &str) -> (Request, Waiter) {
        let effects = self.raise_effects(json(body));
        (effects.request, effects.waiter.unwrap())
    }

    pub(crate) fn raise_effects(&mut self, body: Json) -> Effects {
        let command = Raise::read(&machine(), body, &self.policy).unwrap();
        let radii = vec![BlastRadius::unknown(); command.capabilities().len()];
        let command = command.with_blast_radii(radii);
        raise(&command, &machine(), None, &mut self.context()).unwrap()
    }

    /// Answers as a principal, on top of an empty chain.
    pub(crate) fn answer(
        &mut self,
        (request, waiter): &(Request, Waiter),
        principal: &Principal,
        body: &str,
    ) -> Result<Effects, DecisionError> {
        let command = Answer::read(principal, json(body))?;
        answer(request, &command, principal, waiter, &Head::GENESIS, &mut self.context())
    }

    /// Lets a deadline come, on top of an empty chain.
    pub(crate) fn expire(&mut self, (request, waiter): &(Request, Waiter)) -> Fired {
        expire(request, waiter, &Head::GENESIS, &mut self.context()).unwrap()
    }
}

pub(crate) fn json(text: &str) -> Json {
    read_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn tenant() -> OrgId {
    OrgId::from_ulid(Ulid::from_u128(1))
}

fn principal(identity: Identity, role: Role, strength: AuthStrength) -> Principal {
    Principal {
        tenant: tenant(),
        identity,
        role,
        strength,
        scopes: Scopes::All,
        display: Some("somebody".to_owned()),
        on_behalf_of: None,
        reauth_at: None,
        mfa_at: None,
        test: false,
    }
}

pub(crate) fn machine() -> Principal {
    machine_of(2)
}

pub(crate) fn machine_of(number: u128) -> Principal {
    let id = ServiceAccountId::from_ulid(Ulid::from_u128(number));
    principal(Identity::Machine(id), Role::Admin, AuthStrength::Mfa)
}

pub(crate) fn person(role: Role) -> Principal {
    person_of(3, role)
}

pub(crate) fn person_of(number: u128, role: Role) -> Principal {
    principal(Identity::Human(UserId::from_ulid(Ulid::from_u128(number))), role, AuthStrength::Session)
}

/// Whoever holds a link.
pub(crate) fn link(strength: AuthStrength) -> Principal {
    principal(Identity::Link(Digest::of("a link")), Role::Admin, strength)
}

/// A raise with these fields, as text.
pub(crate) fn ask(fields: &str) -> String {
    format!(
        r#"{{"waiter_ref":"run:1","prompt":{{"title":"Refund?"}},"requires":{{"v":1,"answer":{{"fields":[{fields}]}}}}}}"#
    )
}

/// A raise with one required choice, `decision`.
pub(crate) fn approve() -> String {
    ask(
        r#"{"name":"decision","type":"choice","required":true,"options":[{"id":"yes","label":"Yes"},{"id":"no","label":"No"}]}"#,
    )
}

pub(crate) const YES: &str = r#"{"values":{"decision":"yes"}}"#;

/// A document with one member set, by a dotted path whose objects are made where they are missing.
pub(crate) fn with(text: &str, path: &str, value: &str) -> String {
    let mut document = json(text);
    let mut place = &mut document;
    let mut names = path.split('.').peekable();
    while let Some(name) = names.next() {
        let members = place.as_object_mut().unwrap();
        if names.peek().is_none() {
            members.insert(name, json(value));
            break;
        }
        if members.get(name).is_none() {
            members.insert(name, json("{}"));
        }
        place = members.get_mut(name).unwrap();
    }
    document.to_text()
}

/// Every number in a document.
pub(crate) fn numbers_in(document: &Json) -> Vec<Number> {
    match document {
        Json::Number(number) => vec![number.clone()],
        Json::Array(items) => items.iter().flat_map(numbers_in).collect(),
        Json::Object(members) => members.iter().flat_map(|(_, value)| numbers_in(value)).collect(),
        Json::Null | Json::Bool(_) | Json::String(_) => Vec::new(),
    }
}
