//! Crash points with a real file and a killed process: every story, once for every call of the embedded store and every
//! moment around it at which the process that makes the call can die.
//!
//! A node is a process of its own that does what it is told, a line at a time. The client tells it, and when it dies comes
//! back to another one with what it got no answer to, as clients do. What was left is checked as it was found, and again
//! when the story is over.
//!
//! | module | what lives there |
//! |---|---|
//! | [`dying`] | the embedded store, and the call at which the process dies |
//! | [`node`] | the process: an engine over it, and the lines that it answers |
//! | `acts` | what each line does |
//! | [`mod@line`] | how lines are written |
//! | [`client`] | whoever tells a node what to do, and starts another when it is gone |
//! | [`story`] | a story told to nodes, and what must hold when it is over |
//! | [`points`] | every story at every point |

mod acts;
pub mod client;
pub mod dying;
pub mod line;
pub mod node;
pub mod points;
pub mod story;
