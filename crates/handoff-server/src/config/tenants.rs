//! Tenants in the configuration: their policy, their people, groups and rotations (section 24).

use std::{collections::BTreeSet, path::PathBuf};

use handoff_protocol::{
    decision::directory::{Contact, Directory, LocalTime, Person, QuietHours, Rotation, Zone},
    id::{OrgId, UserId},
    json::{DecodeError, Json, ObjectReader, ValueReader},
    secret::Secret,
};
use toml::{Spanned, de::DeValue};

use super::{ConfigError, file::Reading};

/// The section.
pub(super) const SECTION: &str = "tenants";

/// What stands where an address was; it is none.
pub(super) const REDACTED: &str = "[redacted]";

/// Every key of the section, at any depth.
const KEYS: &[&str] = &[
    "id",
    "policy",
    "people",
    "groups",
    "rotations",
    "principal",
    "display",
    "time_zone",
    "quiet_hours",
    "from",
    "to",
    "contacts",
    "channel",
    "address",
    "verified",
    "name",
    "members",
    "starts",
    "days",
];

/// What is said of a tenant.
#[derive(Clone, Debug)]
pub struct TenantConfig {
    /// Which tenant.
    pub id: OrgId,
    /// The file of its policy.
    pub policy: Option<PathBuf>,
    /// Its people.
    pub people: Directory,
    /// Everything but id and policy as it was written, without addresses.
    written: Json,
}

impl TenantConfig {
    /// The people, groups and rotations as they were written.
    pub(super) fn written(&self) -> &Json {
        &self.written
    }
}

impl Reading<'_> {
    /// Reads the section.
    pub(super) fn tenants(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<TenantConfig>, ConfigError> {
        let mut tenants: Vec<TenantConfig> = self.tables(SECTION, value, KEYS, read)?;
        for tenant in &mut tenants {
            tenant.policy = tenant.policy.take().map(|path| self.beside(&path.display().to_string()));
        }
        let mut ids: Vec<OrgId> = tenants.iter().map(|tenant| tenant.id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
            return Err(
                self.fault(value.span(), "`tenants`: one tenant stands here twice; put everything of it in one")
            );
        }
        Ok(tenants)
    }
}

fn read(table: &Json) -> Result<TenantConfig, DecodeError> {
    let reader = ObjectReader::new(table, "")?;
    let id = OrgId::parse(reader.string("id")?).map_err(|_| reader.error("id", "must be `org_` and a ULID"))?;
    let mut people = Directory::default();
    for person in each(&reader, "people", person)? {
        if people.person(person.id).is_some() {
            return Err(reader.error("people", "must hold each principal once"));
        }
        people = people.with_person(person);
    }
    let groups = each(&reader, "groups", group)?;
    once(&reader, "groups", groups.iter().map(|(name, _)| name.as_str()))?;
    for (name, members) in groups {
        people = people.with_group(name, members);
    }
    let rotations = each(&reader, "rotations", rotation)?;
    once(&reader, "rotations", rotations.iter().map(|(name, _)| name.as_str()))?;
    for (name, rotation) in rotations {
        people = people.with_rotation(name, rotation);
    }
    let policy = reader.optional_string("policy")?.map(PathBuf::from);
    reader.finish()?;
    let mut written = table.clone();
    if let Some(members) = written.as_object_mut() {
        members.remove("id");
        members.remove("policy");
    }
    redact(&mut written);
    Ok(TenantConfig { id, policy, people, written })
}

fn each<T>(
    reader: &ObjectReader<'_, '_>,
    name: &str,
    read: impl Fn(ObjectReader<'_, '_>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let Some(array) = reader.optional_array(name)? else { return Ok(Vec::new()) };
    array.items().map(|item| read(item.object()?)).collect()
}

/// Refuses a list in which a name stands twice: the first would be forgotten.
fn once<'n>(
    reader: &ObjectReader<'_, '_>,
    list: &str,
    names: impl Iterator<Item = &'n str>,
) -> Result<(), DecodeError> {
    match twice(names) {
        None => Ok(()),
        Some((place, name)) => Err(DecodeError::at(
            reader.path().key(list).index(place).key("name"),
            format!("must be another: {} stands there already", shown(name)),
        )),
    }
}

