//! Explaining: what a raise would come to is what the rules come to, and it says why not.

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Explained, Raise,
        channels::Channels,
        directory::{Directory, LocalTime, QuietHours, Rotation, Zone},
        explain,
        terms::Suppression,
    },
    principal::Role,
    timestamp::Timestamp,
};

use super::{
    people::{ANNA, BORIS, CARLA, MAIL, policy, somebody, user},
    scene::{Scene, approve, json, machine, with},
};

fn explained(scene: &mut Scene, body: &str) -> Explained {
    let command = Raise::read(&machine(), json(body), &scene.policy).unwrap();
    explain(&command, &machine(), &mut scene.context()).unwrap()
}

type Told = (u32, String, String, Option<Suppression>);

fn told(explained: &Explained) -> Vec<Told> {
    let one = |planned: &handoff_protocol::decision::PlannedDelivery| {
        let who = planned.display.clone().unwrap_or_else(|| planned.target.value.clone());
        (planned.rung, planned.channel.clone(), who, planned.kept_back)
    };
    explained.deliveries.iter().map(one).collect()
}

fn row(rung: u32, channel: &str, who: &str, kept_back: Option<Suppression>) -> Told {
    (rung, channel.to_owned(), who.to_owned(), kept_back)
}

#[test]
fn the_starter_ladder_of_a_deployment_without_mail_says_so() {
    let explained = explained(&mut Scene::climbing(), &approve());
    let unknown = Some(Suppression::ChannelUnknown);
    assert_eq!(
        told(&explained),
        [row(0, "inapp", "*", None), row(1, "email", "*", unknown), row(2, "slack", "*", unknown)]
    );
}

#[test]
fn people_are_named_with_the_time_and_the_reason_and_so_are_those_whom_nothing_reaches() {
    let mut scene = Scene::climbing();
    scene.policy = policy();
    let explained = explained(&mut scene, &approve());
    assert_eq!(
        told(&explained),
        [
            row(0, "inapp", "*", None),
            row(1, "email", "person 11", None),
            row(1, "email", "person 12", None),
            row(1, "email", "person 13", Some(Suppression::NoAddress)),
            row(2, "slack", "person 11", None),
            row(2, "slack", "person 12", Some(Suppression::NoAddress)),
            row(2, "slack", "person 13", Some(Suppression::NoAddress)),
        ]
    );
    let times: Vec<u64> =
        explained.deliveries.iter().map(|planned| planned.at.since(scene.now).as_secs() / 60).collect();
    assert_eq!(times, [0, 5, 5, 5, 15, 15, 15]);
    let [never] = explained.never_reached.as_slice() else { panic!("{:?}", explained.never_reached) };
    assert_eq!((never.person, never.kept_back), (user(CARLA), Some(Suppression::NoAddress)));
}

/// Three rungs over two people and a rotation: Anna in Berlin rests from 22 to 7, Boris in New York from 23 to 8, and the
/// two take turns of a day each, at 2 in the morning in Berlin.
fn night() -> Scene {
    let mut scene = Scene::climbing();
    let berlin = Zone::parse("Europe/Berlin").unwrap();
    let mut anna = somebody(ANNA, Role::Admin, &["email"]);
    (anna.zone, anna.quiet) = (berlin.clone(), QuietHours::new(22 * 60, 7 * 60));
    let mut boris = somebody(BORIS, Role::Editor, &["email"]);
    (boris.zone, boris.quiet) = (Zone::parse("America/New_York").unwrap(), QuietHours::new(23 * 60, 8 * 60));
    let rotation = Rotation {
        members: vec![user(ANNA), user(BORIS)],
        zone: berlin,
        starts: LocalTime::parse("2026-03-28T02:00").unwrap(),
        days: 1,
    };
    let directory = Directory::default().with_person(anna).with_person(boris).with_rotation("on-call", rotation);
    scene.policy.directory = Arc::new(directory);
    scene.policy.channels = Arc::new(Channels::default().with("email", MAIL));
    scene
}

fn nightly() -> String {
    let principal = |number| format!(r#"{{"kind":"principal","value":"{}"}}"#, user(number));
    let routing = format!(
        r#"{{"ladder":[{{"after":"PT0S","channels":["email"],"to":{}}},{{"after":"PT5H","channels":["email"],"to":{}}},
            {{"after":"PT5H30M","channels":["email"],"to":{{"kind":"rotation","value":"on-call"}}}}]}}"#,
        principal(ANNA),
        principal(BORIS)
    );
    with(&approve(), "routing", &routing)
}

