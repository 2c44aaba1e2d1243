//! The address that people open: a link with another one leads nowhere.

use crate::{failure::Failure, remote::given};

/// The address of the pages: the one that was named for people, else the server's own.
///
/// # Errors
///
/// With the mend, if neither is known or it is no address: a link is used up by whoever opens it, so it is not guessed.
pub(crate) fn for_people(public_base: Option<&str>, url: Option<&str>) -> Result<String, Failure> {
    let mend = "set HANDOFF_PUBLIC_BASE to the address people open, or HANDOFF_URL";
    let address = match (given(public_base), given(url)) {
        (Some(public), _) => public.trim().trim_end_matches('/').to_owned(),
        (None, Some(url)) => of_server(url.trim().trim_end_matches('/')),
        (None, None) => return Err(Failure::usage(format!("where people reach the server is not known: {mend}"))),
    };
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
        let cases = [
            (Some("https://a.example/"), Some("http://b.example"), "https://a.example"),
            (Some(" "), Some("http://b.example/v1/"), "http://b.example"),
            (None, Some("http://127.0.0.1:9000"), "http://localhost:9000"),
            (None, Some("http://127.0.0.1.example"), "http://127.0.0.1.example"),
            (Some("http://127.0.0.1:9000"), None, "http://127.0.0.1:9000"),
        ];
        for (public_base, url, expected) in cases {
            assert_eq!(for_people(public_base, url).unwrap(), expected);
        }
        for (public_base, url) in [(None, None), (Some(""), None), (None, Some("b.example"))] {
            assert!(for_people(public_base, url).unwrap_err().message.contains("HANDOFF_PUBLIC_BASE"));
        }
    }
}
