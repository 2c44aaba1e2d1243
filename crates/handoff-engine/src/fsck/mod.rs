//! Checking that what a store holds is what the rules allow, without changing anything.
//!
//! Each invariant has a module, which is a pure function over a [`Snapshot`]. They say what is wrong as [`Finding`]s, with
//! the rule that it breaks. A sound store has none, at any moment: every commit leaves all of them true.
//!
//! | module | what must hold |
//! |---|---|
//! | `terminal` | one ending a request, its event, and what took its place (R5 to R8, R11) |
//! | `receipts` | a receipt if and only if there was something to record, with what was shown (E-4, E-7, R5, R6, D-8) |
//! | `chain` | heights, digests, signatures (E-6, E-7, E-13) |
//! | `authorizations` | one a deciding answer, spent once (Z-1, Z-3, Z-5) |
//! | `signals` | one an ending, in a queue whose numbers rise, with what it gives back (X-1 to X-4, W2 to W9, L-2) |
//! | `settled` | nothing open on a request that ended (close-out, G-12, L-2) |
//! | `timers` | every wait has its timer (C-3, C-5, V-9, X-10, H-6, G-10) |
//! | `index` | index rows are those of the documents |
//! | `events` | without gaps, and each explained (section 23, V-1) |
//! | `replays` | what a repeat is told is what is there, and what is pending is asked once (K-1, K-6) |
//! | `tenants` | no reference leaves its tenant (T-1) |
//! | `canary` | what must not be kept is not (G-2, K-S4, K-9) |

mod authorizations;
mod canary;
mod chain;
mod events;
mod facts;
mod index;
mod receipts;
mod replays;
mod settled;
mod signals;
mod tenants;
mod terminal;
mod timers;

use std::fmt;

use handoff_protocol::signature::{Jwks, KeySet};

use self::facts::Facts;
pub use self::index::{known_tenants, published_keys};
use crate::store::Snapshot;

/// Something that must not be.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Finding {
    /// The invariant, by the name of its module.
    pub check: &'static str,
    /// The rule that it is from.
    pub rule: &'static str,
    /// What it was found on: the id of a request, the key of a record, the place of an event.
    pub subject: String,
    /// What is wrong. It holds no value that anybody gave.
    pub message: String,
}

/// What a check is given besides the store.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// The keys that signatures are judged by; none to leave them unjudged.
    pub keys: Option<KeySet>,
    /// Texts that were given to be passed on or proven, and that must be nowhere.
    pub canaries: Vec<String>,
}

impl Trust {
    /// Judges signatures by published keys.
    #[must_use]
    pub fn with_keys(mut self, keys: &Jwks) -> Self {
        self.keys = KeySet::from_jwks(keys).ok();
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}): {}: {}", self.check, self.rule, self.subject, self.message)
    }
}

/// Checks everything of a tenant, and says what is wrong in an order that is the same each time.
#[must_use]
pub fn check(snapshot: &Snapshot, trust: &Trust) -> Vec<Finding> {
    let mut report = Report::default();
    let facts = Facts::read(snapshot, &mut report);
    terminal::check(&facts, &mut report);
    receipts::check(&facts, &mut report);
    chain::check(&facts, trust, &mut report);
    authorizations::check(&facts, &mut report);
    signals::check(&facts, &mut report);
    settled::check(&facts, &mut report);
    timers::check(&facts, &mut report);
    index::check(&facts, &mut report);
    events::check(&facts, &mut report);
    replays::check(&facts, &mut report);
    tenants::check(&facts, &mut report);
    canary::check(&facts, trust, &mut report);
    report.findings.sort();
    report.findings
}

/// Findings as they come in.
#[derive(Debug, Default)]
struct Report {
    findings: Vec<Finding>,
}

impl Report {
    fn find(
        &mut self,
        (check, rule): (&'static str, &'static str),
        subject: impl fmt::Display,
        message: impl Into<String>,
    ) {
        self.findings.push(Finding { check, rule, subject: subject.to_string(), message: message.into() });
    }

    /// Finds something unless it is as it must be.
    fn expect(
        &mut self,
        holds: bool,
        place: (&'static str, &'static str),
        subject: impl fmt::Display,
        message: impl FnOnce() -> String,
    ) {
        if !holds {
            self.find(place, subject, message());
        }
    }
}
