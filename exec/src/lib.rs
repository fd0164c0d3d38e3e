//! Processes, sessions and their output; the tools exec_command and write_stdin.
mod buffer;
mod environment;
mod shell;
mod spawn;
#[cfg(test)]
mod testing;
