//! The log file: a line a commit, each a digest and the changes as JSON.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    path::Path,
};

use handoff_engine::store::StoreError;
use handoff_protocol::digest::Digest;

use crate::rows::{Changes, Rows};

/// An open log file, locked for this process.
pub(crate) struct Log {
    file: File,
    /// Set once it is unknown what the file ends with; only opening it again can tell.
    broken: bool,
}

impl Log {
    /// Opens or creates the file and replays its lines.
    pub(crate) fn open(path: &Path) -> Result<(Self, Rows), StoreError> {
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(|error| unavailable(&error))?;
        file.try_lock().map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| unavailable(&error))?;

        let mut rows = Rows::default();
        let mut good = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(changes) = read_line(line) else { break };
            rows.change(changes);
            good += line.len();
        }
        let rest = bytes.get(good..).unwrap_or_default();
        // Only the last line can be unfinished, and then nobody was told of it. Anything else is damage.
        if rest.iter().position(|byte| *byte == b'\n').is_some_and(|at| at + 1 < rest.len()) {
            return Err(StoreError::Corrupt(format!("the log is damaged at byte {good}")));
        }
        if !rest.is_empty() {
            file.set_len(u64::try_from(good).unwrap_or(u64::MAX)).map_err(|error| unavailable(&error))?;
        }
        // The file's own entry in its directory must survive a power cut as well.
        file.sync_all().map_err(|error| unavailable(&error))?;
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            File::open(parent).and_then(|parent| parent.sync_all()).map_err(|error| unavailable(&error))?;
        }
        Ok((Self { file, broken: false }, rows))
    }

    /// Appends one commit; on return it is on the disk.
    pub(crate) fn append(&mut self, changes: &Changes) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Unavailable("a write failed before; open the log again".to_owned()));
        }
        let json = serde_json::to_string(changes).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let line = format!("{} {json}\n", Digest::of(&json));
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            self.broken = true;
            StoreError::Unknown(error.to_string())
        })
    }
}

/// The changes of a line that is whole.
fn read_line(line: &[u8]) -> Option<Changes> {
    let (digest, json) = str::from_utf8(line).ok()?.strip_suffix('\n')?.split_once(' ')?;
    (Digest::of(json).to_string() == digest).then(|| serde_json::from_str(json).ok())?
}

fn unavailable(error: &std::io::Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
