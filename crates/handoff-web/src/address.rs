//! Addresses that become links: where they lead is read as browsers read it, and said beside the link.

use url::Url;

use crate::visible;

/// An address that a link may lead to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Address {
    /// What goes into `href`, as a browser would spell it.
    pub(crate) href: String,
    /// Where it leads: the host, or the mailbox.
    pub(crate) place: String,
}

impl Address {
    /// A web page; nothing for any other scheme, whatever it promises.
    pub(crate) fn web(text: &str) -> Option<Self> {
        let url = read(text)?;
        let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"))?;
        // Names of the world's scripts are left in the spelling that nothing can look like.
        let place = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        Some(Self { place, href: url.into() })
    }

    /// A web page or a mailbox.
    pub(crate) fn web_or_mail(text: &str) -> Option<Self> {
        Self::web(text).or_else(|| {
            let url = read(text).filter(|url| url.scheme() == "mailto")?;
            // Whole: copies to others and a text stand behind the question mark.
            let place = visible::line(url.as_str().get("mailto:".len()..).unwrap_or_default());
            Some(Self { place, href: url.into() })
        })
    }
}

/// Reads an address; one that browsers would first have to clean is none.
fn read(text: &str) -> Option<Url> {
    let is_clean = !text.chars().any(|character| character.is_control() || character.is_whitespace());
    let (scheme, rest) = text.split_once(':').filter(|_| is_clean)?;
    let has_authority = rest.starts_with("//") || scheme.eq_ignore_ascii_case("mailto");
    Url::parse(text).ok().filter(|_| has_authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_where_a_browser_would_go() {
        let place = |text: &str| Address::web_or_mail(text).map(|address| address.place);
        for (text, expected) in [
            ("https://example.com/a", "example.com"),
            ("HTTP://Example.com:8080", "example.com:8080"),
            ("https://bank.example@evil.example/login", "evil.example"),
            ("https://bank.example\\@evil.example", "bank.example"),
            ("https://b\u{e4}nk.example/", "xn--bnk-qla.example"),
            ("mailto:ada@example.com", "ada@example.com"),
            ("mailto:ada@example.com?bcc=eve@evil.example", "ada@example.com?bcc=eve@evil.example"),
        ] {
            assert_eq!(place(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn only_web_addresses_and_mailboxes_become_links() {
        for text in [
            "javascript:alert(1)",
            "javascript://x%0aalert(1)",
            "data:text/html,x",
            "http:evil",
            " https://x.example",
            "https://x.example/a b",
            "java\nscript:alert(1)",
            "//evil.example",
            "/requests/1",
            "file:///etc/passwd",
            "",
            "vbscript:x",
            "https://",
            "blob:https://x.example/1",
        ] {
            assert_eq!(Address::web_or_mail(text), None, "{text}");
        }
        assert_eq!(Address::web("mailto:ada@example.com"), None);
    }
}
