//! Takes pictures of every page, at both sizes, in light and dark: `cargo xtask screenshots [DIRECTORY]`.
//!
//! The pages are served over a store in memory and looked at with a real Chromium; nothing outlives the run but the
//! pictures.
#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use std::{env, error::Error, fs, path::PathBuf, sync::Arc, time::Duration};

use handoff_browser::{Chromium, Look, Page};
use handoff_engine::{Engine, entropy::SystemEntropy, identity::NewCredential};
use handoff_protocol::{
    duration::ExactDuration,
    id::{KeyId, OrgId, PrincipalId, RequestId, Ulid},
    json::read_str,
    principal::{Principal, Role},
    secret::Secret,
    signature::SigningKey,
};
use handoff_testkit::{MemoryStore, VirtualClock};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A refund with evidence of each kind and most types of fields.
const REFUND: &str = r###"{"waiter_ref":"run:0198f2a1","urgency":"high","effect_digest":"sha256:8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4","mode":"gated",
  "prompt":{"title":"Refund $2,400 to Acme Corp?",
  "body":"Invoice **INV-8821** was charged twice on 28 July, see the [billing record](https://billing.example/invoices/8821). Acme has asked for the second charge back.\n\n## What I checked\n\n1. Both charges are on the same card.\n2. No refund has been sent so far.\n3. The customer is `active` and in good standing.\n\n> The refund cannot be undone once it has been sent to the bank.",
  "evidence":[{"kind":"link","label":"Invoice INV-8821","url":"https://billing.example/invoices/8821"},
    {"kind":"table","label":"Both charges","value":{"columns":["Date","Amount","Charge","Card","State"],
      "rows":[["2026-07-28","$2,400","ch_1A","ending 4242","captured"],["2026-07-28","$2,400","ch_1B","ending 4242","captured"]]}},
    {"kind":"text","label":"What Acme wrote","value":"We see two identical charges. Please send one back."},
    {"kind":"document","label":"The customer's record","value":{"id":"cus_81","plan":"team","since":"2023-04-01"},"ref":"crm:cus_81"}]},
  "requires":{"v":1,"answer":{"fields":[
    {"name":"decision","label":"Decision","type":"choice","required":true,
      "options":[{"id":"approve","label":"Refund it"},{"id":"reject","label":"Do not refund"}]},
    {"name":"amount","label":"Amount in dollars","help":"The full second charge unless you say otherwise.","type":"number","min":1,"max":2400,"required":true,"initial":2400},
    {"name":"message","label":"Message to Acme","type":"text","max_len":300}]},
    "authority":{"min_role":"editor","reason":"Refunds above $1,000 need an editor."}},
  "ttl":"PT4H","ttl_policy":{"on_expiry":"expire_and_deny"}}"###;

