//! A window: opening pages, reading them, waiting for them.

use std::time::{Duration, Instant};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{BrowserError, pipe::Pipe};

/// How long something may take to come to pass.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked at meanwhile.
const GLANCE: Duration = Duration::from_millis(20);

/// A window of a browser.
#[derive(Debug)]
pub struct Page {
    pipe: Pipe,
    session: String,
}

impl Page {
    pub(crate) fn new(pipe: Pipe, session: String) -> Self {
        Self { pipe, session }
    }

    pub(crate) fn call(&self, method: &str, parameters: &Value) -> Result<Value, BrowserError> {
        self.pipe.call(Some(&self.session), method, parameters)
    }

    /// Opens an address and waits until its page is there.
    ///
    /// # Errors
    ///
    /// [`BrowserError`].
    pub fn open(&self, address: &str) -> Result<(), BrowserError> {
        let opened = self.call("Page.navigate", &json!({ "url": address }))?;
        if let Some(error) = opened.get("errorText").and_then(Value::as_str) {
            let refused = BrowserError::Refused { method: format!("open {address}"), message: error.to_owned() };
            return Err(refused);
        }
        self.until(&format!("the page {address}"), "document.readyState === 'complete'")
    }

    /// Evaluates a script and returns what it comes to; a promise is waited for.
    ///
    /// # Errors
    ///
    /// [`BrowserError::Script`] if it throws.
    pub fn evaluate(&self, script: &str) -> Result<Value, BrowserError> {
        let parameters = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let mut evaluated = self.call("Runtime.evaluate", &parameters)?;
        if let Some(exception) = evaluated.get("exceptionDetails") {
            return Err(BrowserError::Script(exception.to_string()));
        }
        Ok(evaluated.pointer_mut("/result/value").map(Value::take).unwrap_or_default())
    }

    /// Waits until a script comes to something true.
    ///
    /// # Errors
    ///
    /// [`BrowserError::NotInTime`], with what the page says by then.
    pub fn until(&self, what: &str, script: &str) -> Result<(), BrowserError> {
        let begun = Instant::now();
        loop {
            match self.evaluate(script) {
                Ok(Value::Bool(true)) => return Ok(()),
                // The page may be on its way to another.
                Ok(_) | Err(BrowserError::Script(_) | BrowserError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
            if begun.elapsed() > PATIENCE {
                let page = self.text().unwrap_or_default();
                return Err(BrowserError::NotInTime { what: what.to_owned(), page });
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// Waits until the page shows these words, and is whole.
    ///
    /// # Errors
    ///
    /// [`BrowserError::NotInTime`].
    pub fn says(&self, words: &str) -> Result<(), BrowserError> {
        let looked_for = Value::from(words.split_whitespace().collect::<Vec<_>>().join(" "));
        let text = "document.body.innerText.replace(/\\s+/g, ' ')";
        let script = format!("document.readyState === 'complete' && {text}.includes({looked_for})");
        self.until(&format!("“{words}”"), &script)
    }

    /// What a person reads.
    ///
    /// # Errors
    ///
    /// [`BrowserError`].
    pub fn text(&self) -> Result<String, BrowserError> {
        let text = self.evaluate("document.body.innerText")?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Where the window is.
    ///
    /// # Errors
    ///
    /// [`BrowserError`].
    pub fn address(&self) -> Result<String, BrowserError> {
        let address = self.evaluate("location.href")?;
        Ok(address.as_str().unwrap_or_default().to_owned())
    }

    /// The events of one kind, by its name in the DevTools protocol, that this window had so far.
    #[must_use]
    pub fn events(&self, method: &str) -> Vec<Value> {
        self.pipe.events(&self.session, method)
    }

    /// A picture of the whole page, as PNG.
    ///
    /// # Errors
    ///
    /// [`BrowserError`].
    pub fn picture(&self) -> Result<Vec<u8>, BrowserError> {
        let metrics = self.call("Page.getLayoutMetrics", &json!({}))?;
        let size = |name: &str| metrics.pointer(&format!("/cssContentSize/{name}")).cloned().unwrap_or_default();
        let clip = json!({ "x": 0, "y": 0, "width": size("width"), "height": size("height"), "scale": 1 });
        let wanted = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let picture = self.call("Page.captureScreenshot", &wanted)?;
        let data = picture.get("data").and_then(Value::as_str).unwrap_or_default();
        STANDARD.decode(data).map_err(|_| BrowserError::Gone)
    }

    /// Closes the window.
    ///
    /// # Errors
    ///
    /// [`BrowserError`].
    pub fn close(self) -> Result<(), BrowserError> {
        self.call("Page.close", &json!({})).map(|_| ())
    }
}
