//! Drives a real, headless Chromium: opens pages, presses keys, clicks, reads what is there, takes pictures.
//!
//! It is for tests and for screenshots; no product stands on it. It speaks the DevTools protocol over a pair of pipes, so
//! there is no port that others could reach, and Chromium ends with the process that started it, however that ends. Calls
//! block: run servers that the browser visits on other threads.
//!
//! | module | what lives there |
//! |---|---|
//! | `chromium` | finding it, starting it, ending it |
//! | `pipe` | messages, answers, events |
//! | `look` | how a window looks at the world: size, theme, scripts, language |
//! | `page` | a window: opening, reading, waiting |
//! | `input` | keys and clicks, as the browser gets them from a keyboard and a mouse |

mod chromium;
mod input;
mod look;
mod page;
mod pipe;

pub use self::{
    chromium::{Chromium, find},
    input::Key,
    look::Look,
    page::Page,
};

/// Something did not work in the browser, or did not come to pass in time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// Chromium did not start.
    #[error("Chromium does not start: {0}")]
    Start(#[from] std::io::Error),
    /// Chromium is gone.
    #[error("Chromium has ended or does not answer")]
    Gone,
    /// Chromium refused a command.
    #[error("Chromium refuses `{method}`: {message}")]
    Refused {
        /// The command.
        method: String,
        /// What Chromium says.
        message: String,
    },
    /// A script that was evaluated threw.
    #[error("a script failed: {0}")]
    Script(String),
    /// What was waited for did not come to pass.
    #[error("{what} did not come to pass; the page says: {page}")]
    NotInTime {
        /// What was waited for.
        what: String,
        /// The text of the page by then.
        page: String,
    },
    /// There is nothing like this on the page.
    #[error("there is no `{selector}` to click on {address}")]
    NothingThere {
        /// What was looked for.
        selector: String,
        /// Where.
        address: String,
    },
}
