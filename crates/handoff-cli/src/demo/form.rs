//! Just enough HTML to see a form as a person does: its inputs, and the words beside its choices.

/// A form that can be filled in and sent.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Form {
    /// Where it is sent; the page's own address if it says nothing.
    pub(super) action: Option<String>,
    inputs: Vec<Input>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Input {
    name: String,
    value: String,
    kind: Kind,
    /// The words beside it.
    label: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// Sent as it is.
    Plain,
    /// Sent if it is chosen.
    Choice { checked: bool },
}

impl Form {
    /// The forms of a page that are sent by POST.
    pub(super) fn all(page: &str) -> Vec<Self> {
        let mut forms = Vec::new();
        let mut rest = page;
        while let Some((_, from)) = rest.split_once("<form") {
            let (inner, after) = from.split_once("</form>").unwrap_or((from, ""));
            let (tag, inner) = inner.split_once('>').unwrap_or((inner, ""));
            if attribute(tag, "method").is_some_and(|method| method.eq_ignore_ascii_case("post")) {
                forms.push(Self { action: attribute(tag, "action"), inputs: inputs(inner) });
            }
            rest = after;
        }
        forms
    }

    /// Chooses what is labelled with these words. Says whether there is such a choice.
    pub(super) fn choose(&mut self, label: &str) -> bool {
        let Some(name) = self.inputs.iter().find(|input| input.label == label).map(|input| input.name.clone()) else {
            return false;
        };
        for input in self.inputs.iter_mut().filter(|input| input.name == name) {
            if let Kind::Choice { checked } = &mut input.kind {
                *checked = input.label == label;
            }
        }
        true
    }

    /// What a browser would send.
    pub(super) fn body(&self) -> String {
        let sent = self.inputs.iter().filter(|input| !matches!(input.kind, Kind::Choice { checked: false }));
        let pairs: Vec<String> =
            sent.map(|input| format!("{}={}", encoded(&input.name), encoded(&input.value))).collect();
        pairs.join("&")
    }
}

fn inputs(form: &str) -> Vec<Input> {
    let mut found = Vec::new();
    let mut rest = form;
    while let Some((_, from)) = rest.split_once('<') {
        let (tag, after) = from.split_once('>').unwrap_or((from, ""));
        rest = after;
        let Some(name) = attribute(tag, "name") else { continue };
        let kind = attribute(tag, "type").unwrap_or_default();
        if tag.starts_with("textarea") {
            let value = after.split("</textarea").next().unwrap_or_default();
            let value = unescaped(value.strip_prefix('\n').unwrap_or(value));
            found.push(Input { name, value, kind: Kind::Plain, label: String::new() });
        } else if tag.starts_with("input") {
            let value = attribute(tag, "value").unwrap_or_default();
            let choice = matches!(kind.as_str(), "radio" | "checkbox");
            let checked = tag.split_whitespace().any(|word| word == "checked");
            let label = after.split("</label").next().filter(|_| choice).map(words).unwrap_or_default();
            let kind = if choice { Kind::Choice { checked } } else { Kind::Plain };
            found.push(Input { name, value, kind, label });
        }
    }
    found
}

/// The value of an attribute, as the page means it.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    value.split('"').next().map(unescaped)
}

/// Text without its tags.
fn words(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for character in html.chars() {
        match character {
            '<' => inside = true,
            '>' => inside = false,
            _ if inside => {}
            _ => text.push(character),
        }
    }
    unescaped(text.trim())
}

/// Named and numbered characters, as our pages write them.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('&') {
        plain.push_str(before);
        let read = from.split_once(';').and_then(|(name, after)| Some((character(name)?, after)));
        match read {
            Some((character, after)) => {
                plain.push(character);
                rest = after;
            }
            None => {
                plain.push('&');
                rest = from;
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// `application/x-www-form-urlencoded`, with every byte that could mean something encoded.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<form method="get"><input name="q"></form>
        <form class="answer" method="post" action="/requests/7">
        <input type="hidden" name="csrf" value="a&amp;b">
        <label class="choice"><input type="radio" name="v.d" value="1" checked><span><bdi>Keep</bdi></span></label>
        <label class="choice"><input type="radio" name="v.d" value="2"><span><bdi>Refund &#8364;240</bdi></span></label>
        <textarea name="note" rows="2">
x &lt; y</textarea><button>Send</button></form>"#;

    #[test]
    fn a_form_is_filled_in_by_the_words_that_a_person_reads() {
        let mut forms = Form::all(PAGE);
        assert_eq!(forms.len(), 1);
        let form = &mut forms[0];
        assert_eq!(form.action.as_deref(), Some("/requests/7"));
        assert_eq!(form.body(), "csrf=a%26b&v.d=1&note=x%20%3C%20y");
        assert!(form.choose("Refund €240"));
        assert_eq!(form.body(), "csrf=a%26b&v.d=2&note=x%20%3C%20y");
        assert!(!form.choose("Explode"));
    }
}
