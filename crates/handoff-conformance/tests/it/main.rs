//! The runner as a program: what it refuses to begin, and what it says of servers that do little or nothing.

mod fixture;
mod refusing;
mod servers;
