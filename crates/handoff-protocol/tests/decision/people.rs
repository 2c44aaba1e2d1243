//! People: a directory to reach, and who a target means in it.

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Policy, Target,
        channels::{Addressing, ChannelFacts, Channels},
        directory::{Contact, Directory, LocalTime, Person, QuietHours, Rotation, Zone},
        terms::{Grade, TargetKind},
    },
    id::{Ulid, UserId},
    principal::Role,
    secret::Secret,
    timestamp::Timestamp,
};

use super::scene::{machine, person_of};

pub(crate) const ANNA: u128 = 11;
pub(crate) const BORIS: u128 = 12;
pub(crate) const CARLA: u128 = 13;

pub(crate) fn user(number: u128) -> UserId {
    UserId::from_ulid(Ulid::from_u128(number))
}

pub(crate) fn target(kind: TargetKind, value: &str) -> Target {
    Target { kind, value: value.to_owned() }
}

pub(crate) fn somebody(number: u128, role: Role, channels: &[&str]) -> Person {
    let contact = |channel: &&str| Contact {
        channel: (*channel).to_owned(),
        address: Secret::new(format!("{number}@{channel}.example")),
        verified: true,
    };
    Person {
        id: user(number),
        display: Some(format!("person {number}")),
        role: Some(role),
        zone: Zone::utc(),
        quiet: None,
        contacts: channels.iter().map(contact).collect(),
    }
}

/// What a channel can do that sends to people.
pub(crate) const MAIL: ChannelFacts = ChannelFacts { max_grade: Grade::Delivered, ..ChannelFacts::UNKNOWN };

/// Anna and Boris, who are reached by mail, and Carla, who is not; a group of the first two and a rotation of all.
pub(crate) fn directory() -> Directory {
    let rotation = Rotation {
        members: vec![user(ANNA), user(BORIS), user(CARLA)],
        zone: Zone::parse("Europe/Berlin").unwrap(),
        starts: LocalTime::parse("2026-03-23T09:00").unwrap(),
        days: 7,
    };
    Directory::default()
        .with_person(somebody(ANNA, Role::Admin, &["email", "slack"]))
        .with_person(somebody(BORIS, Role::Editor, &["email"]))
        .with_person(somebody(CARLA, Role::Viewer, &[]))
        .with_group("finance", vec![user(BORIS), user(ANNA), user(BORIS), user(99)])
        .with_rotation("on-call", rotation)
}

