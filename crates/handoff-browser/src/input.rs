//! Keys and clicks, as the browser gets them from a keyboard and a mouse.

use serde_json::{Value, json};

use crate::{BrowserError, page::Page};

/// A key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Key {
    /// To the next thing that can be used.
    Tab,
    /// To the one before.
    BackTab,
    /// Uses it.
    Enter,
    /// Ticks it.
    Space,
    /// To the next of a group.
    Down,
}

impl Page {
    /// Presses a key and lets go of it.
    ///
    /// # Errors
    ///
    /// [`BrowserError`].
    pub fn press(&self, key: Key) -> Result<(), BrowserError> {
        let (name, code, number, text, modifiers) = match key {
            Key::Tab => ("Tab", "Tab", 9, None, 0),
            Key::BackTab => ("Tab", "Tab", 9, None, 8),
            Key::Enter => ("Enter", "Enter", 13, Some("\r"), 0),
            Key::Space => (" ", "Space", 32, Some(" "), 0),
            Key::Down => ("ArrowDown", "ArrowDown", 40, None, 0),
        };
        for step in ["keyDown", "keyUp"] {
            let mut event = json!({
                "type": step, "key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers,
            });
            if let (Some(text), "keyDown", Some(members)) = (text, step, event.as_object_mut()) {
                members.insert("text".to_owned(), Value::from(text));
            }
            self.call("Input.dispatchKeyEvent", &event)?;
        }
        Ok(())
    }

    /// Types where the focus is.
    ///
    /// # Errors
    ///
    /// [`BrowserError`].
    pub fn write(&self, text: &str) -> Result<(), BrowserError> {
        self.call("Input.insertText", &json!({ "text": text })).map(|_| ())
    }

    /// Clicks in the middle of the first thing that a selector finds, scrolled into view.
    ///
    /// # Errors
    ///
    /// [`BrowserError::NothingThere`] if it finds nothing that can be seen.
    pub fn click(&self, selector: &str) -> Result<(), BrowserError> {
        let script = format!(
            "(() => {{ const element = document.querySelector({}); if (!element) return null; \
             element.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const box = element.getBoundingClientRect(); \
             return box.width && box.height ? [box.x + box.width / 2, box.y + box.height / 2] : null; }})()",
            Value::from(selector)
        );
        let place = self.evaluate(&script)?;
        let (Some(x), Some(y)) = (place.get(0).cloned(), place.get(1).cloned()) else {
            let address = self.address()?;
            return Err(BrowserError::NothingThere { selector: selector.to_owned(), address });
        };
        for step in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": step, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event)?;
        }
        Ok(())
    }

    /// What has the focus, by tag, name and text.
    ///
    /// # Errors
    ///
    /// [`BrowserError`].
    pub fn focus(&self) -> Result<String, BrowserError> {
        let script = "(() => { const at = document.activeElement; const name = at.getAttribute('name') ?? at.id; \
                      const said = at.labels?.[0]?.innerText ?? at.innerText ?? ''; \
                      return `${at.tagName.toLowerCase()} ${name} ${said.trim()}`; })()";
        Ok(self.evaluate(script)?.as_str().unwrap_or_default().to_owned())
    }
}
