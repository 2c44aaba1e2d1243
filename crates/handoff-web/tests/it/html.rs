//! Just enough HTML reading to follow a page's own links and fill in its own forms.

use std::collections::HashMap;

/// A start tag.
#[derive(Clone, Debug)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) attributes: HashMap<String, String>,
    /// What follows it up to the next tag.
    pub(crate) text: String,
}

impl Tag {
    pub(crate) fn get(&self, name: &str) -> &str {
        self.attributes.get(name).map(String::as_str).unwrap_or_default()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.attributes.contains_key(name)
    }
}

/// Every start and end tag, in order; an end tag's name begins with `/`.
pub(crate) fn tags(html: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let html = without_style(html);
    for piece in html.split('<').skip(1) {
        // Attribute values of ours hold no `>`: askama escapes it.
        let (inside, text) = piece.split_once('>').expect("every tag ends");
        let (name, rest) = inside.split_once([' ', '\n']).unwrap_or((inside, ""));
        tags.push(Tag { name: name.to_owned(), attributes: attributes(rest), text: unescape(text) });
    }
    tags
}

/// A page without its stylesheet, which nobody reads.
pub(crate) fn without_style(html: &str) -> String {
    let Some((before, rest)) = html.split_once("<style>") else { return html.to_owned() };
    let (_, after) = rest.split_once("</style>").expect("a stylesheet ends");
    format!("{before}{after}")
}

fn attributes(text: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find([' ', '=', '\n']).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        rest = &rest[end..];
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let (value, behind) = quoted.split_once('"').expect("attribute values are quoted");
            found.insert(name, unescape(value));
            rest = behind;
        } else {
            found.insert(name, String::new());
        }
        rest = rest.trim_start();
    }
    found
}

/// Undoes escapes.
pub(crate) fn unescape(text: &str) -> String {
    let named = text.replace("&#60;", "<").replace("&#62;", ">").replace("&#34;", "\"").replace("&#39;", "'");
    let named = named.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    named.replace("&#38;", "&").replace("&amp;", "&")
}

/// A form as a person finds it: what it holds before anything is filled in.
#[derive(Clone, Debug)]
pub(crate) struct PageForm {
    pub(crate) action: String,
    pub(crate) fields: Vec<(String, String)>,
    /// Each radio button and check box: name, value, label.
    choices: Vec<(String, String, String)>,
}

/// The form whose action is this.
pub(crate) fn form(html: &str, action: &str) -> PageForm {
    let tags = tags(html);
    let mut inside = tags.iter().skip_while(|tag| !(tag.name == "form" && tag.get("action") == action));
    inside.next().unwrap_or_else(|| panic!("no form for {action} in {html}"));
    let inside: Vec<&Tag> = inside.take_while(|tag| tag.name != "/form").collect();
    let mut form = PageForm { action: action.to_owned(), fields: Vec::new(), choices: Vec::new() };
    for (place, tag) in inside.iter().enumerate() {
        let (name, value) = (tag.get("name").to_owned(), tag.get("value").to_owned());
        match (tag.name.as_str(), tag.get("type")) {
            ("input", "radio" | "checkbox") => {
                let label: String = inside[place + 1..]
                    .iter()
                    .take_while(|tag| tag.name != "/label")
                    .map(|tag| tag.text.as_str())
                    .collect();
                if tag.has("checked") {
                    form.fields.push((name.clone(), value.clone()));
                }
                form.choices.push((name, value, label));
            }
            ("input", _) => form.fields.push((name, value)),
            ("option", _) => {
                let select =
                    inside[..place].iter().rev().find(|tag| tag.name == "select").expect("options are in a select");
                let name = select.get("name").to_owned();
                if tag.has("selected") {
                    form.fields.push((name.clone(), value.clone()));
                }
                form.choices.push((name, value, tag.text.clone()));
            }
            // The parser drops the line feed behind the tag.
            ("textarea", _) => form.fields.push((name, tag.text.strip_prefix('\n').unwrap_or(&tag.text).to_owned())),
            _ => {}
        }
    }
    form
}

impl PageForm {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Types into an input.
    pub(crate) fn fill(mut self, name: &str, value: &str) -> Self {
        let field = self.fields.iter_mut().find(|(found, _)| found == name);
        field.unwrap_or_else(|| panic!("no input {name}")).1 = value.to_owned();
        self
    }

    /// Picks a radio button by its label.
    pub(crate) fn pick(mut self, name: &str, label: &str) -> Self {
        self.fields.retain(|(found, _)| found != name);
        self.tick(name, label)
    }

    /// Ticks a box by its label.
    pub(crate) fn tick(mut self, name: &str, label: &str) -> Self {
        let choice = self.choices.iter().find(|(found, _, text)| found == name && text == label);
        let (_, value, _) = choice.unwrap_or_else(|| panic!("no {label} under {name} in {:?}", self.choices));
        self.fields.push((name.to_owned(), value.clone()));
        self
    }

    /// Sends something that the page does not offer.
    pub(crate) fn forge(mut self, name: &str, value: &str) -> Self {
        self.fields.retain(|(found, _)| found != name);
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(found, _)| found != name);
        self
    }

    /// Which label is picked.
    pub(crate) fn picked(&self, name: &str) -> Vec<&str> {
        let is_picked = |value: &str| self.fields.iter().any(|(found, sent)| found == name && sent == value);
        let choices = self.choices.iter().filter(|(found, value, _)| found == name && is_picked(value));
        choices.map(|(_, _, label)| label.as_str()).collect()
    }

    /// As browsers encode it, line ends and all.
    pub(crate) fn encode(&self) -> String {
        let pair = |(name, value): &(String, String)| format!("{}={}", escape(name), escape(value));
        self.fields.iter().map(pair).collect::<Vec<_>>().join("&")
    }
}

fn escape(text: &str) -> String {
    let text = text.replace('\n', "\r\n");
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'*' => char::from(byte).to_string(),
        b' ' => "+".to_owned(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}
