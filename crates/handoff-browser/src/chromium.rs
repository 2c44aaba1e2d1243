//! Finding Chromium, starting it, ending it.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::json;

use crate::{BrowserError, look::Look, page::Page, pipe::Pipe};

/// The variable that names the program; whoever sets it wants it used.
const VARIABLE: &str = "HANDOFF_CHROMIUM";

/// What it is called where it is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser that runs until this is dropped.
#[derive(Debug)]
pub struct Chromium {
    pipe: Pipe,
    child: Child,
    // Goes last: Chromium writes to it until it ends.
    _profile: tempfile::TempDir,
}

/// The Chromium of this machine: the one that `HANDOFF_CHROMIUM` names, or the first on the path.
#[must_use]
pub fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let path = env::var_os("PATH")?;
    let places = env::split_paths(&path).flat_map(|place| NAMES.map(|name| place.join(name)));
    places.into_iter().find(|program| program.is_file())
}

impl Chromium {
    /// Starts a browser with a fresh profile.
    ///
    /// # Errors
    ///
    /// [`BrowserError::Start`], [`BrowserError::Gone`].
    pub fn launch(program: &Path) -> Result<Self, BrowserError> {
        let profile = tempfile::tempdir()?;
        // Chromium reads commands from descriptor 3 and writes answers to 4; a shell puts our pipes there.
        let mut child = Command::new("sh")
            .arg("-c")
            .arg("exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null")
            .arg(program)
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                // Tests run as root in containers, where there is no sandbox to be had; they visit our own pages alone.
                "--no-sandbox",
                "--no-first-run",
                "--no-default-browser-check",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-default-apps",
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--disable-gpu",
                "--disable-sync",
                "--hide-scrollbars",
                "--mute-audio",
                "--password-store=basic",
                "--force-color-profile=srgb",
                // Windows that lie behind others are looked at all the same.
                "--disable-backgrounding-occluded-windows",
                "--disable-renderer-backgrounding",
                "--disable-background-timer-throttling",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else { return Err(BrowserError::Gone) };
        let pipe = Pipe::new(to, from);
        let browser = Self { pipe, child, _profile: profile };
        browser.pipe.call(None, "Browser.getVersion", &json!({}))?;
        Ok(browser)
    }

    /// Opens a window with cookies of its own, as another person's browser has.
    ///
    /// # Errors
    ///
    /// [`BrowserError`].
    pub fn window(&self, look: &Look) -> Result<Page, BrowserError> {
        let context = self.pipe.call(None, "Target.createBrowserContext", &json!({}))?;
        let context = context.get("browserContextId").cloned().ok_or(BrowserError::Gone)?;
        let target = json!({ "url": "about:blank", "browserContextId": context });
        let target = self.pipe.call(None, "Target.createTarget", &target)?;
        let target = target.get("targetId").cloned().ok_or(BrowserError::Gone)?;
        let attach = json!({ "targetId": target, "flatten": true });
        let attached = self.pipe.call(None, "Target.attachToTarget", &attach)?;
        let session = attached.get("sessionId").and_then(|session| session.as_str()).ok_or(BrowserError::Gone)?;
        let page = Page::new(self.pipe.clone(), session.to_owned());
        look.apply(&page)?;
        Ok(page)
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Asked politely first: the profile is about to be deleted.
        let _ = self.pipe.call(None, "Browser.close", &json!({}));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
