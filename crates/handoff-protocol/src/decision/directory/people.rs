//! People with their addresses, groups, rotations, and the one function that turns a target into people (rule V-9).

use std::collections::{BTreeMap, BTreeSet};

use super::{LocalTime, QuietHours, Zone};
use crate::{
    decision::{target::Target, terms::TargetKind},
    id::{PrincipalId, UserId},
    principal::{Identity, Principal, Role},
    secret::Secret,
    timestamp::Timestamp,
};

/// The people of a tenant, and the places that become people.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// People, by id.
    people: BTreeMap<UserId, Person>,
    groups: BTreeMap<String, Vec<UserId>>,
    rotations: BTreeMap<String, Rotation>,
}

/// A person as far as reaching goes.
#[derive(Clone, Debug)]
pub struct Person {
    /// Who.
    pub id: UserId,
    /// A name for people to read.
    pub display: Option<String>,
    /// The role; none where nobody knows, and then no role means this person.
    pub role: Option<Role>,
    /// By which clock this person lives.
    pub zone: Zone,
    /// When this person is not to be disturbed, by that clock. What is critical comes through.
    pub quiet: Option<QuietHours>,
    /// Where this person is reached, in the order of preference.
    pub contacts: Vec<Contact>,
}

/// One way to reach a person.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Through which channel.
    pub channel: String,
    /// Where; kept out of logs, events and everything that is served.
    pub address: Secret<String>,
    /// Whether the person confirmed that it is theirs.
    pub verified: bool,
}

/// People who take turns.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// Who, in the order of their turns. With none there is nobody on duty.
    pub members: Vec<UserId>,
    /// By which clock turns change.
    pub zone: Zone,
    /// When the first member's first turn began, by that clock.
    pub starts: LocalTime,
    /// How many days a turn lasts: it ends at the same time of day, also where clocks changed meanwhile.
    pub days: u16,
}

impl Directory {
    /// Adds a person, or replaces what was said of them.
    #[must_use]
    pub fn with_person(mut self, person: Person) -> Self {
        self.people.insert(person.id, person);
        self
    }

    /// Adds a group.
    #[must_use]
    pub fn with_group(mut self, name: impl Into<String>, members: Vec<UserId>) -> Self {
        self.groups.insert(name.into(), members);
        self
    }

    /// Adds a rotation.
    #[must_use]
    pub fn with_rotation(mut self, name: impl Into<String>, rotation: Rotation) -> Self {
        self.rotations.insert(name.into(), rotation);
        self
    }

    /// A person by id.
    #[must_use]
    pub fn person(&self, id: UserId) -> Option<&Person> {
        self.people.get(&id)
    }

    /// Everybody, by id.
    pub fn people(&self) -> impl Iterator<Item = &Person> {
        self.people.values()
    }

    /// The places of more than one: groups, then rotations, by name.
    pub fn places(&self) -> impl Iterator<Item = Target> {
        let place = |kind: TargetKind| move |name: &String| Target { kind, value: name.clone() };
        let groups = self.groups.keys().map(place(TargetKind::Group));
        groups.chain(self.rotations.keys().map(place(TargetKind::Rotation)))
    }

    /// Says what role everybody has now.
    pub fn set_roles(&mut self, role: impl Fn(UserId) -> Option<Role>) {
        for person in self.people.values_mut() {
            person.role = role(person.id);
        }
    }

    /// Whether anybody is known here, besides places that name people.
    #[must_use]
    pub fn has_people(&self) -> bool {
        !self.people.is_empty()
    }

    /// Whether a target means nobody at all at an instant, as far as this directory is the one that knows. That is so for
    /// groups and rotations where it has people or places, and for the name of a role that there is not. Who holds a role,
    /// and who signs in without being listed here, others know.
    #[must_use]
    pub fn has_nobody(&self, target: &Target, at: Timestamp) -> bool {
        match target.kind {
            TargetKind::Group => !self.is_empty() && self.groups.get(&target.value).is_none_or(Vec::is_empty),
            TargetKind::Rotation => !self.is_empty() && self.on_duty(&target.value, at).is_none(),
            TargetKind::Role => Role::ALL.iter().all(|(name, _)| *name != target.value),
            TargetKind::Principal | TargetKind::Anyone => false,
        }
    }

