//! Whoever tells a node what to do, and starts another when it is gone.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use super::{dying::Death, line::Answer};
use crate::cast::Tenant;

/// Where time begins: the first moment of 2026, UTC.
const BEGINNING: i64 = 1_767_225_600_000;

/// One client with one node, and what it was told.
pub struct Client<'t> {
    program: PathBuf,
    database: PathBuf,
    tenant: &'t Tenant,
    now: i64,
    node: Option<Running>,
    /// The facts that it was told, by name, in order.
    pub facts: BTreeMap<String, Vec<String>>,
    /// What was refused: the verb and the code.
    pub refused: Vec<(String, String)>,
    /// How often a node died.
    pub deaths: u32,
}

struct Running {
    child: Child,
    told: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl<'t> Client<'t> {
    /// A client that starts its first node, which dies as it is told.
    ///
    /// # Errors
    ///
    /// If there can be no process.
    pub fn start(program: &Path, database: &Path, tenant: &'t Tenant, death: Option<Death>) -> Result<Self, String> {
        let mut client = Self {
            program: program.to_owned(),
            database: database.to_owned(),
            tenant,
            now: BEGINNING,
            node: None,
            facts: BTreeMap::new(),
            refused: Vec::new(),
            deaths: 0,
        };
        client.node = Some(client.spawn(death)?);
        Ok(client)
    }

    fn spawn(&self, death: Option<Death>) -> Result<Running, String> {
        let people: Vec<String> = self.tenant.people.iter().map(|person| person.id.to_string()).collect();
        let mut command = Command::new(&self.program);
        command.args(["node", "--now", &self.now.to_string(), "--tenant", &self.tenant.id.to_string()]);
        command.arg("--people").arg(people.join(",")).arg("--database").arg(&self.database);
        if let Some(death) = death {
            command.args(["--at", &death.at.to_string(), "--moment", death.moment.name()]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("no process: {error}"))?;
        let (told, answers) = (child.stdin.take(), child.stdout.take());
        let (told, answers) = told.zip(answers).ok_or("a process without pipes")?;
        Ok(Running { child, told, answers: BufReader::new(answers) })
    }

    /// Tells the node a line. When it dies over it, what it left is looked at, and another node is told the same.
    ///
    /// # Errors
    ///
    /// If a node that does not die gives no answer, or what was left is not sound.
    pub fn tell(&mut self, words: &[&str], look: &dyn Fn(&Path) -> Result<(), String>) -> Result<Answer, String> {
        let line = format!("{}\t{}\n", self.now, words.join("\t"));
        for _ in 0..2 {
            let mut node = match self.node.take() {
                Some(node) => node,
                None => self.spawn(None)?,
            };
            if let Some(answer) = node.ask(&line) {
                self.node = Some(node);
                self.note(words.first().unwrap_or(&""), &answer);
                return Ok(answer);
            }
            drop(node);
            self.deaths = self.deaths.saturating_add(1);
            look(&self.database)?;
        }
        Err(format!("no answer to {}", words.first().unwrap_or(&"nothing")))
    }

    fn note(&mut self, verb: &str, answer: &Answer) {
        match answer {
            Answer::Done(facts) => {
                for (name, value) in facts {
                    self.facts.entry(name.clone()).or_default().push(value.clone());
                }
            }
            Answer::Refused(code) => self.refused.push((verb.to_owned(), code.clone())),
        }
    }

    /// The last fact of a name.
    #[must_use]
    pub fn last(&self, name: &str) -> Option<String> {
        self.facts.get(name)?.last().cloned()
    }

    /// All facts of a name.
    #[must_use]
    pub fn all(&self, name: &str) -> &[String] {
        self.facts.get(name).map_or(&[], Vec::as_slice)
    }

    /// Lets time pass.
    pub const fn pass(&mut self, seconds: i64) {
        self.now = self.now.saturating_add(seconds.saturating_mul(1_000));
    }

    /// The file that its nodes keep everything in.
    #[must_use]
    pub fn database(&self) -> &Path {
        &self.database
    }

    /// Ends the node.
    pub fn stop(&mut self) {
        self.node = None;
    }
}

impl Running {
    /// The answer, if the node lives to give one.
    fn ask(&mut self, line: &str) -> Option<Answer> {
        self.told.write_all(line.as_bytes()).ok()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).ok()?;
        Answer::from_line(&answer)
    }
}
