//! `handoff verify`: check an export, offline.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    str::FromStr,
};

use handoff_protocol::{
    bundle::{self, BundleError, BundleReport, Finding, Trust},
    chain::Head,
    digest::Digest,
    json::{Json, Object, from_json, read},
    signature::KeySet,
};

use super::input;
use crate::{
    exit::Exit,
    failure::Failure,
    output::{Output, printable},
};

/// Check an export, or the proof of one receipt, offline: every digest, link and signature, and that nothing is missing in
/// between.
///
/// Says first whether the export verifies, then names everything that is wrong, what leaves a doubt (a receipt that was
/// signed after its key was retired), and what this check cannot show. Exits 8 if anything is wrong, 1 if the file is no
/// export at all; a doubt alone does not change the exit code.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The export or proof; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The published keys (JWKS), from the server's /v1/keys; without them those in the export are taken
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// A head of this chain that was recorded elsewhere, HEIGHT:DIGEST; repeatable
    #[arg(long = "head", value_name = "HEIGHT:DIGEST")]
    heads: Vec<KnownHead>,
    #[command(flatten)]
    output: Output,
}

/// A head of the chain, from the command line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct KnownHead(Head);

impl FromStr for KnownHead {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (height, digest) = text.split_once(':').ok_or("expected HEIGHT:DIGEST, for example 12:sha256:…")?;
        let height = height.parse().map_err(|_| "the height before the first `:` must be a number")?;
        let digest = Digest::parse(digest).map_err(|error| error.to_string())?;
        Ok(Self(Head { height, digest }))
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let bytes = input::bytes(&args.file)?;
    let keys = args.keys.as_deref().map(trusted_keys).transpose()?;
    let trust = Trust { keys, anchors: args.heads.iter().map(|head| head.0).collect() };
    // What is no export cannot be judged as one: only an export that was read can fail to verify.
    let report = bundle::verify(&bytes, &trust)
        .map_err(|error| Failure::failed(format!("{}: {}", input::name(&args.file), not_an_export(&bytes, &error))))?;
    let whose = if args.keys.is_some() { Keys::Brought } else { Keys::Carried };
    args.output.result(&json(&report), || people(&report, whose))?;
    Ok(if report.is_sound() { Exit::Done } else { Exit::NotVerified })
}

/// Why this is no export; what is easily taken for one is named.
fn not_an_export(bytes: &[u8], error: &BundleError) -> String {
    let members = read(bytes).ok();
    let has = |name: &str| members.as_ref().is_some_and(|json| json.get(name).is_some());
    if has("keys") && !has("format") {
        return "this is a set of published keys and no export; give it beside one: handoff verify EXPORT --keys FILE"
            .to_owned();
    }
    error.to_string()
}

fn trusted_keys(path: &Path) -> Result<KeySet, Failure> {
    let bytes = input::bytes(path)?;
    let refuse = |problem: String| Failure::usage(format!("`{}` holds no keys: {problem}", path.display()));
    let jwks = read(&bytes).map_err(|error| refuse(error.to_string()))?;
    let jwks = from_json(jwks).map_err(|error| refuse(error.to_string()))?;
    KeySet::from_jwks(&jwks).map_err(|error| refuse(error.to_string()))
}

/// Where the keys come from, which decides how much a clean result says.
#[derive(Clone, Copy)]
enum Keys {
    /// From elsewhere.
    Brought,
    /// From the export itself.
    Carried,
}

fn people(report: &BundleReport, keys: Keys) -> String {
    let mut text = String::new();
    let BundleReport { receipts, signed, org_id, .. } = report;
    // Writing to a string cannot fail.
    let verdict = match (report.findings.len(), keys) {
        (0, _) if !report.doubts.is_empty() => {
            let doubts = report.doubts.len();
            format!("consistent, IN DOUBT: every receipt is what was sealed, {doubts} of them after their key was retired")
        }
        (0, Keys::Brought) => "verified: every receipt is what was sealed".to_owned(),
        (0, Keys::Carried) => {
            "consistent: every receipt is what was sealed, by the keys that this file carries; --keys says whose they are"
                .to_owned()
        }
        (1, _) => "NOT verified: 1 thing is wrong".to_owned(),
        (several, _) => format!("NOT verified: {several} things are wrong"),
    };
    let _ = writeln!(text, "verdict   {verdict}");
    let _ = writeln!(text, "tenant    {org_id}");
    let _ = writeln!(text, "receipts  {receipts}, {signed} signed and unchanged");
    if let Some(head) = report.head {
        let _ = writeln!(text, "head      {}:{}", head.height, head.digest);
    }
    for finding in &report.findings {
        let _ = writeln!(text, "wrong     {}", words(finding));
    }
    for doubt in &report.doubts {
        let _ = writeln!(text, "doubt     {}", words(doubt));
    }
    for limit in &report.limits {
        let _ = writeln!(text, "note      {limit}");
    }
    text
}

/// A finding in one line: where, which receipt, what kind of fault, and the fault in words.
pub(crate) fn words(finding: &Finding) -> String {
    let mut line = String::new();
    if let Some(height) = finding.height {
        let _ = write!(line, "height {height} ");
    }
    if let Some(id) = &finding.receipt_id {
        let _ = write!(line, "{} ", printable(id));
    }
    let _ = write!(line, "{}: {}", finding.kind.as_str(), printable(&finding.message));
    line
}

fn json(report: &BundleReport) -> Json {
    let finding = |finding: &Finding| {
        Json::object([
            ("height", Json::from(finding.height)),
            ("receipt_id", Json::from(finding.receipt_id.clone())),
            ("kind", Json::from(finding.kind.as_str())),
            ("message", Json::from(finding.message.as_str())),
        ])
    };
    let mut members = Object::new();
    members.insert("verified", report.is_sound());
    members.insert("org_id", report.org_id.to_string());
    members.insert("receipts", report.receipts);
    members.insert("signed", report.signed);
    members.insert(
        "head",
        report.head.map(|head| {
            Json::object([("height", Json::from(head.height)), ("digest", Json::from(head.digest.to_string()))])
        }),
    );
    members.insert("findings", report.findings.iter().map(finding).collect::<Vec<_>>());
    members.insert("doubts", report.doubts.iter().map(finding).collect::<Vec<_>>());
    members.insert("limits", report.limits.iter().map(|limit| Json::from(*limit)).collect::<Vec<_>>());
    Json::from(members)
}
