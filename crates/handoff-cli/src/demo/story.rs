//! The story that the demo tells, step by step, each of them checked.

use std::{fs, net::SocketAddr, path::Path};

use handoff_client::{CallKey, Client};
use handoff_engine::identity::NewCredential;
use handoff_protocol::{
    bundle::Trust,
    decision::{ErrorCode, view::RequestView, view::SignalView},
    duration::ExactDuration,
    id::{AuthorizationId, PrincipalId, RequestId},
    json::{Json, read_str},
    principal::Role,
    signature::KeySet,
};
use handoff_server::{Config, Running, Server};

use super::{Place, browser::Browser, proof};
use crate::{commands::verify, failure::Failure, output};

/// What the demo's program asks.
const REFUND: &str = include_str!("../../../../examples/requests/refund.json");
/// How long the person's link can be used.
const LINK_MINUTES: u64 = 60;

/// Tells the story; an error is a promise that was not kept.
pub(super) async fn tell(place: &Place, answer: Option<&str>) -> Result<(), Failure> {
    let mut config = Config::dev(place.path());
    config.bind.set_port(0);
    let server = Server::start(config).await.map_err(|error| Failure::failed(error.to_string()))?;
    say(&format!("1  a server runs at {}, over a new SQLite store", server.engine().public_base()))?;
    let told = chapters(&server, place, answer).await;
    server.stop().await;
    told
}

async fn chapters(server: &Running, place: &Place, answer: Option<&str>) -> Result<(), Failure> {
    let cast = Cast::assemble(server).await?;
    let body = read_str(REFUND).map_err(|error| Failure::failed(format!("the example: {error}")))?;

    let raised = cast.program.raise(&body, Some(&CallKey::mint()?)).await?;
    promise(raised.was_created, "a first raise creates a request")?;
    let request = raised.request;
    say(&format!("2  a program asks: {}", text(&request.prompt, "title")))?;

    // The program waits while the person decides: the answer wakes it.
    let waiting = tokio::spawn(wait(cast.program.clone(), request.clone()));
    let link = cast.link(server, request.id).await?;
    match answer {
        Some(decision) => {
            say("3  Ada enters through her one-time link and sees the request")?;
            answer_in_form(server.address(), &link, &request, decision).await?;
            say(&format!("4  she chooses \"{}\" in the form and sends it", label_of(&body, decision)?))?;
        }
        None => {
            say(&format!("3  you are Ada. Open this link, read, and decide:\n\n   {link}\n"))?;
        }
    }

    let signal = waiting.await.map_err(|error| Failure::failed(format!("the program died: {error}")))??;
    let decision = signal.decision.clone().ok_or_else(|| Failure::failed("the signal carries no decision"))?;
    let decided = text(&decision.values, "decision").to_owned();
    promise(answer.is_none_or(|answer| answer == decided), "the program gets what the person chose")?;
    if answer.is_none() {
        say(&format!("4  you chose \"{}\"", label_of(&body, &decided)?))?;
    }
    say(&format!("5  the program, which was waiting, gets the typed answer: {}", decision.values.to_text()))?;
    let acked = cast.program.acknowledge(signal.id, signal.resume_token, true, None).await?;
    promise(acked.first_ack, "a first acknowledgement is the first")?;
    let authorization =
        decision.authorization_id.ok_or_else(|| Failure::failed("the answer carries no authorization"))?;
    redeem(&cast.program, authorization, &decided).await?;
    prove(&cast.program, place, &decided).await
}

/// Who takes part.
struct Cast {
    program: Client,
    tenant: handoff_protocol::id::OrgId,
    person: handoff_protocol::id::UserId,
}

impl Cast {
    async fn assemble(server: &Running) -> Result<Self, Failure> {
        let engine = server.engine();
        let tenant = engine.create_tenant().await?;
        let machine = PrincipalId::ServiceAccount(engine.create_machine(tenant, "refund bot").await?);
        let key = engine.issue_key(tenant, machine, NewCredential::default()).await?;
        let person = engine.create_person(tenant, "Ada", Role::Editor).await?;
        let program = Client::new(&format!("http://{}", server.address()), key)?;
        Ok(Self { program, tenant, person })
    }

    async fn link(&self, server: &Running, request: RequestId) -> Result<String, Failure> {
        let ttl = ExactDuration::from_minutes(LINK_MINUTES);
        let token = server.engine().issue_link(self.tenant, self.person, ttl, Some(request)).await?;
        Ok(format!("{}/enter/{}", server.engine().public_base(), token.expose()))
    }
}

