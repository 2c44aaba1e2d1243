//! What a page shows of a prompt: title, body, evidence.

use handoff_protocol::json::Json;

use crate::{address::Address, markdown, pretty::pretty, table::Table, visible, words::Words};

/// A prompt for a template.
#[derive(Debug, Default)]
pub(crate) struct Prompt {
    pub(crate) title: String,
    /// The body as HTML that is safe to show.
    pub(crate) body: String,
    /// Whether the body fills more than a screen or two.
    pub(crate) is_long: bool,
    pub(crate) evidence: Vec<Evidence>,
}

/// One piece of evidence. What it has is shown, whatever kind it says it is.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) label: String,
    pub(crate) link: Option<Link>,
    pub(crate) table: Option<Table>,
    pub(crate) paragraphs: Vec<String>,
    /// A value of no known shape, as JSON over several lines.
    pub(crate) raw: Option<String>,
    pub(crate) reference: Option<String>,
}

/// An address.
#[derive(Debug)]
pub(crate) struct Link {
    /// As it was given.
    pub(crate) url: String,
    /// Where following it leads: only ever a web page, no other scheme becomes a link.
    pub(crate) web: Option<Address>,
}

/// Bodies from this length on have a way past them to the answer.
const LONG: usize = 1_500;

impl Prompt {
    pub(crate) fn read(prompt: &Json, words: &Words) -> Self {
        let text = |name: &str| prompt.get(name).and_then(Json::as_str).unwrap_or_default();
        let evidence = prompt.get("evidence").and_then(Json::as_array).unwrap_or_default();
        let body = text("body");
        Self {
            title: visible::line(text("title")),
            is_long: body.len() >= LONG || evidence.len() > 4,
            body: markdown::html(body, words),
            evidence: evidence.iter().map(Evidence::read).collect(),
        }
    }
}

impl Evidence {
    fn read(item: &Json) -> Self {
        let text = |name: &str| item.get(name).and_then(Json::as_str);
        let value = item.get("value").filter(|value| !value.is_null());
        let objects = value.filter(|_| text("kind") == Some("table"));
        let table = value.and_then(Table::of_rows).or_else(|| objects.and_then(Table::of_objects));
        let prose = value.and_then(Json::as_str);
        let is_raw = table.is_none() && prose.is_none();
        let link = text("url").map(|url| Link { url: visible::line(url), web: Address::web(url) });
        let place = link.as_ref().map(|link| link.url.clone());
        let label = text("label").filter(|label| !visible::is_blank(label)).map(visible::line);
        Self {
            label: label.or(place).unwrap_or_default(),
            link,
            table,
            paragraphs: prose.map(paragraphs).unwrap_or_default(),
            raw: value.filter(|_| is_raw).map(|value| visible::lines(&pretty(value))),
            reference: text("ref").map(visible::line),
        }
    }
}

/// A value as a line of text: strings without their quotes.
pub(crate) fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_text(),
    }
}

fn paragraphs(text: &str) -> Vec<String> {
    let text = visible::lines(text);
    let parts = text.split("\n\n").map(|part| part.trim_matches('\n'));
    parts.filter(|part| !part.trim().is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use handoff_protocol::json::read_str;

    use super::*;

    #[test]
    fn blank_lines_part_paragraphs_and_single_breaks_stay() {
        assert_eq!(paragraphs("one\ntwo\r\n\r\n\n\nthree\n"), ["one\ntwo", "three"]);
        assert_eq!(paragraphs(" \n"), Vec::<String>::new());
    }

    #[test]
    fn evidence_of_an_unknown_shape_is_shown_as_indented_text() {
        let item = read_str(r#"{"kind":"table","label":"Odd","value":{"rows":[1]}}"#).unwrap();
        let evidence = Evidence::read(&item);
        assert!(evidence.table.is_none());
        assert_eq!(evidence.raw.as_deref(), Some("{\n  \"rows\": [\n    1\n  ]\n}"));
    }

    #[test]
    fn only_what_says_that_it_is_a_table_has_its_objects_laid_out() {
        let read = |kind: &str| {
            let item = format!(r#"{{"kind":"{kind}","label":"L","value":[{{"a":1}},{{"a":2}}]}}"#);
            Evidence::read(&read_str(&item).unwrap())
        };
        assert!(read("table").table.is_some() && read("table").raw.is_none());
        assert!(read("document").table.is_none() && read("document").raw.is_some());
    }
}