/// One request a type of field.
const FIELDS: [(&str, &str); 9] = [
    (
        "choice",
        r#"{"type":"choice","label":"Which region goes first?","required":true,"options":[{"id":"eu","label":"Europe"},{"id":"us","label":"United States"},{"id":"ap","label":"Asia and the Pacific"}]}"#,
    ),
    (
        "choice-multi",
        r#"{"type":"choice","multi":true,"label":"Who should be told?","options":[{"id":"a","label":"The account manager"},{"id":"b","label":"The finance team"},{"id":"c","label":"The customer"}]}"#,
    ),
    (
        "choice-many",
        r#"{"type":"choice","label":"Which month?","required":true,"options":[{"id":"1","label":"January"},{"id":"2","label":"February"},{"id":"3","label":"March"},{"id":"4","label":"April"},{"id":"5","label":"May"},{"id":"6","label":"June"},{"id":"7","label":"July"},{"id":"8","label":"August"},{"id":"9","label":"September"}]}"#,
    ),
    (
        "text",
        r#"{"type":"text","label":"What should the customer read?","help":"It is sent as you write it.","max_len":500,"required":true}"#,
    ),
    ("number", r#"{"type":"number","label":"How many licenses?","min":1,"max":250,"required":true}"#),
    ("boolean", r#"{"type":"boolean","label":"Ship build 1482 to production?","required":true}"#),
    (
        "attestation",
        r#"{"type":"attestation","label":"I have compared both charges with the bank statement","required":true}"#,
    ),
    (
        "document",
        r#"{"type":"document","label":"Limits","schema_ref":"https://schemas.example/limits/v1","required":true,"initial":{"per_minute":1000,"burst":{"size":50,"window":"PT10S"},"exempt":["billing","health"]}}"#,
    ),
    ("file-ref", r#"{"type":"file_ref","label":"Signed contract","help":"The number that the archive gave it."}"#),
];

/// What else stands in the inbox.
const OTHERS: [&str; 4] = [
    r#"{"waiter_ref":"incident:77","urgency":"critical","prompt":{"title":"Fail over the payments database to Frankfurt?"},"requires":{"v":1},"ttl":"PT20M","ttl_policy":{"on_expiry":"expire_and_deny"}}"#,
    r#"{"waiter_ref":"deploy:eu","prompt":{"title":"Ship build 1482 to production?"},"requires":{"v":1},"ttl":"P2D","ttl_policy":{"on_expiry":"expire_and_deny"}}"#,
    r#"{"waiter_ref":"hr:41","prompt":{"title":"Close the account of a former colleague"},"requires":{"v":1,"authority":{"auth_strength":"mfa"}}}"#,
    r#"{"waiter_ref":"docs:9","urgency":"low","prompt":{"title":"Which of these three introductions reads best?"},"requires":{"v":1}}"#,
];

struct Studio {
    engine: Engine,
    clock: VirtualClock,
    tenant: OrgId,
    machine: Principal,
    base: String,
    chromium: Chromium,
    directory: PathBuf,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let directory = env::args_os().nth(1).map_or_else(|| PathBuf::from("target/screenshots"), PathBuf::from);
    fs::create_dir_all(&directory)?;
    let program = handoff_browser::find().ok_or("there is no Chromium; install it, or name it in HANDOFF_CHROMIUM")?;
    let studio = Studio::new(Chromium::launch(&program)?, directory).await?;
    let looks = [
        ("phone-light", Look::phone()),
        ("phone-dark", Look::phone().dark()),
        ("desktop-light", Look::desktop()),
        ("desktop-dark", Look::desktop().dark()),
    ];
    let mut taken = 0_usize;
    for (name, look) in looks {
        taken = taken.saturating_add(studio.take_all(name, &look).await?);
    }
    println!("{taken} pictures are in {}", studio.directory.display());
    Ok(())
}

impl Studio {
    async fn new(chromium: Chromium, directory: PathBuf) -> Outcome<Self> {
        let clock = VirtualClock::default();
        let store = MemoryStore::new(Arc::new(clock.clone()), Arc::new(SystemEntropy));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("http://{}", listener.local_addr()?);
        let signer = SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(7)), &Secret::new([7; 32]));
        let engine = Engine::builder()
            .store(Arc::new(store))
            .clock(Arc::new(clock.clone()))
            .signer(Arc::new(signer))
            .public_base(&base)
            .build()
            .await?;
        let router = handoff_web::router(engine.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let tenant = engine.create_tenant().await?;
        let account = PrincipalId::ServiceAccount(engine.create_machine(tenant, "Refund assistant").await?);
        let behalf = PrincipalId::User(engine.create_person(tenant, "Grace Hopper", Role::Admin).await?);
        let credential = NewCredential { on_behalf_of: Some(behalf), ..NewCredential::default() };
        let key = engine.issue_key(tenant, account, credential).await?;
        let machine = engine.authenticate(Some(key.expose())).await?;
        Ok(Self { engine, clock, tenant, machine, base, chromium, directory })
    }

    async fn take_all(&self, look_name: &str, look: &Look) -> Outcome<usize> {
        let mut taken = 0_usize;
        let mut take = |page: &Page, name: &str| -> Outcome<()> {
            fs::write(self.directory.join(format!("{name}-{look_name}.png")), page.picture()?)?;
            taken = taken.saturating_add(1);
            Ok(())
        };
        let refund = self.raise(REFUND).await?;
        let mut others = Vec::new();
        for body in OTHERS {
            others.push(self.raise(body).await?);
        }
        let person = self.engine.create_person(self.tenant, "Ada Lovelace", Role::Editor).await?;
        let link = self.engine.issue_link(self.tenant, person, ExactDuration::from_hours(1), Some(refund)).await?;
        let page = self.chromium.window(look)?;
        page.open(&self.base)?;
        take(&page, "sign-in")?;
        page.open(&format!("{}/enter/{}", self.base, link.expose()))?;
        take(&page, "enter")?;
        page.click("main form button")?;
        page.says("Your answer lets the program act on it once")?;
        take(&page, "request")?;
        page.evaluate("document.querySelector('[name=\"v.amount\"]').value = 'plenty'")?;
        page.click("form.answer button.primary")?;
        page.says("was not sent yet")?;
        take(&page, "request-faulty")?;
        page.open(&self.base)?;
        take(&page, "inbox")?;
        page.open(&format!("{}/settings", self.base))?;
        take(&page, "settings")?;
        page.open(&format!("{}/requests/nothing", self.base))?;
        take(&page, "error-not-found")?;

        let mut asked = Vec::new();
        for (name, field) in FIELDS {
            let field = field.replacen('{', r#"{"name":"answer","#, 1);
            let body = format!(
                r#"{{"waiter_ref":"field:{name}","prompt":{{"title":"One question","body":"A program needs this to go on."}},"requires":{{"v":1,"answer":{{"fields":[{field}]}}}}}}"#
            );
            let id = self.raise(&body).await?;
            page.open(&self.address(id))?;
            take(&page, &format!("field-{name}"))?;
            asked.push(id);
        }

        page.open(&self.address(refund))?;
        page.click("[name='v.decision']")?;
        page.click("#note")?;
        page.write("Compared with the bank statement of 28 July.")?;
        page.click("form.answer button.primary")?;
        page.says("Download proof")?;
        take(&page, "receipt")?;
        for (id, name) in others.iter().zip(["error-expired", "error-withdrawn"]) {
            if name == "error-withdrawn" {
                let reason = read_str(r#"{"reason":"The build was pulled."}"#)?;
                self.engine.cancel(&self.machine, *id, reason, None).await?;
            } else {
                self.clock.advance(Duration::from_secs(1200));
                self.engine.run_due_timers().await?;
            }
            page.open(&self.address(*id))?;
            take(&page, name)?;
        }
        for id in others.into_iter().chain(asked) {
            // What lapsed meanwhile is gone already.
            let _ = self.engine.cancel(&self.machine, id, read_str(r#"{"reason":"Taken."}"#)?, None).await;
        }
        page.close()?;
        Ok(taken)
    }

    async fn raise(&self, body: &str) -> Outcome<RequestId> {
        Ok(self.engine.raise(&self.machine, read_str(body)?, None).await?.request.id)
    }

    fn address(&self, id: RequestId) -> String {
        format!("{}/requests/{id}", self.base)
    }
}
