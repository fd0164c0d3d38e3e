//! Runs one script.
