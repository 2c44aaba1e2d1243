//! One type for each kind of id, so that one kind cannot be handed over as another.

use std::fmt;
use std::str::FromStr;

use super::text::text_value;
use super::{IdError, Ulid};

/// An id that sorts by the time of its making and may be logged (B-2).
pub trait Id: Copy {
    /// The text before the 26 characters, with its underscore.
    const PREFIX: &'static str;

    /// Wraps a ULID as this kind of id.
    fn from_ulid(ulid: Ulid) -> Self;

    /// Gives the ULID inside.
    fn ulid(self) -> Ulid;
}

/// An id whose possession is authority: drawn wholly at random, without a clock part, and redacted in `Debug` (B-2).
pub trait SecretId: Copy {
    /// The text before the 26 characters, with its underscore.
    const PREFIX: &'static str;

    /// Wraps 128 random bits as this kind of id.
    fn from_ulid(ulid: Ulid) -> Self;

    /// Gives the 128 bits inside.
    fn ulid(self) -> Ulid;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $trait:ident, $prefix:literal, $schema_name:expr, |$this:ident, $f:ident| $debug:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(Ulid);

        impl $name {
            /// The text before the 26 characters, with its underscore.
            pub const PREFIX: &'static str = $prefix;

            /// Wraps a ULID as this kind of id.
            #[must_use]
            pub const fn from_ulid(ulid: Ulid) -> Self {
                Self(ulid)
            }

            /// Gives the ULID inside.
            #[must_use]
            pub const fn ulid(self) -> Ulid {
                self.0
            }

            /// Reads the canonical text of this kind of id (B-2).
            ///
            /// # Errors
            ///
            /// [`IdError::Id`] with the expected prefix for any other text.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                text.strip_prefix(Self::PREFIX)
                    .and_then(|rest| Ulid::parse(rest).ok())
                    .map(Self)
                    .ok_or(IdError::Id { prefix: Self::PREFIX })
            }
        }

        impl $trait for $name {
            const PREFIX: &'static str = $prefix;

            fn from_ulid(ulid: Ulid) -> Self {
                Self(ulid)
            }

            fn ulid(self) -> Ulid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(Self::PREFIX)?;
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, $f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $this = self;
                $debug
            }
        }

        text_value!($name, $schema_name, concat!("a text that begins with `", $prefix, "`"), {
            "type": "string",
            "pattern": concat!("^", $prefix, "[0-9A-HJKMNP-TV-Z]{26}$"),
        });
    };
    ($(#[$doc:meta])* open $name:ident, $prefix:literal) => {
        id!($(#[$doc])* $name, Id, $prefix, stringify!($name), |this, f| fmt::Display::fmt(this, f));
    };
    ($(#[$doc:meta])* secret $name:ident, $prefix:literal, $schema_name:literal) => {
        id!($(#[$doc])* $name, SecretId, $prefix, $schema_name, |_this, f| f.write_str(concat!($prefix, "…redacted")));
    };
}

id!(
    /// Names a request, `req_…`.
    open RequestId, "req_"
);
id!(
    /// Names a receipt, `rcpt_…`.
    open ReceiptId, "rcpt_"
);
id!(
    /// Names a single-use authorization, `auth_…`.
    open AuthorizationId, "auth_"
);
id!(
    /// Names a delivery to a person or a push to a callback, `dlv_…`; stable across retries.
    open DeliveryId, "dlv_"
);
id!(
    /// Names a signal to a waiter, `sig_…`.
    open SignalId, "sig_"
);
id!(
    /// Names a place that secret values are written to, `snk_…`.
    open SinkRef, "snk_"
);
id!(
    /// Names a person, `usr_…`.
    open UserId, "usr_"
);
id!(
    /// Names a machine's account, `sa_…`.
    open ServiceAccountId, "sa_"
);
id!(
    /// Names an organization, which is a tenant, `org_…`.
    open OrgId, "org_"
);
id!(
    /// Names a receipt signing key of ours, `rk_…`.
    open KeyId, "rk_"
);
id!(
    /// Names what was shown to a person, `rnd_…`.
    open RenderingId, "rnd_"
);
id!(
    /// Names words that came in through a channel, `msg_…`.
    open MessageId, "msg_"
);
id!(
    /// Names an observation of something that changed, `obs_…`.
    open ObservationId, "obs_"
);
id!(
    /// Bears a capability grant, `hg_…`: whoever holds it may use the grant.
    secret GrantHandle, "hg_", "GrantHandle"
);
id!(
    /// Bears a session under a grant, `hs_…`: whoever holds it may act in the session.
    secret SessionRef, "hs_", "GrantSessionRef"
);
id!(
    /// Bears the right to resume a waiter, `rt_…`.
    secret ResumeToken, "rt_", "ResumeToken"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_parses_only_under_its_own_prefix() {
        let text = "req_01K3M7QW8ZC4YRXB2N6VD9FTHE";
        assert_eq!(RequestId::parse(text).unwrap().to_string(), text);
        assert_eq!(ReceiptId::parse(text), Err(IdError::Id { prefix: "rcpt_" }));
        for refused in [
            "",
            "req_",
            "REQ_01K3M7QW8ZC4YRXB2N6VD9FTHE",
            "01K3M7QW8ZC4YRXB2N6VD9FTHE",
            " req_01K3M7QW8ZC4YRXB2N6VD9FTHE",
        ] {
            assert!(RequestId::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn the_error_names_the_prefix_and_not_the_input() {
        let said = RequestId::parse("req_hunter2").unwrap_err().to_string();
        assert_eq!(said, "expected `req_` followed by 26 characters of uppercase Crockford base32");
    }

    #[test]
    fn bearer_ids_are_redacted_in_debug_and_written_in_display() {
        let token = ResumeToken::parse("rt_01K3MB2R558ZC4YRXB2N6VD9FT").unwrap();
        assert_eq!(format!("{token:?}"), "rt_…redacted");
        assert_eq!(token.to_string(), "rt_01K3MB2R558ZC4YRXB2N6VD9FT");
        let open = RequestId::parse("req_01K3M7QW8ZC4YRXB2N6VD9FTHE").unwrap();
        assert_eq!(format!("{open:?}"), open.to_string());
    }

    #[test]
    fn an_id_is_a_string_in_json_and_in_the_schema() {
        let id: OrgId = serde_json::from_str("\"org_01K0A2QW8ZC4YRXB2N6VD9FTHE\"").unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"org_01K0A2QW8ZC4YRXB2N6VD9FTHE\"");
        assert!(serde_json::from_str::<OrgId>("\"usr_01K0A2QW8ZC4YRXB2N6VD9FTHE\"").is_err());
        assert!(serde_json::from_str::<OrgId>("7").is_err());
        let schema = serde_json::to_value(schemars::schema_for!(SessionRef)).unwrap();
        assert_eq!(schema["pattern"], "^hs_[0-9A-HJKMNP-TV-Z]{26}$");
        assert_eq!(schema["title"], "GrantSessionRef");
    }
}
