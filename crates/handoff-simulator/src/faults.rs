//! What can go wrong with stores, nodes and clocks, and how often it is chosen. What goes wrong on the way to a port or a
//! client is drawn as it happens.

use crate::rng::Rng;

/// What goes wrong at a call of the store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StoreFault {
    /// The node crashes before the call has an effect.
    CrashBefore,
    /// The node crashes after the effect is durable, before it hears of it.
    CrashAfter,
    /// The node crashes after the effect, before it is durable.
    CrashUnsynced,
    /// Power fails for every node and the disk. So much of what was written and not synced is there afterwards, in
    /// thousandths; what is torn is not.
    PowerCut(u64),
    /// The store cannot be reached.
    Unavailable,
    /// The answer is lost, and nothing was written.
    LostNotWritten,
    /// The answer is lost, and everything was written.
    LostWritten,
    /// The call takes so many milliseconds.
    Slow(u64),
    /// The clock of the store goes back by so many milliseconds as the call comes in.
    ClockBack(i64),
}

impl StoreFault {
    /// How often each is chosen.
    pub const WEIGHTS: &'static [(u64, Self)] = &[
        (10, Self::CrashBefore),
        (14, Self::CrashAfter),
        (8, Self::CrashUnsynced),
        (6, Self::PowerCut(0)),
        (12, Self::Unavailable),
        (14, Self::LostNotWritten),
        (20, Self::LostWritten),
        (16, Self::Slow(0)),
        (10, Self::ClockBack(0)),
    ];

    /// The same with its details.
    #[must_use]
    pub fn drawn(self, rng: &mut Rng) -> Self {
        match self {
            Self::PowerCut(_) => Self::PowerCut(rng.below(1_001)),
            Self::Slow(_) => Self::Slow(rng.pick(&[50, 500, 3_000, 12_000, 35_000]).copied().unwrap_or(50)),
            Self::ClockBack(_) => Self::ClockBack(rng.pick(&[2_000, 20_000, 200_000]).copied().unwrap_or(2_000)),
            other => other,
        }
    }

    /// What it is called where faults are counted.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CrashBefore => "crash before a store call",
            Self::CrashAfter => "crash after a store call",
            Self::CrashUnsynced => "crash before the sync",
            Self::PowerCut(_) => "power cut",
            Self::Unavailable => "store unavailable",
            Self::LostNotWritten => "failed commit, answer lost",
            Self::LostWritten => "commit, answer lost",
            Self::Slow(_) => "slow store",
            Self::ClockBack(_) => "store's clock back at a call",
        }
    }
}

/// What goes wrong at a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WorldFault {
    /// A node crashes.
    Crash(usize),
    /// A node stands still for so many milliseconds.
    Pause(usize, u64),
    /// The clock of the store jumps, by milliseconds.
    StoreClock(i64),
    /// The clock of a node jumps.
    NodeClock(usize, i64),
    /// All clocks jump together: time passes in which nothing runs.
    Skip(i64),
    /// Receivers are down for so many milliseconds.
    ReceiversDown(u64),
    /// A day and more goes by in steps, while receivers are down.
    LongNight,
    /// Somebody's role changes.
    Role(u64),
}

impl WorldFault {
    /// How often each is chosen.
    pub const WEIGHTS: &'static [(u64, Self)] = &[
        (16, Self::Crash(0)),
        (16, Self::Pause(0, 0)),
        (10, Self::StoreClock(0)),
        (10, Self::NodeClock(0, 0)),
        (24, Self::Skip(0)),
        (12, Self::ReceiversDown(0)),
        (2, Self::LongNight),
        (10, Self::Role(0)),
    ];

    /// The same with its details.
    #[must_use]
    pub fn drawn(self, rng: &mut Rng, nodes: usize) -> Self {
        let most = u64::try_from(nodes).unwrap_or(1);
        let node = usize::try_from(rng.between(1, most)).unwrap_or(1);
        let jump = |rng: &mut Rng| {
            let by = rng.pick(&[-3_600_000, -60_000, -2_000, 2_000, 40_000, 100_000, 1_000_000, 7_200_000]).copied();
            by.unwrap_or(0)
        };
        match self {
            Self::Crash(_) => Self::Crash(node),
            Self::Pause(..) => {
                Self::Pause(node, rng.pick(&[200, 5_000, 31_000, 40_000, 95_000]).copied().unwrap_or(200))
            }
            Self::StoreClock(_) => Self::StoreClock(jump(rng)),
            Self::NodeClock(..) => Self::NodeClock(node, jump(rng)),
            Self::Skip(_) => Self::Skip(
                rng.pick(&[5_000, 31_000, 60_000, 125_000, 900_000, 4_000_000, 90_000_000]).copied().unwrap_or(5_000),
            ),
            Self::ReceiversDown(_) => Self::ReceiversDown(rng.between(1_000, 60_000)),
            Self::LongNight => Self::LongNight,
            Self::Role(_) => Self::Role(rng.draw()),
        }
    }

    /// What it is called where faults are counted.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash(_) => "crash of a node",
            Self::Pause(..) => "node paused",
            Self::StoreClock(_) => "jump of the store's clock",
            Self::NodeClock(..) => "jump of a node's clock",
            Self::Skip(_) => "jump of all clocks",
            Self::ReceiversDown(_) => "receivers down",
            Self::LongNight => "receivers down for a day",
            Self::Role(_) => "role changed",
        }
    }
}