    /// Whether nothing at all is known here, which says nothing of anybody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.people.is_empty() && self.groups.is_empty() && self.rotations.is_empty()
    }

    /// Every group with those who are in it, by name.
    pub fn groups(&self) -> impl Iterator<Item = (&str, &[UserId])> {
        self.groups.iter().map(|(name, members)| (name.as_str(), members.as_slice()))
    }

    /// Every rotation, by name.
    pub fn rotations(&self) -> impl Iterator<Item = (&str, &Rotation)> {
        self.rotations.iter().map(|(name, rotation)| (name.as_str(), rotation))
    }

    /// Whether there can be a group of this name: there is one, or nothing is known here.
    #[must_use]
    pub fn knows_group(&self, name: &str) -> bool {
        self.is_empty() || self.groups.contains_key(name)
    }

    /// Whether there can be a rotation of this name: there is one, or nothing is known here.
    #[must_use]
    pub fn knows_rotation(&self, name: &str) -> bool {
        self.is_empty() || self.rotations.contains_key(name)
    }

    /// The people that a target means at an instant, each once, in the directory's order of preference; empty where there
    /// is nobody (rule V-9).
    #[must_use]
    pub fn resolve(&self, target: &Target, at: Timestamp) -> Vec<&Person> {
        match target.kind {
            TargetKind::Principal => {
                UserId::parse(&target.value).ok().and_then(|id| self.person(id)).into_iter().collect()
            }
            TargetKind::Role => {
                let wanted = Role::ALL.iter().find(|(name, _)| *name == target.value).map(|(_, role)| *role);
                let holds = |person: &&Person| wanted.is_some_and(|wanted| person.role >= Some(wanted));
                self.people().filter(holds).collect()
            }
            TargetKind::Group => {
                let members = self.groups.get(&target.value).map(Vec::as_slice).unwrap_or_default();
                let mut known = BTreeSet::new();
                members.iter().filter(|id| known.insert(**id)).filter_map(|id| self.person(*id)).collect()
            }
            TargetKind::Rotation => {
                self.on_duty(&target.value, at).and_then(|id| self.person(id)).into_iter().collect()
            }
            TargetKind::Anyone => self.people().collect(),
        }
    }

    /// Whether a target means this principal at an instant (rule A-4). Groups and rotations are asked by id, so that
    /// somebody without an address can answer all the same.
    #[must_use]
    pub fn means(&self, target: &Target, principal: &Principal, at: Timestamp) -> bool {
        let Identity::Human(id) = principal.identity else { return target.means(principal) };
        match target.kind {
            TargetKind::Group => self.groups.get(&target.value).is_some_and(|members| members.contains(&id)),
            TargetKind::Rotation => self.on_duty(&target.value, at) == Some(id),
            TargetKind::Principal | TargetKind::Role | TargetKind::Anyone => target.means(principal),
        }
    }

    /// The groups that a principal is in and the rotations of which they have the turn at an instant, by name: what
    /// [`means`](Self::means) says yes to besides the principal's own id and role.
    #[must_use]
    pub fn places_of(&self, principal: &Principal, at: Timestamp) -> Vec<(TargetKind, &str)> {
        let Identity::Human(id) = principal.identity else { return Vec::new() };
        let groups = self.groups.iter().filter(|(_, members)| members.contains(&id));
        let turns = self.rotations.iter().filter(|(_, rotation)| rotation.on_duty(at) == Some(id));
        let groups = groups.map(|(name, _)| (TargetKind::Group, name.as_str()));
        groups.chain(turns.map(|(name, _)| (TargetKind::Rotation, name.as_str()))).collect()
    }

    /// The target with a rotation replaced by whoever is on duty, if anybody is: a rotation resolves when its rung fires
    /// (rule V-9).
    #[must_use]
    pub fn settle_rotation(&self, target: &Target, at: Timestamp) -> Target {
        let on_duty = match target.kind {
            TargetKind::Rotation => self.on_duty(&target.value, at),
            TargetKind::Principal | TargetKind::Role | TargetKind::Group | TargetKind::Anyone => None,
        };
        on_duty.map_or_else(|| target.clone(), |id| Target::person(PrincipalId::User(id)))
    }

    /// Who of a rotation has the turn at an instant.
    fn on_duty(&self, rotation: &str, at: Timestamp) -> Option<UserId> {
        self.rotations.get(rotation)?.on_duty(at)
    }
}

impl Person {
    /// Where this person is reached through a channel: an address that was confirmed before one that was not.
    #[must_use]
    pub fn contact(&self, channel: &str) -> Option<&Contact> {
        let through = || self.contacts.iter().filter(|contact| contact.channel == channel);
        through().find(|contact| contact.verified).or_else(|| through().next())
    }

    /// Whether this person is not to be disturbed at an instant.
    #[must_use]
    pub fn is_quiet(&self, at: Timestamp) -> bool {
        self.quiet.is_some_and(|hours| hours.cover(self.zone.local(at)))
    }
}

impl Rotation {
    /// Who has the turn at an instant. Turns go on before the first as they do after it.
    ///
    /// A turn begins at one instant and never goes back, also where clocks do: a time of day that comes twice counts when it
    /// comes first, and one that is left out when the clocks have moved on.
    #[must_use]
    pub fn on_duty(&self, at: Timestamp) -> Option<UserId> {
        let count = i64::try_from(self.members.len()).ok().filter(|count| *count > 0)?;
        let place = usize::try_from(self.turn(at).rem_euclid(count)).ok()?;
        self.members.get(place).copied()
    }

    /// The number of the turn that an instant is in; the first is 0.
    fn turn(&self, at: Timestamp) -> i64 {
        let mut turn = self.minutes_since_start(self.zone.local(at)).div_euclid(self.turn_minutes());
        // By the clock on the wall it is that one, or the one beside it where clocks changed.
        while self.began(turn).is_some_and(|began| at < began) {
            turn = turn.saturating_sub(1);
        }
        while self.began(turn.saturating_add(1)).is_some_and(|began| began <= at) {
            turn = turn.saturating_add(1);
        }
        turn
    }

    /// When a turn begins; none beyond the ends of the calendar.
    fn began(&self, turn: i64) -> Option<Timestamp> {
        let minutes = self.starts.minutes().checked_add(turn.checked_mul(self.turn_minutes())?)?;
        self.zone.instant(LocalTime::from_minutes(minutes)?)
    }

    fn turn_minutes(&self) -> i64 {
        i64::from(self.days.max(1)) * 24 * 60
    }

    fn minutes_since_start(&self, local: LocalTime) -> i64 {
        local.minutes().saturating_sub(self.starts.minutes())
    }
}
