//! The names that rows go by. Each is a short ASCII text, nearly always a constant of the engine.

use std::{borrow::Cow, fmt};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(Cow<'static, str>);

        impl $name {
            /// A name known when the program was written.
            #[must_use]
            pub const fn from_static(name: &'static str) -> Self {
                Self(Cow::Borrowed(name))
            }

            /// A name built or read at run time.
            #[must_use]
            pub fn new(name: impl Into<String>) -> Self {
                Self(Cow::Owned(name.into()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({})", stringify!($name), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

name! {
    /// What a record is, `request` or `signal` for example; with an id it names one record of a tenant.
    RecordKind
}
name! {
    /// An index over records, `request.pending` for example.
    IndexName
}
name! {
    /// A chain of a tenant, `receipts` for example.
    ChainName
}
name! {
    /// The type of an event, `request.raised` for example.
    EventType
}
name! {
    /// What waiting callers wait on, `waiter/…` for example.
    Topic
}
name! {
    /// One timer of a tenant, `expire/req_…` for example; putting a timer under a key replaces the one there.
    TimerKey
}
