//! How a window looks at the world.

use serde_json::json;

use crate::{BrowserError, page::Page};

/// Size, theme, scripts, language and zone of a window.
#[derive(Clone, Debug)]
pub struct Look {
    width: u32,
    height: u32,
    is_phone: bool,
    is_dark: bool,
    has_scripts: bool,
    language: String,
    zone: String,
    agent: Option<String>,
}

impl Look {
    /// A phone held upright.
    #[must_use]
    pub fn phone() -> Self {
        Self { width: 390, height: 844, is_phone: true, ..Self::desktop() }
    }

    /// A window on a desk.
    #[must_use]
    pub fn desktop() -> Self {
        Self {
            width: 1280,
            height: 800,
            is_phone: false,
            is_dark: false,
            has_scripts: true,
            language: "en-US".to_owned(),
            zone: "UTC".to_owned(),
            agent: None,
        }
    }

    /// In the dark.
    #[must_use]
    pub fn dark(mut self) -> Self {
        self.is_dark = true;
        self
    }

    /// Where pages run no script.
    #[must_use]
    pub fn without_scripts(mut self) -> Self {
        self.has_scripts = false;
        self
    }

    /// In this language, by its code.
    #[must_use]
    pub fn language(mut self, language: &str) -> Self {
        language.clone_into(&mut self.language);
        self
    }

    /// In this time zone, by its name.
    #[must_use]
    pub fn zone(mut self, zone: &str) -> Self {
        zone.clone_into(&mut self.zone);
        self
    }

    /// Under this name.
    #[must_use]
    pub fn agent(mut self, agent: &str) -> Self {
        self.agent = Some(agent.to_owned());
        self
    }

    pub(crate) fn apply(&self, page: &Page) -> Result<(), BrowserError> {
        page.call("Page.enable", &json!({}))?;
        page.call("Runtime.enable", &json!({}))?;
        page.call("Network.enable", &json!({}))?;
        page.call("Log.enable", &json!({}))?;
        let metrics = json!({
            "width": self.width, "height": self.height, "mobile": self.is_phone,
            "deviceScaleFactor": if self.is_phone { 2 } else { 1 },
        });
        page.call("Emulation.setDeviceMetricsOverride", &metrics)?;
        let theme = if self.is_dark { "dark" } else { "light" };
        // Nothing moves: what is looked at is what stays.
        let features = json!([
            { "name": "prefers-color-scheme", "value": theme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        page.call("Emulation.setEmulatedMedia", &json!({ "features": features }))?;
        page.call("Emulation.setTimezoneOverride", &json!({ "timezoneId": self.zone }))?;
        let default =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
        let agent = self.agent.as_deref().unwrap_or(default);
        page.call("Emulation.setUserAgentOverride", &json!({ "userAgent": agent, "acceptLanguage": self.language }))?;
        if !self.has_scripts {
            page.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }))?;
        }
        Ok(())
    }
}
