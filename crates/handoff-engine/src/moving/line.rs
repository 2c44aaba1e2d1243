//! One line, and the digest that runs over all of them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use handoff_protocol::{
    digest::Digest,
    id::TenantId,
    json::{Json, Object, read_str},
};
use sha2::{Digest as _, Sha256};

use crate::store::{Cell, Row, StoreError, Table, portable::ColumnKind};

/// What the first line says.
pub(super) const FORMAT: &str = "handoff-store";
/// The version of the format.
pub(super) const VERSION: i64 = 1;

/// How many hexadecimal digits of the running digest a line carries.
const SUM: usize = 16;

/// The digest over the lines so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Running(Sha256);

impl Running {
    /// The digest of everything that was taken in.
    pub(super) fn digest(&self) -> Digest {
        let hex: String = self.0.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Digest::parse(&format!("sha256:{hex}")).unwrap_or_else(|_| Digest::of([]))
    }

    fn sum(&mut self, content: &str) -> String {
        self.0.update(content);
        self.digest().hex().chars().take(SUM).collect()
    }

    /// Takes in a line that holds this under a name, and writes it.
    pub(super) fn write(&mut self, name: &str, content: &str, out: &mut String) {
        let sum = self.sum(content);
        out.push_str(&format!("{{\"{name}\":{content},\"sum\":\"{sum}\"}}\n"));
    }

    /// Takes in a line, and gives its name and content, if it carries the right sum.
    pub(super) fn read<'l>(&mut self, line: &'l str) -> Result<(&'l str, &'l str), &'static str> {
        let shape = "this is no line of an export";
        let (name, rest) = line.strip_prefix("{\"").and_then(|rest| rest.split_once("\":")).ok_or(shape)?;
        let (content, sum) = rest.rsplit_once(",\"sum\":\"").ok_or(shape)?;
        let sum = sum.strip_suffix("\"}").ok_or(shape)?;
        if self.sum(content) == sum { Ok((name, content)) } else { Err("it was altered, or one before it is missing") }
    }
}

/// A row as JSON.
pub(super) fn row_text(row: &Row) -> Result<String, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("a row of {} {what}", row.table.name()));
    let mut object = Object::with_capacity(row.cells.len().saturating_add(2));
    object.insert("table", row.table.name());
    object.insert("tenant", row.tenant.to_string());
    let columns = row.table.columns();
    if columns.len() != row.cells.len() {
        return Err(corrupt("does not have its columns"));
    }
    for ((name, _), cell) in columns.iter().zip(&row.cells) {
        let value = match cell {
            Cell::Text(text) => Json::from(text.as_str()),
            Cell::Number(number) => Json::from(*number),
            Cell::Bytes(bytes) => Json::from(STANDARD.encode(bytes)),
            Cell::Absent => Json::Null,
        };
        object.insert(*name, value);
    }
    Json::Object(object).canonical().map_err(|_| corrupt("holds a number that JSON cannot carry"))
}

/// A row from JSON.
pub(super) fn row(content: &str) -> Result<Row, &'static str> {
    let json = read_str(content).map_err(|_| "it is no JSON")?;
    let text = |name: &str| json.get(name).and_then(Json::as_str);
    let table = text("table").and_then(Table::named).ok_or("it names no kind of row that is known here")?;
    let tenant = text("tenant").and_then(|tenant| TenantId::parse(tenant).ok()).ok_or("it names no tenant")?;
    let misfit = "a member of it is missing or of another kind";
    let mut cells = Vec::with_capacity(table.columns().len());
    for (name, kind) in table.columns() {
        let cell = match (kind, json.get(name).ok_or(misfit)?) {
            (ColumnKind::Text | ColumnKind::OptionalText, Json::String(text)) => Cell::Text(text.clone()),
            (ColumnKind::OptionalText, Json::Null) => Cell::Absent,
            (ColumnKind::Number, Json::Number(number)) => Cell::Number(number.safe_integer().ok_or(misfit)?),
            (ColumnKind::Bytes, Json::String(text)) => {
                Cell::Bytes(Bytes::from(STANDARD.decode(text).map_err(|_| misfit)?))
            }
            _ => return Err(misfit),
        };
        cells.push(cell);
    }
    let expected = cells.len().saturating_add(2);
    match json.as_object() {
        Some(members) if members.len() == expected => Ok(Row { tenant, table, cells }),
        _ => Err("it has members that are not known here"),
    }
}
