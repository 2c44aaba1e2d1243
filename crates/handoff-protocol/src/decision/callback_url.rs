//! The addresses that callbacks go to: what is an address, and what a connection needs of it.

use std::fmt;

use thiserror::Error;
use url::{Host, Position, Url};

use super::limits;
use crate::digest::Digest;

/// An address that something can be pushed to: absolute, `http` or `https`, with a host and a port that exist.
///
/// It is read once for all: what is refused here is never kept, and what is taken here is what the transport connects
/// to. What a host resolves to is for the moment of the push (rule H-9). `Debug` shows the origin alone: path and query
/// may hold what only the receiver should know.
#[derive(Clone, Eq, PartialEq)]
pub struct CallbackUrl(
    // INVARIANT: `http` or `https`, with a host, so with a port.
    Url,
);

/// A text is no address that something can be pushed to. It says what is wrong and repeats nothing of the text.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum BadCallbackUrl {
    /// It is longer than any that is taken.
    #[error("must be an address of at most 2048 characters")]
    TooLong,
    /// It is relative, or of another scheme.
    #[error("must be an absolute address that begins with `http://` or `https://`")]
    NotAbsolute,
    /// A character has no place in an address.
    #[error("must hold printable ASCII alone, everything else percent-encoded, and no quotes, brackets or backslashes")]
    Character,
    /// A fragment is never sent.
    #[error("must not have a fragment, `#…`")]
    Fragment,
    /// A name or password would stand in the store.
    #[error("must not have a user or a password; a receiver tells by the signature who sends")]
    User,
    /// A host that is percent-encoded, or an IPv6 address with a zone.
    #[error("must have its host in plain letters, without percent-encoding and without an IPv6 zone")]
    EncodedHost,
    /// There is no such port.
    #[error("must have a port from 1 to 65535, or none")]
    Port,
    /// There is no such host.
    #[error("must have a host: a name, an IPv4 address, or an IPv6 address in brackets")]
    Host,
}

impl CallbackUrl {
    /// Reads an address.
    ///
    /// ```
    /// use handoff_protocol::decision::CallbackUrl;
    ///
    /// let url = CallbackUrl::parse("https://receiver.example?tok=1")?;
    /// assert_eq!((url.host(), url.port(), url.target()), ("receiver.example", 443, "/?tok=1"));
    /// assert!(CallbackUrl::parse("http://receiver.example:99999/").is_err());
    /// # Ok::<(), handoff_protocol::decision::BadCallbackUrl>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BadCallbackUrl`].
    pub fn parse(text: &str) -> Result<Self, BadCallbackUrl> {
        if text.len() > limits::CALLBACK_URL_CHARS {
            return Err(BadCallbackUrl::TooLong);
        }
        let (scheme, rest) = text.split_once("://").ok_or(BadCallbackUrl::NotAbsolute)?;
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return Err(BadCallbackUrl::NotAbsolute);
        }
        if rest.contains('#') {
            return Err(BadCallbackUrl::Fragment);
        }
        if !rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte)) {
            return Err(BadCallbackUrl::Character);
        }
        // Browsers forgive what follows; whoever writes it means something else than what would be connected to.
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(BadCallbackUrl::User);
        }
        if authority.contains('%') {
            return Err(BadCallbackUrl::EncodedHost);
        }
        if authority.is_empty() {
            return Err(BadCallbackUrl::Host);
        }
        let url = Url::parse(text).map_err(|error| match error {
            url::ParseError::InvalidPort => BadCallbackUrl::Port,
            _ => BadCallbackUrl::Host,
        })?;
        match (url.host(), url.port_or_known_default()) {
            (None, _) => Err(BadCallbackUrl::Host),
            (_, None | Some(0)) => Err(BadCallbackUrl::Port),
            _ => Ok(Self(url)),
        }
    }

    /// Whether it is an address of `https`.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The host, as it is resolved: an IPv6 address without its brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        let host = self.0.host_str().unwrap_or_default();
        match self.0.host() {
            Some(Host::Ipv6(_)) => host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host),
            _ => host,
        }
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// What a `Host` header says.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.0[Position::BeforeHost..Position::AfterPort]
    }

    /// What a request line says: path and query, never empty.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.0[Position::BeforePath..Position::AfterQuery]
    }

    /// Scheme, host and port, as one text.
    #[must_use]
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// What it is connected to: addresses of one origin are one destination, whatever their paths and queries are.
    #[must_use]
    pub fn destination(&self) -> Digest {
        Digest::of(self.origin())
    }
}

