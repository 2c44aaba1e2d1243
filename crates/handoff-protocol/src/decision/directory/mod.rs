//! The directory of a tenant: people and the places that become people, their addresses and their hours of quiet.
//!
//! All of it is data that a transition is given. Where it comes from, a file or a service, is the engine's business: it
//! asks before the transaction.

mod people;
mod quiet;
mod zone;

pub use self::{
    people::{Contact, Directory, Person, Rotation},
    quiet::{QuietHours, QuietWindow},
    zone::{LocalTime, LocalTimeError, Zone, ZoneError},
};
