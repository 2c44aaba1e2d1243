//! JSON over several lines, as people read and edit it.

use handoff_protocol::json::Json;

/// How far lines are indented at the most, in levels: a deep document must not become many times its size.
const LEVELS: usize = 8;

/// Writes a value with one member or item a line, two spaces a level.
pub(crate) fn pretty(value: &Json) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

fn write(value: &Json, depth: usize, out: &mut String) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                begin(place, depth, out);
                write(item, depth + 1, out);
            }
            end(depth, ']', out);
        }
        Json::Object(members) if !members.is_empty() => {
            out.push('{');
            for (place, (name, member)) in members.iter().enumerate() {
                begin(place, depth, out);
                Json::from(name).write_to(out);
                out.push_str(": ");
                write(member, depth + 1, out);
            }
            end(depth, '}', out);
        }
        plain => plain.write_to(out),
    }
}

/// Begins the line of a member or an item.
fn begin(place: usize, depth: usize, out: &mut String) {
    out.push_str(if place > 0 { ",\n" } else { "\n" });
    indent(depth + 1, out);
}

/// Ends an array or an object on a line of its own.
fn end(depth: usize, bracket: char, out: &mut String) {
    out.push('\n');
    indent(depth, out);
    out.push(bracket);
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth.min(LEVELS)));
}

#[cfg(test)]
mod tests {
    use handoff_protocol::json::read_str;

    use super::*;

    #[test]
    fn members_and_items_stand_on_lines_of_their_own() {
        let value = read_str(r#"{"b":[1,{"\u0000 \"":null}],"a":{},"c":[],"":"x\ny"}"#).unwrap();
        let text = pretty(&value);
        let expected = r#"{
  "b": [
    1,
    {
      "\u0000 \"": null
    }
  ],
  "a": {},
  "c": [],
  "": "x\ny"
}"#;
        assert_eq!(text, expected);
        assert_eq!(read_str(&text).unwrap(), value);
    }

    #[test]
    fn a_deep_document_does_not_grow_with_its_depth() {
        let text = format!("{}{}{}", "[".repeat(100), vec!["1"; 1000].join(","), "]".repeat(100));
        let written = pretty(&read_str(&text).unwrap());
        assert!(written.len() < 12 * text.len(), "{}", written.len());
    }

    #[test]
    fn plain_values_are_written_as_they_are() {
        for text in ["\"a\"", "-12", "true", "null", "[]", "{}"] {
            assert_eq!(pretty(&read_str(text).unwrap()), text);
        }
    }
}
