//! Processes, sessions and their output; the tools exec_command and write_stdin.
