//! Scripts: forty short stories, each played once for every call of the store that it makes and every way in which that call
//! can go wrong. Chance has no part in them.

use crate::{
    board::Shape,
    op::Op,
    plan::{Knobs, Plan, PlannedOp},
};

/// One step of a script. It is done on the request that was raised last.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Step {
    /// Raise one of a shape, with these further members.
    Raise(Asks, &'static str),
    /// Answer in full, by the person at this place.
    Answer(usize),
    /// Give these values as a part.
    Part(&'static str),
    /// Pass on, or say that one is unable: the members of the body.
    Dispose(&'static str),
    /// Withdraw.
    Cancel,
    /// Mend the words.
    Amend,
    /// Put the request raised last in the place of the one before.
    Supersede,
    /// Arm an attempt of two seconds.
    Arm,
    /// Fire the next rung.
    Escalate,
    /// Ask the administrator instead.
    Reassign,
    /// Correct the last receipt.
    Correct,
    /// Poll, and acknowledge everything.
    Take,
    /// Poll, and acknowledge nothing.
    Poll,
    /// Acknowledge the signal that was seen last, without asking for any.
    AckOld,
    /// Redeem the last authorization for an effect.
    Redeem(&'static str),
    /// Open a session of the last grant.
    Resolve,
    /// Renew the last session.
    Renew,
    /// Give the last session back.
    Release,
    /// Take the last grant back.
    Revoke,
    /// Submit a secret value.
    Submit,
    /// Push the last signal once more.
    Push,
    /// Report that the last delivery was seen.
    Seen,
    /// Report that the last delivery came back.
    Bounced,
    /// Open the page.
    Look,
    /// Say that the runtime ended.
    End,
    /// Come back.
    Reattach,
    /// Let so many seconds pass.
    Pass(u64),
    /// Receivers answer, or do not.
    Receivers(bool),
}

/// What a scripted raise asks.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Asks {
    /// Yes or no.
    Choice,
    /// Two fields.
    Parts,
    /// Two must agree.
    Council,
    /// A password.
    Secret,
    /// A resource.
    Surface,
}

impl Asks {
    /// The shape.
    #[must_use]
    pub const fn shape(self) -> Shape {
        match self {
            Self::Choice => Shape::Choice,
            Self::Parts => Shape::Parts,
            Self::Council => Shape::Council,
            Self::Secret => Shape::Secret,
            Self::Surface => Shape::Surface,
        }
    }
}

/// A story with its name.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// What it is about.
    pub name: &'static str,
    /// What happens.
    pub steps: &'static [Step],
}

const CALLBACK: &str = r#","callback":{"url":"https://receiver.example/cb"}"#;
const LEASED: &str = r#","liveness":"leased""#;
const KEPT: &str = r#","liveness":"leased","on_waiter_terminal":"keep""#;
const PAGED: &str =
    r#","routing":{"ladder":[{"after":"PT0S","channels":["pager"],"to":{"kind":"role","value":"editor"}}]}"#;
const LADDER: &str = r#","routing":{"ladder":[{"after":"PT0S","channels":["inapp"],"to":{"kind":"anyone","value":"*"}},{"after":"PT4S","channels":["pager"],"to":{"kind":"group","value":"ops"}}]}"#;
const DENIES: &str = r#","ttl":"PT5S","ttl_policy":{"on_expiry":"expire_and_deny"}"#;
const DEFAULTS: &str = r#","ttl":"PT5S","ttl_policy":{"on_expiry":"default","default_answer":{"decision":"no"}}"#;
const ESCALATES: &str = r#","ttl":"PT5S","ttl_policy":{"on_expiry":"escalate"},"routing":{"ladder":[{"after":"PT0S","channels":["inapp"],"to":{"kind":"anyone","value":"*"}},{"after":"PT1H","channels":["pager"],"to":{"kind":"group","value":"ops"}}]}"#;
const PARKS: &str = r#","ttl":"PT5S","ttl_policy":{"on_expiry":"park","reminder_every":"PT1M"}"#;
const RESUMES: &str = r#","resume_ref":"place","resume_payload":"cGF5bG9hZA==""#;
const BOUND: &str = r#","effect_digest":"sha256:eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee""#;
const SAME: &str = r#","dedupe_key":"the same""#;

use Asks::{Choice, Council, Parts, Secret, Surface};
use Step::{
    AckOld, Amend, Answer, Arm, Bounced, Cancel, Correct, Dispose, Escalate, Look, Part, Pass, Poll, Push, Raise,
    Receivers, Redeem, Release, Renew, Resolve, Revoke, Seen, Submit, Supersede, Take,
};

/// The forty stories.
pub const SCRIPTS: &[Script] = &[
    story("an answer", &[Raise(Choice, ""), Answer(1), Poll, Take, Redeem("one")]),
    story("two answers", &[Raise(Choice, ""), Answer(1), Answer(2), Take]),
    story("a withdrawal", &[Raise(Choice, ""), Cancel, Take]),
    story("a withdrawal after an answer", &[Raise(Choice, ""), Answer(1), Cancel, Take]),
    story("an answer after a withdrawal", &[Raise(Choice, ""), Cancel, Answer(1), Take]),
    story("better words", &[Raise(Choice, ""), Amend, Amend, Answer(1), Take]),
    story("the same question twice", &[Raise(Choice, SAME), Raise(Choice, SAME), Answer(1), Take]),
    story("a successor", &[Raise(Choice, ""), Raise(Choice, ""), Supersede, Answer(1), Take]),
    story("a deadline that denies", &[Raise(Choice, DENIES), Pass(8), Take]),
    story("a deadline with a default", &[Raise(Choice, DEFAULTS), Pass(8), Take]),
    story("a deadline that escalates", &[Raise(Choice, ESCALATES), Pass(8), Pass(30), Take]),
    story("a deadline that parks", &[Raise(Choice, PARKS), Pass(70), Answer(0), Take]),
    story("an answer at the deadline", &[Raise(Choice, DENIES), Pass(5), Answer(1), Take]),
    story("an attempt that lapses", &[Raise(Choice, ""), Arm, Pass(4), Take, Answer(1), Take]),
    story("an attempt armed anew", &[Raise(Choice, ""), Arm, Pass(1), Arm, Pass(4), Arm, Answer(1), Take]),
    story(
        "two parts",
        &[Raise(Parts, ""), Part(r#"{"decision":"yes"}"#), Part(r#"{"reason":"because"}"#), Answer(0), Take],
    ),
    story("a part and the rest", &[Raise(Parts, ""), Part(r#"{"more":"words"}"#), Answer(1), Take, Redeem("one")]),
    story("two who agree", &[Raise(Council, ""), Answer(0), Answer(1), Take]),
    story("two who agree, one of them twice", &[Raise(Council, ""), Answer(1), Answer(1), Answer(2), Take]),
    story(
        "passed on",
        &[
            Raise(Choice, ""),
            Dispose(r#""values":{},"disposition":"delegate","delegate_to":{"kind":"role","value":"admin"}"#),
            Answer(0),
            Take,
        ],
    ),
    story("unable", &[Raise(Choice, ""), Dispose(r#""values":{},"disposition":"unable""#), Answer(1), Take]),
    story("a correction", &[Raise(Choice, ""), Answer(1), Correct, Correct, Take]),
    story("two effects", &[Raise(Choice, ""), Answer(1), Redeem("one"), Redeem("two"), Redeem("one"), Take]),
    story("an effect that was bound", &[Raise(Choice, BOUND), Answer(1), Redeem("one"), Take]),
    story("a callback", &[Raise(Choice, CALLBACK), Answer(1), Pass(2), Take]),
    story(
        "a callback that is late",
        &[Receivers(false), Raise(Choice, CALLBACK), Answer(1), Pass(10), Receivers(true), Pass(20), Take],
    ),
    story(
        "a callback once more",
        &[Receivers(false), Raise(Choice, CALLBACK), Answer(1), Pass(3), Receivers(true), Poll, Push, Pass(3), Take],
    ),
    story("a callback for a lapse and an end", &[Raise(Choice, CALLBACK), Arm, Pass(4), Answer(1), Pass(2), Take]),
    story("a silent waiter", &[Raise(Choice, LEASED), Pass(100), Take]),
    story("a silent waiter that comes back", &[Raise(Choice, KEPT), Pass(100), Step::Reattach, Answer(1), Take]),
    story("a waiter that ended", &[Raise(Choice, KEPT), Step::End, Raise(Choice, KEPT), Answer(1), Take]),
    story(
        "a nudge for a waiter that was given up",
        &[Raise(Choice, KEPT), Arm, Pass(4), Step::End, Take, Pass(100), Answer(1), Take],
    ),
    story(
        "an old token for a waiter that was given up",
        &[Raise(Choice, KEPT), Arm, Pass(4), Poll, Step::End, AckOld, Answer(1), Take],
    ),
    story("continuation data", &[Raise(Choice, RESUMES), Arm, Pass(4), Take, Answer(1), Poll, Take]),
    story("a page", &[Raise(Choice, PAGED), Pass(2), Seen, Look, Answer(1), Pass(2), Take]),
    story("a page that comes back", &[Raise(Choice, PAGED), Pass(2), Bounced, Answer(1), Take]),
    story("a ladder", &[Raise(Choice, LADDER), Pass(2), Pass(4), Answer(1), Pass(2), Take]),
    story(
        "a ladder climbed by hand",
        &[Raise(Choice, LADDER), Escalate, Pass(1), Step::Reassign, Pass(1), Cancel, Take],
    ),
    story("a session", &[Raise(Surface, ""), Resolve, Renew, Release, Answer(0), Take]),
    story("a session that its request ends", &[Raise(Surface, ""), Resolve, Answer(0), Pass(2), Take]),
    story("a session that lapses", &[Raise(Surface, ""), Resolve, Pass(130), Revoke, Cancel, Pass(2), Take]),
    story("a secret", &[Raise(Secret, ""), Submit, Answer(0), Take, Redeem("one")]),
];

const fn story(name: &'static str, steps: &'static [Step]) -> Script {
    Script { name, steps }
}

impl Script {
    /// The plan of a story: one client, one node, and nothing that goes wrong.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let knobs = Knobs {
            sweep: 1_000,
            store_latency: 0,
            network: 0,
            ports: 0,
            receivers: 0,
            wakes: 0,
            think: 1,
            signs: false,
            waiters: 1,
            lies: false,
        };
        let ops = self.steps.iter().enumerate().map(|(number, step)| PlannedOp {
            number,
            seed: 1,
            pause: 5,
            op: Op::Scripted(*step),
        });
        Plan { seed: 1, nodes: 1, clients: vec![ops.collect()], faults: Vec::new(), knobs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::play;

    #[test]
    fn there_are_forty_stories_and_each_ends_well() {
        assert!(SCRIPTS.len() >= 40, "{}", SCRIPTS.len());
        for script in SCRIPTS {
            let outcome = play(&script.plan(), false);
            assert_eq!(outcome.violations, Vec::<String>::new(), "{}", script.name);
            let idle = outcome.counted.get("(operations without an object)").copied().unwrap_or(0);
            assert_eq!(idle, 0, "{}: every step has something to be done on", script.name);
        }
    }
}
