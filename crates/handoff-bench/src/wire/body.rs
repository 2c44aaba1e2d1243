//! The bodies that are sent: an approval as the published clients build it, with a page of text for the person.

use bytes::Bytes;

const BEFORE: &str = r#"{"waiter_ref":""#;
const AFTER: &str = concat!(
    r#"","mode":"gated","prompt":{"title":"Release 4.2.1 to production?","body":"The build passed its 2,114 tests. "#,
    r#"It moves the ledger to the new rounding rule, which changes the totals of 31 open invoices by at most one cent "#,
    r#"each. A rollback takes about four minutes.","evidence":[{"kind":"link","label":"Change log","#,
    r#""url":"https://example.com/changes/4.2.1"},{"kind":"text","label":"Invoices","value":"31"}]},"#,
    r#""requires":{"v":1,"answer":{"fields":[{"name":"decision","type":"choice","required":true,"options":"#,
    r#"[{"id":"approve","label":"Approve"},{"id":"reject","label":"Reject"}]},{"name":"note","type":"text","#,
    r#""max_len":500}]},"capabilities":[],"authority":{"min_role":"editor","forbid_requester":true}},"#,
    r#""metadata":{"pipeline":"release","run":1841}"#
);

/// What a raise says beyond what is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Terms<'a> {
    /// Nothing: the server chooses whom it reaches, and how.
    Plain,
    /// The page is all that reaches anybody.
    PageAlone,
    /// Signals are pushed to this address as well, which needs no escape.
    Callback(&'a str),
    /// It is denied after so many seconds.
    Expires(u64),
}

impl Terms<'_> {
    fn members(self) -> String {
        match self {
            Self::Plain => String::new(),
            Self::PageAlone => r#","routing":{"ladder":[{"after":"PT0S","channels":["inapp"]}]}"#.to_owned(),
            Self::Callback(url) => format!(r#","callback":{{"url":"{url}"}}"#),
            Self::Expires(seconds) => {
                format!(r#","ttl":"PT{seconds}S","ttl_policy":{{"on_expiry":"expire_and_deny"}}"#)
            }
        }
    }
}

/// A raise for a waiter whose name needs no escape.
pub(super) fn raise(waiter: &str, terms: Terms<'_>) -> Bytes {
    Bytes::from([BEFORE, waiter, AFTER, &terms.members(), "}"].concat())
}

/// The person's answer.
pub(super) const fn answer() -> Bytes {
    Bytes::from_static(br#"{"values":{"decision":"approve","note":"Checked the invoices."}}"#)
}

pub(super) fn acknowledge(token: &str) -> Bytes {
    Bytes::from([r#"{"resume_token":""#, token, r#"","applied":true}"#].concat())
}

pub(super) fn redeem(effect: &str) -> Bytes {
    Bytes::from([r#"{"effect_key":""#, effect, r#""}"#].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_body_is_json() {
        for body in [raise("bench.1", Terms::Plain), answer(), acknowledge("rt_1"), redeem("effect")] {
            serde_json::from_slice::<serde_json::Value>(&body).unwrap();
        }
    }

    #[test]
    fn every_raise_is_one_of_the_contract() {
        for terms in [Terms::Plain, Terms::PageAlone, Terms::Callback("http://127.0.0.1:1/"), Terms::Expires(15)] {
            serde_json::from_slice::<handoff_protocol::decision::wire::RaiseBody>(&raise("bench.1", terms)).unwrap();
        }
    }
}
