//! How figures are told: a line for each as it comes, and a page out of several runs.

mod floors;
mod line;
mod median;
mod page;

pub(crate) use self::{
    line::{HEAD, line},
    page::page,
};
