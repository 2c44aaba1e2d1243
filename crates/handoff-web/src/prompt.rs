//! What a page shows of a prompt: title, paragraphs, evidence.

use handoff_protocol::json::Json;

use crate::{pretty::pretty, table::Table};

/// A prompt for a template.
#[derive(Debug, Default)]
pub(crate) struct Prompt {
    pub(crate) title: String,
    /// Parts of the body that blank lines set apart; their own line breaks are kept.
    pub(crate) paragraphs: Vec<String>,
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
    pub(crate) url: String,
    /// Whether following it is only ever a web page: no other scheme becomes a link.
    pub(crate) is_web: bool,
}

impl Prompt {
    pub(crate) fn read(prompt: &Json) -> Self {
        let text = |name: &str| prompt.get(name).and_then(Json::as_str).unwrap_or_default();
        let evidence = prompt.get("evidence").and_then(Json::as_array).unwrap_or_default();
        Self {
            title: text("title").to_owned(),
            paragraphs: paragraphs(text("body")),
            evidence: evidence.iter().map(Evidence::read).collect(),
        }
    }
}

impl Evidence {
    fn read(item: &Json) -> Self {
        let text = |name: &str| item.get(name).and_then(Json::as_str).map(str::to_owned);
        let value = item.get("value").filter(|value| !value.is_null());
        let objects = value.filter(|_| text("kind").as_deref() == Some("table"));
        let table = value.and_then(Table::of_rows).or_else(|| objects.and_then(Table::of_objects));
        let prose = value.and_then(Json::as_str);
        let is_raw = table.is_none() && prose.is_none();
        Self {
            label: text("label").unwrap_or_default(),
            link: text("url").map(|url| Link { is_web: is_web(&url), url }),
            table,
            paragraphs: prose.map(paragraphs).unwrap_or_default(),
            raw: value.filter(|_| is_raw).map(pretty),
            reference: text("ref"),
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
    let text = text.replace("\r\n", "\n");
    let parts = text.split("\n\n").map(|part| part.trim_matches('\n'));
    parts.filter(|part| !part.trim().is_empty()).map(str::to_owned).collect()
}

fn is_web(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
}

#[cfg(test)]
mod tests {
    use handoff_protocol::json::read_str;

    use super::*;

    #[test]
    fn only_web_addresses_become_links() {
        assert!(is_web("https://example.com/a"));
        assert!(is_web("HTTP://example.com"));
        for url in ["javascript:alert(1)", "javascript://x%0aalert(1)", "data:text/html,x", "http:evil", " https://x"] {
            assert!(!is_web(url), "{url}");
        }
    }

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
