//! The tools `exec` and `wait`.

mod exec;
mod wait;

pub use exec::ExecTool;
pub use wait::WaitTool;
