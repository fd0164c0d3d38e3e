//! A session with calls of every kind, each with an effect that can be counted, and what the tests share that break it
//! off: where it is played (`place`, `server`, `script`), when it is hit (`point`, `random`), who ends it for good
//! where it hangs (`guard`), who is left (`processes`), and what must hold however it was hit (`promises`).
#![allow(dead_code, unreachable_pub, reason = "each test uses its own part")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "test code"
)]

pub mod guard;
pub mod place;
pub mod point;
pub mod processes;
pub mod promises;
pub mod random;
pub mod report;
pub mod script;
pub mod server;
