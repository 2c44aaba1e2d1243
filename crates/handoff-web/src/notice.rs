//! What a page says above everything else: that an answer has faults, came to nothing, or cannot be given.

use handoff_protocol::id::RequestId;

use crate::words::Saying;

/// Something to say above everything else.
#[derive(Debug)]
pub(crate) struct Notice {
    pub(crate) title: &'static str,
    pub(crate) text: String,
    /// Links into the form, or words about what has no place in it.
    pub(crate) faults: Vec<Fault>,
    /// Where to go instead.
    pub(crate) next: Option<RequestId>,
    pub(crate) is_alert: bool,
}

/// One fault of an answer.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The input's name, where there is one.
    pub(crate) input: Option<String>,
    /// What the field is called, where there is one.
    pub(crate) title: Option<String>,
    pub(crate) text: String,
}

impl Notice {
    /// What readers are taken to at once: something that was sent came to nothing.
    pub(crate) fn alert(saying: Saying, detail: Option<&str>) -> Self {
        Self { is_alert: true, ..Self::calm(saying, detail) }
    }

    /// What is merely so.
    pub(crate) fn calm(saying: Saying, detail: Option<&str>) -> Self {
        let parts = [Some(saying.text), detail].into_iter().flatten().filter(|text| !text.is_empty());
        let text = parts.collect::<Vec<_>>().join(" ");
        Self { title: saying.title, text, faults: Vec::new(), next: None, is_alert: false }
    }
}