#[test]
fn quiet_hours_across_midnight_and_a_daylight_change_hold_by_each_persons_clock() {
    let mut scene = night();
    let quiet = Some(Suppression::QuietHours);
    // Berlin's clocks go forward at 01:00 UTC on 29 March 2026, so 7 in the morning is 06:00 UTC the day before the change
    // and 05:00 UTC on the day; New York changed weeks before, and 23:00 there is 03:00 UTC.
    for (start, rows) in [
        // 21:59 in Berlin: Anna is up. Five hours later it is 21:59 in New York: Boris is up.
        (
            "2026-03-28T20:59:00Z",
            [
                row(0, "email", "person 11", None),
                row(1, "email", "person 12", None),
                row(2, "email", "person 12", None),
            ],
        ),
        // 22:00 in Berlin: Anna rests.
        (
            "2026-03-28T21:00:00Z",
            [
                row(0, "email", "person 11", quiet),
                row(1, "email", "person 12", None),
                row(2, "email", "person 12", None),
            ],
        ),
        // Anna rests; 22:59 in New York, and half an hour later Boris, whose turn it is, rests as well.
        (
            "2026-03-28T21:59:00Z",
            [
                row(0, "email", "person 11", quiet),
                row(1, "email", "person 12", None),
                row(2, "email", "person 12", quiet),
            ],
        ),
        // 06:59 in Berlin by the new time, and 07:00 a minute later.
        (
            "2026-03-29T04:59:00Z",
            [
                row(0, "email", "person 11", quiet),
                row(1, "email", "person 12", quiet),
                row(2, "email", "person 12", quiet),
            ],
        ),
        (
            "2026-03-29T05:00:00Z",
            [
                row(0, "email", "person 11", None),
                row(1, "email", "person 12", quiet),
                row(2, "email", "person 12", quiet),
            ],
        ),
        // The day before, 05:00 UTC was 6 in the morning.
        (
            "2026-03-28T05:59:00Z",
            [
                row(0, "email", "person 11", quiet),
                row(1, "email", "person 12", quiet),
                row(2, "email", "person 11", None),
            ],
        ),
        (
            "2026-03-28T06:00:00Z",
            [
                row(0, "email", "person 11", None),
                row(1, "email", "person 12", quiet),
                row(2, "email", "person 11", None),
            ],
        ),
    ] {
        scene.now = Timestamp::parse(start).unwrap();
        assert_eq!(told(&explained(&mut scene, &nightly())), rows, "{start}");
        let critical = explained(&mut scene, &with(&nightly(), "urgency", r#""critical""#));
        assert!(critical.deliveries.iter().all(|planned| planned.is_sent), "what is critical comes through: {start}");
    }
}

#[test]
fn explaining_ends_also_for_what_reminds_forever() {
    let mut scene = Scene::climbing();
    scene.policy = policy();
    let body = with(&approve(), "ttl_policy", r#"{"on_expiry":"park","reminder_every":"PT1M"}"#);
    assert!(explained(&mut scene, &body).deliveries.iter().any(|planned| planned.rung == 2));
}

/// What is told of a ladder of the page, at minutes after the raise, and the minute of the end.
fn climbed(minutes: &[u64], ttl: &str, on_expiry: &str) -> (Vec<(u32, u64)>, Option<u64>) {
    let rungs: Vec<String> =
        minutes.iter().map(|minutes| format!(r#"{{"after":"PT{minutes}M","channels":["inapp"]}}"#)).collect();
    let body = with(&approve(), "routing", &format!(r#"{{"ladder":[{}]}}"#, rungs.join(",")));
    let body =
        with(&with(&body, "ttl", &format!(r#""{ttl}""#)), "ttl_policy", &format!(r#"{{"on_expiry":"{on_expiry}"}}"#));
    let mut scene = Scene::climbing();
    let explained = explained(&mut scene, &body);
    let minute = |at: Timestamp| at.since(scene.now).as_secs() / 60;
    let told = explained.deliveries.iter().map(|planned| (planned.rung, minute(planned.at))).collect();
    (told, explained.expires_at.map(minute))
}

#[test]
fn what_comes_after_the_deadline_is_not_told_and_what_the_deadline_brings_is() {
    assert_eq!(climbed(&[0, 30, 90], "PT1H", "expire_and_deny"), (vec![(0, 0), (1, 30)], Some(60)));
    // The deadline fires the rung that is next, and is put off by a quarter of an hour each time.
    assert_eq!(climbed(&[0, 180], "PT1H", "escalate"), (vec![(0, 0), (1, 60)], Some(75)));
    assert_eq!(climbed(&[0, 180, 181], "PT1H", "escalate"), (vec![(0, 0), (1, 60), (2, 75)], Some(90)));
    // A rung by its time puts off what is nearer than that.
    assert_eq!(climbed(&[0, 55], "PT1H", "escalate"), (vec![(0, 0), (1, 55)], Some(70)));
    assert_eq!(climbed(&[0], "PT1H", "escalate"), (vec![(0, 0)], Some(60)));
}

#[test]
fn who_may_answer_and_how_many_must_agree_is_told() {
    let authority = r#"{"min_role":"editor","assignees":[{"kind":"group","value":"finance"}],"quorum":2}"#;
    let explained = explained(&mut Scene::climbing(), &with(&approve(), "requires.authority", authority));
    assert_eq!((explained.min_role, explained.quorum), (Role::Editor, 2));
    assert_eq!(explained.assignees[0].value, "finance");
}

#[test]
fn deliveries_of_a_rung_are_told_in_the_order_of_its_channels() {
    let mut scene = Scene::climbing();
    scene.policy = policy();
    let routing = r#"{"ladder":[{"after":"PT0S","channels":["email","inapp"]}]}"#;
    let explained = explained(&mut scene, &with(&approve(), "routing", routing));
    let channels: Vec<&str> = explained.deliveries.iter().map(|planned| planned.channel.as_str()).collect();
    assert_eq!(channels, ["email", "email", "email", "inapp"], "people of a place stand together");
}

#[test]
fn reminding_every_second_until_a_rung_that_never_comes_is_told_at_once() {
    let body = with(&approve(), "ttl_policy", r#"{"on_expiry":"park","reminder_every":"PT1S"}"#);
    let routing = r#"{"ladder":[{"after":"PT0S","channels":["inapp"]},{"after":"P9000W","channels":["inapp"]}]}"#;
    let explained = explained(&mut Scene::climbing(), &with(&body, "routing", routing));
    assert_eq!((explained.deliveries.len(), explained.expires_at), (2, None));
}
