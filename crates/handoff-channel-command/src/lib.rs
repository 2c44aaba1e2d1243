//! A channel that reaches people through a local program, one run a delivery: a pager, a chat, a modem, whatever speaks to
//! people where Handoff runs.
//!
//! The program gets one JSON object on its standard input and nothing else: no argument names a person, so that nobody who
//! lists processes sees an address, and its environment holds only what the deployment gave it. What it prints is thrown
//! away. How it exits says what came of it:
//!
//! | exits with | meaning |
//! |---|---|
//! | 0 | the message was taken |
//! | 65, 67, 68 | it will never be: bad data, no such person, no such host (`EX_DATAERR`, `EX_NOUSER`, `EX_NOHOST`) |
//! | 78 | the program is not configured (`EX_CONFIG`): the delivery is suppressed, visibly |
//! | anything else, a signal, the time limit | not this time; it is tried again |
//!
//! Only the exit counts: a program that exits with 0 took the message, whether or not it read it. At the time limit it
//! ends, and with it whatever it started; so does what a program that failed left behind.
//!
//! ```
//! use handoff_channel_command::CommandChannel;
//!
//! let channel = CommandChannel::new("pager", "/usr/local/bin/page-somebody").argument("--quietly");
//! # let _ = channel;
//! ```

mod channel;

pub use self::channel::CommandChannel;
