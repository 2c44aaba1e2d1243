//! The files of a disposable deployment.

use std::{fs, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use serde_json::json;

use super::{
    Plan,
    roster::{self, Member},
    unguessable,
};
use crate::hooks::OWN;

/// A text in TOML: what JSON escapes, TOML reads.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// Writes everything that the server and the runner read.
pub(super) fn write(
    plan: &Plan,
    directory: &Path,
    program: &Path,
    port: u16,
    members: &[Member],
) -> Result<(), String> {
    let secrets = [format!("whsec_{}", unguessable(24)?), format!("whsec_{}", unguessable(24)?)];
    private(&directory.join("bootstrap.json"), &format!("{:#}\n", roster::bootstrap(members)))?;
    private(&directory.join("order.json"), &format!("{:#}\n", order()))?;
    private(&directory.join("handoffd.toml"), &configuration(plan, port, &secrets)?)?;
    private(&directory.join("profile.toml"), &profile(plan, directory, program, port, members, &secrets)?)
}

/// The one schema that documents can be held against.
fn order() -> serde_json::Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["sku"],
        "properties": { "sku": { "type": "string" }, "count": { "type": "integer", "minimum": 1 } },
    })
}

fn configuration(plan: &Plan, port: u16, secrets: &[String]) -> Result<String, String> {
    let mut text = format!(
        "database_url = \"sqlite:handoff.db\"\n\
         bind = \"127.0.0.1:{port}\"\n\
         bootstrap = \"bootstrap.json\"\n\
         rate_limit_per_minute = 100000\n\
         sweep_interval_ms = 50\n\
         link_only_permitted = {}\n\
         callback_secrets = {}\n\
         log_filter = \"debug\"\n",
        plan.link_only,
        quoted(&secrets.join(",")),
    );
    if plan.level >= 2 {
        text.push_str(&format!("continuation_keys = {}\n", quoted(&format!("conformance:{}", unguessable(32)?))));
    }
    text.push_str("\n[schemas]\n\"https://conformance.invalid/order.json\" = \"order.json\"\n");
    Ok(text)
}

fn profile(
    plan: &Plan,
    directory: &Path,
    program: &Path,
    port: u16,
    members: &[Member],
    secrets: &[String],
) -> Result<String, String> {
    let mut text = format!(
        "base_url = \"http://127.0.0.1:{port}\"\nlevel = {}\n\n[choices]\nlink_only = {}\n",
        plan.level, plan.link_only
    );
    for member in members {
        text.push_str(&format!("\n[credentials.{}]\ntoken = {}\n", member.name, quoted(&member.token)));
        let optional = [("id", member.id.as_deref()), ("role", member.role)];
        for (name, value) in optional.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            text.push_str(&format!("{name} = {}\n", quoted(value)));
        }
        text.push_str(&format!("kind = {}\ntenant = {}\n", quoted(member.kind), quoted(&member.tenant)));
    }
    text.push_str("\n[callbacks.secrets]\n");
    for (name, secret) in ["secret_a", "secret_b"].into_iter().zip(secrets) {
        text.push_str(&format!("{name} = {}\n", quoted(secret)));
    }
    text.push_str("\n[hooks]\n");
    for (name, command) in hooks(directory, program, &plan.variables) {
        let words: Vec<_> = command.iter().map(|word| quoted(word)).collect();
        text.push_str(&format!("{name} = [{}]\n", words.join(", ")));
    }
    Ok(text)
}

/// What each hook runs.
fn hooks(directory: &Path, program: &Path, variables: &[(String, String)]) -> Vec<(&'static str, Vec<String>)> {
    let text = |path: &Path| path.display().to_string();
    let database = text(&directory.join("handoff.db"));
    let sql = |statement: &str| {
        ["sqlite3", "-batch", "-cmd", ".timeout 20000", &database, statement].map(str::to_owned).to_vec()
    };
    let configuration = text(&directory.join("handoffd.toml"));
    let bare = |arguments: &[&str]| {
        let mut words = Vec::new();
        if !variables.is_empty() {
            words.push("env".to_owned());
            words.extend(variables.iter().map(|(name, value)| format!("{name}={value}")));
        }
        words.push(text(program));
        words.extend(arguments.iter().map(|&word| word.to_owned()));
        words
    };
    let own = |arguments: &[&str]| bare(&[&["--config", &configuration], arguments].concat());
    vec![
        ("read_title", sql("SELECT title FROM requests WHERE id = '{request}'")),
        ("change_title", sql("UPDATE requests SET title = '{title}' WHERE id = '{request}'")),
        ("change_receipt", sql("UPDATE receipts SET body = '{}' WHERE id = '{receipt}'")),
        ("delete_receipt", sql("DELETE FROM receipts WHERE id = '{receipt}'")),
        ("events", own(&["dump-events", "--request", "{request}"])),
        (
            "inject_message",
            own(&["inject-channel-message", "--request", "{request}", "--channel", "{channel}", "--text", "{text}"]),
        ),
        ("observe_page_change", own(&["observe-page-change", "--request", "{request}"])),
        ("canonicalize", bare(&["canonicalize", "--json={json}"])),
        ("log", vec!["cat".to_owned(), text(&directory.join("log"))]),
        (
            "store",
            // Rows as they are read, then the files with whatever else lies in them.
            ["sh", "-c", "sqlite3 -batch -readonly \"$0\" .dump && cat \"$0\" \"$0\"-*", &database]
                .map(str::to_owned)
                .to_vec(),
        ),
        (
            "restart",
            [OWN, "restart", "--directory", &text(directory), "--crash-point", "{crash_point}"]
                .map(str::to_owned)
                .to_vec(),
        ),
    ]
}

/// Writes a file that only its owner can read: tokens and secrets stand in it.
fn private(path: &Path, text: &str) -> Result<(), String> {
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.display()))
}
