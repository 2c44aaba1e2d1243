//! The conformance suite of the decision protocol: its runner.
//!
//! The runner plays the cases of `conformance/cases` against any server, which it reaches by the address and the
//! credentials of a profile. It shares no code with the server that is developed beside it (`docs/adr/0021`): digests,
//! the chain, signatures of callbacks and the receiver are its own.
//!
//! | module | what lives there |
//! |---|---|
//! | [`case`] | cases, as they are written in files |
//! | [`map`] | the specification's map, held against the cases before anything runs |
//! | [`meta`] | what a server says of itself, before anything is tried |
//! | [`profile`] | a deployment: address, choices, credentials, hooks |
//! | [`run`] | playing a suite, scenario by scenario, in parallel |
//! | [`story`], [`steps`] | one scenario that is being played; what each verb does |
//! | [`failure`] | how a step failed |
//! | [`scope`] | variables |
//! | [`matcher`] | what is expected of a value |
//! | [`http`], [`receiver`], [`hooks`] | what goes out, what comes in, what reaches below HTTP |
//! | [`chain`], [`signature`], [`json`] | receipts, callbacks and canonical JSON, recomputed |
//! | [`report`] | a line a case, and the whole as JSON |
//! | [`deployment`] | disposable deployments of `handoffd` |
//! | [`planted`] | faults planted on purpose, and which cases turn red |
//! | [`interruption`] | signals that end a run |
//! | [`cli`] | the command line |

pub mod case;
pub mod chain;
pub mod cli;
pub mod deployment;
pub mod failure;
pub mod hooks;
pub mod http;
pub mod interruption;
pub mod json;
pub mod map;
pub mod matcher;
pub mod members;
pub mod meta;
pub mod planted;
pub mod profile;
pub mod receiver;
pub mod report;
pub mod run;
pub mod scope;
pub mod signature;
pub mod steps;
pub mod story;
