//! Scenario runner, scripted model server, fixtures and tests over the whole of Tenon.
//!
//! A scenario says what a model says, what must come back and what must be on disk afterwards. The runner plays one
//! against a client, in process or as a program, with a scripted server in the model's place, and compares.
//!
//! # Layout
//! [`scenario`]: the file format. [`server`]: the model's place. [`runner`]: one run. [`normalise`]: what varies from
//! run to run, and what a run says in the form of the expectations. [`verdict`]: the comparison.
//! `parity/` holds the recorded scenarios, `approvals/` those of questions and answers, `fixtures/` what they need, `tests/` the tests that play them.

pub mod normalise;
pub mod runner;
pub mod scenario;
pub mod server;
pub mod verdict;

/// What the guide shows, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
mod embedding {}
#[cfg(doctest)]
#[doc = include_str!("../../docs/approvals.md")]
mod approvals {}
