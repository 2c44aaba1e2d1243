//! What the benches stand on: a machine, a person, and a moment that stands still.

use handoff_protocol::{
    chain::Head,
    decision::{Answer, Context, Policy, Raise, Request, Waiter, answer, capability::Capabilities, raise},
    id::{KeyId, Mint, OrgId, ServiceAccountId, Ulid, UserId},
    json::{Json, read_str},
    principal::{AuthStrength, Identity, Principal, Role, Scopes},
    secret::Secret,
    signature::SigningKey,
    timestamp::Timestamp,
};

const NOW: Timestamp = Timestamp::from_unix_seconds(1_785_000_000);

pub(crate) const RAISE: &str = r#"{"waiter_ref":"bench.1","mode":"gated","prompt":{"title":"Release 4.2.1 to production?",
    "body":"The build passed its 2,114 tests. It changes the totals of 31 open invoices by a cent each."},"requires":
    {"v":1,"answer":{"fields":[{"name":"decision","type":"choice","required":true,"options":[{"id":"approve","label":
    "Approve"},{"id":"reject","label":"Reject"}]},{"name":"note","type":"text","max_len":500}]},"capabilities":[],
    "authority":{"min_role":"editor","forbid_requester":true}}}"#;

pub(crate) const ANSWER: &str = r#"{"values":{"decision":"approve","note":"Checked the invoices."}}"#;

#[derive(Default)]
pub(crate) struct Scene {
    capabilities: Capabilities,
    policy: Policy,
}

impl Scene {
    pub(crate) fn mint(&self) -> Mint {
        Mint::new(NOW, Ulid::MIN, [7; 32])
    }

    pub(crate) fn context<'a>(&'a self, mint: &'a mut Mint) -> Context<'a> {
        Context { now: NOW, mint, policy: &self.policy, capabilities: &self.capabilities }
    }

    pub(crate) fn raise(&self) -> Option<(Request, Waiter)> {
        let command = Raise::read(&machine(), read_str(RAISE).ok()?, &self.policy).ok()?;
        let mut mint = self.mint();
        let effects = raise(&command, &machine(), None, &mut self.context(&mut mint)).ok()?;
        Some((effects.request, effects.waiter?))
    }

    /// A chain of so many receipts, each of the same answer.
    pub(crate) fn chain(&self, receipts: u64) -> Vec<Json> {
        let Some((request, waiter)) = self.raise() else { return Vec::new() };
        let mut head = Head::GENESIS;
        let next = || {
            let command = Answer::read(&person(), read_str(ANSWER).ok()?).ok()?;
            let mut mint = self.mint();
            let mut context = self.context(&mut mint);
            let receipt = answer(&request, &command, &person(), &waiter, &head, &mut context).ok()?.receipt?;
            head = receipt.link.head();
            read_str(&receipt.text).ok()
        };
        std::iter::repeat_with(next).map_while(|receipt| receipt).take(usize::try_from(receipts).unwrap_or(0)).collect()
    }
}

pub(crate) fn key() -> SigningKey {
    SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(7)), &Secret::new([7; 32]))
}

pub(crate) fn person() -> Principal {
    principal(Identity::Human(UserId::from_ulid(Ulid::from_u128(3))), AuthStrength::Session)
}

fn machine() -> Principal {
    principal(Identity::Machine(ServiceAccountId::from_ulid(Ulid::from_u128(2))), AuthStrength::Session)
}

fn principal(identity: Identity, strength: AuthStrength) -> Principal {
    Principal {
        tenant: OrgId::from_ulid(Ulid::from_u128(1)),
        identity,
        role: Role::Admin,
        strength,
        scopes: Scopes::All,
        display: Some("somebody".to_owned()),
        on_behalf_of: None,
        reauth_at: None,
        mfa_at: None,
        test: false,
    }
}
