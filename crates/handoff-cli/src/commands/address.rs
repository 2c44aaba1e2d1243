//! The address that people open: a link with another one leads nowhere.

use crate::{failure::Failure, remote::given};

/// What is known of the address.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known<'a> {
    /// What was named for people, here or in `HANDOFF_PUBLIC_BASE`.
    pub(crate) named: Option<&'a str>,
    /// The server's address, as it was given here.
    pub(crate) url: Option<&'a str>,
    /// What the last server on the store announced.
    pub(crate) announced: Option<&'a str>,
    /// `HANDOFF_URL`: where programs reach the server, which may be another address than people's.
    pub(crate) programs: Option<&'a str>,
}

/// The address of the pages: what was said here, else what the server says of itself, else where programs reach it.
///
/// # Errors
///
/// With the mend, if none is known or it is no address: a link is used up by whoever opens it, so it is not guessed.
pub(crate) fn for_people(known: &Known<'_>) -> Result<String, Failure> {
    let mend = "set HANDOFF_PUBLIC_BASE to the address people open, or HANDOFF_URL";
    let public = |text: &str| text.trim().trim_end_matches('/').to_owned();
    let server = |text: &str| of_server(text.trim().trim_end_matches('/'));
    let address = given(known.named)
        .map(public)
        .or_else(|| given(known.url).map(server))
        .or_else(|| given(known.announced).map(public))
        .or_else(|| given(known.programs).map(server))
        .ok_or_else(|| Failure::usage(format!("where people reach the server is not known: {mend}")))?;
    if address.starts_with("http://") || address.starts_with("https://") {
        Ok(address)
    } else {
        Err(Failure::usage(format!("the address must begin with `http://` or `https://`: {mend}")))
    }
}

/// A program's address of the server, as people open it. Pages on this machine call it `localhost`, and a session
/// belongs to the name under which it began.
fn of_server(url: &str) -> String {
    let url = url.strip_suffix("/v1").unwrap_or(url).trim_end_matches('/');
    match url.strip_prefix("http://127.0.0.1").or_else(|| url.strip_prefix("http://[::1]")) {
        Some(rest) if rest.is_empty() || rest.starts_with([':', '/']) => format!("http://localhost{rest}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_named_for_people_comes_first_and_nothing_is_guessed() {
        let known = |named, url, announced, programs| Known { named, url, announced, programs };
        let server = Some("https://h.example");
        let cases = [
            (known(Some("https://a.example/"), Some("http://b.example"), server, None), "https://a.example"),
            (known(Some(" "), Some("http://b.example/v1/"), server, None), "http://b.example"),
            (known(None, None, server, Some("http://127.0.0.1:9000")), "https://h.example"),
            (known(None, None, None, Some("http://127.0.0.1:9000")), "http://localhost:9000"),
            (known(None, None, None, Some("http://127.0.0.1.example")), "http://127.0.0.1.example"),
            (known(Some("http://127.0.0.1:9000"), None, None, None), "http://127.0.0.1:9000"),
        ];
        for (known, expected) in cases {
            assert_eq!(for_people(&known).unwrap(), expected);
        }
        let unknown = [Known::default(), known(Some(""), None, None, None), known(None, Some("b.example"), None, None)];
        for known in unknown {
            assert!(for_people(&known).unwrap_err().message.contains("HANDOFF_PUBLIC_BASE"));
        }
    }
}
