//! Everything of a store, a line at a time.

use futures::StreamExt as _;
use handoff_protocol::json::{Json, Object};

use super::{
    MoveError, Moved,
    line::{FORMAT, Running, VERSION, row_text},
    order::Order,
};
use crate::store::{RowStream, Store, StoreError};

/// How much text is handed out at once, about.
const PIECE: usize = 64 << 10;

/// An export on its way.
pub struct Export {
    rows: Option<RowStream>,
    running: Running,
    order: Order,
    text: String,
}

impl std::fmt::Debug for Export {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Export").finish_non_exhaustive()
    }
}

impl Export {
    /// Begins to export a store as the last commit left it.
    ///
    /// # Errors
    ///
    /// [`MoveError::NotPortable`], or the store fails.
    pub async fn begin(store: &dyn Store) -> Result<Self, MoveError> {
        let rows = store.portable().ok_or(MoveError::NotPortable)?.unload().await?;
        let mut export =
            Self { rows: Some(rows), running: Running::default(), order: Order::default(), text: String::new() };
        let begin = Json::object([("format", Json::from(FORMAT)), ("v", Json::from(VERSION))]);
        export.line("begin", &begin)?;
        Ok(export)
    }

    /// The next piece of the text; nothing behind the last. After a failure the export is over: what came before is none.
    ///
    /// # Errors
    ///
    /// The store fails, or what it holds is not sound: a chain with a gap moves nowhere.
    pub async fn next(&mut self) -> Result<Option<String>, MoveError> {
        let Some(mut rows) = self.rows.take() else { return Ok(None) };
        let unsound = |problem: &str| StoreError::Corrupt(format!("a row cannot be moved: {problem}"));
        while let Some(row) = rows.next().await {
            let row = row?;
            self.order.see(&row).map_err(unsound)?;
            let content = row_text(&row)?;
            self.running.write("row", &content, &mut self.text);
            if self.text.len() >= PIECE {
                self.rows = Some(rows);
                return Ok(Some(std::mem::take(&mut self.text)));
            }
        }
        self.order.close().map_err(unsound)?;
        let end = end(&self.order.moved, &self.running);
        self.line("end", &end)?;
        Ok(Some(std::mem::take(&mut self.text)))
    }

    /// What was exported, once everything was.
    #[must_use]
    pub fn moved(self) -> Moved {
        self.order.moved
    }

    fn line(&mut self, name: &str, content: &Json) -> Result<(), MoveError> {
        let content = content.canonical().map_err(|_| StoreError::Corrupt("there are too many rows".to_owned()))?;
        self.running.write(name, &content, &mut self.text);
        Ok(())
    }
}

/// What the last line says of those before it.
pub(super) fn end(moved: &Moved, running: &Running) -> Json {
    let mut rows = Object::new();
    for (table, count) in &moved.rows {
        rows.insert(table.name(), i64::try_from(*count).unwrap_or(i64::MAX));
    }
    Json::object([("digest", Json::from(running.digest().to_string())), ("rows", Json::Object(rows))])
}