/// The first name that stood before, and its place.
pub(super) fn twice<'n>(names: impl Iterator<Item = &'n str>) -> Option<(usize, &'n str)> {
    let mut seen = BTreeSet::new();
    names.enumerate().find(|(_, name)| !seen.insert(*name))
}

/// A name of a place or a channel, for people. One that is long or strange may be a value that slipped.
pub(super) fn shown(name: &str) -> String {
    let is_plain = name.chars().count() <= 64 && name.chars().all(|letter| !letter.is_control());
    if is_plain { format!("`{name}`") } else { "the same name".to_owned() }
}

fn person(reader: ObjectReader<'_, '_>) -> Result<Person, DecodeError> {
    let person = Person {
        id: user(&reader.value("principal")?)?,
        display: reader.optional_text("display", 1, 200)?.map(str::to_owned),
        // Roles are held where people enter; they are looked up when somebody is to be reached.
        role: None,
        zone: reader.optional_value("time_zone").map(|value| zone(&value)).transpose()?.unwrap_or_else(Zone::utc),
        quiet: reader.optional_object("quiet_hours")?.map(quiet).transpose()?,
        contacts: each(&reader, "contacts", contact)?,
    };
    reader.finish()?;
    Ok(person)
}

fn user(value: &ValueReader<'_, '_>) -> Result<UserId, DecodeError> {
    UserId::parse(value.string()?).map_err(|_| value.error("must be the id of a person, `usr_` and a ULID"))
}

fn zone(value: &ValueReader<'_, '_>) -> Result<Zone, DecodeError> {
    Zone::parse(value.string()?).map_err(|error| value.error(format!("is no time zone: {error}")))
}

fn quiet(reader: ObjectReader<'_, '_>) -> Result<QuietHours, DecodeError> {
    const DAY: i64 = 24 * 60;
    let minute = |name: &str, most: i64| -> Result<u16, DecodeError> {
        let fault = || reader.error(name, format!("must be minutes after midnight, from 0 to {most}: 22:00 is 1320"));
        let minute = reader.value(name)?.integer_within(0, most).map_err(|_| fault())?;
        u16::try_from(minute).map_err(|_| fault())
    };
    let hours = QuietHours::new(minute("from", DAY - 1)?, minute("to", DAY)?);
    let hours = hours.ok_or_else(|| reader.error("from", "must be minutes after midnight"))?;
    reader.finish()?;
    Ok(hours)
}

fn contact(reader: ObjectReader<'_, '_>) -> Result<Contact, DecodeError> {
    let address = reader.text("address", 1, 2_048)?;
    if address == REDACTED {
        return Err(reader.error("address", "stands where an address was; put the address itself"));
    }
    let contact = Contact {
        channel: reader.text("channel", 1, 64)?.to_owned(),
        address: Secret::new(address.to_owned()),
        verified: reader.optional_boolean("verified")?.unwrap_or(false),
    };
    reader.finish()?;
    Ok(contact)
}

fn group(reader: ObjectReader<'_, '_>) -> Result<(String, Vec<UserId>), DecodeError> {
    let group = (reader.text("name", 1, 256)?.to_owned(), members(&reader)?);
    reader.finish()?;
    Ok(group)
}

fn rotation(reader: ObjectReader<'_, '_>) -> Result<(String, Rotation), DecodeError> {
    let name = reader.text("name", 1, 256)?.to_owned();
    let starts = reader.string("starts")?;
    let days = reader.value("days")?.integer_within(1, 366)?;
    let members = members(&reader)?;
    if members.is_empty() {
        return Err(reader.error("members", "must name at least one person, or nobody ever has the turn"));
    }
    let rotation = Rotation {
        members,
        zone: zone(&reader.value("time_zone")?)?,
        starts: LocalTime::parse(starts).map_err(|error| reader.error("starts", format!("is no time: {error}")))?,
        days: u16::try_from(days).map_err(|_| reader.error("days", "must be a number of days"))?,
    };
    reader.finish()?;
    Ok((name, rotation))
}

fn members(reader: &ObjectReader<'_, '_>) -> Result<Vec<UserId>, DecodeError> {
    reader.array("members")?.items().map(|item| user(&item)).collect()
}

/// Takes addresses out of what is printed.
fn redact(value: &mut Json) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(redact),
        Json::Object(members) => {
            for (name, member) in members.iter_mut() {
                if name == "address" {
                    *member = Json::from(REDACTED);
                } else {
                    redact(member);
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}
