//! Evidence that is laid out in rows and columns.

use std::collections::HashMap;

use handoff_protocol::json::{Json, Object};

use crate::{prompt::cell, visible};

/// How many cells a table may have for each member that fills one. Objects that have little in common would make a
/// page many times their size, and a table in which nobody finds anything.
const CELLS_PER_MEMBER: usize = 4;

/// Rows under column names.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads `{"columns": […], "rows": [[…], …]}`.
    pub(crate) fn of_rows(value: &Json) -> Option<Self> {
        let rows = value.get("rows")?.as_array()?;
        let rows = rows.iter().map(|row| row.as_array().map(|row| row.iter().map(shown).collect()));
        let columns = value.get("columns").and_then(Json::as_array).unwrap_or_default();
        Some(Self { columns: columns.iter().map(shown).collect(), rows: rows.collect::<Option<_>>()? })
    }

    /// Reads `[{"a": 1, "b": 2}, …]`: a column for each name, in the order in which the names first appear. Nothing if
    /// a member is itself a list or an object, if there are no members, or if most cells would be empty.
    pub(crate) fn of_objects(value: &Json) -> Option<Self> {
        let objects = value.as_array()?.iter().map(Json::as_object).collect::<Option<Vec<&Object>>>()?;
        let mut columns: Vec<String> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut members = 0_usize;
        for (name, member) in objects.iter().flat_map(|object| object.iter()) {
            if matches!(member, Json::Array(_) | Json::Object(_)) {
                return None;
            }
            members = members.saturating_add(1);
            places.entry(name).or_insert_with(|| {
                columns.push(name.to_owned());
                columns.len().saturating_sub(1)
            });
        }
        let cells = columns.len().saturating_mul(objects.len());
        if columns.is_empty() || cells > members.saturating_mul(CELLS_PER_MEMBER) {
            return None;
        }
        let row = |object: &&Object| {
            let mut row = vec![String::new(); columns.len()];
            for (name, member) in *object {
                if let Some(place) = places.get(name).and_then(|place| row.get_mut(*place)) {
                    *place = shown(member);
                }
            }
            row
        };
        let rows = objects.iter().map(row).collect();
        Some(Self { columns: columns.iter().map(|name| visible::line(name)).collect(), rows })
    }
}

fn shown(value: &Json) -> String {
    visible::lines(&cell(value))
}

#[cfg(test)]
mod tests {
    use handoff_protocol::json::read_str;

    use super::*;

    fn of_objects(text: &str) -> Option<Table> {
        Table::of_objects(&read_str(text).unwrap())
    }

    #[test]
    fn columns_are_the_names_in_the_order_in_which_they_first_appear() {
        let table = of_objects(r#"[{"b":"x","a":1},{"c":null,"a":true},{"b":"","c":-2,"a":"y"}]"#).unwrap();
        assert_eq!(table.columns, ["b", "a", "c"]);
        assert_eq!(table.rows, [["x", "1", ""], ["", "true", ""], ["", "y", "-2"]]);
    }

    #[test]
    fn what_is_not_flat_is_no_table() {
        for text in ["[]", "[{}]", "{}", "[1]", r#"[{"a":1},2]"#, r#"[{"a":[]}]"#, r#"[{"a":1},{"a":{"b":1}}]"#, "null"]
        {
            assert_eq!(of_objects(text), None, "{text}");
        }
    }

    #[test]
    fn objects_with_little_in_common_make_no_page_many_times_their_size() {
        let apart = |count: usize| {
            let objects: Vec<String> = (0..count).map(|number| format!(r#"{{"n{number}":1}}"#)).collect();
            of_objects(&format!("[{}]", objects.join(",")))
        };
        assert!(apart(4).is_some());
        assert!(apart(5).is_none());
        assert!(apart(100_000).is_none());
    }
}
