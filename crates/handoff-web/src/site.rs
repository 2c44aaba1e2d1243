//! What every page needs: the engine, and what follows from the address that people open.

use handoff_engine::Engine;

use crate::streams::Streams;

/// The state behind the router. Clones share one engine.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) engine: Engine,
    /// The pages that follow along.
    pub(crate) streams: Streams,
    /// Scheme and authority of the public base, as browsers write an origin.
    origin: String,
}

impl Site {
    pub(crate) fn new(engine: Engine) -> Self {
        let origin = origin_of(engine.public_base());
        Self { engine, streams: Streams::default(), origin }
    }

    /// The origin of the public base.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Whether people reach the pages over TLS, so that cookies can be kept to it.
    pub(crate) fn is_secure(&self) -> bool {
        self.origin.starts_with("https://")
    }
}

/// Cuts an address down to its origin.
fn origin_of(base: &str) -> String {
    let Some((scheme, rest)) = base.split_once("://") else { return base.to_ascii_lowercase() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    format!("{scheme}://{authority}").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::origin_of;

    #[test]
    fn an_origin_is_scheme_and_authority_in_lower_case() {
        assert_eq!(origin_of("https://Handoff.example.com/team/?x"), "https://handoff.example.com");
        assert_eq!(origin_of("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
    }
}
