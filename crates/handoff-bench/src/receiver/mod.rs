//! Receivers of callbacks inside this program: how they treat what is pushed to them, and what they got.

mod conduct;
mod deliveries;
mod push;

pub(crate) use self::{
    conduct::{Conduct, Receiver},
    deliveries::{Deliveries, Seen},
    push::Push,
};