impl fmt::Debug for CallbackUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallbackUrl").field(&self.origin()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_absolute_and_plain() {
        for (url, host, port, authority, target) in [
            ("http://127.0.0.1:8080/cb", "127.0.0.1", 8080, "127.0.0.1:8080", "/cb"),
            ("https://example.com", "example.com", 443, "example.com", "/"),
            ("HTTPS://example.com/a?b=c%20d", "example.com", 443, "example.com", "/a?b=c%20d"),
            ("http://[::1]:80/", "::1", 80, "[::1]", "/"),
            ("http://[::1]", "::1", 80, "[::1]", "/"),
            ("http://[::1]:8081?a", "::1", 8081, "[::1]:8081", "/?a"),
            ("http://2130706433/", "127.0.0.1", 80, "127.0.0.1", "/"),
            ("http://host/?tok=1", "host", 80, "host", "/?tok=1"),
            ("http://host?tok=1", "host", 80, "host", "/?tok=1"),
            ("http://host?to=http://user@other/", "host", 80, "host", "/?to=http://user@other/"),
            ("http://my_host.:65535/", "my_host.", 65535, "my_host.:65535", "/"),
        ] {
            let read = CallbackUrl::parse(url).unwrap();
            assert_eq!((read.host(), read.port(), read.authority(), read.target()), (host, port, authority, target));
        }
    }

    #[test]
    fn what_is_no_address_is_refused_by_name() {
        use BadCallbackUrl::{Character, EncodedHost, Fragment, Host, NotAbsolute, Port, TooLong, User};
        let long = format!("https://example.com/{}", "a".repeat(2048));
        for (text, fault) in [
            ("", NotAbsolute),
            ("http:", NotAbsolute),
            ("http:example.com", NotAbsolute),
            ("ftp://example.com", NotAbsolute),
            ("example.com", NotAbsolute),
            ("//example.com", NotAbsolute),
            ("javascript://example.com", NotAbsolute),
            (" http://example.com", NotAbsolute),
            ("http://", Host),
            ("http:///path", Host),
            ("http://:80/", Host),
            ("http://[::1", Host),
            ("http://]:80/", Host),
            ("http://[]/", Host),
            ("http://[::1]x/", Host),
            ("http://256.1.1.1/", Host),
            ("http://127.0.0.1:99999/", Port),
            ("http://127.0.0.1:65536/", Port),
            ("http://127.0.0.1:80a/", Port),
            ("http://127.0.0.1:-1/", Port),
            ("http://127.0.0.1:0/", Port),
            ("http://a:b:c/", Port),
            ("http://127.0.0.1:80:80/", Port),
            ("http://ex%61mple.com/", EncodedHost),
            ("http://[::1%25eth0]/", EncodedHost),
            ("https://user@example.com", User),
            ("https://user:word@example.com", User),
            ("https://example.com/#part", Fragment),
            ("https://example.com/a b", Character),
            ("https://example.com/\r\nx: y", Character),
            ("https://ex\u{e4}mple.com", Character),
            ("https://example.com\\@other/", Character),
            (&long, TooLong),
        ] {
            let read = CallbackUrl::parse(text);
            let class = |fault| match fault {
                Host | Port => Host,
                other => other,
            };
            // Which of host and port is to blame is for whoever reads the text; that one is, is not.
            assert_eq!(read.map_err(class), Err(class(fault)), "{text}");
        }
        assert_eq!(CallbackUrl::parse("http://127.0.0.1:99999/"), Err(Port));
    }
}
