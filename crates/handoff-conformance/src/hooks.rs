//! Commands of the profile that reach below HTTP.

use std::{collections::BTreeMap, io, path::Path, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::Command,
};

use crate::deployment;

/// The name by which a hook means the runner itself.
pub(crate) const OWN: &str = "handoff-conformance";

/// The most that is read of what a program prints.
const MOST: u64 = 512 << 20;

/// What a command did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ran {
    /// Its exit status; none where a signal ended it.
    pub exit: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained.
    pub stderr: String,
}

/// Runs a command, with its parameters in the places of `{name}`.
///
/// # Errors
///
/// A parameter has no value, the program cannot be started, or it takes longer than there is patience.
pub async fn run(command: &[String], with: &BTreeMap<String, String>, patience: Duration) -> Result<Ran, String> {
    let filled: Vec<_> = command.iter().map(|word| fill(word, with)).collect::<Result<_, _>>()?;
    let Some((program, arguments)) = filled.split_first() else { return Err("it names no program".to_owned()) };
    if program == OWN {
        return own(arguments).await;
    }
    let failed = |error: io::Error| format!("`{program}` cannot be run: {error}");
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(failed)?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let ended = async { tokio::try_join!(child.wait(), read(out), read(err)) };
    let ended = tokio::time::timeout(patience, ended).await;
    let ended = ended.map_err(|_| format!("`{program}` did not end within {} seconds", patience.as_secs()))?;
    let (status, stdout, stderr) = ended.map_err(failed)?;
    Ok(Ran { exit: status.code(), stdout, stderr })
}

/// Reads everything that a program prints, unless it is too much.
async fn read(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(MOST + 1).read_to_end(&mut bytes).await?;
    }
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= MOST) {
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    } else {
        Err(io::Error::other(format!("it prints more than {MOST} bytes")))
    }
}

/// Carries out a command of the runner itself, which may stand nowhere on the path.
async fn own(arguments: &[String]) -> Result<Ran, String> {
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["restart", "--directory", directory, "--crash-point", point] => {
            deployment::restart(Path::new(directory), point).await
        }
        _ => return Err(format!("of `{OWN}` a hook can only use `restart --directory DIR --crash-point NAME`")),
    };
    Ok(Ran {
        exit: Some(i32::from(outcome.is_err())),
        stdout: String::new(),
        stderr: outcome.err().unwrap_or_default(),
    })
}

/// Replaces each `{name}` in a word; other braces stand for themselves.
fn fill(word: &str, with: &BTreeMap<String, String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let name = after
            .split_once('}')
            .filter(|(name, _)| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        match name {
            Some((name, behind)) => {
                let value =
                    with.get(name).ok_or_else(|| format!("it asks for `{{{name}}}`, which the step does not give"))?;
                filled.push_str(value);
                rest = behind;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn parameters_stand_in_their_places() {
        let with = BTreeMap::from([("request".to_owned(), "req_{title} $(x)".to_owned())]);
        let ran = run(&words(&["printf", "%s|%s", "id={request}", "{} {\"a\":1}"]), &with, PATIENCE).await.unwrap();
        assert_eq!(ran.stdout, "id=req_{title} $(x)|{} {\"a\":1}");
        assert_eq!(ran.exit, Some(0));
    }

    #[tokio::test]
    async fn a_parameter_without_a_value_a_missing_program_and_one_that_hangs_are_said() {
        let none = BTreeMap::new();
        assert!(run(&words(&["true", "{request}"]), &none, PATIENCE).await.unwrap_err().contains("`{request}`"));
        assert!(run(&words(&["no-such-program"]), &none, PATIENCE).await.unwrap_err().contains("cannot be run"));
        let hung = run(&words(&["sleep", "60"]), &none, Duration::from_millis(20)).await.unwrap_err();
        assert!(hung.contains("did not end"), "{hung}");
    }

    #[tokio::test]
    async fn the_exit_and_both_outputs_are_told() {
        let ran =
            run(&words(&["sh", "-c", "echo out; echo err >&2; exit 3"]), &BTreeMap::new(), PATIENCE).await.unwrap();
        assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (Some(3), "out\n", "err\n"));
    }
}