/// Polls as any program would, until the request's signal is there.
async fn wait(program: Client, request: RequestView) -> Result<SignalView, Failure> {
    loop {
        let signals = program.poll(&request.waiter_ref, 30).await?;
        if let Some(signal) = signals.data.into_iter().find(|signal| signal.request_id == request.id) {
            return Ok(signal);
        }
    }
}

/// Does what a person does: opens the link, presses the button, chooses, sends.
async fn answer_in_form(address: SocketAddr, link: &str, request: &RequestView, decision: &str) -> Result<(), Failure> {
    let path = link.find("/enter/").and_then(|at| link.get(at..)).unwrap_or(link);
    let mut browser = Browser::new(format!("http://{address}"))?;
    let door = browser.open(path).await?;
    let page = browser.send(&door, &door.form()?).await?;
    let mut form = page.form()?;
    let label = label_of_requires(&request.requires, decision)?;
    promise(form.choose(&label), "the form offers what the program declared")?;
    let settled = browser.send(&page, &form).await?;
    promise(settled.shows("rcpt_"), "the page shows the receipt")
}

/// The answer is good for one effect, once: the refund, or the letter that says no.
async fn redeem(program: &Client, authorization: AuthorizationId, decided: &str) -> Result<(), Failure> {
    let effect = if decided == "approve" { "refund:order-20417" } else { "decline:order-20417" };
    let first = program.redeem(authorization, effect, None).await?.first_redemption;
    let again = program.redeem(authorization, effect, None).await?.first_redemption;
    promise(first && !again, "an effect is redeemed first once")?;
    match program.redeem(authorization, "refund:order-20418", None).await {
        Err(error) if error.is_refused_with(ErrorCode::AuthorizationSpent) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => return Err(Failure::failed("a second effect was authorized: this must not be")),
    }
    say(&format!("6  it redeems the answer for the effect {effect}: first time {first}"))?;
    say(&format!(
        "   it tries the same again: first time {again}; it tries another effect: refused, authorization_spent"
    ))
}

async fn prove(program: &Client, place: &Place, decided: &str) -> Result<(), Failure> {
    let export = program.export().await?;
    let keys = KeySet::from_jwks(&program.keys().await?).map_err(|error| Failure::failed(error.to_string()))?;
    let head = program.chain_head().await?;
    let known = handoff_protocol::chain::Head { height: head.height, digest: head.head_digest };
    let trust = Trust { keys: Some(keys), anchors: vec![known] };
    let report = proof::verify(&export, &trust)?;
    promise(report.is_sound(), "the export verifies")?;
    promise(report.receipts == 1 && report.signed == 1, "the export holds one signed receipt")?;
    say("7  the export verifies offline: 1 receipt, its digest, its place in the chain, its signature")?;
    let instead = if decided == "approve" { "reject" } else { "approve" };
    let (copy, finding) = proof::tampered(&export, decided, instead, &trust)?;
    say(&format!("8  in a copy of it, {decided} became {instead}; the verifier says:"))?;
    say(&format!("   {}", verify::words(&finding)))?;
    match place {
        Place::Kept(path) => {
            keep(path, "export.json", &export)?;
            keep(path, "export-changed.json", &copy)?;
            say(&format!("kept in {0}; try: handoff verify {0}/export-changed.json", path.display()))
        }
        Place::Passing(_) => say("nothing is kept; with --keep DIR the store, the export and the changed copy are"),
    }
}

fn keep(directory: &Path, name: &str, text: &str) -> Result<(), Failure> {
    fs::write(directory.join(name), text)
        .map_err(|error| Failure::failed(format!("`{name}` cannot be written: {error}")))
}

fn say(line: &str) -> Result<(), Failure> {
    output::raw(&format!("{line}\n"))
}

/// A promise of the demo, which fails where it is not kept.
fn promise(kept: bool, words: &str) -> Result<(), Failure> {
    if kept { Ok(()) } else { Err(Failure::failed(format!("not as promised: {words}"))) }
}

fn text<'a>(json: &'a Json, member: &str) -> &'a str {
    json.get(member).and_then(Json::as_str).unwrap_or_default()
}

fn label_of(body: &Json, decision: &str) -> Result<String, Failure> {
    label_of_requires(body.get("requires").unwrap_or(&Json::Null), decision)
}

/// The words that a person reads for an option.
fn label_of_requires(requires: &Json, decision: &str) -> Result<String, Failure> {
    let options = requires.pointer("/answer/fields/0/options").and_then(Json::as_array).unwrap_or_default();
    let option = options.iter().find(|option| text(option, "id") == decision);
    option.map(|option| text(option, "label").to_owned()).ok_or_else(|| Failure::failed("there is no such option"))
}