/// A deployment that has mail and chat, and those people.
pub(crate) fn policy() -> Policy {
    let channels = Channels::default().with("email", MAIL).with("slack", ChannelFacts { updates: true, ..MAIL });
    Policy { directory: Arc::new(directory()), channels: Arc::new(channels), ..Policy::default() }
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn resolved(target: &Target, now: Timestamp) -> Vec<u128> {
    let directory = directory();
    let people = directory.resolve(target, now);
    people.iter().map(|person| person.id.ulid().as_u128()).collect()
}

#[test]
fn a_target_becomes_people_through_one_function() {
    let now = at("2026-03-24T12:00:00Z");
    for (kind, value, people) in [
        (TargetKind::Principal, user(BORIS).to_string(), vec![BORIS]),
        (TargetKind::Principal, user(99).to_string(), vec![]),
        (TargetKind::Principal, "sa_01K3M7QW8ZC4YRXB2N6VD9FTHE".to_owned(), vec![]),
        (TargetKind::Role, "editor".to_owned(), vec![ANNA, BORIS]),
        (TargetKind::Role, "emperor".to_owned(), vec![]),
        (TargetKind::Group, "finance".to_owned(), vec![BORIS, ANNA]),
        (TargetKind::Group, "unheard of".to_owned(), vec![]),
        (TargetKind::Rotation, "on-call".to_owned(), vec![ANNA]),
        (TargetKind::Rotation, "unheard of".to_owned(), vec![]),
        (TargetKind::Anyone, "*".to_owned(), vec![ANNA, BORIS, CARLA]),
    ] {
        assert_eq!(resolved(&target(kind, &value), now), people, "{kind:?} {value}");
    }
}

#[test]
fn turns_change_at_the_same_time_of_day_also_where_clocks_changed_meanwhile() {
    let on_call = target(TargetKind::Rotation, "on-call");
    // 9 in the morning in Berlin is 8 UTC in winter, and 7 from 29 March on.
    for (instant, who) in [
        ("2026-03-23T07:59:59Z", CARLA),
        ("2026-03-23T08:00:00Z", ANNA),
        ("2026-03-30T06:59:59Z", ANNA),
        ("2026-03-30T07:00:00Z", BORIS),
        ("2026-04-06T07:00:00Z", CARLA),
        ("2026-04-13T07:00:00Z", ANNA),
        ("2020-01-01T00:00:00Z", CARLA),
    ] {
        assert_eq!(resolved(&on_call, at(instant)), [who], "{instant}");
    }
}

#[test]
fn a_rotation_of_nobody_has_nobody_on_duty() {
    let rotation =
        Rotation { members: Vec::new(), zone: Zone::utc(), starts: LocalTime { day: 0, minute: 0 }, days: 0 };
    assert_eq!(rotation.on_duty(Timestamp::EPOCH), None);
}

#[test]
fn groups_and_rotations_mean_their_members_and_no_machine() {
    let (directory, now) = (directory(), at("2026-03-24T12:00:00Z"));
    let means = |target: &Target, principal: u128| directory.means(target, &person_of(principal, Role::Viewer), now);
    let (finance, on_call) = (target(TargetKind::Group, "finance"), target(TargetKind::Rotation, "on-call"));
    assert!(means(&finance, ANNA) && means(&finance, BORIS) && !means(&finance, CARLA));
    assert!(means(&finance, 99), "a member without an address can answer all the same");
    assert!(means(&on_call, ANNA) && !means(&on_call, BORIS));
    assert!(!directory.means(&finance, &machine(), now));
}

#[test]
fn an_address_that_was_confirmed_comes_first_and_none_is_ever_shown() {
    let mut person = somebody(ANNA, Role::Admin, &["email", "email"]);
    person.contacts[0].verified = false;
    person.contacts[0].address = Secret::new("first@example.com".to_owned());
    let contact = person.contact("email").unwrap();
    assert!(contact.verified && contact.address.expose() != "first@example.com");
    assert!(person.contact("slack").is_none());
    assert!(!format!("{person:?}").contains("example"), "{person:?}");
}

#[test]
fn a_person_rests_by_the_clock_where_they_live() {
    let mut person = somebody(ANNA, Role::Admin, &[]);
    person.zone = Zone::parse("America/New_York").unwrap();
    person.quiet = QuietHours::new(22 * 60, 6 * 60);
    // The clocks go forward on 8 March: the night is an hour shorter, and 6 in the morning an hour earlier.
    for (instant, rests) in [
        ("2026-03-08T02:59:00Z", false),
        ("2026-03-08T03:00:00Z", true),
        ("2026-03-08T09:59:00Z", true),
        ("2026-03-08T10:00:00Z", false),
        ("2026-03-09T01:59:00Z", false),
        ("2026-03-09T02:00:00Z", true),
    ] {
        assert_eq!(person.is_quiet(at(instant)), rests, "{instant}");
    }
    assert_eq!(ChannelFacts::IN_APP.addressing, Addressing::Listing);
}

/// A rotation of a thousand people, so that whoever has the turn tells which turn it is.
fn thousand(zone: &str, starts: &str, days: u16) -> Rotation {
    let members = (0..1_000).map(user).collect();
    Rotation { members, zone: Zone::parse(zone).unwrap(), starts: LocalTime::parse(starts).unwrap(), days }
}

#[test]
fn a_turn_that_began_never_goes_back_in_any_zone() {
    let quarter = std::time::Duration::from_secs(900);
    let zones = [
        ("Europe/Berlin", "2024-03-01T02:30"),
        ("Europe/Berlin", "2024-03-01T00:00"),
        ("America/New_York", "2024-03-01T01:15"),
        ("America/New_York", "2024-03-01T02:15"),
        ("Australia/Lord_Howe", "2024-03-01T01:45"),
        ("America/Sao_Paulo", "2016-09-01T00:00"),
        ("Pacific/Apia", "2011-12-01T09:00"),
        ("America/Santiago", "2024-03-01T23:30"),
        ("Africa/Casablanca", "2024-02-20T02:30"),
        ("Asia/Gaza", "2023-03-01T00:30"),
        ("Antarctica/Troll", "2024-03-01T01:30"),
        ("UTC", "2024-03-01T02:30"),
    ];
    for (zone, starts) in zones {
        for days in [1, 2] {
            let rotation = thousand(zone, starts, days);
            let mut now = Timestamp::parse(&format!("{}T00:00:00Z", starts.split_once('T').unwrap().0)).unwrap();
            let (mut turn, mut changes) = (None, Vec::new());
            // More than a year, by steps that meet every change of clocks.
            for _ in 0..(4 * 24 * 400) {
                let place = rotation.on_duty(now).unwrap().ulid().as_u128();
                if let Some(before) = turn {
                    let forward = (place + 1_000 - before) % 1_000;
                    // One turn at a time, or two where a zone left out a whole day.
                    assert!(forward <= 2, "{zone} {starts} at {now}: from {before} to {place}");
                    if forward > 0 {
                        changes.push(now);
                    }
                }
                turn = Some(place);
                now = now.saturating_add(quarter);
            }
            for pair in changes.windows(2) {
                let lasted = pair[1].since(pair[0]).as_secs() / 3_600;
                let usual = 24 * u64::from(days);
                // Samoa left out the 30th of December 2011.
                let less = if zone == "Pacific/Apia" { 24 } else { 3 };
                assert!((usual - less..=usual + 3).contains(&lasted), "{zone} {starts}: a turn of {lasted} hours");
            }
        }
    }
}

#[test]
fn a_turn_begins_at_a_time_that_comes_twice_when_it_comes_first_and_at_one_that_is_left_out_afterwards() {
    let rotation = thousand("Europe/Berlin", "2026-03-23T02:30", 1);
    let place = |text| rotation.on_duty(at(text)).unwrap().ulid().as_u128();
    // In the night to 25 October 2:30 comes at 00:30 and at 01:30 UTC.
    let autumn = place("2026-10-25T00:29:59Z");
    for (instant, turns) in [
        ("2026-10-25T00:30:00Z", 1),
        ("2026-10-25T01:00:00Z", 1),
        ("2026-10-25T01:29:00Z", 1),
        ("2026-10-25T01:31:00Z", 1),
        ("2026-10-26T01:29:59Z", 1),
        ("2026-10-26T01:30:00Z", 2),
    ] {
        assert_eq!(place(instant), autumn + turns, "{instant}");
    }
    // In the night to 29 March there is no 2:30: half an hour after the change it is 3:30.
    let spring = place("2026-03-29T00:59:59Z");
    for (instant, turns) in [
        ("2026-03-29T01:00:00Z", 0),
        ("2026-03-29T01:29:59Z", 0),
        ("2026-03-29T01:30:00Z", 1),
        ("2026-03-30T00:30:00Z", 2),
    ] {
        assert_eq!(place(instant), spring + turns, "{instant}");
    }
    for end in [Timestamp::MIN, Timestamp::MAX] {
        assert!(rotation.on_duty(end).is_some());
    }
}

#[test]
fn a_place_has_nobody_where_the_directory_is_the_one_that_knows() {
    let now = at("2026-03-23T09:00:00Z");
    let bare = Directory::default();
    let empty = directory().with_group("empty", Vec::new());
    for (kind, value, nobody) in [
        (TargetKind::Group, "finance", false),
        (TargetKind::Group, "empty", true),
        (TargetKind::Group, "nope", true),
        (TargetKind::Rotation, "on-call", false),
        (TargetKind::Rotation, "nope", true),
        (TargetKind::Role, "admin", false),
        (TargetKind::Anyone, "*", false),
        (TargetKind::Principal, "usr_somebody", false),
    ] {
        let target = target(kind, value);
        assert_eq!(empty.has_nobody(&target, now), nobody, "{target:?}");
        assert!(!bare.has_nobody(&target, now), "without a directory nobody knows: {target:?}");
    }
    let no_role = target(TargetKind::Role, "boss");
    assert!(bare.has_nobody(&no_role, now) && empty.has_nobody(&no_role, now));
}
