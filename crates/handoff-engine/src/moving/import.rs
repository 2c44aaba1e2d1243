//! Filling an empty store from a file, as a whole or not at all.

use std::io::{BufRead, Read as _};

use handoff_protocol::json::{Json, read_str};

use super::{
    MoveError, Moved,
    export::end,
    line::{self, FORMAT, Running, VERSION},
    order::Order,
};
use crate::store::{Cell, Filling, Row, Store, StoreError};

/// The longest line: a blob with what JSON makes of it.
const LONGEST: u64 = 1 << 30;

/// How many rows are written at once, and about how many bytes.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

/// Reads an export, and fills the store with it in one transaction.
///
/// Reading blocks, so this belongs to commands and to no server.
///
/// # Errors
///
/// See [`MoveError`]; then the store is as empty as it was.
pub async fn import(store: &dyn Store, file: impl BufRead + Send) -> Result<Moved, MoveError> {
    let mut lines = Lines { file, number: 0, running: Running::default(), text: String::new() };
    let portable = store.portable().ok_or(MoveError::NotPortable)?;
    lines.begin()?;
    let mut filling = match portable.fill().await {
        Err(StoreError::Conflict(_)) => return Err(MoveError::NotEmpty),
        filling => filling?,
    };
    let mut order = Order::default();
    let mut batch = Batch::default();
    loop {
        let before = lines.running.clone();
        let (name, content) = lines.next()?;
        let number = lines.number;
        let at = |problem| MoveError::Line { line: number, problem };
        match name.as_str() {
            "row" => {
                let row = line::row(&content).map_err(at)?;
                order.see(&row).map_err(at)?;
                batch.add(row, filling.as_mut()).await?;
            }
            "end" => {
                order.close().map_err(at)?;
                let said = read_str(&content).map_err(|_| at("it is no JSON"))?;
                if said != end(&order.moved, &before) {
                    return Err(at("it does not count the rows that came before it"));
                }
                break;
            }
            _ => return Err(at("this is no line of an export")),
        }
    }
    if lines.more()? {
        return Err(MoveError::Line { line: lines.number, problem: "nothing can stand behind the last line" });
    }
    batch.write(filling.as_mut()).await?;
    filling.commit().await?;
    Ok(order.moved)
}

/// Rows of one tenant and one table that are written together.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    bytes: usize,
}

impl Batch {
    async fn add(&mut self, row: Row, filling: &mut dyn Filling) -> Result<(), StoreError> {
        let other = |last: &Row| last.table != row.table || last.tenant != row.tenant;
        if self.rows.len() >= BATCH || self.bytes >= BATCH_BYTES || self.rows.last().is_some_and(other) {
            self.write(filling).await?;
        }
        for cell in &row.cells {
            let bytes = match cell {
                Cell::Text(text) => text.len(),
                Cell::Bytes(bytes) => bytes.len(),
                Cell::Number(_) | Cell::Absent => 8,
            };
            self.bytes = self.bytes.saturating_add(bytes);
        }
        self.rows.push(row);
        Ok(())
    }

    async fn write(&mut self, filling: &mut dyn Filling) -> Result<(), StoreError> {
        self.bytes = 0;
        if self.rows.is_empty() { Ok(()) } else { filling.write(std::mem::take(&mut self.rows)).await }
    }
}

/// The lines of a file.
struct Lines<F> {
    file: F,
    number: u64,
    running: Running,
    text: String,
}

impl<F: BufRead> Lines<F> {
    /// Reads a line, without looking at it. One that does not end was cut off.
    fn read(&mut self) -> Result<(), MoveError> {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        let read = self.file.by_ref().take(LONGEST).read_until(b'\n', &mut bytes)?;
        if read == 0 || bytes.pop() != Some(b'\n') {
            return Err(MoveError::CutOff(self.number));
        }
        self.number = self.number.saturating_add(1);
        let misread = MoveError::Line { line: self.number, problem: "it is not UTF-8" };
        self.text = String::from_utf8(bytes).map_err(|_| misread)?;
        Ok(())
    }

    /// The name and the content of the next line.
    fn next(&mut self) -> Result<(String, String), MoveError> {
        self.read()?;
        let read = self.running.read(&self.text);
        let (name, content) = read.map_err(|problem| MoveError::Line { line: self.number, problem })?;
        Ok((name.to_owned(), content.to_owned()))
    }

    /// Reads the first line. Of another version it says so, whatever else is in it.
    fn begin(&mut self) -> Result<(), MoveError> {
        match self.read() {
            Err(MoveError::CutOff(_) | MoveError::Line { .. }) => return Err(MoveError::NotAnExport),
            read => read?,
        }
        let json = read_str(&self.text).map_err(|_| MoveError::NotAnExport)?;
        let begin = json.get("begin").ok_or(MoveError::NotAnExport)?;
        let version = match begin.get("v") {
            Some(Json::Number(number)) => number.safe_integer(),
            _ => None,
        };
        match version.filter(|_| begin.get("format").and_then(Json::as_str) == Some(FORMAT)) {
            Some(VERSION) => {}
            Some(found) => return Err(MoveError::Newer { found, known: VERSION }),
            None => return Err(MoveError::NotAnExport),
        }
        let read = self.running.read(&self.text);
        read.map(drop).map_err(|problem| MoveError::Line { line: self.number, problem })
    }

    /// Whether anything is left.
    fn more(&mut self) -> Result<bool, MoveError> {
        self.number = self.number.saturating_add(1);
        Ok(!self.file.fill_buf()?.is_empty())
    }
}
